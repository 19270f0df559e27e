# SPDX-License-Identifier: Apache-2.0
"""Whether a robot falls: its base tilts away from the motion's, or nothing bears its weight any more."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import Imu

from humanoid_model import Robot
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_ros.controller_bridge.bridge_settings import FallSettings
from humanoid_ros.controller_bridge.controller_outputs import now
from humanoid_ros.controller_bridge.measured_joints import MeasuredJoints
from humanoid_ros.messages.conversions import array
from humanoid_ros.node.qos import NEWEST_OF_ANY

UP = np.array([0.0, 0.0, 1.0])


class FallWatch:
    """Listens to the sensors that the bridge's file names for it, and looks at them during a motion."""

    def __init__(self, node: Node, settings: FallSettings, robot: Robot, measured: MeasuredJoints) -> None:
        """Listen.

        Args:
            node: that listens.
            settings: which sensors, and from when on it is a fall.
            robot: that carries the sensors.
            measured: where its joints are.
        """
        self._node = node
        self._settings = settings
        self._robot = robot
        self._measured = measured
        self._data = robot.model.createData()
        self._link_q = pin.neutral(robot.model)
        self._heard: dict[str, float] = {}
        self._up_sensor: NDArray[np.float64] = UP
        self._forces: dict[str, float] = {}
        self._motion: WholeBodyTrajectory | None = None
        self._up_start: NDArray[np.float64] = UP
        self._unsupported = math.inf
        topics = [(Imu, settings.imu, self._on_imu)] if settings.imu else []
        topics += [(WrenchStamped, topic, partial(self._on_wrench, topic)) for topic in settings.wrenches]
        self._topics = [topic for _, topic, _ in topics]
        self._subscriptions = [
            node.create_subscription(kind, topic, callback, NEWEST_OF_ANY) for kind, topic, callback in topics
        ]

    def silent(self, age: float) -> str:
        """Say which sensor hasn't been heard for longer than an age [s]; empty: none."""
        clock = now(self._node)
        for topic in self._topics:
            if topic not in self._heard:
                return f"nothing that tells of a fall comes on {topic}"
            if clock - self._heard[topic] > age:
                return f"nothing has come on {topic} for {clock - self._heard[topic]:.2f} s"
        return ""

    def begin(self, motion: WholeBodyTrajectory | None) -> None:
        """Watch a motion from now on; without the base's way the base has to keep the attitude that it has now."""
        self._motion = motion
        self._up_start = self._up_base()
        self._unsupported = math.inf

    def fall(self, position: float) -> str:
        """Say how the robot falls at a place on the path [s]; empty while it doesn't."""
        settings, clock = self._settings, now(self._node)
        if settings.imu:
            planned = self._up_start
            if self._motion is not None:
                placement = self._robot.placement_base(self._motion.at(position).q)
                planned = placement.rotation.T @ UP
            tilt = math.acos(float(np.clip(self._up_base() @ planned, -1.0, 1.0)))
            if not tilt <= settings.attitude:
                return f"the base is tilted by {tilt:.2f} rad, {settings.attitude:g} are allowed"
        if settings.wrenches:
            force = sum(self._forces.values())
            if force >= settings.force:
                self._unsupported = math.inf
            else:
                self._unsupported = min(self._unsupported, clock)
                if clock - self._unsupported >= settings.time:
                    return f"{', '.join(settings.wrenches)} bear {force:.3g} N together, fewer than {settings.force:g}"
        return ""

    def destroy(self) -> None:
        """Listen no more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _up_base(self) -> NDArray[np.float64]:
        """Return the vertical (3,) in the base's frame, by the sensor and the joints between."""
        if not self._settings.sensor:
            return self._up_sensor
        q, robot = self._link_q, self._robot
        for name, position in self._measured.positions.items():
            if name in robot.joint_names and robot.model.joints[robot.parts.joint_ids[name]].nv == 1:
                q[robot.index_q(name)] = position
        pin.forwardKinematics(robot.model, self._data, q)
        sensor = robot.sensors[self._settings.sensor]
        link = robot.parts.links[sensor.link]
        placement = self._data.oMi[link.joint_id] * link.placement_joint_link * sensor.placement_link_sensor
        base = robot.placement_base(q)
        up: NDArray[np.float64] = base.rotation.T @ placement.rotation @ self._up_sensor
        return up

    def _on_imu(self, message: Imu) -> None:
        x, y, z, w = (getattr(message.orientation, axis) for axis in "xyzw")
        norm = math.sqrt(x * x + y * y + z * z + w * w)
        if not 0.9 < norm < 1.1 or message.orientation_covariance[0] < 0.0:
            return  # it gives no orientation: silent
        self._heard[self._settings.imu] = now(self._node)
        self._up_sensor = pin.Quaternion(w / norm, x / norm, y / norm, z / norm).toRotationMatrix().T @ UP

    def _on_wrench(self, topic: str, message: WrenchStamped) -> None:
        force = float(np.linalg.norm(array(message.wrench.force)))
        if math.isfinite(force):
            self._heard[topic], self._forces[topic] = now(self._node), force
