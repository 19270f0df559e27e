# SPDX-License-Identifier: Apache-2.0
"""A joint trajectory along its own path by another time law: points for controllers, whole or a window at a time."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.time_law import TimeLaw

SPACING = 0.02
"""Between points where the speed along the path changes [s]: there polynomials between points are approximate."""
_NEAR = 1e-4
"""Points nearer than this are one [s]."""
_JUST = 1e-9
"""Before the end [s]."""
_STEP = 0.002
"""Before a change of the acceleration along the path [s]."""


def retimed(trajectory: JointTrajectory, law: TimeLaw, start: float, end: float) -> JointTrajectory:
    """Return the joints' motion from one time to another, both included, when the path is followed by a time law.

    The trajectory's own points are among its points, so that where the speed is constant a controller's polynomials are
    the trajectory's. Where it changes, points are :data:`SPACING` apart. Feed-forward efforts are those of the
    place: of a slower motion they are approximate, because inertia asks for less then.

    Args:
        trajectory: the path, whose parameter is its time.
        law: when it is where.
        start: [s].
        end: not before it [s]; infinite: the law's end.
    """
    own, last = trajectory.times, float(law.times[-1])
    end = max(last, start) if np.isinf(end) else end
    changes = [float(time) for time in law.times[: None if law.accelerations[-1] else -1] if start < time < end]
    # Accelerations jump at changes: what a polynomial makes of that stays within the last step before one.
    times = [start, *changes, *(time - _STEP for time in changes if time - _STEP > start), end]
    for before, after in itertools.pairwise(sorted(times)):
        middle = 0.5 * (before + after)
        if middle < last and law.at(middle).acceleration != 0.0:
            times.extend(np.arange(before, after, SPACING)[1:])
    first, final = law.at(start).position, law.at(end).position
    times.extend(law.time_at(float(knot)) for knot in own[(own > first) & (own < final)])
    grid = _distinct(np.sort(times))
    # At the end as it is reached: accelerations jump to zero there.
    places = [law.at(min(float(time), last - _JUST)) for time in grid]
    samples = [trajectory.at(place.position) for place in places]
    rates = [place.rates(*sample[1:]) for place, sample in zip(places, samples, strict=True)]
    velocities, accelerations = (np.array([rate[order] for rate in rates]) for order in range(2))
    if end >= last - _NEAR:
        velocities[-1] = 0.0  # a controller takes no trajectory that ends moving
    efforts = None
    if trajectory.efforts is not None:
        positions = [place.position for place in places]
        efforts = np.column_stack([np.interp(positions, own, column) for column in trajectory.efforts.T])
    smooth = trajectory.velocities is not None
    return JointTrajectory(
        trajectory.joint_names,
        grid,
        np.array([sample.positions for sample in samples]),
        velocities if smooth else None,
        accelerations if smooth and trajectory.accelerations is not None else None,
        efforts=efforts,
    )


def _distinct(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return times without those that are as good as another one; the first and the last stay."""
    kept = [float(times[0])]
    for time in times[1:]:
        if time - kept[-1] > _NEAR:
            kept.append(float(time))
    if len(kept) > 1:
        kept[-1] = float(times[-1])
    return np.array(kept)
