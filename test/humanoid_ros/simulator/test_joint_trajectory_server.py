# SPDX-License-Identifier: Apache-2.0
"""Trajectories through the simulator node: actions, topics, cancelling, preemption, refusals, killed clients."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration, Time  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState  # noqa: E402
from control_msgs.srv import QueryTrajectoryState  # noqa: E402
from humanoid_stack.msg import JointCommand  # noqa: E402
from humanoid_stack.srv import ApplyWrench  # noqa: E402
from rcl_interfaces.msg import Log  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from trajectory_msgs.msg import (  # noqa: E402
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectory,
)

from humanoid_model import load_robot  # noqa: E402

Goal, Result = FollowJointTrajectory.Goal, FollowJointTrajectory.Result
HEAD = ["HEAD_JOINT0", "HEAD_JOINT1"]
NAN = float("nan")


def point(time: float, positions: Any, **more: Any) -> JointTrajectoryPoint:
    sec, nanosec = divmod(round(time * 1e9), 1_000_000_000)
    return JointTrajectoryPoint(
        positions=[float(value) for value in positions],
        time_from_start=Duration(sec=sec, nanosec=nanosec),
        **more,
    )


def goal(*points: JointTrajectoryPoint, names: Any = HEAD, **more: Any) -> Goal:
    return Goal(trajectory=JointTrajectory(joint_names=names, points=list(points)), **more)


def stamped(message: Goal, time: float) -> Goal:
    sec, nanosec = divmod(round(time * 1e9), 1_000_000_000)
    message.trajectory.header.stamp = Time(sec=sec, nanosec=nanosec)
    return message


class Follow:
    """A goal that was sent to a controller."""

    def __init__(self, simulator: Any, message: Goal, limb: str = "head") -> None:
        self.feedback: list[Any] = []
        self._simulator = simulator
        client = simulator.action(FollowJointTrajectory, f"{limb}_controller/follow_joint_trajectory")
        self.handle = simulator.result(
            client.send_goal_async(message, feedback_callback=lambda m: self.feedback.append(m.feedback))
        )
        assert self.handle.accepted
        self._result = self.handle.get_result_async()

    def result(self, timeout: float = 60.0) -> tuple[int, Any]:
        answer = self._simulator.result(self._result, timeout)
        return answer.status, answer.result

    def cancel(self) -> Any:
        return self._simulator.result(self.handle.cancel_goal_async())


def settle(head: Callable[[], np.ndarray], target: list[float]) -> None:
    """Wait until the head is at its target and stays: a servo overshoots after a set point that stops abruptly."""
    near = 0
    for _ in range(200):
        near = near + 1 if np.allclose(head(), target, atol=0.005) else 0
        if near == 10:
            return
    raise AssertionError(f"the head did not settle at {target}")


@pytest.fixture
def running(simulator: Any) -> Any:
    """The simulator, running from its start on."""
    assert simulator.call(Trigger, "reset", Trigger.Request()).success
    assert simulator.call(SetBool, "pause", SetBool.Request(data=False)).success
    yield simulator
    assert simulator.process.poll() is None


@pytest.fixture
def head(running: Any) -> Callable[[], np.ndarray]:
    """Tells where the head is now."""
    joints = running.listen(JointState, "joint_states")

    def positions() -> np.ndarray:
        message = joints.wait_new()
        return np.array([message.position[message.name.index(name)] for name in HEAD])

    positions()
    return positions


@pytest.mark.feature("000-F029")
def test_goal_is_reached(running: Any, head: Any) -> None:
    follow = Follow(running, goal(point(0.3, [0.2, -0.1]), point(0.6, [0.4, 0.2])))
    status, result = follow.result()
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert (result.error_code, result.error_string) == (Result.SUCCESSFUL, "Goal reached.")
    settle(head, [0.4, 0.2])
    assert len(follow.feedback) >= 5
    for message in follow.feedback:
        assert message.joint_names == HEAD
        np.testing.assert_allclose(
            message.error.positions,
            np.array(message.desired.positions) - np.array(message.actual.positions),
        )
    times = [m.desired.time_from_start.nanosec for m in follow.feedback if m.desired.time_from_start.sec == 0]
    assert times == sorted(times)


@pytest.mark.feature("000-F017")
def test_set_points_follow_the_points(running: Any, head: Any) -> None:
    """With velocities the set point is the cubic through the points, in any order of joints."""
    state = running.listen(JointTrajectoryControllerState, "head_controller/controller_state")
    state.wait()
    message = goal(point(0.8, [-0.2, 0.4], velocities=[0.0, 0.0]), names=["HEAD_JOINT1", "HEAD_JOINT0"])
    state.clear()
    assert Follow(running, message).result()[0] == GoalStatus.STATUS_SUCCEEDED
    moving = [m for m in state.messages if 0.0 < m.reference.time_from_start.nanosec < 800_000_000]
    assert len(moving) >= 5
    for m in moving:
        share = m.reference.time_from_start.nanosec / 8e8
        cubic = 3 * share**2 - 2 * share**3
        np.testing.assert_allclose(m.reference.positions, [0.4 * cubic, -0.2 * cubic], atol=1e-9)


def test_whole_body_goal(running: Any) -> None:
    robot = load_robot("hrp2")
    q = robot.postures["half_sitting"][7:].copy()
    q[robot.joint_names.index("LARM_JOINT3")] -= 0.3
    message = goal(point(0.5, q, velocities=[0.0] * 30), names=list(robot.joint_names))
    status, result = Follow(running, message, "whole_body").result()
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string


def test_topic_moves_joints(running: Any, head: Any) -> None:
    publisher = running.publisher(JointTrajectory, "head_controller/joint_trajectory")
    publisher.publish(goal(point(0.2, [0.3, 0.1])).trajectory)
    settle(head, [0.3, 0.1])


def test_query_tells_set_points(running: Any, head: Any) -> None:
    clock = running.listen(Clock, "/clock")
    now = clock.wait().clock
    start = now.sec + 1e-9 * now.nanosec + 20.0
    follow = Follow(running, stamped(goal(point(0.0, [0.0, 0.0]), point(2.0, [0.6, 0.0])), start))
    sec, nanosec = divmod(round((start + 1.0) * 1e9), 1_000_000_000)
    request = QueryTrajectoryState.Request(time=Time(sec=sec, nanosec=nanosec))
    answer = running.call(QueryTrajectoryState, "head_controller/query_state", request)
    assert answer.success, answer.message
    assert answer.name == HEAD
    np.testing.assert_allclose(answer.position, [0.3, 0.0], atol=1e-9)
    np.testing.assert_allclose(answer.velocity, [0.3, 0.0], atol=1e-9)
    past = QueryTrajectoryState.Request(time=Time(sec=0, nanosec=1))
    answer = running.call(QueryTrajectoryState, "head_controller/query_state", past)
    assert not answer.success
    assert "has passed" in answer.message
    follow.cancel()
    assert follow.result()[0] == GoalStatus.STATUS_CANCELED


def test_later_start_waits(running: Any, head: Any) -> None:
    clock = running.listen(Clock, "/clock")
    now = clock.wait().clock
    start = now.sec + 1e-9 * now.nanosec + 2.5
    follow = Follow(running, stamped(goal(point(0.1, [0.2, 0.0])), start))
    assert follow.result()[0] == GoalStatus.STATUS_SUCCEEDED
    end = clock.wait_new().clock
    assert end.sec + 1e-9 * end.nanosec > start + 0.1
    settle(head, [0.2, 0.0])


def test_cancel_holds(running: Any, head: Any) -> None:
    follow = Follow(running, goal(point(20.0, [0.7, 0.0])))
    for _ in range(200):
        if head()[0] > 0.01:
            break
    assert len(follow.cancel().goals_canceling) == 1
    status, result = follow.result()
    assert status == GoalStatus.STATUS_CANCELED
    assert result.error_string == "Canceled; the joints are held."
    held = head()
    assert 0.0 < held[0] < 0.6
    for _ in range(30):
        np.testing.assert_allclose(head(), held, atol=5e-3)


def test_new_goal_preempts(running: Any, head: Any) -> None:
    first = Follow(running, goal(point(20.0, [0.7, 0.0])))
    second = Follow(running, goal(point(0.3, [-0.2, 0.0])))
    status, result = first.result()
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == Result.INVALID_GOAL
    assert "Preempted by a new trajectory of this controller" in result.error_string
    assert second.result()[0] == GoalStatus.STATUS_SUCCEEDED
    settle(head, [-0.2, 0.0])


def test_whoever_takes_a_joint_ends_the_others(running: Any) -> None:
    limb = Follow(running, goal(point(20.0, [0.7, 0.0])))
    robot = load_robot("hrp2")
    q = robot.postures["half_sitting"][7:]
    whole = Follow(running, goal(point(20.0, q), names=list(robot.joint_names)), "whole_body")
    status, result = limb.result()
    assert status == GoalStatus.STATUS_ABORTED
    assert "Preempted by a trajectory of whole_body_controller" in result.error_string
    publisher = running.publisher(JointCommand, "commands/position")
    publisher.publish(JointCommand(names=["HEAD_JOINT0"], positions=[0.0]))
    status, result = whole.result()
    assert status == GoalStatus.STATUS_ABORTED
    assert "Preempted by a position command" in result.error_string


def test_reset_ends_goals(running: Any, head: Any) -> None:
    follow = Follow(running, goal(point(20.0, [0.7, 0.0])))
    assert running.call(Trigger, "reset", Trigger.Request()).success
    status, result = follow.result()
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_string == "The simulation was reset."
    settle(head, [0.0, 0.0])


def test_path_tolerance(running: Any, head: Any) -> None:
    """It sets out at nearly its largest speed, faster than the servo follows."""
    message = goal(
        point(0.2, [0.6, 0.0]),
        path_tolerance=[JointTolerance(name="HEAD_JOINT0", position=0.001)],
    )
    status, result = Follow(running, message).result()
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == Result.PATH_TOLERANCE_VIOLATED
    assert "position of joint 'HEAD_JOINT0' is off by 0.00" in result.error_string
    np.testing.assert_allclose(head(), [0.0, 0.0], atol=0.05)


def test_goal_tolerance(running: Any, head: Any) -> None:
    """Beyond the reach of the neck: HEAD_JOINT0 ends at its stop or sags, never within a nanoradian."""
    message = goal(
        point(0.1, [0.2, 0.3]),
        goal_tolerance=[JointTolerance(name="HEAD_JOINT1", position=1e-12)],
        goal_time_tolerance=Duration(nanosec=200_000_000),
    )
    status, result = Follow(running, message).result()
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == Result.GOAL_TOLERANCE_VIOLATED
    assert "HEAD_JOINT1" in result.error_string
    assert "goal_time_tolerance is 0.2 s" in result.error_string


MULTI = MultiDOFJointTrajectory(joint_names=["base"])
BAD_GOALS = {
    "no joints": (Result.INVALID_JOINTS, goal(point(1.0, []), names=[]), "no joint is named"),
    "unknown joint": (
        Result.INVALID_JOINTS,
        goal(point(1.0, [0.0, 0.0]), names=["HEAD_JOINT0", "TAIL"]),
        "joint_names: 'TAIL' is none of the controller's joints",
    ),
    "missing joint": (
        Result.INVALID_JOINTS,
        goal(point(1.0, [0.0]), names=["HEAD_JOINT0"]),
        "HEAD_JOINT1 missing and allow_partial_joints_goal is false",
    ),
    "duplicated joint": (
        Result.INVALID_JOINTS,
        goal(point(1.0, [0.0] * 2), names=["HEAD_JOINT0"] * 2),
        "'HEAD_JOINT0' occurs twice",
    ),
    "empty trajectory": (Result.INVALID_GOAL, goal(), "points: the trajectory is empty"),
    "NaN position": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0, NAN])),
        "points[0]: positions of joint 'HEAD_JOINT1' is nan",
    ),
    "wrong length": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0, 0.0, 0.0])),
        "points[0]: 3 positions for 2 joints",
    ),
    "wrong length of velocities": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0, 0.0], velocities=[0.0])),
        "points[0]: 1 velocities for 2 joints",
    ),
    "no positions": (
        Result.INVALID_GOAL,
        goal(point(1.0, [], velocities=[0.0, 0.0])),
        "points[0]: 0 positions for 2 joints",
    ),
    "time going backwards": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0] * 2), point(0.5, [0.0] * 2)),
        "points[1]: time 0.5 s is not later than the 1 s before it",
    ),
    "time standing still": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0] * 2), point(1.0, [0.0] * 2)),
        "points[1]: time 1 s is not later",
    ),
    "negative time": (
        Result.INVALID_GOAL,
        goal(point(-1.0, [0.0] * 2), point(1.0, [0.0] * 2)),
        "points[0]: time_from_start is -1 s",
    ),
    "moving end": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0] * 2, velocities=[0.0, 0.5])),
        "points[0]: the velocity of joint 'HEAD_JOINT1' at the end is 0.5",
    ),
    "efforts of one joint": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0] * 2, effort=[1.0])),
        "points[0]: 1 efforts for 2 joints",
    ),
    "efforts of one point": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0] * 2, effort=[1.0, 1.0]), point(2.0, [0.0] * 2)),
        "points[1]: ",
    ),
    "efforts that are none": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0] * 2, effort=[1.0, math.nan])),
        "points[0]: effort",
    ),
    "beyond a limit": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.1, 0.0]), point(9.0, [9.0, 0.0])),
        "points[1]: position of joint 'HEAD_JOINT0' is 9 at 9 s. Its limits are -0.7854 and 0.7854",
    ),
    "too fast": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0, 0.0]), point(1.001, [0.5, 0.0])),
        "points[1]: velocity of joint 'HEAD_JOINT0' is 500 at 1 s. Its limits are -5.236 and 5.236",
    ),
    "too fast from where it is": (
        Result.INVALID_GOAL,
        goal(point(0.001, [-0.5, 0.0])),
        "points[0]: joint 'HEAD_JOINT0' is at ",
    ),
    "several degrees of freedom": (
        Result.INVALID_GOAL,
        goal(point(1.0, [0.0] * 2), multi_dof_trajectory=MULTI),
        "multi_dof_trajectory: names ['base']",
    ),
    "old stamp": (
        Result.OLD_HEADER_TIMESTAMP,
        stamped(goal(point(1e-6, [0.0] * 2)), 1e-6),
        "header.stamp: the trajectory starts at 1e-06 s and ends at 2e-06 s",
    ),
    "stamp of another clock": (
        Result.INVALID_GOAL,
        stamped(goal(point(1.0, [0.0] * 2)), 1.7e9),
        "header.stamp: the trajectory starts at 1.7e+09 s",
    ),
    "tolerance of an unknown joint": (
        Result.INVALID_JOINTS,
        goal(point(1.0, [0.0] * 2), path_tolerance=[JointTolerance(name="TAIL", position=1.0)]),
        "path_tolerance: 'TAIL' is none of the controller's joints",
    ),
    "NaN tolerance": (
        Result.INVALID_GOAL,
        goal(
            point(1.0, [0.0] * 2),
            goal_tolerance=[JointTolerance(name="HEAD_JOINT0", velocity=NAN)],
        ),
        "goal_tolerance: velocity of joint 'HEAD_JOINT0' is nan",
    ),
}


@pytest.mark.feature("000-F017")
@pytest.mark.parametrize("case", BAD_GOALS)
def test_refused_goal(running: Any, case: str) -> None:
    """The client is told code and reason."""
    code, message, reason = BAD_GOALS[case]
    status, result = Follow(running, message).result()
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == code
    assert reason in result.error_string


def test_refused_goal_leaves_the_present_one(running: Any, head: Any) -> None:
    present = Follow(running, goal(point(0.6, [0.3, 0.0])))
    assert Follow(running, goal(point(1.0, [NAN, 0.0]))).result()[0] == GoalStatus.STATUS_ABORTED
    assert present.result()[0] == GoalStatus.STATUS_SUCCEEDED
    settle(head, [0.3, 0.0])


@pytest.mark.feature("000-F017")
def test_refused_topic_trajectory(running: Any) -> None:
    log = running.listen(Log, "/rosout", QoSProfile(depth=100))
    publisher = running.publisher(JointTrajectory, "head_controller/joint_trajectory")
    publisher.publish(goal(point(1.0, [0.0, NAN])).trajectory)
    log.wait(lambda m: "head_controller/joint_trajectory: points[0]: positions" in m.msg)
    publisher.publish(goal(point(9.0, [9.0, 0.0])).trajectory)
    log.wait(lambda m: "head_controller/joint_trajectory: points[0]: position of joint 'HEAD_JOINT0' is 9" in m.msg)
    publisher.publish(goal(point(0.001, [-0.5, 0.0])).trajectory)
    log.wait(lambda m: "head_controller/joint_trajectory: points[0]: joint 'HEAD_JOINT0' is at" in m.msg)


@pytest.mark.feature("000-F017")
def test_goal_reached_is_said_where_the_joints_are(running: Any) -> None:
    """Something turns the head further than its motor can hold: by default that isn't the goal, nor for ever."""
    twist = ApplyWrench.Request(body="HEAD_LINK1", duration=Duration(sec=60))
    twist.wrench.torque.y = 15.0
    answer = running.call(ApplyWrench, "apply_wrench", twist)
    assert answer.success, answer.message
    status, result = Follow(running, goal(point(1.0, [0.0, 0.0]))).result()
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == Result.GOAL_TOLERANCE_VIOLATED
    assert "position of joint 'HEAD_JOINT1' is off by" in result.error_string
    assert "the tolerance is 0.05, 5.0" in result.error_string


KILLED = """
import sys
import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectoryPoint

rclpy.init()
node = rclpy.create_node("doomed")
client = ActionClient(node, FollowJointTrajectory, "head_controller/follow_joint_trajectory")
client.wait_for_server()
goal = FollowJointTrajectory.Goal()
goal.trajectory.joint_names = ["HEAD_JOINT0", "HEAD_JOINT1"]
point = JointTrajectoryPoint(positions=[0.5, 0.0])
point.time_from_start.sec = 4
goal.trajectory.points = [point]
sent = client.send_goal_async(goal, feedback_callback=lambda m: print("moving", flush=True))
rclpy.spin_until_future_complete(node, sent)
waiting = sent.result().get_result_async()
rclpy.spin(node)
"""


def test_killed_client_leaves_no_mess(running: Any, head: Any) -> None:
    """The goal of a client that is gone goes on; the next client is served."""
    client = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED)],
        env={**os.environ, "ROS_DOMAIN_ID": str(running.domain)},
        stdout=subprocess.PIPE,
    )
    assert client.stdout is not None
    assert client.stdout.readline() == b"moving\n"
    client.kill()
    client.wait()
    for _ in range(600):
        if np.allclose(head(), [0.5, 0.0], atol=0.01):
            break
    else:
        raise AssertionError("the goal was not carried out")
    status, _ = Follow(running, goal(point(0.2, [0.0, 0.1]))).result()
    assert status == GoalStatus.STATUS_SUCCEEDED
