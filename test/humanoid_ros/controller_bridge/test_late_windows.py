# SPDX-License-Identifier: Apache-2.0
"""A controller to which windows come late: the path waits for it, and for one that never goes on the motion ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fixtures.bridges import wait_in_motion
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from humanoid_stack.action import ExecuteTrajectory  # noqa: E402
from humanoid_stack.msg import WholeBodyTrajectory  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402

from humanoid_model.joint_trajectory import JointTrajectory  # noqa: E402
from humanoid_ros.messages.conversions import seconds  # noqa: E402

pytestmark = [pytest.mark.ros, pytest.mark.feature("000-F029")]
CONFIG = """
robot: robot_2r_a
controllers:
  arm: {kind: trajectory_topic, name: arm_controller, joints: [joint1]}
timing: {horizon: 0.3, state_age: 3.0, clock: 2.0}
tolerances: {path: 0.2}
"""
FASTEST = 0.375
"""The joint's largest velocity on its path of 2 rad in 8 s [rad/s]."""


class Follower:
    """A controller of one perfect joint that follows the newest window; while it is deaf, windows wait outside.

    Attributes:
        track: times and positions that it told [s, rad].
    """

    def __init__(self, domain: int) -> None:
        from rclpy.executors import SingleThreadedExecutor

        self.track: list[tuple[float, float]] = []
        self.window: JointTrajectory | None = None
        self.waiting: JointTrajectory | None = None
        self.deaf = False
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("arm_driver", context=self.context)
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.told = self.node.create_publisher(JointTrajectoryControllerState, "arm_controller/controller_state", 10)
        self.node.create_subscription(JointTrajectoryMessage, "arm_controller/joint_trajectory", self.take, 10)
        self.node.create_timer(0.01, self.tell)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.spin)
        self.thread.start()

    def spin(self) -> None:
        while not self.stop.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def take(self, message: JointTrajectoryMessage) -> None:
        start = seconds(message.header.stamp)
        times = [start + seconds(point.time_from_start) for point in message.points]
        positions = [np.array(point.positions) for point in message.points]
        velocities = [np.array(point.velocities) if len(point.velocities) else None for point in message.points]
        self.waiting = JointTrajectory(["joint1"], times, positions, velocities)

    def tell(self) -> None:
        if not self.deaf:
            self.window = self.waiting
        stamp = self.node.get_clock().now()
        now, position, velocity = stamp.nanoseconds * 1e-9, [0.0], [0.0]
        if self.window is not None:
            sample = self.window.at(now)
            position, velocity = sample.positions.tolist(), sample.velocities.tolist()
        self.track.append((now, position[0]))
        joints = JointState(name=["joint1"], position=position)
        state = JointTrajectoryControllerState(joint_names=["joint1"])
        state.reference = JointTrajectoryPoint(positions=position, velocities=velocity)
        joints.header.stamp = state.header.stamp = stamp.to_msg()
        self.states.publish(joints)
        self.told.publish(state)

    def close(self) -> None:
        self.stop.set()
        self.thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def follower(start_bridge: Callable[..., Any]) -> Iterator[Follower]:
    found = Follower(claim_domain())
    start_bridge(found.node.context.get_domain_id(), CONFIG, sim_time=False)
    yield found
    found.close()


def deaf_on_the_way(follower: Follower) -> Any:
    """Begin a motion, and return the future of its result when the controller has become deaf in its middle."""
    from humanoid_ros.node.clients import GuardedActionClient

    points = [
        JointTrajectoryPoint(positions=[place], velocities=[0.0], time_from_start=Duration(sec=when))
        for when, place in ((0, 0.0), (8, 2.0))
    ]
    motion = WholeBodyTrajectory(joints=JointTrajectoryMessage(joint_names=["joint1"], points=points))
    client = GuardedActionClient(follower.node, ExecuteTrajectory, "execute_trajectory")
    assert client.wait_for_server(60.0)
    end = time.monotonic() + 60.0
    while not (answer := ended(ended(client.send_goal_async(asked(motion, True))).get_result_async())).result.success:
        assert time.monotonic() < end, answer.result.message
    result = ended(client.send_goal_async(asked(motion, False))).get_result_async()
    wait_in_motion(lambda: follower.track[-1][1] > 0.5, result)
    follower.deaf = True
    return result


def asked(motion: WholeBodyTrajectory, dry_run: bool) -> ExecuteTrajectory.Goal:
    return ExecuteTrajectory.Goal(trajectory=motion, dry_run=dry_run)


def ended(future: Any) -> Any:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(60.0)
    return future.result()


def test_the_path_waits_for_a_controller_that_gets_nothing_for_a_while(follower: Follower) -> None:
    result = deaf_on_the_way(follower)
    time.sleep(1.5)
    follower.deaf = False
    answer = ended(result).result
    assert answer.success, answer.message
    assert "windows came too late" in answer.message
    times, positions = np.array(follower.track).T
    assert positions[-1] == pytest.approx(2.0, abs=0.01)
    # Without waiting it would have had to jump by what the joint goes in 1.2 s.
    assert (np.abs(np.diff(positions)) - FASTEST * np.diff(times)).max() < 0.2


def test_a_controller_that_doesnt_go_on_ends_the_motion(follower: Follower) -> None:
    answer = ended(deaf_on_the_way(follower)).result
    assert answer.code == ExecuteTrajectory.Result.TOLERANCE_VIOLATED
    assert "the controllers have stood at" in answer.message
    assert follower.track[-1][1] < 1.0
