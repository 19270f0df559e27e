# SPDX-License-Identifier: Apache-2.0
"""Zero-moment point that a footstep plan asks for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from humanoid_control.walking.footstep_plan import Footstep, FootstepPlan


def zmp_reference(
    plan: FootstepPlan, start: NDArray[np.float64], targets: Mapping[str, NDArray[np.float64]], dt: float
) -> NDArray[np.float64]:
    """Return the reference of the zero-moment point on the ground.

    It is at a point of the standing sole in single support and goes straight to the next one in double support; it
    begins where the robot's centre of mass is, and ends half way between the feet.

    Args:
        plan: of the footsteps.
        start: where it begins [m], shape (2,).
        targets: by sole, the point of its frame that is to bear the weight [m], shape (2,).
        dt: time between samples [s].

    Returns:
        m, from time 0 to the plan's end, shape (k, 2).
    """

    def point(foot: Footstep) -> NDArray[np.float64]:
        return np.asarray((foot.placement.act(np.append(targets[foot.sole], 0.0)))[:2])

    phases = plan.phases
    knots, points = [0.0, phases[0].end], [start, start]
    for phase in phases[1:]:
        if phase.swing is not None:
            knots += [phase.start, phase.end]
            points += [point(phase.supports[0])] * 2
    knots.append(phases[-1].start + plan.double_support * plan.step_time)
    points.append(0.5 * (point(phases[-1].supports[0]) + point(phases[-1].supports[1])))
    times = dt * np.arange(round(plan.duration / dt) + 1)
    rows = np.array(points)
    return np.column_stack([np.interp(times, knots, rows[:, axis]) for axis in range(2)])
