# SPDX-License-Identifier: Apache-2.0
"""Potentials of points: attractors, repulsors, and descent along their force (specification 001 section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError


class Attractor:
    """A mixed attractor (5.16, E-14): quadratic near the goal, linear far away, with a continuous slope.

    A switch of infinity gives the quadratic attractor (5.7), one of zero the linear one (5.3), scaled by ``scale``.

    Attributes:
        goal: (n,) where the potential is zero.
        switch: d0, distance at which it becomes linear.
        scale: a of the quadratic part; slope of the linear attractor.
    """

    def __init__(self, goal: ArrayLike, switch: float = 1.0, scale: float = 1.0) -> None:
        """Take a goal.

        Raises:
            InputError: a goal that isn't finite, a switch below zero or NaN, a scale that isn't above zero.
        """
        self.goal = np.atleast_1d(np.asarray(goal, dtype=float))
        self.switch, self.scale = float(switch), float(scale)
        if not np.isfinite(self.goal).all():
            raise InputError(f"is {self.goal}", element="goal of the attractor", remedy="Give finite numbers")
        if not self.switch >= 0:
            raise InputError(f"is {switch}", element="switch of the attractor", remedy="Give a number of at least 0")
        if not 0 < self.scale < math.inf:
            raise InputError(f"is {scale}", element="scale of the attractor", remedy="Give a number above 0")

    def value(self, point: ArrayLike) -> float:
        """Return u of a point (n,)."""
        far = float(np.linalg.norm(np.asarray(point) - self.goal))
        if self.switch == 0.0:
            return self.scale * far
        if far <= self.switch:
            return 0.5 * self.scale * far * far
        return self.scale * self.switch * (far - 0.5 * self.switch)

    def force(self, point: ArrayLike) -> Array:
        """(n,) -dU/dpoint; zero at the goal, where the linear attractor has none."""
        away = self.goal - np.asarray(point, dtype=float)
        far = float(np.linalg.norm(away))
        if far == 0.0:
            return np.zeros_like(away)
        if self.switch == 0.0:
            return np.asarray(self.scale * away / far)
        return np.asarray(self.scale * min(1.0, self.switch / far) * away)


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
