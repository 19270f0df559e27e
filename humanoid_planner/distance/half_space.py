# SPDX-License-Identifier: Apache-2.0
"""A half-space: the ground, a wall, a table top without edges."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.checks import check_array, check_number
from humanoid_model.errors import InputError
from humanoid_model.value_equality import ValueEquality


@dataclass(frozen=True, eq=False)
class HalfSpace(ValueEquality):
    """The points p with ``normal . p <= offset``, in its own frame.

    Attributes:
        normal: (3,) outward normal; made unit length, ``offset`` with it.
        offset: along the unit normal [m].

    Raises:
        InputError: the normal is not three finite numbers other than zero, or the offset not finite.
    """

    normal: np.ndarray
    offset: float = 0.0

    def __post_init__(self) -> None:
        normal = check_array(self.normal, "half-space normal")
        if not np.any(normal):
            raise InputError(
                f"is {self.normal}", element="half-space normal", remedy="Give a vector that isn't zero"
            )
        check_number(self.offset, "half-space offset", lower=-math.inf)
        largest = np.abs(normal).max()
        length = float(largest * np.linalg.norm(normal / largest))  # no overflow, no underflow
        normal = normal / length
        normal.setflags(write=False)
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "offset", float(self.offset) / length)

    def height(self, points: ArrayLike) -> np.ndarray:
        """Signed distance of points to the boundary, negative inside.

        Args:
            points: (..., 3) in the half-space's frame [m].

        Returns:
            (...) [m].
        """
        return np.asarray(np.asarray(points, dtype=np.float64) @ self.normal - self.offset)
