# SPDX-License-Identifier: Apache-2.0
"""When a motion is where on its path: speed along the path, and stops on it, with bounded path acceleration."""

from __future__ import annotations

import bisect
import copy
import math
from dataclasses import dataclass
from typing import NamedTuple

from humanoid_model.errors import InputError

_SAME = 1e-9


class PathPlace(NamedTuple):
    """Where on a path a motion is; the path's parameter is the time that its trajectory has there.

    Attributes:
        position: time of the trajectory [s].
        speed: share of the trajectory's own speed [-].
        acceleration: of that share [1/s].
    """

    position: float
    speed: float
    acceleration: float


@dataclass(frozen=True)
class _Piece:
    """Constant acceleration along the path from a time on."""

    time: float
    place: PathPlace

    def at(self, time: float) -> PathPlace:
        dt = time - self.time
        position, speed, acceleration = self.place
        return PathPlace(
            position + dt * (speed + 0.5 * dt * acceleration), max(speed + dt * acceleration, 0.0), acceleration
        )


class PathTiming:
    """Timing of a trajectory along its own path: pieces of constant path acceleration.

    Slowing down by the timing keeps every joint on the path: with s(t) the joints are at q(s), their velocities
    q' s', their accelerations q'' s'² + q' s''.

    Attributes:
        length: duration of the trajectory at its own speed [s].
        speed: share of the trajectory's own speed to move with [-].
        acceleration: bound of the change of that share [1/s].
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
        self._pieces = [_Piece(start, PathPlace(0.0, speed, 0.0))]
        self._stop: float | None = None

    @property
    def end(self) -> float:
        """Time at which the motion stands, at the path's end or where it was stopped [s]."""
        last = self._pieces[-1]
        if last.place.speed == 0.0:
            return last.time
        return last.time + (self.length - last.place.position) / last.place.speed

    @property
    def end_position(self) -> float:
        """Where on the path it stands then [s]."""
        return self.length if self._stop is None else self._stop

    @property
    def changes(self) -> tuple[float, ...]:
        """Times at which the path acceleration changes [s]."""
        return tuple(piece.time for piece in self._pieces)

    def at(self, time: float) -> PathPlace:
        """Return the place on the path at a time [s]; before the start and after the end it stands."""
        if time < self._pieces[0].time:
            return PathPlace(self._pieces[0].place.position, 0.0, 0.0)
        if time >= self.end:
            return PathPlace(self.end_position, 0.0, 0.0)
        index = bisect.bisect_right([piece.time for piece in self._pieces], time) - 1
        return self._pieces[index].at(time)

    def time_at(self, position: float) -> float:
        """Time at which a place on the path is reached [s]; infinite if it isn't."""
        if position > self.end_position + _SAME:
            return math.inf
        for piece, later in zip(self._pieces, [*self._pieces[1:], None], strict=True):
            if later is not None and later.place.position < position - _SAME:
                continue
            away, (_, speed, acceleration) = max(position - piece.place.position, 0.0), piece.place
            if away == 0.0:
                return piece.time
            # The first root of s + v dt + a dt²/2, in the form that is exact for small a.
            root = math.sqrt(max(speed * speed + 2.0 * acceleration * away, 0.0))
            return piece.time + (2.0 * away / (speed + root) if speed + root > 0.0 else 0.0)
        return self.end

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
        tail = PathTiming(0.0, self.length, speed=self.speed, acceleration=self.acceleration)
        tail._pieces, tail._stop = [piece for piece in self._pieces if piece.time < time], self._stop
        if time >= self.end:
            tail._pieces = list(self._pieces)
            return tail
        now = self.at(time)
        stand = now.position + 0.5 * duration * now.speed
        if stand >= self.end_position:
            tail._pieces = list(self._pieces)
            return tail
        tail._pieces.append(_Piece(time, PathPlace(now.position, now.speed, -now.speed / duration)))
        tail._pieces.append(_Piece(time + duration, PathPlace(stand, 0.0, 0.0)))
        tail._stop = stand
        return tail

    def _plan(self, time: float, now: PathPlace) -> None:
        """Replace what follows a time: to the wanted speed, on, and where there is a stop down to rest."""
        position, speed, _ = now
        rate = self.acceleration
        cruise = self.speed
        if self._stop is not None:
            # The highest speed from which one can still brake, if the way is too short for the wanted one.
            cruise = min(cruise, max(math.sqrt(max(rate * (self._stop - position) + 0.5 * speed * speed, 0.0)), speed))
        pieces = [piece for piece in self._pieces if piece.time < time]
        if abs(cruise - speed) > _SAME:
            slope = math.copysign(rate, cruise - speed)
            pieces.append(_Piece(time, PathPlace(position, speed, slope)))
            taken = (cruise - speed) / slope
            position += 0.5 * taken * (speed + cruise)
            time += taken
        if self._stop is None:
            pieces.append(_Piece(time, PathPlace(position, cruise, 0.0)))
        else:
            brake = self._stop - self.braking_distance(cruise)
            if brake > position + _SAME:
                pieces.append(_Piece(time, PathPlace(position, cruise, 0.0)))
                time += (brake - position) / cruise
                position = brake
            if cruise > 0.0:
                pieces.append(_Piece(time, PathPlace(position, cruise, -rate)))
            pieces.append(_Piece(time + cruise / rate, PathPlace(self._stop, 0.0, 0.0)))
        self._pieces = pieces
