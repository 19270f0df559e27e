# SPDX-License-Identifier: Apache-2.0
"""When a motion is where on its path: speed along the path, and stops on it, with bounded path acceleration."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import PathPlace, TimeLaw, time_over

_SAME = 1e-9


class PathTiming:
    """Timing of a trajectory along its own path, whose parameter is the time that the trajectory has there.

    Slowing down by the timing keeps every joint on the path: with s(t) the joints are at q(s), their velocities
    q' s', their accelerations q'' s'² + q' s''.

    Attributes:
        length: duration of the trajectory at its own speed [s].
        speed: share of the trajectory's own speed to move with [-].
        acceleration: bound of the change of that share [1/s].
        law: where on the path the motion is when, from its start to where it stands.
    """

    def __init__(self, start: float, length: float, *, speed: float = 1.0, acceleration: float = 2.0) -> None:
        """Begin a trajectory, which is at rest there, at full speed.

        Args:
            start: time at which it begins [s].
            length: see the attribute.
            speed: see the attribute; above 0.
            acceleration: see the attribute; above 0.

        Raises:
            InputError: a number is out of its range.
        """
        for name, value in (("speed", speed), ("acceleration", acceleration)):
            if not 0.0 < value < math.inf:
                raise InputError(f"is {value:g}", element=name, remedy="Give a number above 0")
        self.length = length
        self.speed = speed
        self.acceleration = acceleration
        ends = np.array([start, start + length / speed])
        self.law = TimeLaw(ends, np.array([0.0, length]), np.array([speed, speed]), np.zeros(1))
        self._stop: float | None = None

    @property
    def end(self) -> float:
        """Time at which the motion stands, at the path's end or where it was stopped [s]."""
        return float(self.law.times[-1])

    @property
    def end_position(self) -> float:
        """Where on the path it stands then [s]."""
        return self.length if self._stop is None else self._stop

    def at(self, time: float) -> PathPlace:
        """Return the place on the path at a time [s]; before the start and after the end it stands."""
        if time < self.law.times[0]:
            return PathPlace(float(self.law.positions[0]), 0.0, 0.0)
        return self.law.at(time) if time < self.end else PathPlace(self.end_position, 0.0, 0.0)

    def braking_distance(self, speed: float) -> float:
        """Length of path from a speed to rest [s]."""
        return 0.5 * speed * speed / self.acceleration

    def stop(self, time: float, position: float, acceleration: float | None = None) -> None:
        """Go on and stand at a place on the path.

        Args:
            time: from which on the timing may change [s].
            position: where to stand [s].
            acceleration: bound of the change of speed from then on [1/s]; None: as before.

        Raises:
            InputError: the place has been passed, or is too near to brake.
        """
        if acceleration is not None:
            self.acceleration = acceleration
        now = self.at(time)
        least = now.position + self.braking_distance(now.speed)
        if not least - 1e-6 <= position <= self.length + _SAME:
            raise InputError(f"is {position:g} s", element="position", remedy=f"Give {least:g} to {self.length:g} s")
        self._stop = max(position, least)
        self._plan(time, now)

    def stopped(self, time: float, position: float, acceleration: float | None = None) -> PathTiming:
        """Return this timing with a stop; arguments and errors are those of :meth:`stop`."""
        tail = copy.copy(self)
        tail.stop(time, position, acceleration)
        return tail

    def restart(self, time: float, place: PathPlace) -> None:
        """Go on from where the joints really are, because their commands came too late for a while.

        Args:
            time: now [s].
            place: there.
        """
        if self._stop is not None:
            self._stop = max(self._stop, place.position + self.braking_distance(place.speed))
        self._plan(time, place)

    def braked(self, time: float, duration: float) -> PathTiming:
        """Return this timing until a time, and from there on a linear slow-down to rest.

        It is what controllers are left with when nothing more comes.

        Args:
            time: at which the slow-down begins [s].
            duration: of the slow-down [s].
        """
        tail, now = copy.copy(self), self.at(time)
        stand = now.position + 0.5 * duration * now.speed
        if stand < self.end_position:
            tail._stop = stand
            tail._go_on(time, now, [(duration, -now.speed / duration)])
        return tail

    def _plan(self, time: float, now: PathPlace) -> None:
        """Replace what follows a time: to the wanted speed, on, and where there is a stop down to rest."""
        position, speed, _ = now
        rate = self.acceleration
        cruise = self.speed
        if self._stop is not None:
            # The highest speed from which one can still brake, if the way is too short for the wanted one.
            cruise = min(cruise, max(math.sqrt(max(rate * (self._stop - position) + 0.5 * speed * speed, 0.0)), speed))
        pieces = []
        if abs(cruise - speed) > _SAME:
            slope = math.copysign(rate, cruise - speed)
            taken = (cruise - speed) / slope
            if self._stop is None:
                taken = min(taken, time_over(self.length - position, speed, slope))
            pieces.append((taken, slope))
            position += taken * (speed + 0.5 * taken * slope)
        brake = self.length if self._stop is None else self._stop - self.braking_distance(cruise)
        if brake > position + _SAME:
            pieces.append(((brake - position) / cruise, 0.0))
        if self._stop is not None:
            pieces.append((cruise / rate, -rate))
        self._go_on(time, now, pieces)

    def _go_on(self, time: float, now: PathPlace, pieces: Sequence[tuple[float, float]]) -> None:
        """Replace what follows a time by durations [s] and accelerations [1/s] from a place on."""
        law, (position, speed, _) = self.law, now
        # Where it has stood since the law's end, that is a piece too.
        kept = int(np.searchsorted(law.times, time))
        speeds, before = np.append(law.speeds[:-1], 0.0)[:kept], np.append(law.accelerations, 0.0)[:kept]
        points = [*zip(law.times[:kept], law.positions[:kept], speeds, strict=True), (time, position, speed)]
        for duration, acceleration in pieces:
            time += duration
            position += duration * (speed + 0.5 * duration * acceleration)
            speed += duration * acceleration
            points.append((time, position, speed))
        accelerations = np.append(before, [acceleration for _, acceleration in pieces])
        times, positions, rates = np.array(points).T
        self.law = TimeLaw(times, positions, rates, accelerations)
