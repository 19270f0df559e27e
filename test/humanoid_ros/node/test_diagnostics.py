# SPDX-License-Identifier: Apache-2.0
"""Diagnostics tell which node of which stack they are of, on which machine, and how it is."""

from __future__ import annotations

import socket
import time

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from fixtures.ros_domain import claim_domain
from rclpy.executors import SingleThreadedExecutor

from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics


@pytest.mark.feature("000-F026")
def test_stacks_are_told_apart_and_levels_are_the_nodes_own() -> None:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=claim_domain())
    executor = SingleThreadedExecutor(context=context)
    arguments = ["--ros-args", "-p", "diagnostics_rate:=50.0"]
    left, right = (
        AnsweringNode("bridge", namespace=side, context=context, cli_args=arguments) for side in ("left", "right")
    )
    for node in (left, right):
        declare_diagnostics_rate(node)
    publish_diagnostics(left, "motion", lambda: {"speed [m/s]": "2"}, lambda: (DiagnosticStatus.ERROR, "fallen"))
    publish_diagnostics(right, "motion", dict)
    heard: dict[int, DiagnosticStatus] = {}  # by how many values they have
    left.create_subscription(
        DiagnosticArray, "/diagnostics", lambda m: heard.update({len(s.values): s for s in m.status}), 10
    )
    for node in (left, right):
        executor.add_node(node)
    end = time.monotonic() + 60.0
    while len(heard) < 2 and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    for node in (left, right):
        node.destroy_node()
    context.try_shutdown()
    assert [(heard[count].name, heard[count].level, heard[count].message) for count in (1, 0)] == [
        ("left/bridge: motion", DiagnosticStatus.ERROR, "fallen"),
        ("right/bridge: motion", DiagnosticStatus.OK, "idle"),
    ]
    assert {status.hardware_id for status in heard.values()} == {socket.gethostname()}
    (value,) = heard[1].values
    assert (value.key, value.value) == ("speed [m/s]", "2")
