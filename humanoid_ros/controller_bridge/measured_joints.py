# SPDX-License-Identifier: Apache-2.0
"""Where a robot's joints are: the newest joint states, from one publisher or several."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from humanoid_ros.controller_bridge.controller_outputs import Record, now
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.qos import NEWEST


class MeasuredJoints:
    """Keeps the newest position of every joint that is told.

    Attributes:
        positions: by joint [rad or m].
        stamp: of the newest message [s].
    """

    def __init__(self, node: Node, topic: str, record: Record) -> None:
        """Listen.

        Args:
            node: that listens.
            topic: of the joint states.
            record: takes what comes.
        """
        self.positions: dict[str, float] = {}
        self.stamp = -math.inf
        self._node = node
        self._topic = topic
        self._record = record
        self._subscription = node.create_subscription(JointState, topic, self._on_message, NEWEST, raw=True)

    def age(self) -> float:
        """How long ago the newest message was stamped, by the node's clock [s]."""
        return now(self._node) - self.stamp

    def of(self, joints: tuple[str, ...]) -> NDArray[np.float64]:
        """Positions (n,) of joints; NaN of those that weren't told."""
        return np.array([self.positions.get(name, math.nan) for name in joints])

    def destroy(self) -> None:
        """Listen no more."""
        self._node.destroy_subscription(self._subscription)

    def _on_message(self, data: bytes) -> None:
        message = deserialize_message(data, JointState)
        if len(message.name) == len(message.position):
            self.positions.update(zip(message.name, message.position, strict=True))
        # Hardware that doesn't stamp is taken at the time of arrival.
        self.stamp = seconds(message.header.stamp) or now(self._node)
        self._record(self._topic, "sensor_msgs/msg/JointState", data)
