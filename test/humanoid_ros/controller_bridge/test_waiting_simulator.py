# SPDX-License-Identifier: Apache-2.0
"""A simulator in lockstep waits for the bridge: one that is late costs time, and no window."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures.bridges import wait_in_motion

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration
from humanoid_stack.action import ExecuteTrajectory
from humanoid_stack.msg import WholeBodyTrajectory
from rosgraph_msgs.msg import Clock
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_model import load_robot
from humanoid_ros.messages.conversions import seconds

pytestmark = [pytest.mark.ros, pytest.mark.feature("000-F029")]
LONGEST = 0.1
"""Of a window of HRP-2's file [s]."""
CONTROLLERS = """
robot: hrp2
controllers:
  whole_body:
    kind: trajectory_topic
    name: whole_body_controller
    joints: [right_leg, left_leg, torso, head, right_arm, left_arm]
timing: {lead: 2.0, state_age: 3.0, clock: 60.0}
tolerances: {path: 1.0, goal_time: 20.0}
"""
"""Patient with a machine that tests share, but for the windows."""


def begin(simulator: Any) -> tuple[Any, list[float]]:
    """Let HRP-2 turn its head; returns the future of the result, and what is told of the place on the path."""
    robot = load_robot("hrp2", geometry=False)
    head = float(robot.default_posture[robot.index_q("HEAD_JOINT0")])
    points = [
        JointTrajectoryPoint(positions=[head + turn], velocities=[0.0], time_from_start=Duration(sec=when))
        for when, turn in ((0, 0.0), (3, 0.4))
    ]
    motion = WholeBodyTrajectory(joints=JointTrajectory(joint_names=["HEAD_JOINT0"], points=points))
    places: list[float] = []
    action = simulator.action(ExecuteTrajectory, "execute_trajectory")

    def ask(dry_run: bool) -> Any:
        sent = action.send_goal_async(
            ExecuteTrajectory.Goal(trajectory=motion, dry_run=dry_run),
            feedback_callback=lambda news: places.append(news.feedback.path_time),
        )
        return simulator.result(sent).get_result_async()

    end = time.monotonic() + 60.0
    while not (checked := simulator.result(ask(True)).result).success:  # until the bridge hears of the joints
        assert time.monotonic() < end, checked.message
        time.sleep(0.1)
    return ask(False), places


def hang(bridge: Any, duration: float, look: Callable[[], float]) -> float:
    """Stop the bridge for a while; returns how far simulated time went in the second half of it [s]."""
    bridge.send_signal(signal.SIGSTOP)
    time.sleep(0.5 * duration)
    before = look()
    time.sleep(0.5 * duration)
    gone = look() - before
    bridge.send_signal(signal.SIGCONT)
    return gone


def test_a_bridge_that_hangs_costs_time_and_no_window(
    start_node: Callable[..., Any], start_bridge: Callable[..., Any]
) -> None:
    simulator = start_node("simulator", "-p", "lockstep:=60.0")
    bridge = start_bridge(simulator.domain, CONTROLLERS)
    clock = simulator.listen(Clock, "/clock", 1)
    result, places = begin(simulator)
    wait_in_motion(lambda: bool(places) and places[-1] > 1.0, result)
    assert hang(bridge, 2.0, lambda: seconds(clock.last.clock)) < LONGEST
    answer = simulator.result(result, 60.0).result
    assert answer.success, answer.message
    assert "too late" not in answer.message


def test_a_bridge_that_is_gone_is_told_of_and_waited_for_no_longer(
    start_node: Callable[..., Any], start_bridge: Callable[..., Any], tmp_path: Path
) -> None:
    simulator = start_node("simulator", "-p", "lockstep:=0.5")
    bridge = start_bridge(simulator.domain, CONTROLLERS)
    clock = simulator.listen(Clock, "/clock", 1)
    result, places = begin(simulator)
    wait_in_motion(lambda: bool(places) and places[-1] > 1.0, result)
    bridge.kill()
    bridge.wait()
    later = seconds(clock.last.clock) + 1.0
    clock.wait(lambda message: seconds(message.clock) > later)
    assert "hasn't come within 0.5 s; time goes on without it" in (tmp_path / "simulator.log").read_text()
