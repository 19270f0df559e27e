# SPDX-License-Identifier: Apache-2.0
"""The robot that a gait is a trajectory of, and its postures along it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from humanoid_stack.msg import Gait, WholeBodyTrajectory
from numpy.typing import NDArray

from humanoid_model import Robot, load_robot
from humanoid_ros.messages.conversions import placement

PLANAR = 3
"""Joints of a planar root: along x, along z, about y."""


def gait_robot(gait: Gait, geometry: bool = True) -> Robot:
    """Return robot of a gait's trajectory, by its name, or by the path of the URDF that the gait was asked for with.

    Args:
        gait: with a trajectory.
        geometry: whether its shapes are loaded as well.

    Raises:
        HumanoidError: there is no such robot here.
    """
    path = Path(gait.model)
    return load_robot(path if path.suffix == ".urdf" else gait.trajectory.robot, geometry=geometry)


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
