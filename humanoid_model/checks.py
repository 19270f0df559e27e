# SPDX-License-Identifier: Apache-2.0
"""Checks of what a user gives; each error names the argument or field, its value and what would be accepted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from numbers import Real
from typing import TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError

K = TypeVar("K", bound=IntEnum)
LARGEST = 1e4
"""Largest length [m], angle [rad] or acceleration [m/s^2] that is no mistake; squares of it still keep millimetres."""
LISTED = 40
"""Names that an error message lists at most."""
LONGEST_NAME = 200
"""Characters of a name at most; ROS puts names of robots and links together, and has 255 for a topic."""


def is_finite(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number; texts that read like one aren't."""
    return isinstance(value, Real) and math.isfinite(value)


def shown(value: object) -> str:
    """Return what a message shows of a value that should be a number."""
    return f"{value:g}" if isinstance(value, Real) else repr(value)


def check_number(value: float, element: str, *, lower: float = 0.0, upper: float = math.inf) -> float:
    """Return a finite number within bounds, which count as within.

    Raises:
        InputError: it isn't one.
    """
    if not (math.isfinite(value) and lower <= value <= upper):
        limits = f" from {lower:g} to {upper:g}" if math.isfinite(upper) else f" of at least {lower:g}"
        raise InputError(
            f"is {value}", element=element, remedy=f"Give a finite number{limits if math.isfinite(lower) else ''}"
        )
    return float(value)


def check_positive(value: float, element: str, what: str = "number") -> float:
    """Return a finite number above 0; ``what`` it is tells its unit, for example "length in metres".

    Raises:
        InputError: it isn't one.
    """
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f"is {value}", element=element, remedy=f"Give a positive {what}")
    return float(value)


def check_array(values: ArrayLike, element: str, shape: tuple[int, ...] = (3,)) -> Array:
    """Return an array of finite numbers of a shape.

    Raises:
        InputError: it isn't one.
    """
    count = " x ".join(map(str, shape)) or "one"
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"is {values!r}", element=element, remedy=f"Give {count} finite numbers") from error
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(f"is {array.tolist()}", element=element, remedy=f"Give {count} finite numbers")
    return array


def check_direction(values: ArrayLike, element: str) -> Array:
    """Return the unit vector along three numbers.

    Raises:
        InputError: they aren't finite, or have no direction.
    """
    array = check_array(values, element)
    norm = float(np.linalg.norm(array))
    if norm < 1e-9:
        raise InputError(
            f"is {array.tolist()}, which has no direction", element=element, remedy="Give a vector that isn't zero"
        )
    return array / norm


def check_finite(value: float, field: str) -> float:
    """Return a number that is no mistake: finite, and no larger than anything of a robot's world.

    Raises:
        InputError: it is one.
    """
    if not isinstance(value, Real):
        raise InputError(f"is {shown(value)}", element=field, remedy="Give a finite number")
    check_numbers(np.array([value]), field, LARGEST, f"{value:g}", "a finite number")
    return float(value)


def check_not_negative(value: float, field: str, unit: str) -> float:
    """Return a finite number of 0 or more.

    Raises:
        InputError: it is negative, not finite or absurdly large.
    """
    if not (is_finite(value) and value >= 0.0):
        raise InputError(f"is {shown(value)}", element=field, remedy=f"Give a finite number of 0 or more [{unit}]")
    return check_finite(value, field)


def check_numbers(
    values: Array, field: str, largest: float = LARGEST, text: str = "", what: str = "finite numbers"
) -> None:
    """Raise an InputError that names the field if one of some values is no number to reckon with.

    Args:
        values: to look at.
        field: that gives them.
        largest: size that none may exceed.
        text: how the message shows them.
        what: the field should hold.
    """
    text = text or str(values.tolist())
    if not np.isfinite(values).all():
        raise InputError(f"is {text}", element=field, remedy=f"Give {what}")
    if values.size and np.abs(values).max() > largest:
        raise InputError(f"is {text}", element=field, remedy=f"Give {what} of at most {largest:g} in size")


def check_enumerated(value: int, kinds: type[K], field: str) -> K:
    """Return the member of an enumeration that a number means.

    Raises:
        InputError: there is no such constant.
    """
    try:
        return kinds(value)
    except ValueError:
        known = ", ".join(f"{kind.value} ({kind.name})" for kind in kinds)
        raise InputError(f"is {value}", element=field, remedy=f"Give one of {known}") from None


def check_known(name: str, names: Iterable[str], field: str, what: str) -> str:
    """Return a name that exists.

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


def check_new_name(name: str, taken: Iterable[str], field: str, what: str) -> str:
    """Return a name that is given and not taken.

    Raises:
        InputError: it is empty, taken or none that :func:`check_name` takes.
    """
    if not name.strip():
        raise InputError("is empty", element=field, remedy=f"Give the {what} a name")
    check_name(name, lambda problem, remedy: InputError(problem, element=field, remedy=remedy))
    if name in taken:
        raise InputError(f"there is already a {what} '{name}'", element=field, remedy="Give another name")
    return name


def check_name(name: str, fail: Callable[[str, str], InputError]) -> str:
    """Return a name that can be shown in one line; names of files and texts all come through here.

    Args:
        name: of a link, a joint, a body, a scene, ...
        fail: makes the error of problem and remedy.

    Raises:
        InputError: it is too long, or has a line break or another character that can't be seen.
    """
    if len(name) > LONGEST_NAME:
        raise fail(f"a name has {len(name)} characters", f"Give at most {LONGEST_NAME}")
    if not name.isprintable():
        raise fail(f"the name {name!r} has a character that can't be seen", "Use letters, digits, - and _")
    return name


def listed(names: Sequence[str]) -> str:
    """Names for a message: all, or the first and how many more there are."""
    if len(names) > LISTED:
        return f"{', '.join(names[:LISTED])} and {len(names) - LISTED} more"
    return ", ".join(names) if names else "none"
