# SPDX-License-Identifier: Apache-2.0
"""First time of contact of two moving shapes, by conservative advancement (Mirtich 1996)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

_MAX_ITERATIONS = 200


@dataclass(frozen=True)
class ShapeMotion:
    """Where a shape is and how it moves: it spins about a point that moves straight on.

    Attributes:
        R: rotation to the world, shape (3, 3).
        p: origin in the world [m], shape (3,).
        centre: the point, in the world; that of the shape's bounding box [m], shape (3,).
        velocity: of the point [m/s], shape (3,).
        spin: angular velocity in the world [rad/s], shape (3,).
    """

    R: NDArray[np.float64]
    p: NDArray[np.float64]
    centre: NDArray[np.float64]
    velocity: NDArray[np.float64]
    spin: NDArray[np.float64]

    def __post_init__(self) -> None:
        # Pinocchio's matrices go by columns: kernels would be compiled once more for each such argument.
        object.__setattr__(self, "R", np.ascontiguousarray(self.R))

    def after(self, time: float) -> ShapeMotion:
        """Return the same motion some time later [s]."""
        turn = pin.exp3(time * self.spin)
        centre = self.centre + time * self.velocity
        return ShapeMotion(
            turn @ self.R, centre + turn @ (self.p - self.centre), centre, self.velocity, self.spin
        )


def time_of_contact(
    distance: Callable[[ShapeMotion, ShapeMotion, float], tuple[float, NDArray[np.float64]]],
    first: ShapeMotion,
    second: ShapeMotion,
    radii: tuple[float, float],
    horizon: float,
    tolerance: float,
) -> float:
    """First time at which two moving shapes touch.

    With the shapes apart by d along n, no point of them can cross before d over the fastest approach along n.

    Args:
        distance: signed distance of the shapes at two places up to a cutoff, and the unit normal from the second one
            into the first; infinite beyond the cutoff.
        first: body a.
        second: body b.
        radii: how far each shape reaches from its centre [m].
        horizon: times beyond it are not looked for [s].
        tolerance: distance at which the shapes touch [m].

    Returns:
        The time, 0 where they touch from the start, infinity where they don't touch up to the horizon [s].
    """
    turn = sum(radius * float(np.linalg.norm(m.spin)) for radius, m in zip(radii, (first, second), strict=True))
    relative = first.velocity - second.velocity
    speed = float(np.linalg.norm(relative)) + turn
    time = 0.0
    for _ in range(_MAX_ITERATIONS):
        cutoff = speed * (horizon - time) + tolerance
        gap, normal = distance(first.after(time), second.after(time), cutoff)
        if gap == math.inf:
            return math.inf
        if gap <= tolerance:
            return time
        closing = turn - float(normal @ relative)
        if closing <= 0.0 or time + gap / closing > horizon:
            return math.inf
        time += gap / closing
    return time
