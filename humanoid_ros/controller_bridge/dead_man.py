# SPDX-License-Identifier: Apache-2.0
"""A client's sign of life: its goal goes on only as long as the goal's id keeps coming."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from humanoid_ros.node.clients import TOPIC
from humanoid_ros.node.qos import SENSOR


class DeadMan:
    """Watches one goal's sign of life, by the machine's own clock: a simulation may stand still, its client doesn't."""

    def __init__(self, node: Node) -> None:
        """Listen.

        Args:
            node: that listens.
        """
        self._node = node
        self._goal = b""
        self._limit = 0.0
        self._heard = 0.0
        self._subscription = node.create_subscription(UUID, TOPIC, self._on_message, SENSOR)

    def watch(self, goal: Sequence[int], limit: float) -> None:
        """Watch a goal from now on, in place of the one before.

        Args:
            goal: its id, 16 bytes.
            limit: how long no sign may come [s]; 0: any time.
        """
        self._goal, self._limit, self._heard = bytes(goal), limit, time.monotonic()

    @property
    def problem(self) -> str:
        """Why the client is taken for lost; empty while it isn't."""
        silent = time.monotonic() - self._heard
        if not self._limit or silent <= self._limit:
            return ""
        return f"the client's sign of life on {TOPIC} hasn't come for {silent:.2f} s"

    def destroy(self) -> None:
        """Listen no more."""
        self._node.destroy_subscription(self._subscription)

    def _on_message(self, message: UUID) -> None:
        if bytes(message.uuid) == self._goal:
            self._heard = time.monotonic()
