# SPDX-License-Identifier: Apache-2.0
"""Whether somebody else answers the goals that a bridge answers."""

from __future__ import annotations

from rclpy.node import Node

from humanoid_ros.node.process_mark import has_ended


def other_bridges(node: Node, action: str) -> str:
    """Say who else answers an action, and what to do; empty where nobody does.

    Each of two bridges gets a goal, and both would move the robot. One whose process is known to have ended doesn't
    count, though the middleware keeps it for 20 s.

    Args:
        node: that answers it.
        action: its name, as the node gave it.
    """
    # Every action server publishes the states of its goals.
    found = node.get_publishers_info_by_topic(node.resolve_topic_name(f"{action}/_action/status"))
    names = [
        f"{info.node_namespace.rstrip('/')}/{info.node_name}"
        for info in found
        if not has_ended(bytes(info.endpoint_gid))
    ]
    own = node.get_fully_qualified_name()
    if own in names:
        names.remove(own)  # once: another bridge may have the same name
    if not names:
        return ""
    return (
        f"{action} is also answered by {', '.join(sorted(set(names)))}: both would move the robot. End one of them, or "
        "give each a ROS_DOMAIN_ID or a namespace of its own"
    )
