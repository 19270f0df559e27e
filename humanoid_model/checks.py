# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments: numbers, vectors and names that a user gives."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError


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
    array = np.asarray(values, dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        count = " x ".join(map(str, shape)) or "one"
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


def check_known(name: str, known: Iterable[str], element: str, what: str) -> None:
    """Return if a name is among known ones; ``what`` has such names, for example "joint".

    Raises:
        InputError: it isn't.
    """
    names = tuple(known)
    if name not in names:
        raise InputError(f"unknown {what} '{name}'", element=element, remedy=f"Use one of {', '.join(names)}")
