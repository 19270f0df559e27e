# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks through the bridge to the end, and is cancelled in the middle of a step: it stands both times."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration, Time
from humanoid_stack.action import ExecuteTrajectory
from humanoid_stack.msg import WholeBodyTrajectory
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_model import load_robot

pytestmark = [pytest.mark.ros, pytest.mark.slow]
SIMULATOR_ARGUMENTS = ("-p", "scene:=walk")
ROOT = Path(__file__).parents[3]
PATIENT = "\ntiming: {horizon: 0.3}\nbalance: {friction: 0.7}\n"


@pytest.fixture(scope="module")
def walker(simulator: Any, start_bridge: Callable[..., Any]) -> Any:
    """A simulator before which HRP-2's own bridge runs, patient with the tests' machine."""
    text = (ROOT / "config/bridge/hrp2.yaml").read_text()
    start_bridge(simulator.domain, text[: text.index("\ntiming:")] + PATIENT)
    return simulator


def run(walker: Any, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, str(ROOT / "examples/walk_through_bridge.py"), "--steps", "3", *arguments],
        env={**os.environ, "ROS_DOMAIN_ID": str(walker.domain)},
        capture_output=True,
        text=True,
        timeout=300.0,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_it_walks_to_the_end(walker: Any) -> None:
    told = run(walker)
    assert "done: the end is reached" in told
    assert "on left_sole and right_sole" in told
    assert "after 2 s it stands" in told


def test_cancelled_in_the_middle_of_a_step_it_stands_on_one_foot(walker: Any) -> None:
    told = run(walker, "--stop", "2.55")
    assert "stopped: cancelled; stands at" in told
    assert "on left_sole;" in told or "on left_sole and right_sole;" in told
    assert "after 2 s it stands" in told


def test_time_that_stands_still_ends_a_motion(walker: Any) -> None:
    """A paused simulation, for longer than the bridge's file allows; nothing moves after it goes on."""
    robot = load_robot("hrp2", geometry=False)
    clock = walker.listen(Clock, "/clock", 1).wait_new().clock
    assert clock != Time()
    head = robot.default_posture[robot.index_q("HEAD_JOINT0")]
    points = [
        JointTrajectoryPoint(positions=[float(head + p)], velocities=[0.0], time_from_start=Duration(sec=when))
        for when, p in ((0, 0.0), (4, 0.4))
    ]
    trajectory = WholeBodyTrajectory(joints=JointTrajectory(joint_names=["HEAD_JOINT0"], points=points))
    action = walker.action(ExecuteTrajectory, "execute_trajectory")
    handle = walker.result(action.send_goal_async(ExecuteTrajectory.Goal(trajectory=trajectory)))
    pending = handle.get_result_async()
    assert walker.call(SetBool, "pause", SetBool.Request(data=True)).success
    answer = walker.result(pending, 60.0).result
    assert answer.code in (ExecuteTrajectory.Result.STALE_STATE, ExecuteTrajectory.Result.WRONG_START), answer.message
    assert walker.call(SetBool, "pause", SetBool.Request(data=False)).success
