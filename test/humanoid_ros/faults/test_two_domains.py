# SPDX-License-Identifier: Apache-2.0
"""Two stacks on one machine, each in a ROS domain of its own, don't hear each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.srv import StepSimulation
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from humanoid_model import load_robot
from humanoid_ros.messages.conversions import seconds
from test.humanoid_ros.conftest import wait_until


def test_each_stack_tells_and_does_its_own(start_node: Callable[..., Any]) -> None:
    runs, stands = start_node("simulator"), start_node("simulator", "-p", "scene:=bip_stand", "-p", "paused:=true")
    joints = [stack.listen(JointState, "joint_states", 100) for stack in (runs, stands)]
    before = stands.call(StepSimulation, "step", StepSimulation.Request(steps=3)).time
    clock = runs.listen(Clock, "/clock", 1)
    first = seconds(clock.wait().clock)
    clock.wait(lambda message: seconds(message.clock) > first + 0.5)
    for heard, robot in zip(joints, ("hrp2", "bip"), strict=True):
        heard.wait()
        assert {frozenset(m.name) for m in heard.messages} == {frozenset(load_robot(robot, geometry=False).joint_names)}
    assert stands.call(StepSimulation, "step", StepSimulation.Request(steps=1)).time == pytest.approx(before + 0.001)
    for stack in (runs, stands):
        wait_until(lambda stack=stack: "simulator" in stack.node.get_node_names(), "it isn't found")
        assert stack.node.get_node_names().count("simulator") == 1
