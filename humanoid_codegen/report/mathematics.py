# SPDX-License-Identifier: Apache-2.0
r"""How numbers, sums and products are written in LaTeX's mathematics.

Only letters follow a backslash, apart from line ends: Markdown readers take ``\,`` or ``\_`` for escapes of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
