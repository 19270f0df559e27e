# SPDX-License-Identifier: Apache-2.0
"""Joints along a path whose timing changes: points for controllers, whole or a window at a time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.joint_trajectory import JointTrajectory, JointSample
from humanoid_sim.control.path_timing import PathTiming

Rows = NDArray[np.float64] | Sequence[NDArray[np.float64]]
"""(n,) values of each point."""
SPACING = 0.02
"""Between points where the speed along the path changes [s]: there polynomials between points are approximate."""
_NEAR = 1e-4
"""Points nearer than this are one [s]."""
_JUST = 1e-9
"""Before the end [s]."""
_STEP = 0.002
"""Before a change of the acceleration along the path [s]."""


@dataclass(frozen=True)
class PathPoints:
    """Points of a trajectory in a controller's time.

    Attributes:
        times: (k,) increasing [s].
        positions: (k, n) [rad or m].
        velocities: (k, n); None where the path gives none.
        accelerations: likewise.
        efforts: (k, n) feed-forward [N m or N]; None where the path gives none.
    """

    times: NDArray[np.float64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64] | None
    accelerations: NDArray[np.float64] | None
    efforts: NDArray[np.float64] | None


class JointPath:
    """A joint trajectory as a path.

    Attributes:
        trajectory: polynomials between its points; its times begin at 0.
        efforts: (k, n) feed-forward of its points [N m or N], or None.
        derivatives: how many its points give: 0 positions alone, 1 velocities, 2 accelerations too.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        times: ArrayLike,
        positions: Rows,
        velocities: Rows | None = None,
        accelerations: Rows | None = None,
        efforts: Rows | None = None,
    ) -> None:
        """Fit the polynomials; arguments and errors are those of :class:`JointTrajectory`, times strictly increase."""
        self.derivatives = 0 if velocities is None else 1 if accelerations is None else 2
        self.trajectory = JointTrajectory(joint_names, times, positions, velocities, accelerations)
        self.efforts = None if efforts is None else np.array(efforts)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The n joints."""
        return self.trajectory.joint_names

    @property
    def length(self) -> float:
        """Duration at the trajectory's own speed [s]."""
        return self.trajectory.end_time

    def at(self, timing: PathTiming, time: float) -> JointSample:
        """Return the joints at a time [s]."""
        place = timing.at(time)
        own = self.trajectory.at(place.position)
        return JointSample(
            own.positions,
            own.velocities * place.speed,
            own.accelerations * place.speed**2 + own.velocities * place.acceleration,
        )

    def points(self, timing: PathTiming, start: float, end: float) -> PathPoints:
        """Return points from one time to another, both included.

        The trajectory's own points are among them, so that where the speed is constant a controller's polynomials are
        the trajectory's. Where it changes, points are :data:`SPACING` apart. Feed-forward efforts are those of the
        place: of a slower motion they are approximate, because inertia asks for less then.

        Args:
            timing: of the path.
            start: [s].
            end: not before it [s]; infinite: the timing's end.
        """
        end = max(timing.end, start) if np.isinf(end) else end
        changes = [time for time in timing.changes if start < time < end]
        # Accelerations jump at changes: what a polynomial makes of that stays within the last step before one.
        times = [start, *changes, *(time - _STEP for time in changes if time - _STEP > start), end]
        for before, after in itertools.pairwise(sorted(times)):
            if timing.at(0.5 * (before + after)).acceleration != 0.0:
                times.extend(np.arange(before, after, SPACING)[1:])
        first, last = timing.at(start).position, timing.at(end).position
        own = self.trajectory.times
        times.extend(timing.time_at(float(knot)) for knot in own[(own > first) & (own < last)])
        grid = _distinct(np.sort(times))
        # At the end as it is reached: accelerations jump to zero there.
        samples = [self.at(timing, min(float(time), timing.end - _JUST)) for time in grid]
        rows = [np.array([sample[order] for sample in samples]) for order in range(3)]
        if end >= timing.end - _NEAR:
            rows[1][-1] = 0.0  # a controller takes no trajectory that ends moving
        efforts = None
        if self.efforts is not None:
            places = [timing.at(float(time)).position for time in grid]
            efforts = np.column_stack([np.interp(places, own, column) for column in self.efforts.T])
        return PathPoints(
            grid,
            rows[0],
            rows[1] if self.derivatives > 0 else None,
            rows[2] if self.derivatives > 1 else None,
            efforts,
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
