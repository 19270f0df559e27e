# SPDX-License-Identifier: Apache-2.0
"""From the text of a URDF, and from names, to Python source text."""

from __future__ import annotations

import math
from collections.abc import Iterable

from humanoid_model.errors import RobotError


def numbers(text: str) -> list[float]:
    """Return the numbers of an attribute, ``"4 1 5"`` gives ``[4.0, 1.0, 5.0]``.

    Raises:
        RobotError: a word is not a finite number.
    """
    values = []
    for word in text.split():
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise RobotError(f"'{word}' in '{text}' is not a finite number", remedy="Give finite numbers")
        values.append(value)
    return values


def literal(values: str | float | Iterable[float]) -> str:
    """Source text of a number, of several, or of an attribute's text: ``"4 1 5"`` gives ``"[4.0, 1.0, 5.0]"``.

    Raises:
        RobotError: text with a word that is not a finite number.
    """
    if isinstance(values, str):
        values = numbers(values)
    if isinstance(values, Iterable):
        return "[" + ", ".join(literal(value) for value in values) + "]"
    return repr(float(values) + 0.0)  # without the sign of -0.0


def quoted(name: str) -> str:
    """Return a name as a string literal, in double quotes unless the name has some."""
    return repr(name) if '"' in name else f'"{repr(name)[1:-1]}"'


def shown(name: str) -> str:
    """Return a name as it may stand in a comment or docstring: in one line, ending neither."""
    return "".join(char if char.isprintable() and char not in '"\\' else "?" for char in name)
