# SPDX-License-Identifier: Apache-2.0
"""Where on its path a humanoid can be stopped without falling."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_control.execution.path_timing import PathTiming

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
        acceleration: with which it brakes [1/s].
    """

    brake: float
    stand: float
    acceleration: float


def stop_places(
    length: float, speed: float, accelerations: Sequence[float], margin: Margin, least: float = 0.0
) -> tuple[StopPlace, ...]:
    """Return places on a path where a robot stands, and keeps its balance on the way from full speed to rest.

    Standing is static equilibrium; braking is looked at with the inertia that it brings, at five moments.

    Args:
        length: of the path [s].
        speed: along the path when braking begins [-].
        accelerations: with which it may brake [1/s]; the first that keeps the balance is taken.
        margin: of balance at a place, a speed and an acceleration.
        least: margin that counts as balance [N].

    Returns:
        The places in the order in which the robot comes by.
    """

    def keeps(stand: float, acceleration: float) -> bool:
        brake, taken = stand - 0.5 * speed**2 / acceleration, speed / acceleration
        if brake < -1e-9:
            return False
        for share in _BRAKING:
            dt = share * taken
            at = brake + dt * (speed - 0.5 * acceleration * dt)
            if margin(at, speed - acceleration * dt, -acceleration) < least:
                return False
        return True

    places = []
    for stand in np.arange(0.5 * speed**2 / max(accelerations), length, STEP).tolist():
        if margin(stand, 0.0, 0.0) < least:
            continue
        found = next((rate for rate in accelerations if keeps(stand, rate)), None)
        if found is not None:
            places.append(StopPlace(stand - 0.5 * speed**2 / found, stand, found))
    return tuple(places)


def next_stop(places: Sequence[StopPlace], position: float) -> StopPlace | None:
    """Return the place where one stands first, from a position on the path on; None if there is none.

    One that is further away may be reached earlier: it is braked to harder.
    """
    found, soonest = None, np.inf
    for place in places[bisect_left(places, position, key=lambda place: place.stand) :]:
        if place.stand >= soonest:
            break
        # What braking takes longer than going on is as long as its way.
        taken = 2.0 * place.stand - place.brake
        if place.brake >= position - 1e-9 and taken < soonest:
            found, soonest = place, taken
    return found


def led_to_stand(
    timing: PathTiming, places: Sequence[StopPlace], time: float, longest: float
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
        tail = timing.stopped(time, found.stand, found.acceleration)
        brakes = tail.law.time_at(found.brake)
    return (tail, brakes) if tail.end - time < longest else None
