# SPDX-License-Identifier: Apache-2.0
"""Contact points as flat arrays, filled anew at each step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ContactPoints:
    """Points where two bodies touch or are about to.

    The arrays have room for ``capacity`` points; the first ``size`` are valid. Body a is the one
    that the normal points into.

    Attributes:
        size: number of points.
        positions: in the world [m], shape (capacity, 3).
        normals: unit, from body b into body a, in the world, shape (capacity, 3).
        gaps: signed distance along the normal [m], shape (capacity,).
        friction: friction coefficient, shape (capacity,).
        restitution: restitution coefficient, shape (capacity,).
        joint_a: joint that moves body a, 0 for a fixed body, shape (capacity,).
        joint_b: joint that moves body b, shape (capacity,).
        body_a: index of body a in the world, shape (capacity,).
        body_b: index of body b in the world, shape (capacity,).
        corner: whether the point stays the same point of body a as long as the contact lasts, shape (capacity,).
        slots: number that stays the same as long as the same features touch, for warm starts, shape (capacity,).
    """

    def __init__(self, capacity: int) -> None:
        """Allocate room for ``capacity`` points."""
        self.size = 0
        self.positions: NDArray[np.float64] = np.zeros((capacity, 3))
        self.normals: NDArray[np.float64] = np.zeros((capacity, 3))
        self.gaps: NDArray[np.float64] = np.zeros(capacity)
        self.friction: NDArray[np.float64] = np.zeros(capacity)
        self.restitution: NDArray[np.float64] = np.zeros(capacity)
        self.joint_a: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.joint_b: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.body_a: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.body_b: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)
        self.corner: NDArray[np.bool_] = np.zeros(capacity, dtype=np.bool_)
        self.slots: NDArray[np.int64] = np.zeros(capacity, dtype=np.int64)

    def enlarged(self) -> ContactPoints:
        """Return a copy with room for twice as many points."""
        copy = ContactPoints(2 * len(self.gaps))
        copy.size = self.size
        for name, array in vars(self).items():
            if name != "size":
                getattr(copy, name)[: len(array)] = array
        return copy


class PointTable(NamedTuple):
    """Arrays of :class:`ContactPoints`, by the same names."""

    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    gaps: NDArray[np.float64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]
    joint_a: NDArray[np.int64]
    joint_b: NDArray[np.int64]
    body_a: NDArray[np.int64]
    body_b: NDArray[np.int64]
    slots: NDArray[np.int64]
    corner: NDArray[np.bool_]

    @classmethod
    def of_points(cls, points: ContactPoints) -> PointTable:
        """Return the arrays of contact points, shared."""
        return cls(
            points.positions, points.normals, points.gaps, points.friction, points.restitution, points.joint_a,
            points.joint_b, points.body_a, points.body_b, points.slots, points.corner,
        )  # fmt: skip
