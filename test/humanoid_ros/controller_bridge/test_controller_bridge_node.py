# SPDX-License-Identifier: Apache-2.0
"""Trajectories through bridge and simulator over DDS: tracked, refused, stopped, and never left behind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from fixtures.bridges import kill, wait_in_motion

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from humanoid_stack.action import ExecuteTrajectory  # noqa: E402
from humanoid_stack.msg import Contact, ContactPhase, JointCommand, Stance, WholeBodyTrajectory  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState, GetState  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from humanoid_model import Robot, load_robot  # noqa: E402
from test.humanoid_ros.conftest import wait_until  # noqa: E402

pytestmark = pytest.mark.ros
Result = ExecuteTrajectory.Result
NAMES = ["HEAD_JOINT0", "RARM_JOINT0"]
"""One joint of a controller that gets windows, one of a controller that gets goals."""
LONG = 8.0
"""Of a motion that is stopped on its way [s]: what stops it may come late."""
STIFF = 0.02
"""Servo error of a moving joint [rad]."""


@cache
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


def begin(names: Sequence[str] = NAMES) -> np.ndarray:
    return np.array([hrp2().default_posture[hrp2().index_q(name)] for name in names])


def moved(duration: float, amount: float = 0.4, names: Sequence[str] = NAMES) -> WholeBodyTrajectory:
    """From where the simulator begins by an amount [rad], without jerk, in so many s."""
    start, zero = begin(names), [0.0] * len(names)
    points = [
        JointTrajectoryPoint(
            positions=list(positions), velocities=zero, accelerations=zero, time_from_start=stamp(when)
        )
        for when, positions in ((0.0, start), (duration, start + amount))
    ]
    return WholeBodyTrajectory(robot="hrp2", joints=JointTrajectory(joint_names=list(names), points=points))


def stamp(when: float) -> Duration:
    return Duration(sec=int(when), nanosec=round((when % 1.0) * 1e9))


def quintic(share: float) -> float:
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


class Execute:
    """A goal that was sent to the bridge."""

    def __init__(self, client: Any, trajectory: WholeBodyTrajectory, **fields: Any) -> None:
        self.feedback: list[Any] = []
        self._client = client
        goal = ExecuteTrajectory.Goal(trajectory=trajectory, **fields)
        self.handle = client.result(
            client.action(ExecuteTrajectory, "execute_trajectory").send_goal_async(
                goal, lambda message: self.feedback.append(message.feedback)
            )
        )
        self._pending = self.handle.get_result_async()

    def result(self, timeout: float = 60.0) -> tuple[int, Any]:
        answer = self._client.result(self._pending, timeout)
        return answer.status, answer.result

    def wait(self, path_time: float) -> None:
        """Until it is so far on its path."""
        wait_in_motion(lambda: bool(self.feedback and self.feedback[-1].path_time > path_time), self._pending)


@pytest.fixture
def ready(bridged: Any) -> Any:
    """Everything at its start, and running."""
    assert bridged.call(Trigger, "reset", Trigger.Request()).success
    assert bridged.call(SetBool, "pause", SetBool.Request(data=False)).success
    bridged.joints = wait_ready(bridged)
    yield bridged
    assert bridged.process.poll() is None
    assert bridged.bridge.poll() is None


def wait_ready(client: Any) -> Any:
    """Until the robot stands as it begins and the bridge, which may have just been started, has found everything."""
    joints = client.listen(JointState, "joint_states", 1)
    joints.wait_new(lambda message: np.abs(positions(message) - begin()).max() < 0.01)
    end = time.monotonic() + 60.0
    while not Execute(client, moved(1.0), dry_run=True).result()[1].success:
        assert time.monotonic() < end
    return joints


def positions(message: JointState, names: Sequence[str] = NAMES) -> np.ndarray:
    return np.array([message.position[message.name.index(name)] for name in names])


def settled(client: Any, target: np.ndarray, within: float = 0.01) -> None:
    client.joints.wait_new(lambda message: np.abs(positions(message) - target).max() < within)


@pytest.mark.feature("000-F029")
def test_a_trajectory_is_tracked_by_goals_and_windows_alike(ready: Any) -> None:
    for _ in range(5):  # a busy machine may hold the bridge up; it tells so
        execute = Execute(ready, moved(1.0))
        status, result = execute.result()
        if "windows came too late" not in result.message:
            break
        assert ready.call(Trigger, "reset", Trigger.Request()).success
        wait_ready(ready)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert (result.code, result.path_time) == (Result.SUCCESSFUL, 1.0)
    assert result.max_joint_error < STIFF
    settled(ready, begin() + 0.4)
    told = [news.path_time for news in execute.feedback]
    assert told == sorted(told)
    assert {news.duration for news in execute.feedback} == {1.0}


def test_half_the_speed_takes_twice_the_time(ready: Any) -> None:
    execute = Execute(ready, moved(0.6), speed_scale=0.5)
    status, result = execute.result()
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    assert {news.speed for news in execute.feedback if 0.0 < news.path_time < 0.5} <= {0.5}
    there = ready.joints.wait(lambda message: np.abs(positions(message) - begin() - 0.4).max() < 0.01)
    still = [message for message in ready.joints.messages if np.abs(positions(message) - begin()).max() < 0.01]
    assert since(there, still[-1]) > 0.7  # of 1.2 s; at full speed it would be 0.4


def broken(**changes: Any) -> WholeBodyTrajectory:
    message = moved(1.0)
    for field, value in changes.items():
        setattr(message.joints.points[1], field, value)
    return message


def stamped(*times: float) -> WholeBodyTrajectory:
    message = moved(1.0)
    for point, when in zip(message.joints.points, times, strict=True):
        point.time_from_start = stamp(when)
    return message


def held(location: str) -> WholeBodyTrajectory:
    message = moved(1.0)
    phase = ContactPhase(start=0.0, duration=1.0, stance=Stance(contacts=[Contact(location=location)]))
    message.contacts = [phase]
    return message


NAN = float("nan")
REFUSED: dict[str, tuple[WholeBodyTrajectory, int, str]] = {
    "nan": (broken(positions=[NAN, 0.0]), Result.INVALID_TRAJECTORY, "positions of joint 'HEAD_JOINT0' is nan"),
    "sizes": (broken(positions=[0.1]), Result.INVALID_TRAJECTORY, "points[1]: 1 positions for 2 joints"),
    "velocities": (broken(velocities=[0.0] * 3), Result.INVALID_TRAJECTORY, "points[1].velocities: is [0.0, 0.0, 0.0]"),
    "moving end": (broken(velocities=[0.0, 0.5]), Result.INVALID_TRAJECTORY, "joint 'RARM_JOINT0' has 0.5"),
    "efforts": (broken(effort=[1.0, 1.0]), Result.INVALID_TRAJECTORY, "points[0]: has no effort, other points have"),
    "range": (broken(positions=[5.0, 0.0]), Result.INVALID_TRAJECTORY, "points[1].positions: joint 'HEAD_JOINT0'"),
    "too fast": (moved(0.05), Result.INVALID_TRAJECTORY, "points[0].velocities: joint 'HEAD_JOINT0'"),
    "acceleration": (moved(0.1, 0.2), Result.INVALID_TRAJECTORY, "Its limit is -100"),
    "time": (stamped(1.0, 1.0), Result.INVALID_TRAJECTORY, "is not later than the 1 s before it"),
    "joint": (moved(1.0, names=NAMES[:1]), Result.INVALID_TRAJECTORY, "'TAIL' is no joint"),
    "robot": (moved(1.0), Result.INVALID_TRAJECTORY, "trajectory.robot: is 'talos'"),
    "location": (held("tail"), Result.INVALID_TRAJECTORY, "trajectory.base: is empty, contacts or forces are given"),
    "start": (moved(1.0), Result.WRONG_START, "joint 'HEAD_JOINT0' begins at 0.3, it is at"),
    "frame": (moved(1.0), Result.INVALID_TRAJECTORY, "trajectory.header.frame_id: is 'mars'"),
    "joints' frame": (moved(1.0), Result.INVALID_TRAJECTORY, "trajectory.joints.header.frame_id: is 'mars'"),
    "far ahead": (moved(1.0), Result.INVALID_TRAJECTORY, "Give a stamp in the next 10 s, or 0 to start at once"),
    "empty": (WholeBodyTrajectory(), Result.INVALID_TRAJECTORY, "trajectory.joints.points: is empty"),
}
REFUSED["joint"][0].joints.joint_names = ["TAIL"]
REFUSED["robot"][0].robot = "talos"
REFUSED["frame"][0].header.frame_id = REFUSED["joints' frame"][0].joints.header.frame_id = "mars"
REFUSED["far ahead"][0].header.stamp.sec = 10_000_000
for item in REFUSED["start"][0].joints.points:
    item.positions = [value + 0.3 for value in item.positions]


def test_what_cant_be_executed_is_refused_with_field_value_and_bound_and_nothing_moves(ready: Any) -> None:
    before = positions(ready.joints.wait_new())
    for name, (trajectory, code, words) in REFUSED.items():
        status, result = Execute(ready, trajectory).result()
        assert (status, result.success) == (GoalStatus.STATUS_ABORTED, False), name
        assert words in result.message, (name, result.message)
        assert result.code == code, (name, result.message)
    status, result = Execute(ready, moved(1.0), controllers=["head"]).result()
    assert "RARM_JOINT0 have no controller" in result.message
    assert result.code == Result.NO_CONTROLLER
    assert "speed_scale: is 2" in Execute(ready, moved(1.0), speed_scale=2.0).result()[1].message
    np.testing.assert_allclose(positions(ready.joints.wait_new()), before, atol=1e-3)


def test_a_second_client_is_told_to_wait(ready: Any) -> None:
    first = Execute(ready, moved(4.0))
    first.wait(0.1)
    status, result = Execute(ready, moved(1.0)).result()
    assert (status, result.code) == (GoalStatus.STATUS_ABORTED, Result.BUSY)
    assert first.result()[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_cancel_slows_down_along_the_path(ready: Any) -> None:
    """An arm may stop anywhere: 0.04 s of the path further on, with both joints where the path is there."""
    execute = Execute(ready, moved(LONG))
    execute.wait(1.6)
    ready.result(execute.handle.cancel_goal_async())
    status, result = execute.result()
    assert (status, result.code) == (GoalStatus.STATUS_CANCELED, Result.STOPPED)
    assert 1.63 < result.path_time < LONG - 0.1
    assert f"cancelled; stands at {result.path_time:.3f} s of the path" in result.message
    settled(ready, begin() + 0.4 * quintic(result.path_time / LONG))
    speeds = [news.speed for news in execute.feedback if news.path_time > 1.8]
    assert speeds == sorted(speeds, reverse=True)


def test_the_emergency_stop_holds_at_once_until_it_is_released(ready: Any) -> None:
    button = ready.publisher(Bool, "emergency_stop")
    execute = Execute(ready, moved(LONG))
    execute.wait(1.6)
    button.publish(Bool(data=True))
    status, result = execute.result()
    assert (status, result.code) == (GoalStatus.STATUS_ABORTED, Result.EMERGENCY_STOP)
    assert "held at once" in result.message
    there = positions(ready.joints.wait_new())
    assert np.abs(there - begin() - 0.4 * quintic(result.path_time / LONG)).max() < 0.1
    held = ready.joints.wait_new()
    ready.joints.wait_new(lambda message: since(message, held) > 0.5)
    np.testing.assert_allclose(positions(ready.joints.wait_new()), there, atol=0.03)
    assert "emergency stop is pressed" in Execute(ready, moved(1.0)).result()[1].message
    button.publish(Bool(data=False))
    end = time.monotonic() + 60.0
    while "emergency" in Execute(ready, moved(1.0), dry_run=True).result()[1].message:
        assert time.monotonic() < end


def test_a_controller_that_gives_up_stops_the_others_on_the_path(ready: Any) -> None:
    thief = ready.publisher(JointCommand, "commands/position")
    execute = Execute(ready, moved(LONG))
    execute.wait(1.6)
    thief.publish(JointCommand(names=["RARM_JOINT0"], positions=[float(begin()[1])]))
    status, result = execute.result()
    assert (status, result.code) == (GoalStatus.STATUS_ABORTED, Result.CONTROLLER_LOST)
    assert result.controller == "right_arm"
    assert "position command" in result.message
    head = begin()[0] + 0.4 * quintic(result.path_time / LONG)
    ready.joints.wait_new(lambda message: abs(positions(message)[0] - head) < 0.01)


def test_a_joint_that_is_astray_stops_the_motion(ready: Any) -> None:
    for _ in range(5):  # a busy machine may starve the simulator; the bridge tells so
        status, result = Execute(ready, moved(1.0, 0.6), path_tolerance=1e-4).result()
        if result.code != Result.STALE_STATE:
            break
        assert ready.call(Trigger, "reset", Trigger.Request()).success
        wait_ready(ready)
    assert (status, result.code) == (GoalStatus.STATUS_ABORTED, Result.TOLERANCE_VIOLATED), result.message
    assert result.controller in ("head", "right_arm"), result.message
    assert "the tolerance is 0.0001" in result.message


def test_time_that_goes_back_ends_the_motion(ready: Any) -> None:
    execute = Execute(ready, moved(LONG))
    execute.wait(0.8)
    assert ready.call(Trigger, "reset", Trigger.Request()).success
    status, result = execute.result()
    assert status == GoalStatus.STATUS_ABORTED
    # Whichever comes first: the clock, or the controller whose goal the reset ends.
    assert result.code in (Result.STALE_STATE, Result.CONTROLLER_LOST), result.message
    settled(ready, begin())


def test_its_log_holds_what_was_sent_and_what_came_back(ready: Any) -> None:
    from mcap.reader import make_reader

    Execute(ready, moved(0.5)).result()
    assert ready.call(ChangeState, "controller_bridge/change_state", change(Transition.TRANSITION_DEACTIVATE)).success
    assert "inactive" in Execute(ready, moved(0.5)).result()[1].message
    assert ready.call(ChangeState, "controller_bridge/change_state", change(Transition.TRANSITION_CLEANUP)).success
    # Not from here, and it is answered.
    assert not ready.call(ChangeState, "controller_bridge/change_state", change(Transition.TRANSITION_ACTIVATE)).success
    with ready.log.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    counts = {
        summary.channels[channel].topic: count for channel, count in summary.statistics.channel_message_counts.items()
    }
    assert counts["/head_controller/joint_trajectory"] >= 10
    assert {"/joint_states", "/execute_trajectory/goal", "/right_arm_controller/follow_joint_trajectory/goal"} <= set(
        counts
    )
    rosbags = pytest.importorskip("rosbags.typesys")
    texts = {schema.name: schema.data.decode() for schema in summary.schemas.values()}
    name = "trajectory_msgs/msg/JointTrajectory"
    types = rosbags.get_types_from_msg(texts[name], name)
    assert "trajectory_msgs/msg/JointTrajectoryPoint" in types
    for transition, label in (
        (Transition.TRANSITION_CONFIGURE, "inactive"),
        (Transition.TRANSITION_ACTIVATE, "active"),
    ):
        assert ready.call(ChangeState, "controller_bridge/change_state", change(transition)).success
        state = ready.call(GetState, "controller_bridge/get_state", GetState.Request()).current_state
        assert state.label == label


def change(transition: int) -> ChangeState.Request:
    return ChangeState.Request(transition=Transition(id=transition))


def test_a_bridge_that_is_killed_leaves_nothing_moving(simulator: Any, bridged: Any) -> None:
    """By goals, by windows: long before the path's end joints stand."""
    assert simulator.call(Trigger, "reset", Trigger.Request()).success
    joints = wait_ready(simulator)
    execute = Execute(simulator, moved(LONG, 0.6))
    execute.wait(2.4)
    kill(bridged.bridge)

    def stand() -> bool:
        first = joints.wait_new()
        later = joints.wait_new(lambda message: since(message, first) > 0.8)
        return bool(np.abs(positions(later) - positions(first)).max() < 0.01)

    wait_until(stand, "they move on")
    assert (positions(joints.wait_new()) < begin() + 0.55).all()


def since(message: JointState, earlier: JointState) -> float:
    a, b = message.header.stamp, earlier.header.stamp
    return float(a.sec - b.sec + 1e-9 * (a.nanosec - b.nanosec))
