# SPDX-License-Identifier: Apache-2.0
"""Where a robot's joints are, and how long ago each was measured; from one publisher or several."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from humanoid_ros.controller_bridge.controller_outputs import Record, now
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.qos import NEWEST_OF_ANY


class MeasuredJoints:
    """Keeps the newest position of every joint that is measured, with its own time.

    Attributes:
        positions: by joint [rad or m].
        stamp: of the newest message [s].
        ahead: by how much that stamp was ahead of the node's clock when it came [s].
        malformed: what is wrong with the newest message that couldn't be used; empty: none.
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
        self.ahead = 0.0
        self.malformed = ""
        self._times: dict[str, float] = {}
        self._node = node
        self._topic = topic
        self._record = record
        self._subscription = node.create_subscription(JointState, topic, self._on_message, NEWEST_OF_ANY, raw=True)

    def of(self, joints: tuple[str, ...]) -> NDArray[np.float64]:
        """Positions (n,) of joints; NaN of those that weren't measured."""
        return np.array([self.positions.get(name, math.nan) for name in joints])

    def times(self, joints: Iterable[str]) -> NDArray[np.float64]:
        """When each joint was measured (n,), not later than its message came [s]; minus infinite: never."""
        return np.array([self._times.get(name, -math.inf) for name in joints])

    def stale(self, joints: tuple[str, ...], age: float, ahead: float) -> str:
        """Say why positions can't be relied on; empty if they can.

        Args:
            joints: that count.
            age: how long ago each may have been measured [s].
            ahead: by how much stamps may be ahead of the clock [s].
        """
        clock, times = now(self._node), self.times(joints)
        old = [name for name, time in zip(joints, times, strict=True) if clock - time > age]
        reason = f"; {self.malformed}" if self.malformed else ""
        if old and not self.positions:
            return f"no joint states come on {self._topic}{reason}"
        if old and len(old) == len(joints) and np.isfinite(times).all():
            return f"the newest joint states are {clock - times.max():.2f} s old{reason}"
        if old:
            oldest = joints[int(np.argmin(times))]
            count = "" if len(old) == 1 else f", {len(old)} joints are too old"
            if oldest not in self.positions:
                return f"joint '{oldest}' isn't measured on {self._topic}{count}{reason}"
            return f"joint '{oldest}' was measured {clock - times.min():.2f} s ago{count}{reason}"
        if self.ahead > ahead:
            return f"joint states are stamped {self.ahead:.2f} s ahead of this clock: set the robot's or this one"
        return ""

    def destroy(self) -> None:
        """Listen no more."""
        self._node.destroy_subscription(self._subscription)

    def _on_message(self, data: bytes) -> None:
        message = deserialize_message(data, JointState)
        self._record(self._topic, "sensor_msgs/msg/JointState", data)
        arrival = now(self._node)
        # Hardware that doesn't stamp is taken at the time of arrival.
        self.stamp = seconds(message.header.stamp) or arrival
        self.ahead = self.stamp - arrival
        if len(message.name) != len(message.position):
            self.malformed = f"a message has {len(message.position)} positions for {len(message.name)} names"
            return
        self.malformed = ""
        # A stamp ahead of the clock would make a joint look fresh long after its last message.
        time = min(self.stamp, arrival)
        for name, position in zip(message.name, message.position, strict=True):
            if math.isfinite(position):
                self.positions[name], self._times[name] = position, time
            else:
                self.malformed = f"a message gives {position} for '{name}'"
