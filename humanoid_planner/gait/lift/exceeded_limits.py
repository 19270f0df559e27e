# SPDX-License-Identifier: Apache-2.0
"""What of a robot's limits a lifted gait passes."""

from __future__ import annotations

import numpy as np

from humanoid_planner.gait.lift.lifted_gait import LiftedGait


def exceeded_limits(lifted: LiftedGait) -> list[str]:
    """Return what of the robot's limits the motion passes, in words: of each quantity the joint that is worst."""
    robot, found = lifted.robot, []
    names = [name for name in robot.joint_names if name in robot.actuators]
    rows, columns = ([index(name) for name in names] for index in (robot.index_q, robot.index_v))
    q, v, torques = (
        np.vstack([getattr(phase, what) for phase in lifted.phases])[:, own]
        for what, own in (("q", rows), ("v", columns), ("torques", columns))
    )
    limits = robot.limits
    beyond = np.maximum(limits.lower[rows] - q.min(axis=0), q.max(axis=0) - limits.upper[rows])
    worst = int(np.argmax(beyond))
    if beyond[worst] > 0.0:
        found.append(f"joint '{names[worst]}' passes the end of its range by {np.degrees(beyond[worst]):.1f} degrees")
    for what, values, most in (("rate", v, limits.velocity[columns]), ("torque", torques, limits.effort[columns])):
        shares = np.abs(values).max(axis=0) / most
        worst = int(np.argmax(shares))
        if shares[worst] > 1.0:
            found.append(f"{what} of joint '{names[worst]}' reaches {100.0 * shares[worst]:.0f} % of its limit")
    return found
