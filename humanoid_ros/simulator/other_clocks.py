# SPDX-License-Identifier: Apache-2.0
"""Whether somebody else sets the clock that a simulator sets."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

UNNAMED = "_NODE_NAME_UNKNOWN_"
"""What ROS calls a node that its process hasn't told of yet."""


class OtherClocks:
    """Watches a clock's publishers: of two simulators on one clock every listener hears times and states of both.

    Who is there is found within seconds, at any time; so it is looked for as long as the simulator runs. A node that
    was killed is there for 20 s more (the middleware's lease), which is why nobody has to end because of another.

    Attributes:
        problem: who else sets the clock, and what to do; empty: nobody.
    """

    def __init__(self, node: Node, topic: str) -> None:
        """Begin with nobody.

        Args:
            node: that sets the clock itself.
            topic: the clock's full name.
        """
        self._node, self._topic = node, topic
        self._unnamed = False
        self.problem = ""

    def look(self) -> None:
        """Find out who is there; the log tells what has changed."""
        publishers = self._node.get_publishers_info_by_topic(self._topic)
        unnamed, before = any(info.node_name == UNNAMED for info in publishers), self._unnamed
        self._unnamed = unnamed
        if unnamed and not before:
            return  # its name is on its way, if it has one
        problem = self._found(publishers)
        if problem == self.problem:
            return
        self.problem = problem
        if problem:
            self._node.get_logger().error(problem)
        else:
            self._node.get_logger().info(f"{self._topic} is this simulator's alone again")

    def _found(self, publishers: list[TopicEndpointInfo]) -> str:
        own = self._node.get_fully_qualified_name()
        names = [f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in publishers]
        if own in names:
            names.remove(own)  # once: another simulator may have the same name
        if not names:
            return ""
        others = sorted({"a node without a name" if UNNAMED in name else name for name in names})
        return (
            f"{self._topic} is also published by {', '.join(others)}: times and states of both are mixed, and commands "
            "move both. End one of them, or give each a ROS_DOMAIN_ID or a namespace with a clock of its own "
            "(namespace:= of the launch files)."
        )
