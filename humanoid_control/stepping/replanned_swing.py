# SPDX-License-Identifier: Apache-2.0
r"""The way of a swinging foot to a place and a time that may change on the way.

Each tick follows the quintic of least squared jerk from where the foot is led to, at its speed and acceleration, to the
goal; its jerk at the start is

.. math:: j = \frac{60(x_f-x)}{r^3}-\frac{36\dot x+24\dot x_f}{r^2}-\frac{9\ddot x}{r}

for r seconds that are left. With a goal that stays it is the quintic itself.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array

_SHORTEST = 0.02
"""Time that is always taken for the rest of a way, which bounds its jerk [s]."""
_LATE = 0.08
"""Time for the rest of a way when the foot should have landed [s]."""
_HASTE = 4.0
"""Acceleration of a foot that finds no ground [m/s²]."""
_RISE = 0.45
"""Share of a swing in which the foot rises."""


class ReplannedSwing:
    """What a swinging foot is led along: x, y, height and heading.

    Args:
        place: (4,) x, y, z [m] and heading [rad] where it leaves.
        clearance: height over the higher one of both ends [m].
        lift: when it leaves, since the step began [s].

    Attributes:
        position: (4,) now.
        velocity: (4,) now.
        acceleration: (4,) now.
    """

    def __init__(self, place: Array, clearance: float, lift: float) -> None:
        self.position, self.velocity, self.acceleration = place.copy(), np.zeros(4), np.zeros(4)
        self._clearance, self._lift, self._start = clearance, lift, float(place[2])

    def advance(self, goal: Array, elapsed: float, duration: float, dt: float, descent: float) -> None:
        """Go on by a tick.

        Args:
            goal: (4,) where it is to land, x, y, z [m] and heading [rad].
            elapsed: since the step began [s].
            duration: of the step [s].
            dt: of the tick [s].
            descent: speed at which it meets the ground, and goes on when there is none [m/s].
        """
        height = self.position[2]
        late = max(0.0, elapsed - duration)
        rest = max(duration - elapsed, _SHORTEST if late == 0.0 else _LATE)
        target, end, left = goal.copy(), np.zeros(4), np.full(4, rest)
        rise = self._lift + _RISE * (duration - self._lift)
        if elapsed < rise:
            target[2] = max(self._start, goal[2]) + self._clearance
            left[2] = max(rise - elapsed, _SHORTEST)
        else:
            end[2] = -descent
        jerk = 60.0 * (target - self.position) / left**3 - (36.0 * self.velocity + 24.0 * end) / left**2
        jerk -= 9.0 * self.acceleration / left
        self.position += dt * (self.velocity + dt * (self.acceleration / 2.0 + dt * jerk / 6.0))
        self.velocity += dt * (self.acceleration + dt * jerk / 2.0)
        self.acceleration += dt * jerk
        if late > 0.0:
            # There is no ground yet: down, ever faster.
            self.acceleration[2], self.velocity[2] = -_HASTE, -descent - _HASTE * late
            self.position[2] = height + dt * self.velocity[2]
