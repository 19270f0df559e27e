# SPDX-License-Identifier: Apache-2.0
"""Where on its path a humanoid can be stopped without falling."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_sim.control.path_timing import PathTiming

STEP = 0.04
"""Between two places that are looked at [s of the trajectory's own time]."""
_BRAKING = np.array([0.0, 0.25, 0.5, 0.75, 0.95])
"""Shares of the braking time at which balance is looked at."""

Margin = Callable[[float, float, float], float]
"""Of balance [N] at a place on the path [s] with a speed and an acceleration along it."""


@dataclass(frozen=True)
class StopPlace:
    """A place to stop at.

    Attributes:
        brake: where braking begins [s of the trajectory's own time].
        stand: where the robot then stands [s].
    """

    brake: float
    stand: float


def stop_places(
    length: float, speed: float, acceleration: float, margin: Margin, least: float = 0.0
) -> tuple[StopPlace, ...]:
    """Return places on a path where a robot stands, and keeps its balance on the way from full speed to rest.

    Standing is static equilibrium; braking is looked at with the inertia that it brings, at five moments.

    Args:
        length: of the path [s].
        speed: along the path when braking begins [-].
        acceleration: with which it brakes [1/s].
        margin: of balance at a place, a speed and an acceleration.
        least: margin that counts as balance [N].
    """
    distance, taken = 0.5 * speed**2 / acceleration, speed / acceleration
    places = []
    for stand in np.arange(distance, length, STEP):
        if margin(float(stand), 0.0, 0.0) < least:
            continue
        brake = float(stand) - distance
        for share in _BRAKING:
            dt = share * taken
            at = brake + dt * (speed - 0.5 * acceleration * dt)
            if margin(at, speed - acceleration * dt, -acceleration) < least:
                break
        else:
            places.append(StopPlace(brake, float(stand)))
    return tuple(places)


def next_stop(places: tuple[StopPlace, ...], position: float) -> StopPlace | None:
    """Return the first place where one can stop from a position on the path on; None if there is none."""
    index = bisect_left([place.brake for place in places], position - 1e-9)
    return places[index] if index < len(places) else None


def led_to_stand(
    timing: PathTiming, places: tuple[StopPlace, ...], time: float, longest: float
) -> tuple[PathTiming, float] | None:
    """Return a timing that ends at the first place to stand that can still be chosen later, and when it brakes [s].

    Args:
        timing: of the path; where it ends before such a place, that is it.
        places: where the robot can be stopped.
        time: until which the timing stays as it is [s].
        longest: time from then to the end [s]; None is returned where the next place is further away.
    """
    found = next_stop(places, timing.at(time).position)
    if found is None or found.stand >= timing.end_position:
        tail, brakes = timing, timing.end
    else:
        tail = timing.stopped(time, found.stand)
        brakes = tail.time_at(found.brake)
    return (tail, brakes) if tail.end - time < longest else None
