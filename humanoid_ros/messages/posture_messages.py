# SPDX-License-Identifier: Apache-2.0
"""Configurations of a robot as posture messages, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Quaternion
from humanoid_stack.msg import Posture
from numpy.typing import NDArray

from humanoid_model import Robot
from humanoid_model.checks import check_known, check_numbers
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import QUATERNION_TOLERANCE, check_finite, fill_pose, fill_quaternion
from humanoid_ros.messages.request_fields import pose


def configuration(message: Posture, robot: Robot, field: str) -> NDArray[np.float64]:
    """Return the configuration (nq,) that a posture means.

    Joints that aren't named stay as in the default posture, those that follow others follow. The base is where
    the message says; only in a message that names no joint and leaves the base alone it is the default posture's.

    Args:
        message: the posture.
        robot: whose posture it is.
        field: name of the message, for errors.

    Raises:
        InputError: it is of another robot, a joint is unknown, named twice or follows another, numbers are
            missing or not finite, or a quaternion is not of unit length.
    """
    if message.robot and message.robot != robot.name:
        raise InputError(
            f"is '{message.robot}', the request is about '{robot.name}'",
            element=f"{field}.robot",
            remedy=f"Give '{robot.name}' or leave it empty",
        )
    q = robot.default_posture
    _set_single_joints(q, message, robot, field)
    _set_ball_joints(q, message, robot, field)
    _follow(q, robot)
    if robot.base_joint is not None:
        base = pose(message.base, f"{field}.base")
        if message.joint_names or message.ball_joint_names or base != pin.SE3.Identity():
            q = robot.place_base(q, base)
    return q


def posture_message(robot: Robot, q: NDArray[np.float64]) -> Posture:
    """Posture message of a configuration (nq,); joints that follow others are left out.

    Raises:
        InputError: a joint of the robot has several coordinates and is neither its base nor a ball joint.
    """
    message = Posture(robot=robot.name)
    if robot.base_joint is not None:
        fill_pose(message.base, robot.placement_base(q))
    message.joint_names = _single_joints(robot)
    message.positions = [float(q[robot.index_q(name)]) for name in message.joint_names]
    message.ball_joint_names = list(robot.ball_joints)
    for name in robot.ball_joints:
        before, after = _ball_frames(robot, name)
        start = robot.index_q(name)
        turn = before @ pin.Quaternion(np.array(q[start : start + 4])).matrix() @ after
        quaternion = Quaternion()
        fill_quaternion(quaternion, pin.Quaternion(turn).coeffs())
        message.ball_joint_orientations.append(quaternion)
    return message


def _single_joints(robot: Robot) -> list[str]:
    """Return joints that a posture names: of one coordinate, and not following another."""
    names = []
    for name in robot.joint_names:
        size = robot.model.joints[robot.parts.joint_ids[name]].nv
        if name in robot.ball_joints or name in robot.mimics:
            continue
        if size != 1:
            raise InputError(
                f"its joint '{name}' has {size} coordinates",
                element=f"robot '{robot.name}'",
                remedy="Write it as joints of one coordinate",
            )
        names.append(name)
    return names


def _set_single_joints(q: NDArray[np.float64], message: Posture, robot: Robot, field: str) -> None:
    names, known = list(message.joint_names), _single_joints(robot)
    members = {member: ball for ball, group in robot.ball_joints.items() for member in group}
    for i, name in enumerate(names):
        element = f"{field}.joint_names[{i}]"
        if name in robot.mimics:
            leader = robot.mimics[name].joint
            raise InputError(f"'{name}' follows '{leader}'", element=element, remedy=f"Give '{leader}' only")
        if name in members or name in robot.ball_joints:
            raise InputError(
                f"'{name}' is {'part of the ball joint' if name in members else 'the ball joint'} "
                f"'{members.get(name, name)}'",
                element=element,
                remedy=f"Give it in {field}.ball_joint_names",
            )
        check_known(name, known, element, "joint")
        _check_first(name, names[:i], element)
    if len(message.positions) != len(names):
        raise InputError(
            f"has {len(message.positions)} values for {len(names)} joint_names",
            element=f"{field}.positions",
            remedy="Give one value per joint",
        )
    positions = np.array(message.positions, dtype=float)
    check_numbers(positions, f"{field}.positions")
    for name, value in zip(names, positions, strict=True):
        q[robot.index_q(name)] = value


def _set_ball_joints(q: NDArray[np.float64], message: Posture, robot: Robot, field: str) -> None:
    names = list(message.ball_joint_names)
    if len(message.ball_joint_orientations) != len(names):
        raise InputError(
            f"has {len(message.ball_joint_orientations)} values for {len(names)} ball_joint_names",
            element=f"{field}.ball_joint_orientations",
            remedy="Give one quaternion per joint",
        )
    for i, name in enumerate(names):
        check_known(name, robot.ball_joints, f"{field}.ball_joint_names[{i}]", "ball joint")
        _check_first(name, names[:i], f"{field}.ball_joint_names[{i}]")
        turn = unit_quaternion(message.ball_joint_orientations[i], f"{field}.ball_joint_orientations[{i}]")
        before, after = _ball_frames(robot, name)
        inner = before.T @ pin.Quaternion(turn).matrix() @ after.T
        start = robot.index_q(name)
        q[start : start + 4] = pin.Quaternion(inner).coeffs()


def unit_quaternion(message: Quaternion, field: str) -> NDArray[np.float64]:
    """(4,) x, y, z, w of a quaternion message.

    Raises:
        InputError: a number is not finite, or its length isn't 1.
    """
    values = np.array([message.x, message.y, message.z, message.w])
    check_finite(values, field)
    length = float(np.linalg.norm(values))
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise InputError(
            f"the quaternion {values.tolist()} has the length {length:g}",
            element=field,
            remedy="Give a quaternion x, y, z, w of length 1",
        )
    return np.asarray(values / length)


def _check_first(name: str, before: Sequence[str], element: str) -> None:
    if name in before:
        raise InputError(f"'{name}' comes twice", element=element, remedy="Name each joint once")


def _ball_frames(robot: Robot, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotations before and after a ball joint's own, between its parent link and its child link."""
    members = [robot.description.joints[member] for member in robot.ball_joints[name]]
    parent, child = robot.parts.links[members[0].parent], robot.parts.links[members[-1].child]
    joint = robot.model.jointPlacements[robot.parts.joint_ids[name]]
    return parent.placement_joint_link.rotation.T @ joint.rotation, child.placement_joint_link.rotation


def _follow(q: NDArray[np.float64], robot: Robot) -> None:
    """Put joints that follow others where those say."""
    for name in robot.mimics:
        followed, factor, offset = robot.followed(name)
        q[robot.index_q(name)] = factor * q[robot.index_q(followed)] + offset
