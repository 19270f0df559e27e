# SPDX-License-Identifier: Apache-2.0
"""Postures of a robot along a whole-body trajectory in the plane of its gait."""

from __future__ import annotations

import math

import numpy as np
from humanoid_stack.msg import WholeBodyTrajectory
from numpy.typing import NDArray

from humanoid_model import Robot
from humanoid_ros.conversions import placement

PLANAR = 3
"""Joints of a planar root: along x, along z, about y."""


def trajectory_posture(trajectory: WholeBodyTrajectory, robot: Robot, index: int) -> NDArray[np.float64]:
    """(nq,) configuration at one of a trajectory's points.

    Joints that the trajectory doesn't name are where the robot's posture ``zero`` has them.

    Args:
        trajectory: with a base at every point.
        robot: that it is for.
        index: of the point.

    Raises:
        InputError: the base's orientation isn't one.
    """
    q = np.array(robot.postures["zero"])
    base = placement(trajectory.base[index], f"base[{index}]")
    if robot.base_joint is not None:
        q = robot.place_base(q, base)
    else:
        pitch = math.atan2(base.rotation[0, 2], base.rotation[2, 2])
        q[:PLANAR] = base.translation[0], base.translation[2], pitch
    for name, value in zip(trajectory.joints.joint_names, trajectory.joints.points[index].positions, strict=True):
        q[robot.index_q(name)] = value
    return q
