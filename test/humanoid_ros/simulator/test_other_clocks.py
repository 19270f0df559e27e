# SPDX-License-Identifier: Apache-2.0
"""A second simulator on one clock is told of, and its end; the running node tells it in test_simulator_node.py."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from fixtures.ros_domain import claim_domain
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from humanoid_ros.node.qos import CLOCK
from humanoid_ros.simulator.simulation_topics import OtherClocks


class Logged:
    """A log that remembers."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def error(self, text: str) -> None:
        self.lines.append(("error", text))

    def info(self, text: str) -> None:
        self.lines.append(("info", text))


def look_until(clocks: OtherClocks, found: bool) -> None:
    end = time.monotonic() + 60.0
    while bool(clocks.problem) != found and time.monotonic() < end:
        clocks.look()
        time.sleep(0.1)


@pytest.mark.feature("000-F026")
def test_a_namesake_and_a_stranger_are_found_and_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    contexts, domain = (rclpy.Context(), rclpy.Context()), claim_domain()
    for context in contexts:
        rclpy.init(context=context, domain_id=domain)
    own, other = (Node("simulator", namespace="left", context=context) for context in contexts)
    log = Logged()
    monkeypatch.setattr(own, "get_logger", lambda: log)
    mine = own.create_publisher(Clock, "/clock", CLOCK)
    clocks = OtherClocks(own, mine.topic_name)
    clocks.look()
    assert clocks.problem == ""
    theirs = other.create_publisher(Clock, "/clock", CLOCK)
    apart = other.create_publisher(Clock, "/right/clock", CLOCK)  # is none of its business
    look_until(clocks, True)
    assert clocks.problem.startswith("/clock is also published by /left/simulator: ")
    assert "ROS_DOMAIN_ID" in clocks.problem
    for _ in range(3):
        clocks.look()
    other.destroy_publisher(theirs)
    look_until(clocks, False)
    assert [level for level, _ in log.lines] == ["error", "info"]
    other.destroy_publisher(apart)
    for node, context in zip((own, other), contexts, strict=True):
        node.destroy_node()
        context.try_shutdown()
