# SPDX-License-Identifier: Apache-2.0
"""Checks of single fields of a request; each error names the field, its value and what would be accepted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TypeVar

from humanoid_model.errors import InputError

K = TypeVar("K", bound=IntEnum)
LISTED = 40
"""Names that an error message lists at most."""


def finite(value: float, field: str) -> float:
    """A number that is neither infinite nor not a number.

    Raises:
        InputError: it is.
    """
    if not math.isfinite(value):
        raise InputError(f"is {value}", element=field, remedy="Give a finite number")
    return float(value)


def not_negative(value: float, field: str, unit: str) -> float:
    """A finite number of 0 or more.

    Raises:
        InputError: it is negative or not finite.
    """
    if not (math.isfinite(value) and value >= 0.0):
        raise InputError(f"is {value:g}", element=field, remedy=f"Give a finite number of 0 or more [{unit}]")
    return float(value)


def enumerated(value: int, kinds: type[K], field: str) -> K:
    """The member of an enumeration that a constant of a message means.

    Raises:
        InputError: there is no such constant.
    """
    try:
        return kinds(value)
    except ValueError:
        known = ", ".join(f"{kind.value} ({kind.name})" for kind in kinds)
        raise InputError(f"is {value}", element=field, remedy=f"Give one of {known}") from None


def known_name(name: str, names: Iterable[str], field: str, what: str) -> str:
    """A name that exists.

    Args:
        name: the name.
        names: that exist.
        field: where the name comes from.
        what: is named, for the message: "link".

    Raises:
        InputError: it doesn't.
    """
    names = tuple(names)
    if name not in names:
        raise InputError(f"there is no {what} '{name}'", element=field, remedy=f"Known are: {listed(names)}")
    return name


def new_name(name: str, taken: Iterable[str], field: str, what: str) -> str:
    """A name that is given and not taken.

    Raises:
        InputError: it is empty or taken.
    """
    if not name.strip():
        raise InputError("is empty", element=field, remedy=f"Give the {what} a name")
    if name in taken:
        raise InputError(f"there is already a {what} '{name}'", element=field, remedy="Give another name")
    return name


def listed(names: Sequence[str]) -> str:
    """Names for a message: all, or the first and how many more there are."""
    if len(names) > LISTED:
        return f"{', '.join(names[:LISTED])} and {len(names) - LISTED} more"
    return ", ".join(names) if names else "none"
