# SPDX-License-Identifier: Apache-2.0
"""The answer to an inverse_dynamics request."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Accel, Twist
from humanoid_stack.msg import LinkWrench
from humanoid_stack.srv import InverseDynamics

from humanoid_codegen import GivenMotion, KnownWrench, ModelCache, inverse_dynamics
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import array, check_finite, fill_vector, placement
from humanoid_ros.node.requested_files import check_requested, requested_reading


def answer_inverse_dynamics(
    cache: ModelCache, request: InverseDynamics.Request, response: InverseDynamics.Response
) -> None:
    """Fill a response with the efforts that a request's motion asks for.

    Args:
        cache: where models are kept.
        request: the request.
        response: to fill.

    Raises:
        HumanoidError: the robot can't be used, or a field can't; the message names it.
    """
    if not request.robot.strip():
        raise InputError("is empty", element="robot", remedy="Give a name, the path of a URDF or its text")
    gravity = array(request.gravity)
    check_finite(gravity, "gravity")
    motion = GivenMotion(
        request.joint_names,
        request.positions,
        request.velocities,
        request.accelerations,
        placement(request.base, "base"),
        _six(request.base_twist),
        _six(request.base_acceleration),
    )
    wrenches = [_known(wrench) for wrench in request.wrenches]
    robot = check_requested(request.robot, "robot")
    with requested_reading(robot):
        answer = inverse_dynamics(robot, motion, gravity=gravity, wrenches=wrenches, cache=cache)
    response.joint_names = list(answer.joint_names)
    response.efforts = answer.efforts
    fill_vector(response.base_wrench.force, answer.base_wrench[:3])
    fill_vector(response.base_wrench.torque, answer.base_wrench[3:])


def _six(message: Twist | Accel) -> np.ndarray:
    return np.concatenate([array(message.linear), array(message.angular)])


def _known(message: LinkWrench) -> KnownWrench:
    force, torque = array(message.wrench.force), array(message.wrench.torque)
    return KnownWrench(message.link, force, torque, array(message.point), message.in_link_frame)
