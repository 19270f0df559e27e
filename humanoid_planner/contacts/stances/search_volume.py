# SPDX-License-Identifier: Apache-2.0
"""Places and directions where a couple may hold: a convex polygon times an interval of angles (section 7.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.support_polygon import clip_convex

WHOLE_TURN = 2 * math.pi
#: Pieces thinner than this are dropped [m] or [rad].
_THIN = 1e-6


@dataclass(frozen=True, eq=False)
class SearchVolume:
    """Upsilon: the patch frame's origin in a polygon of the surface, its direction in an interval.

    Attributes:
        polygon: (k, 2) convex, counter-clockwise, surface frame [m].
        low: smallest angle [rad].
        high: largest angle; low + 2 pi at most, which is all directions.
    """

    polygon: NDArray[np.float64]
    low: float = -math.pi
    high: float = math.pi

    def __post_init__(self) -> None:
        polygon = np.asarray(self.polygon, dtype=float)
        if polygon.ndim != 2 or len(polygon) < 3 or not np.isfinite(polygon).all():
            raise InputError(
                f"has the shape {polygon.shape}",
                element="polygon of a search volume",
                remedy="Give three finite vertices or more, counter-clockwise",
            )
        if not (math.isfinite(self.low) and 0 < self.high - self.low <= WHOLE_TURN + 1e-9):
            raise InputError(
                f"are from {self.low} to {self.high}",
                element="angles of a search volume",
                remedy="Give an interval of at most a turn",
            )
        object.__setattr__(self, "polygon", polygon)

    @property
    def area(self) -> float:
        """Of the polygon [m^2]."""
        x, y = self.polygon.T
        return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))

    @property
    def measure(self) -> float:
        """Area times angle [m^2 rad]."""
        return self.area * (self.high - self.low)

    @property
    def whole(self) -> bool:
        """Whether all directions are in it."""
        return self.high - self.low >= WHOLE_TURN - 1e-9

    def contains(self, x: float, y: float, theta: float, tolerance: float = 0.0) -> bool:
        """Return whether a place and direction are in it, or that near [m] and [rad]."""
        start, end = self.polygon, np.roll(self.polygon, -1, axis=0)
        edges = end - start
        inward = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
        if float(np.einsum("ij,ij->i", [x, y] - start, inward).min()) < -tolerance:
            return False
        turn = (theta - self.low + tolerance) % WHOLE_TURN
        return self.whole or turn <= self.high - self.low + 2 * tolerance

    def without_box(self, x: float, y: float, theta: float, size: float, angle: float) -> list[SearchVolume]:
        """Convex pieces that cover it without a box about a point: at most two in angle, two in x and two in y.

        A volume that the box doesn't touch stays whole.

        Args:
            x: of the box's centre [m].
            y: likewise.
            theta: likewise [rad].
            size: delta l, width of the box [m].
            angle: delta theta, its range of directions [rad].

        Raises:
            InputError: a size that isn't above zero: pieces would never end.
        """
        for name, value in (("size", size), ("angle", angle)):
            if not 0 < value < math.inf:
                raise InputError(f"is {value}", element=f"{name} of the removed box", remedy="Give a number above 0")
        pieces, low, high = self._beside(theta, angle)
        left, middle, right = _cut(self.polygon, 0, x - 0.5 * size, x + 0.5 * size)
        under, box, above = _cut(middle, 1, y - 0.5 * size, y + 0.5 * size)
        if high - low <= _THIN or len(box) < 3 or SearchVolume(box).area <= _THIN**2:
            return [self]
        pieces += [SearchVolume(part, low, high) for part in (left, right, under, above) if len(part) >= 3]
        return [piece for piece in pieces if piece.area > _THIN**2]

    def halves(self) -> list[SearchVolume]:
        """Itself, or its parts of half a turn at most where it has more: angles between two half-planes."""
        span = self.high - self.low
        if self.whole or span <= math.pi:
            return [self]
        middle = 0.5 * (self.low + self.high)
        return [SearchVolume(self.polygon, self.low, middle), SearchVolume(self.polygon, middle, self.high)]

    def _beside(self, theta: float, angle: float) -> tuple[list[SearchVolume], float, float]:
        """Return parts of other directions, and the interval of the box's directions."""
        if angle >= WHOLE_TURN:
            return [], self.low, self.high
        if self.whole:
            low, high = theta - 0.5 * angle, theta + 0.5 * angle
            return [SearchVolume(self.polygon, high, low + WHOLE_TURN)], low, high
        inside = self.low + (theta - self.low) % WHOLE_TURN
        if inside > self.high + math.pi - 0.5 * (self.high - self.low):
            inside -= WHOLE_TURN  # just below the interval rather than far above it
        low, high = max(self.low, inside - 0.5 * angle), min(self.high, inside + 0.5 * angle)
        spans = ((self.low, low), (high, self.high))
        return [SearchVolume(self.polygon, a, b) for a, b in spans if b - a > _THIN], low, high


def _cut(polygon: NDArray[np.float64], axis: int, low: float, high: float) -> list[NDArray[np.float64]]:
    """Return parts of a polygon below, between and above two values of a coordinate."""
    if len(polygon) < 3:
        return [np.zeros((0, 2))] * 3
    least, most = polygon.min(axis=0) - 1.0, polygon.max(axis=0) + 1.0
    parts = []
    for a, b in ((least[axis], low), (low, high), (high, most[axis])):
        start, end = least.copy(), most.copy()
        start[axis], end[axis] = max(a, least[axis]), min(b, most[axis])
        box = [(start[0], start[1]), (end[0], start[1]), (end[0], end[1]), (start[0], end[1])]
        empty = end[axis] - start[axis] <= _THIN
        parts.append(np.zeros((0, 2)) if empty else clip_convex(polygon, np.array(box)))
    return parts


def surface_volume(polygon: ArrayLike | None, around: ArrayLike, radius: float) -> SearchVolume | None:
    """Return the upsilon of a surface; one without an outline is taken in a square about a point.

    Args:
        polygon: (k, 2) outline of the surface, None where it is unbounded.
        around: (2,) point of the surface [m].
        radius: half the width of the square [m].

    Returns:
        The volume, None where a bounded surface has none of its outline in the square.
    """
    x, y = np.asarray(around, dtype=float)
    square = np.array(
        [(x - radius, y - radius), (x + radius, y - radius), (x + radius, y + radius), (x - radius, y + radius)]
    )
    if polygon is None:
        return SearchVolume(square)
    outline = np.asarray(polygon, dtype=float)
    if (outline.max(axis=0) < square[0]).any() or (outline.min(axis=0) > square[2]).any():
        return None
    part = clip_convex(outline, square)
    return SearchVolume(part) if len(part) >= 3 else None
