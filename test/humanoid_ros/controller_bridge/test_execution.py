# SPDX-License-Identifier: Apache-2.0
"""Set points to a robot's own controllers, a robot that goes away, and a walk that is stopped on one foot."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fixtures.bridges import kill, wait_in_motion
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration  # noqa: E402
from humanoid_stack.action import ExecuteTrajectory  # noqa: E402
from humanoid_stack.msg import WholeBodyTrajectory  # noqa: E402
from rclpy.time import Time  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from humanoid_model.errors import InputError  # noqa: E402
from humanoid_ros.controller_bridge.bridge_settings import load_bridge_settings  # noqa: E402
from test.humanoid_ros.conftest import wait_until  # noqa: E402

pytestmark = pytest.mark.ros
Result = ExecuteTrajectory.Result
ARM = """
robot: robot_2r_a
controllers:
  first: {kind: forward_position, name: forward_position_controller, joints: [joint1]}
  second: {kind: joint_state, name: robot_joint_commands, joints: [joint2]}
timing: {rate: 100, state_age: 3.0, clock: 10.0}
tolerances: {path: 2.0, goal_time: 20.0}
"""


class Arm:
    """A perfect robot: its joints are where they were told to be last, and it tells so 200 times a second.

    Simulated, it has a clock of its own. :meth:`reset` sets it back; its clock tells so 2.5 s before its joints do, and
    till then it takes no commands: they were sent before.
    With a time in ``stands`` the clock stands still there.
    """

    def __init__(self, domain: int, simulated: bool = False) -> None:
        from rclpy.executors import SingleThreadedExecutor

        self.told: list[tuple[float, str, float]] = []  # when it was sent [s], joint, position
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("arm", context=self.context)
        self.positions = {"joint1": 0.0, "joint2": 0.0}
        self.zero, self.silent_until = (time.monotonic(), 0.0) if simulated else (None, 0.0)
        self.stands: float | None = None
        states = self.node.create_publisher(JointState, "joint_states", 10)
        clock = self.node.create_publisher(Clock, "clock", 10)
        self.node.create_subscription(Float64MultiArray, "forward_position_controller/commands", self.forward, 10)
        self.node.create_subscription(JointState, "robot_joint_commands", self.command, 10)

        def tell() -> None:
            message = JointState(name=list(self.positions), position=list(self.positions.values()))
            if self.zero is None:
                message.header.stamp = self.node.get_clock().now().to_msg()
            else:
                now = (self.stands or time.monotonic()) - self.zero
                message.header.stamp = Time(seconds=now).to_msg()
                clock.publish(Clock(clock=message.header.stamp))
            if time.monotonic() > self.silent_until:
                states.publish(message)

        self.timer = self.node.create_timer(0.005, tell)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.spin)
        self.thread.start()

    def spin(self) -> None:
        while not self.stop.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def forward(self, message: Float64MultiArray, info: dict[str, Any]) -> None:
        self.take(info, "joint1", message.data[0])

    def command(self, message: JointState, info: dict[str, Any]) -> None:
        self.take(info, message.name[0], message.position[0])

    def take(self, info: dict[str, Any], joint: str, position: float) -> None:
        self.told.append((info["source_timestamp"] * 1e-9, joint, position))
        if time.monotonic() > self.silent_until:
            self.positions[joint] = position

    def reset(self) -> None:
        self.silent_until = time.monotonic() + 2.5
        self.zero = time.monotonic()
        self.positions = dict.fromkeys(self.positions, 0.0)

    def close(self) -> None:
        self.stop.set()
        self.thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture(params=[False])
def arm(start_bridge: Callable[..., Any], request: pytest.FixtureRequest) -> Iterator[Arm]:
    found = Arm(claim_domain(), request.param)
    found.bridge = start_bridge(found.node.context.get_domain_id(), ARM, sim_time=request.param)
    yield found
    found.close()


def goal(duration: float) -> ExecuteTrajectory.Goal:
    """Both joints go from 0 to 1 and 2 rad, in a straight line; a message may be so simple."""
    points = [
        JointTrajectoryPoint(positions=row, time_from_start=Duration(sec=int(when), nanosec=round((when % 1.0) * 1e9)))
        for when, row in ((0.0, [0.0, 0.0]), (duration, [1.0, 2.0]))
    ]
    trajectory = JointTrajectory(joint_names=["joint1", "joint2"], points=points)
    return ExecuteTrajectory.Goal(trajectory=WholeBodyTrajectory(joints=trajectory))


def send(arm: Arm, wanted: ExecuteTrajectory.Goal) -> Any:
    """The accepted goal's handle, from a bridge that has found the robot."""
    from humanoid_ros.node.clients import GuardedActionClient

    client = GuardedActionClient(arm.node, ExecuteTrajectory, "execute_trajectory")
    assert client.wait_for_server(60.0)
    end = time.monotonic() + 60.0
    while True:
        asked = ExecuteTrajectory.Goal(trajectory=wanted.trajectory, dry_run=True)
        answer = result(result(client.send_goal_async(asked)).get_result_async())
        if answer.result.success:
            return result(client.send_goal_async(wanted))
        assert time.monotonic() < end, answer.result.message


def result(future: Any) -> Any:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(60.0)
    return future.result()


def test_set_points_follow_the_path_together_and_end_with_it(arm: Arm) -> None:
    answer = result(send(arm, goal(3.0)).get_result_async())
    assert answer.result.success, answer.result.message
    wait_until(lambda: arm.positions == {"joint1": 1.0, "joint2": 2.0}, "the end isn't reached")
    first, second = (np.array([(when, p) for when, joint, p in arm.told if joint == name]) for name in arm.positions)
    assert len(first) > 50
    assert (np.diff(first[:, 1]) >= 0.0).all()
    # Whatever a busy machine loses or delays, most are sent together with the other joint's of the same place.
    moving = first[(first[:, 1] > 0.01) & (first[:, 1] < 0.99)]
    other = second[np.abs(second[None, :, 1] - 2.0 * moving[:, None, 1]).argmin(axis=1)]
    assert np.median(np.abs(other[:, 1] - 2.0 * moving[:, 1])) < 1e-9
    assert np.median(np.abs(other[:, 0] - moving[:, 0])) < 0.02


def test_a_bridge_that_is_killed_sends_nothing_more(arm: Arm) -> None:
    wait_in_motion(lambda: arm.positions["joint1"] >= 0.1, send(arm, goal(10.0)).get_result_async())
    kill(arm.bridge)

    def is_quiet() -> bool:
        count = len(arm.told)
        time.sleep(0.5)
        return len(arm.told) == count

    wait_until(is_quiet, "set points go on")
    assert arm.positions["joint1"] < 0.9  # what was on its way has come; the path goes on to 1


def test_a_robot_that_tells_nothing_any_more_is_stopped_and_told_of(arm: Arm) -> None:
    """Softly: the joints still take commands."""
    ended = send(arm, goal(10.0)).get_result_async()
    wait_in_motion(lambda: arm.positions["joint1"] >= 0.1, ended)
    arm.timer.cancel()
    answer = result(ended).result
    assert answer.code == Result.STALE_STATE
    assert "the newest joint states are" in answer.message
    assert arm.positions["joint1"] == pytest.approx(answer.path_time / 10.0, abs=1e-6)
    assert arm.positions["joint1"] < 0.6


@pytest.mark.parametrize("arm", [True], indirect=True)
def test_a_robot_that_was_set_back_is_not_pulled_to_where_it_was(arm: Arm) -> None:
    ended = send(arm, goal(10.0)).get_result_async()
    wait_in_motion(lambda: arm.positions["joint1"] >= 0.1, ended)
    arm.executor.create_task(arm.reset)
    answer = result(ended).result
    assert answer.code == Result.STALE_STATE
    assert "time went back" in answer.message
    assert arm.positions == {"joint1": 0.0, "joint2": 0.0}


@pytest.mark.parametrize("arm", [True], indirect=True)
def test_a_clock_that_jumps_ahead_takes_no_joint_along(arm: Arm) -> None:
    ended = send(arm, goal(10.0)).get_result_async()
    wait_in_motion(lambda: arm.positions["joint1"] >= 0.1, ended)
    before = arm.positions["joint1"]
    arm.zero -= 30.0
    answer = result(ended).result
    assert answer.code == Result.STALE_STATE
    assert "time went ahead" in answer.message
    time.sleep(0.3)
    assert max(p for _, joint, p in arm.told if joint == "joint1") < before + 0.5


@pytest.mark.parametrize("arm", [True], indirect=True)
def test_a_clock_that_stands_still_ends_the_motion_which_doesnt_go_on_with_it(arm: Arm) -> None:
    ended = send(arm, goal(10.0)).get_result_async()
    wait_in_motion(lambda: arm.positions["joint1"] >= 0.1, ended)
    arm.stands = time.monotonic()
    answer = result(ended).result
    assert answer.code == Result.STALE_STATE
    assert "time has stood still" in answer.message
    there = dict(arm.positions)
    arm.zero += time.monotonic() - arm.stands
    arm.stands = None
    time.sleep(0.5)
    assert arm.positions == there


def test_files_that_cant_be_used_are_refused_with_line_and_key(start_badly: Any, tmp_path: Any) -> None:
    cases = {
        ARM.replace("joint1]", "joint9]"): "controllers.first.joints[0]: is 'joint9'. Use one of joint1, joint2",
        ARM.replace("[joint2]", "[joint1]"): "'joint1' belongs to 'first' too",
        ARM.replace("forward_position,", "effort,"): "controllers.first.kind: is 'effort'. Use one of",
        ARM.replace("rate: 100", "rate: 10"): "horizon is 0.1 s, which a rate of 10 Hz can't keep filled",
        ARM + "stops: {cancel: fall}": "stops.cancel: is 'fall'. Use one of path, hold",
    }
    for text, words in cases.items():
        file = tmp_path / "bridge.yaml"
        file.write_text(text)
        with pytest.raises(InputError, match=re.escape(words)) as caught:
            load_bridge_settings(str(file))
        assert f"{file}:" in str(caught.value)
    ended = start_badly("controller_bridge", ["config:=nowhere", "log:=log.txt"])
    assert ended["config:=nowhere"][0] == 1
    assert "log: is 'log.txt'. Give a file that ends in .mcap." in ended["log:=log.txt"][1]
