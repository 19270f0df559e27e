# SPDX-License-Identifier: Apache-2.0
"""The grammar of MAD (specification §2.3), and extensions of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from lark import Lark

_GRAMMAR = r"""
start: "RAFF" VERSION? NAME unit? sensor* robot*
unit: "length_unit_m" FLOAT
sensor: "sensor" NUMBER "{" (port | sensor_type | translation | rotation)* "}"
port: "port" STRING
sensor_type: "type" NAME
translation: "translation" NUMBER
rotation: "rotation" NUMBER
robot: "robot" NAME "{" (path | base | link | frame | constraint | ball{alternatives})* "}"
path: "path" STRING
base: "base" "{" (pos | ori | filename)* "}"
pos: "pos" "{" FLOAT FLOAT FLOAT "}"
ori: "ori" "{" FLOAT FLOAT FLOAT "}"
link: "link" NUMBER "{" (parameters | type | pred | limits | range | filename)* "}"
parameters: "parameters" "{" parameter* "}"
parameter: (THETA | R | ALPHA | D | GAMMA | EPSIL) FLOAT
type: "type" NUMBER
pred: "pred" NUMBER
limits: "limits" "{" FLOAT FLOAT "}"
range: "range" "{" FLOAT FLOAT "}"
frame: "frame" NUMBER "{" (pos | ori | pred | filename)* "}"
filename: "filename" "(" (AUTO | STRING)* ")"
constraint: "constraint" "{" member member "}"
ball: ("rotule" | "ball" | "spherical") "{" member member "}"
member: (LINK | FRAME) NUMBER | SENSOR "(" NUMBER+ ")"
{rules}
LINK: "link"
FRAME: "frame"
SENSOR: "sensor"
AUTO: "auto"
THETA: "theta"
ALPHA: "alpha"
GAMMA: "gamma"
EPSIL: "epsil"
R: "rpara" | "r"
D: "dpara" | "d"
VERSION.2: /v\d+\.\d+(?![\w.])/
FLOAT: /[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(?![\w.])/
NUMBER: /\d+(?![\w.])/
NAME: /[A-Za-z0-9_]+/
STRING: /"[^"]*"/
%ignore /\/\/[^\n]*/
%ignore /\/\*[\s\S]*?\*\//
%ignore /\s+/
"""

#: What the names of terminals mean to a person; the others are their own text.
WORDS = {
    "FLOAT": "a number",
    "NUMBER": "a whole number",
    "NAME": "a name",
    "STRING": 'a text in "quotes"',
    "VERSION": "a version like v1.1",
    "R": "r",
    "D": "d",
    "$END": "the end of the file",
}


@dataclass(frozen=True)
class Extension:
    """A keyword more in the block of a robot.

    Attributes:
        keyword: that its statements begin with: lower case letters and underscores.
        arguments: what follows, as a rule of lark in the terminals NUMBER, FLOAT, NAME and STRING.
    """

    keyword: str
    arguments: str


@functools.cache
def parser(extensions: tuple[Extension, ...]) -> Lark:
    """Return the parser of the language with some extensions."""
    rules = "\n".join(f'!extension_{item.keyword}: "{item.keyword}" {item.arguments}' for item in extensions)
    alternatives = "".join(f" | extension_{item.keyword}" for item in extensions)
    grammar = _GRAMMAR.replace("{alternatives}", alternatives).replace("{rules}", rules)
    # The basic lexer would take v1 of "RAFF v1.1" for a name.
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False)
