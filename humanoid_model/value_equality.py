# SPDX-License-Identifier: Apache-2.0
"""Equality by value for frozen dataclasses that hold arrays and placements."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pinocchio as pin


class ValueEquality:
    """Mixin: two dataclasses are equal when they are of one type and all compared fields are.

    Arrays compare element by element and ``pin.SE3`` by their matrices, both exactly; the equality that
    ``dataclass`` generates would raise on arrays. Fields declared with ``compare=False`` don't count.
    """

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _equal(getattr(self, field.name), getattr(other, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.compare
        )

    # Values with arrays inside have no cheap hash that agrees with ==.
    __hash__ = None  # type: ignore[assignment]


def _equal(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    if isinstance(a, pin.SE3) and isinstance(b, pin.SE3):
        return bool(np.array_equal(a.homogeneous, b.homogeneous))
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    return bool(a == b)
