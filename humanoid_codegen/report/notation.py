# SPDX-License-Identifier: Apache-2.0
r"""Symbols of the document: those of the coordinates, of results' entries and of quantities that have a name.

And how numbers, sums and products are written in LaTeX's mathematics. Only letters follow a backslash, apart from line
ends: Markdown readers take ``\,`` or ``\_`` for escapes of their own.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from humanoid_codegen.dynamics.mechanism import Mechanism
from humanoid_codegen.expression.function import Argument, Function, Result

#: Widest line of a displayed equation, in characters as they are seen.
LINE_WIDTH = 88

#: Widest chain of symbols that all have one value.
_CHAIN_WIDTH = 36

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
GREEK = frozenset(_GREEK.split())


def number(value: float) -> str:
    """Return a number with six significant digits."""
    text = f"{value:.6g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}"


def letter(name: str) -> str:
    """Return a name as a mathematical symbol: Greek where it is Greek, upright where it is a word."""
    if name in GREEK:
        return f"\\{name}"
    if len(name) == 1 and name.isascii() and name.isalpha():
        return name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    return f"\\mathrm{{{plain or 'x'}}}"


def visible_width(text: str) -> int:
    """Return characters that a reader sees of a formula, about."""
    text = re.sub(r"\\(frac|mathrm|dot|ddot|quad)", "", text)
    text = re.sub(r"\\(sin|cos) ?", "sin", text)
    text = re.sub(r" [+-] |\\cdot", "+++", text)
    text = re.sub(r"\\[A-Za-z]+", "x", text)
    return len(re.sub(r"[{}_^ &]", "", text))


def signed_sum(terms: Sequence[tuple[bool, str]]) -> str:
    """Return a sum of terms, each with whether it is subtracted."""
    if not terms:
        return "0"
    return "".join(_signed(k == 0, negative, term) for k, (negative, term) in enumerate(terms))


def definition(heads: Sequence[str], terms: Sequence[tuple[bool, str]]) -> list[str]:
    """Return symbols that all are one sum, over as many lines of an ``aligned`` block as it takes."""
    chains: list[list[str]] = [[heads[0]]]
    for head in heads[1:]:
        if visible_width(" = ".join([*chains[-1], head])) > _CHAIN_WIDTH:
            chains.append([])
        chains[-1].append(head)
    same = [f"{' = '.join(chain)} &= {heads[0]}" for chain in chains[1:]]
    return [*_broken_sum(" = ".join(chains[0]), terms), *same]


def _broken_sum(head: str, terms: Sequence[tuple[bool, str]]) -> list[str]:
    lines, line = [], f"{head} &="
    used = visible_width(head)
    for k, (negative, term) in enumerate(terms):
        piece = _signed(k == 0, negative, term)
        width = visible_width(piece) + (2 if k else 0)
        if k and used + width > LINE_WIDTH:
            lines.append(line)
            line, used = "&\\quad", 4
        line += ("" if piece.startswith(" ") else " ") + piece
        used += width
    return [*lines, line if terms else f"{line} 0"]


def _signed(first: bool, negative: bool, term: str) -> str:
    if first:
        return f"-{term}" if negative else term
    return f" - {term}" if negative else f" + {term}"


#: Results that have a symbol of their own in the field.
_SYMBOLS = {
    "kinetic": ("E_c", True),
    "potential": ("E_p", True),
    "kinetic_energy": ("E_c", False),
    "potential_energy": ("E_p", False),
    "com": ("p_G", True),
}

#: Vectors of a body that algorithms name.
_QUANTITIES = {
    "omega": "\\omega",
    "omega_rate": "\\dot{\\omega}",
    "acceleration": "a",
    "velocity": "V",
    "position": "{}^0 p",
    "force": "f",
    "moment": "n",
}


@dataclass(frozen=True)
class Notation:
    """What is called how.

    Attributes:
        mechanism: the robot.
        minimal: every velocity is the rate of a coordinate, so that they are written with dots.
    """

    mechanism: Mechanism
    minimal: bool

    @classmethod
    def of(cls, mechanism: Mechanism) -> Notation:
        """Notation for a robot."""
        return cls(mechanism, all(body.nv == 1 and body.nq == 1 for body in mechanism.bodies))

    def coordinate(self, k: int) -> str:
        """Coordinate k from 0."""
        return f"q_{{{k + 1}}}"

    def velocity(self, k: int) -> str:
        """Velocity k from 0."""
        return f"\\dot{{q}}_{{{k + 1}}}" if self.minimal else f"v_{{{k + 1}}}"

    def acceleration(self, k: int) -> str:
        """Acceleration k from 0."""
        return f"\\ddot{{q}}_{{{k + 1}}}" if self.minimal else f"\\dot{{v}}_{{{k + 1}}}"

    def argument(self, argument: Argument) -> list[str]:
        """Return symbols of an argument's entries."""
        known = {"q": self.coordinate, "v": self.velocity, "a": self.acceleration}
        if argument.name in known:
            return [known[argument.name](k) for k in range(len(argument.entries))]
        symbol = "w" if argument.name == "wrenches" else _letter(argument.name)
        return [_indexed(symbol, indices) for indices in _indices(argument.shape)]

    def result(self, result: Result) -> list[str]:
        """Return symbols of a result's entries."""
        derivative = re.fullmatch(r"d([a-z]+)_d([a-z]+)", result.name)
        if derivative and len(result.shape) == 2:
            above, below = derivative.groups()
            return [
                f"\\frac{{\\partial {self._entry(above, i)}}}{{\\partial {self._entry(below, j)}}}"
                for i, j in _indices(result.shape)
            ]
        if result.name == "a":
            return [self.acceleration(k) for k in range(len(result.entries))]
        symbol, each = _SYMBOLS.get(result.name, (_letter(result.name), False))
        if each:
            return [f"{symbol[0]}_{{{symbol[2:]},{i + 1}}}" for (i,) in _indices(result.shape)]
        return [_indexed(symbol, indices) for indices in _indices(result.shape)]

    def unknowns(self, function: Function) -> list[list[str]]:
        """Return symbols of the entries of each of a function's arguments."""
        return [self.argument(argument) for argument in function.arguments]

    @cached_property
    def quantities(self) -> dict[str, str]:
        """Symbols of the quantities that the algorithms name, as in the general equations; indices are the bodies'."""
        symbols: dict[str, str] = {}
        for i, body in enumerate(self.mechanism.bodies, start=1):
            for quantity, symbol in _QUANTITIES.items():
                for component in "xyz":
                    symbols[f"{quantity}_{body.name}_{component}"] = f"{symbol}_{{{i},{component}}}"
            for row, column in itertools.product("xyz", repeat=2):
                symbols[f"rotation_{body.name}_{row}_{column}"] = f"{{}}^0 R_{{{i},{row}{column}}}"
            symbols[f"{body.name}_cos"], symbols[f"{body.name}_sin"] = f"C_{{{i}}}", f"S_{{{i}}}"
        return symbols

    def _entry(self, name: str, k: int) -> str:
        known = {"q": self.coordinate, "v": self.velocity, "a": self.acceleration}
        return known[name](k) if name in known else _indexed(letter(name), (k,))


def _letter(name: str) -> str:
    return "\\pi" if name == "parameters" else letter(name)


def _indexed(symbol: str, indices: Sequence[int]) -> str:
    return f"{symbol}_{{{','.join(str(index + 1) for index in indices)}}}" if indices else symbol


def _indices(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Return indices of an array's entries, row-major."""
    found = []
    for k in range(math.prod(shape)):
        indices: list[int] = []
        for size in reversed(shape):
            k, index = divmod(k, size)
            indices.insert(0, index)
        found.append(tuple(indices))
    return found
