# SPDX-License-Identifier: Apache-2.0
"""A client's sign of life to the controller bridge, which stops the robot without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from humanoid_ros.node.qos import SENSOR

TOPIC = "execute_trajectory/alive"
SIGNS = 5
"""So many come in the time for which the bridge may miss them."""


class SignOfLife:
    """Publishes ids of goals of `execute_trajectory`, from the node's executor: it tells that this one goes on."""

    def __init__(self, node: Node) -> None:
        """Be found by the bridge; to be made before a goal is sent.

        Args:
            node: that asks.
        """
        self._node = node
        self._publisher = node.create_publisher(UUID, TOPIC, SENSOR)

    def give(self, goal_id: Callable[[], Any], wanted: Callable[[], bool], missed: float) -> None:
        """Give signs of a goal until they aren't wanted any more, or it is another one, for which others answer.

        Args:
            goal_id: tells the goal's id, as a message; None while it isn't accepted.
            wanted: whether the goal is under way, and whoever asked for it is there.
            missed: how long the bridge may miss them [s].
        """
        begun: Any = None

        def live() -> None:
            nonlocal begun
            own = goal_id()
            if not wanted() or (begun is not None and own != begun):
                self._node.destroy_timer(timer)
            elif own is not None:
                begun = own
                self._publisher.publish(own)

        timer = self._node.create_timer(missed / SIGNS, live, clock=Clock(clock_type=ClockType.STEADY_TIME))
