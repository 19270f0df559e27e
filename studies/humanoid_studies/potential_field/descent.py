# SPDX-License-Identifier: Apache-2.0
"""Descent along the force of a potential of points, and repulsors that keep it off obstacles (001 section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError


class Repulsor:
    """A potential that keeps points away from an obstacle (5.17, E-15): 1/2 scale (1/d - 1/d0)^2 where d <= d0.

    Attributes:
        reach: d0, distance from which on it is zero.
        scale: lambda.
    """

    def __init__(self, distance: Callable[[Array], tuple[float, Array]], reach: float, scale: float = 1.0) -> None:
        """Take an obstacle.

        Args:
            distance: gives a point's distance to the obstacle and its (n,) gradient.
            reach: d0, above zero.
            scale: lambda, above zero.

        Raises:
            InputError: a number that isn't above zero.
        """
        for name, value in (("reach", reach), ("scale", scale)):
            if not 0 < value < math.inf:
                raise InputError(f"is {value}", element=f"{name} of the repulsor", remedy="Give a number above 0")
        self._distance, self.reach, self.scale = distance, reach, scale

    def value(self, point: ArrayLike) -> float:
        """Return u of a point (n,); infinite in the obstacle."""
        d, _ = self._distance(np.asarray(point, dtype=float))
        if d <= 0:
            return math.inf
        return 0.5 * self.scale * (1 / d - 1 / self.reach) ** 2 if d <= self.reach else 0.0

    def force(self, point: ArrayLike) -> Array:
        """(n,) -dU/dpoint; zero in the obstacle, where the potential is infinite."""
        d, gradient = self._distance(np.asarray(point, dtype=float))
        if not 0 < d <= self.reach:
            return np.zeros_like(gradient)
        return np.asarray(self.scale * (1 / d - 1 / self.reach) / d**2 * gradient)


def descend(force: Callable[[Array], Array], start: ArrayLike, gain: float, steps: int) -> Array:
    """Follows a force (5.2), which ends in the next minimum, be it the goal's or not.

    Args:
        force: of a point (n,).
        start: (n,).
        gain: delta of a step.
        steps: how many.

    Returns:
        (steps + 1, n) points.
    """
    points = [np.asarray(start, dtype=float)]
    for _ in range(steps):
        points.append(points[-1] + gain * force(points[-1]))
    return np.array(points)
