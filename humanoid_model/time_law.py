# SPDX-License-Identifier: Apache-2.0
"""When a motion is where on its path."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from humanoid_model.arrays import Array, Reals

_SAME = 1e-9
"""Positions nearer than this are one."""


class PathPlace(NamedTuple):
    """Where on a path a motion is; units are those of the path's parameter.

    Attributes:
        position: parameter of the path.
        speed: its derivative by time.
        acceleration: its second derivative by time.
    """

    position: float
    speed: float
    acceleration: float

    def rates(self, slope: Array, bend: Array) -> tuple[Array, Array]:
        """Return velocity and acceleration, from the path's first and second derivatives by its parameter, alike."""
        return self.speed * slope, self.acceleration * slope + self.speed**2 * bend


@dataclass(frozen=True, eq=False)
class TimeLaw:
    """The path's parameter over time: pieces of constant acceleration along the path.

    Attributes:
        times: (m,) in order, of the beginnings of the pieces and of the end of the last one [s].
        positions: (m,) on the path.
        speeds: (m,) along it [1/s].
        accelerations: (m - 1,) along it, of the pieces [1/s^2].
    """

    times: Reals
    positions: Reals
    speeds: Reals
    accelerations: Reals

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1] - self.times[0])

    def at(self, time: float) -> PathPlace:
        """Return the place at a time [s], before the beginning and after the end those there."""
        k = min(max(int(np.searchsorted(self.times, time, side="right")) - 1, 0), len(self.accelerations) - 1)
        since = min(max(time - self.times[k], 0.0), self.times[k + 1] - self.times[k])
        acceleration = float(self.accelerations[k])
        position = float(self.positions[k] + since * self.speeds[k] + 0.5 * acceleration * since**2)
        return PathPlace(position, float(max(self.speeds[k] + acceleration * since, 0.0)), acceleration)

    def time_at(self, position: float) -> float:
        """Time at which a place on the path is reached [s]; infinite if it isn't."""
        if position > self.positions[-1] + _SAME:
            return math.inf
        # The first piece that gets there; a motion that was put back on its path comes by later.
        ends = np.append(self.positions[1:-1], math.inf)
        k = int(np.argmax(ends >= position - _SAME))
        way = max(position - float(self.positions[k]), 0.0)
        return float(self.times[k]) + time_over(way, float(self.speeds[k]), float(self.accelerations[k]))

    def slower(self, duration: float) -> TimeLaw:
        """Return the same law stretched to a duration; unchanged where it takes as long already.

        A law that keeps to convex limits which rest keeps to as well does so when it is slower.
        """
        factor = duration / self.duration
        if factor <= 1.0:
            return self
        return TimeLaw(factor * self.times, self.positions, self.speeds / factor, self.accelerations / factor**2)


def time_over(way: float, speed: float, acceleration: float) -> float:
    """Return the time that a way takes from a speed on with a constant acceleration; zero for no way."""
    # The first root of s = v t + a t²/2, in the form that is exact for small a.
    root = math.sqrt(max(speed * speed + 2.0 * acceleration * way, 0.0))
    return 2.0 * way / (speed + root) if way > 0.0 and speed + root > 0.0 else 0.0
