# SPDX-License-Identifier: Apache-2.0
"""The grammar of MAD (specification §2.3), and extensions of it.

Where it doesn't hold, a text is taken in blocks by their braces: what is left open, and what to leave out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lark import Lark

from humanoid_kinematics.mad.syntax import MadStatement, Place

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
        apply: takes the robot's :class:`~humanoid_kinematics.Mechanism` and a statement, and returns the mechanism as
            the statement changes it.
    """

    keyword: str
    arguments: str
    apply: Callable[[Any, MadStatement], Any] | None = None


@functools.cache
def parser(extensions: tuple[Extension, ...]) -> Lark:
    """Return the parser of the language with some extensions."""
    rules = "\n".join(f'!extension_{item.keyword}: "{item.keyword}" {item.arguments}' for item in extensions)
    alternatives = "".join(f" | extension_{item.keyword}" for item in extensions)
    grammar = _GRAMMAR.replace("{alternatives}", alternatives).replace("{rules}", rules)
    # The basic lexer would take v1 of "RAFF v1.1" for a name.
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False)


_PIECE = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"|/\*|"|[{}()]', re.S)
#: Faults beyond which a text isn't looked at further.
_MOST_FAULTS = 100
_CLOSING = {"{": "}", "(": ")"}
_WORD = re.compile(r'"[^"]*"|[\w.+-]+|.', re.S)


@dataclass(frozen=True)
class Fault:
    """What is wrong with the blocks, and where."""

    problem: str
    remedy: str
    offset: int


class Structure:
    """Where blocks and lists of a text open and close.

    Attributes:
        faults: comments, texts and blocks that don't end, and ends of nothing.
        cut_off: whether the text ends within a comment or a quoted text, or wasn't looked at to its end.
        blocks: (start, end) offsets of each closed ``{ }`` and ``( )``, those inside first.
        bare: the text, its comments and quoted texts blanked.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.faults: list[Fault] = []
        self.cut_off = False
        self.blocks: list[tuple[int, int]] = []
        bare = list(text)
        open_: list[int] = []
        for piece in _PIECE.finditer(text):
            start, end, shown = piece.start(), piece.end(), piece[0]
            if shown in ("/*", '"'):
                name, end_mark = ("comment", "*/") if shown == "/*" else ("text", shown)
                self.faults.append(Fault(f"{name} doesn't end", f"Close it with {end_mark}", start))
                bare[start:] = " " * (len(text) - start)
                self.cut_off = True
                open_.clear()
                break
            if len(shown) > 1:
                bare[start:end] = [c if c == "\n" else " " for c in shown]
            elif shown in _CLOSING:
                open_.append(start)
            elif open_ and _CLOSING[text[open_[-1]]] == shown:
                self.blocks.append((open_.pop(), end))
            else:
                self.faults.append(self._stray(shown, start, open_))
                if len(self.faults) == _MOST_FAULTS:
                    self.cut_off = True
                    break
                if shown == "}" and open_:  # a list that was left open ends with its block
                    open_.pop()
                    if open_ and text[open_[-1]] == "{":
                        self.blocks.append((open_.pop(), end))
        self.bare = "".join(bare)
        for start in open_:
            begins = max(self.bare.rfind(mark, 0, start) for mark in "{}()") + 1
            shown = " ".join([*self.bare[begins:start].split()[-2:], text[start]])
            self.faults.append(Fault(f"'{shown}' is never closed", f"Close it with {_CLOSING[text[start]]}", start))
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def _stray(self, shown: str, start: int, open_: list[int]) -> Fault:
        if not open_:
            return Fault(f"'{shown}' closes nothing", "Leave it out, or open its block", start)
        line = self.text.count("\n", 0, open_[-1]) + 1
        opened = self.text[open_[-1]]
        return Fault(f"'{shown}' where '{opened}' of line {line} is open", f"Close that with {_CLOSING[opened]}", start)

    def place(self, offset: int) -> Place:
        """Return line and column of an offset."""
        line = self.text.count("\n", 0, offset)
        return Place(line + 1, offset - self._lines[line] + 1)

    def word(self, offset: int) -> str:
        """Return the word, number or sign at an offset."""
        match = _WORD.match(self.text, offset)
        return match[0] if match else ""

    def header(self, offset: int) -> str | None:
        """Return how the innermost ``link``, ``frame``, ... block around an offset begins."""
        around = [start for start, end in self.blocks if start < offset < end and self.text[start] == "{"]
        for start in sorted(around, reverse=True):
            match = re.search(r"\b((?:link|frame|sensor|robot)\s+\w+|base|constraint|rotule|ball|spherical)\s*$",
                              self.bare[:start][-80:])  # fmt: skip
            if match:
                return " ".join(match[1].split())
        return None

    def statement(self, offset: int) -> tuple[int, int]:
        """Return where the word at an offset and what belongs to it begins and ends."""
        end = offset + len(self.word(offset))
        match = re.compile(r'\s*(?:[\d.+-][\w.+-]*|"[^"]*")?\s*').match(self.text, end)
        after = match.end() if match else end
        for start, close in self.blocks:
            if start == after:
                return offset, close
        return offset, max(end, len(self.text[:after].rstrip()))

    def node(self, offset: int) -> tuple[int, int]:
        """Return the block just below the robot's around an offset, with its keyword; else the statement there."""
        around = sorted(
            (start, end) for start, end in self.blocks if start < offset < end and self.text[start] == "{"
        )
        within = 1 if around and (self.header(around[0][0] + 1) or "").startswith("robot") else 0
        if len(around) <= within:
            return self.statement(offset)
        start, end = around[within]
        before = max(self.bare.rfind(mark, 0, start) for mark in "{})")
        return before + 1, end


def blanked(text: str, start: int, end: int) -> str:
    """Return the text with a part blanked, its lines kept."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
