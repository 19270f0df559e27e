# SPDX-License-Identifier: Apache-2.0
"""What a node tells in /diagnostics."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.parameter_declaration import declare_number, number
from humanoid_ros.node.qos import STATE


def diagnostic_message(
    node: str, subject: str, time: Time, words: str, values: Mapping[str, str], level: bytes = DiagnosticStatus.OK
) -> DiagnosticArray:
    """One status, named as ROS's diagnostic_updater does: what namespace a node is in is told, without leading slash.

    Args:
        node: fully qualified name of the node.
        subject: what of the node it is about, in one word.
        time: stamp.
        words: how it is, in a few words.
        values: by their names, units in brackets.
        level: of `diagnostic_msgs/DiagnosticStatus`.
    """
    message = DiagnosticArray()
    message.header.stamp = time
    message.status = [
        DiagnosticStatus(
            level=level,
            name=f"{node.removeprefix('/')}: {subject}",
            message=words,
            hardware_id=socket.gethostname(),
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
    ]
    return message


def declare_diagnostics_rate(node: Node) -> None:
    """Declare the parameter that :func:`publish_diagnostics` goes by."""
    declare_number(
        node, "diagnostics_rate", 1.0, 0.01, 100.0, "Diagnostics per second of wall-clock time [Hz]", read_only=True
    )


def publish_diagnostics(
    node: AnsweringNode,
    subject: str,
    values: Callable[[], Mapping[str, str]],
    health: Callable[[], tuple[bytes, str]] | None = None,
) -> None:
    """Publish a node's diagnostics from now on, at the rate of its parameter ``diagnostics_rate``.

    Args:
        node: the node, which has declared that parameter.
        subject: what of the node they are about, in one word.
        values: by their names, units in brackets, when they are published.
        health: returns then the level of `diagnostic_msgs/DiagnosticStatus`, and how the node is in a few words;
            without it the level is OK, the words are "busy" or "idle".
    """
    publisher = node.create_publisher(DiagnosticArray, "/diagnostics", STATE)

    def publish() -> None:
        level, words = health() if health else (DiagnosticStatus.OK, "busy" if node.busy else "idle")
        now = node.get_clock().now().to_msg()
        publisher.publish(diagnostic_message(node.get_fully_qualified_name(), subject, now, words, values(), level))

    node.create_timer(1.0 / number(node, "diagnostics_rate"), publish, callback_group=node.group)
