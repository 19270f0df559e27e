# SPDX-License-Identifier: Apache-2.0
"""Frames of links of recordings that have none: from the robot's description, its joints and its base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from humanoid_model import Robot, load_robot
from humanoid_model.checks import check_numbers
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.link_transforms import LinkTransforms
from humanoid_ros.replay.recorded_run import RecordedMessage


class _Placed:
    """A robot and where it is."""

    def __init__(self, robot: Robot, prefix: str) -> None:
        self.robot = robot
        self.q = np.array(robot.postures["zero"])
        self.transforms = LinkTransforms(robot, "world", prefix, pin.SE3.Identity())
        model = robot.model
        single = (joint for joint in robot.joint_names if model.joints[model.getJointId(joint)].nq == 1)
        self.places = {joint: robot.index_q(joint) for joint in single}


class PlacedLinks:
    """Takes the messages of a recording and tells ``/tf`` and ``/tf_static`` of its robots.

    Joints of more than one coordinate stay where they are in the zero posture, and robots that are fixed to the world
    at its origin: a recording without frames doesn't tell more.
    """

    def __init__(self, publish: Callable[[str, Any], None]) -> None:
        """Begin without robots.

        Args:
            publish: takes a topic and a message.
        """
        self._publish = publish
        self._robots: dict[str, _Placed] = {}
        self._fixed: dict[str, list[TransformStamped]] = {}

    def take(self, message: RecordedMessage) -> None:
        """Look at a message, and tell the frames that follow.

        Raises:
            InputError: it can't be read, or tells no robot or no place.
        """
        prefix, _, name = message.topic.lstrip("/").rpartition("/")
        if name == "robot_description":
            text = _read(message, String).data
            placed = _Placed(load_robot(text, geometry=False), f"{prefix}/" if prefix else "")
            self._robots[prefix] = placed
            self._fixed[prefix] = placed.transforms.fixed
            self._publish("/tf_static", TFMessage(transforms=[one for own in self._fixed.values() for one in own]))
        elif name == "odometry" and prefix in self._robots:
            placed, place = self._robots[prefix], placement(_read(message, Odometry).pose.pose, "pose")
            if placed.robot.base_joint is not None:
                placed.q = placed.robot.place_base(placed.q, place)
        elif name == "joint_states" and prefix in self._robots:
            placed, joints = self._robots[prefix], _read(message, JointState)
            told = {
                joint: own for joint, own in zip(joints.name, joints.position, strict=False) if joint in placed.places
            }
            check_numbers(np.array([*told.values()]), "position")
            for joint, position in told.items():
                placed.q[placed.places[joint]] = position
            self._publish("/tf", TFMessage(transforms=placed.transforms.update(placed.q, joints.header.stamp)))


def _read(message: RecordedMessage, kind: Any) -> Any:
    try:
        return deserialize_message(message.data, kind)
    except Exception as problem:  # of a type that the middleware chooses
        raise InputError(f"can't be read as {message.kind}: {problem}") from problem
