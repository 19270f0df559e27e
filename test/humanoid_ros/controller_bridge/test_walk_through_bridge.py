# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks through the bridge to the end, and is cancelled in the middle of a step: it stands both times."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration, Time
from fixtures.bridges import kill
from humanoid_stack.action import ExecuteTrajectory
from humanoid_stack.msg import WholeBodyTrajectory
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import load_robot
from humanoid_ros.client import HumanoidStack
from humanoid_ros.messages.motion_messages import whole_body_message

pytestmark = [pytest.mark.ros, pytest.mark.slow]
SIMULATOR_ARGUMENTS = ("-p", "scene:=walk")
ROOT = Path(__file__).parents[3]
PATIENT = "\ntiming: {horizon: 0.3, state_age: 3.0}\nbalance: {friction: 0.7}\nstops: {silence: path}\n"


LIMBS = ("right_leg", "left_leg", "torso", "head", "right_arm", "left_arm")
GOALS = "robot: hrp2\ncontrollers:\n" + "".join(
    f"  {limb}: {{kind: trajectory_action, name: {limb}_controller, joints: {limb}, efforts: true}}\n" for limb in LIMBS
)
"""Every limb by goals, as TALOS' legs are driven."""


@pytest.fixture(scope="module", params=["windows", "goals"])
def walker(simulator: Any, start_bridge: Callable[..., Any], request: pytest.FixtureRequest) -> Any:
    """A simulator before which HRP-2's own bridge runs, or one by goals; patient with the tests' machine."""
    text = (ROOT / "config/bridge/hrp2.yaml").read_text()
    controllers = text[: text.index("\ntiming:")] if request.param == "windows" else GOALS
    simulator.bridge = start_bridge(simulator.domain, controllers + PATIENT)
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


@pytest.fixture
def stack(walker: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[HumanoidStack]:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(walker.domain))
    with HumanoidStack("hrp2", patience=120.0) as found:
        yield found


def walking(stack: HumanoidStack) -> Any:
    """A walk in the middle of its first step, where HRP-2 can't stand."""
    robot = stack.robot
    motion = generate_walk(robot, plan_footsteps(robot, "half_sitting", steps=3, length=0.2), "half_sitting")
    message = whole_body_message(motion.motion(robot), "world")
    stack.stand(message)
    stack.run(1.0)
    task = stack.begin_execute(message)
    end = time.monotonic() + 60.0
    while task.feedback is None or task.feedback.path_time < 2.7:
        assert time.monotonic() < end, "it doesn't walk"
        time.sleep(0.005)
    return task


def height(stack: HumanoidStack) -> float:
    base = stack.state.base
    assert base is not None
    return float(base.translation[2])


def test_a_simulator_that_is_held_up_in_a_step_walks_on(walker: Any, stack: HumanoidStack) -> None:
    task = walking(stack)
    walker.process.send_signal(signal.SIGSTOP)
    time.sleep(2.0)
    walker.process.send_signal(signal.SIGCONT)
    result = task.result(timeout=120.0)
    assert result.success, result.message
    assert height(stack) > 0.6


def test_a_bridge_that_hangs_in_a_step_walks_on_or_stands(walker: Any, stack: HumanoidStack) -> None:
    """It goes on to the next place to stand by itself, and from there when the bridge is back."""
    task = walking(stack)
    walker.bridge.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    walker.bridge.send_signal(signal.SIGCONT)
    result = task.result(timeout=120.0)
    assert height(stack) > 0.6, result.message


def test_a_bridge_that_is_killed_in_a_step_leaves_the_robot_on_its_feet(walker: Any, stack: HumanoidStack) -> None:
    walking(stack)
    kill(walker.bridge)
    stack.run(3.0)
    assert height(stack) > 0.6
