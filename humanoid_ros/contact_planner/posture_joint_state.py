# SPDX-License-Identifier: Apache-2.0
"""Configurations of a robot as joint states, which name the joints of its URDF."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from humanoid_model import Robot
from humanoid_model.ball_joint import BallJoint


def joint_state(robot: Robot, q: NDArray[np.float64], efforts: Mapping[str, float], world: str) -> JointState:
    """Joint state of a configuration (nq,), without stamp; ball joints are their three members.

    Args:
        robot: the robot.
        q: (nq,) configuration.
        efforts: by joint [N m or N]; empty leaves them out, joints that aren't in it bear none.
        world: name of the world frame.
    """
    message = JointState()
    message.header.frame_id = world
    for name in robot.joint_names:
        if name in robot.ball_joints:
            members = robot.ball_joints[name]
            start = robot.index_q(name)
            positions = BallJoint(robot.description, members).angles(q[start : start + 4])
            message.name.extend(members)
            message.position.extend(float(value) for value in positions)
        elif robot.model.joints[robot.parts.joint_ids[name]].nq == 1:
            message.name.append(name)
            message.position.append(float(q[robot.index_q(name)]))
    if efforts:
        message.effort = [float(efforts.get(name, 0.0)) for name in message.name]
    return message
