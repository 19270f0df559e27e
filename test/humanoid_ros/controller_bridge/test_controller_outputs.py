# SPDX-License-Identifier: Apache-2.0
"""What the bridge sends keeps the rules of ros2_control's joint_trajectory_controller, and its answers are understood.

The rules are those of ``validate_trajectory_msg``, ``goal_received_callback``, ``preempt_active_goal`` and
``goal_cancelled_callback`` of its jazzy version, whose goals are rejected without a reason.
"""

from __future__ import annotations

import bisect
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fixtures.bridges import wait_in_motion
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from humanoid_stack.action import ExecuteTrajectory  # noqa: E402
from humanoid_stack.msg import WholeBodyTrajectory  # noqa: E402
from rclpy.action import ActionServer, CancelResponse, GoalResponse  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from humanoid_ros.messages.conversions import seconds  # noqa: E402
from humanoid_sim.control.trajectory_request import MAX_END_VELOCITY  # noqa: E402

pytestmark = pytest.mark.ros
Result = ExecuteTrajectory.Result
CONFIG = """
robot: robot_2r_a
controllers:
  first: {kind: trajectory_action, name: first_controller, joints: [joint1]}
  second: {kind: trajectory_topic, name: second_controller, joints: [joint2]}
timing: {horizon: 0.3, lead: 2.0, watchdog: 3.0, state_age: 3.0}
tolerances: {path: 100.0, goal: 100.0, goal_time: 20.0}
stops: {controller: hold}
"""


class Controllers:
    """Two controllers with ros2_control's manners, and joints that are told to be at 0; other threads spin them.

    Attributes:
        broken: rules that a trajectory broke.
        windows: trajectories that came by the topic, in the order in which they were sent, with the time of that [ns].
        goals: those that came as goals.
        rejects: whether goals are rejected.
        silent: whether the second controller tells its state no more.
        cancelled: when goals were cancelled, by the monotonic clock [s].
        verdict: how the next goal that runs ends: aborted, unless it is preempted or cancelled before.
    """

    def __init__(self, domain: int) -> None:
        from rclpy.callback_groups import ReentrantCallbackGroup
        from rclpy.executors import MultiThreadedExecutor

        self.broken: list[str] = []
        self.windows: list[tuple[int, JointTrajectory]] = []
        self.lock = threading.Lock()
        self.goals: list[JointTrajectory] = []
        self.rejects = self.silent = False
        self.cancelled: list[float] = []
        self.verdict: FollowJointTrajectory.Result | None = None
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("controllers", context=self.context)
        self.group = ReentrantCallbackGroup()
        self.states = self.node.create_publisher(JointState, "joint_states", 10)
        self.controller_states = [
            self.node.create_publisher(JointTrajectoryControllerState, f"{name}_controller/controller_state", 10)
            for name in ("first", "second")
        ]
        self.node.create_subscription(
            JointTrajectory, "second_controller/joint_trajectory", self.on_topic, 10, callback_group=self.group
        )
        self.server = ActionServer(
            self.node,
            FollowJointTrajectory,
            "first_controller/follow_joint_trajectory",
            self.execute,
            goal_callback=self.on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=self.group,
        )
        self.node.create_timer(0.02, self.tell, callback_group=self.group)
        self.executor = MultiThreadedExecutor(6, context=self.context)
        self.executor.add_node(self.node)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.spin)
        self.thread.start()

    @property
    def topic(self) -> list[JointTrajectory]:
        """Trajectories that came by the topic."""
        return [message for _, message in self.windows]

    def spin(self) -> None:
        while not self.stop.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def tell(self) -> None:
        message = JointState(name=["joint1", "joint2"], position=[0.0, 0.0])
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.states.publish(message)
        for publisher in self.controller_states[: 1 if self.silent else 2]:
            publisher.publish(JointTrajectoryControllerState())

    def check(self, message: JointTrajectory, joints: list[str], now: float) -> None:
        """Note what the real one would refuse at a time [s]."""
        if list(message.joint_names) != joints:
            self.broken.append(f"joints {message.joint_names}")
        if not message.points:
            self.broken.append("no points")
            return
        times = [seconds(point.time_from_start) for point in message.points]
        if (np.diff(times) <= 0.0).any():
            self.broken.append(f"times {times}")
        start = seconds(message.header.stamp)
        if start and start + times[-1] < now:
            self.broken.append("ends in the past")
        for point in message.points:
            for field in ("positions", "velocities", "accelerations"):
                values = getattr(point, field)
                if len(values) not in ((1,) if field == "positions" else (0, 1)) or not np.isfinite(values).all():
                    self.broken.append(f"{field} {values}")
            if len(point.effort):
                self.broken.append("efforts")
        if any(abs(velocity) > MAX_END_VELOCITY for velocity in message.points[-1].velocities):
            self.broken.append(f"ends with {message.points[-1].velocities}")

    def on_topic(self, message: JointTrajectory, info: dict[str, Any]) -> None:
        # A busy machine may bring it late, and after what was sent later: what counts is when it was sent.
        with self.lock:
            bisect.insort(self.windows, (info["source_timestamp"], message), key=lambda window: window[0])
        self.check(message, ["joint2"], info["source_timestamp"] * 1e-9)

    def on_goal(self, goal: FollowJointTrajectory.Goal) -> GoalResponse:
        self.check(goal.trajectory, ["joint1"], self.node.get_clock().now().nanoseconds * 1e-9)
        return GoalResponse.REJECT if self.rejects else GoalResponse.ACCEPT

    def execute(self, handle: Any) -> FollowJointTrajectory.Result:
        trajectory = handle.request.trajectory
        self.goals.append(trajectory)
        number = len(self.goals)
        end = seconds(trajectory.header.stamp) + seconds(trajectory.points[-1].time_from_start)
        while self.node.get_clock().now().nanoseconds * 1e-9 < end:
            if handle.is_cancel_requested:
                self.cancelled.append(time.monotonic())
                handle.canceled()
                return FollowJointTrajectory.Result()
            if len(self.goals) > number:
                handle.abort()
                result = FollowJointTrajectory.Result(error_code=FollowJointTrajectory.Result.INVALID_GOAL)
                result.error_string = "Current goal preempted by new incoming action."
                return result
            if self.verdict is not None:
                handle.abort()
                return self.verdict
            time.sleep(0.005)
        handle.succeed()
        return FollowJointTrajectory.Result(error_string="Goal successfully reached!")

    def close(self) -> None:
        self.stop.set()
        self.thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture(scope="module")
def served(start_bridge: Callable[..., Any]) -> Iterator[Controllers]:
    found = Controllers(claim_domain())
    found.bridge = start_bridge(found.node.context.get_domain_id(), CONFIG, sim_time=False)
    yield found
    found.close()


@pytest.fixture
def controllers(served: Controllers) -> Iterator[Controllers]:
    served.broken, served.windows, served.goals = [], [], []
    served.rejects, served.silent, served.verdict, served.cancelled = False, False, None, []
    end = time.monotonic() + 60.0
    while not (answer := executed(served, 1.0, dry_run=True)).success:
        assert time.monotonic() < end, answer.message
    yield served
    assert not served.broken


def begin(controllers: Controllers, duration: float, **fields: Any) -> Any:
    from humanoid_ros.node.clients import GuardedActionClient

    zero = [0.0, 0.0]
    points = [
        JointTrajectoryPoint(positions=row, velocities=zero, time_from_start=Duration(sec=int(when)))
        for when, row in ((0.0, zero), (duration, [1.0, 2.0]))
    ]
    trajectory = WholeBodyTrajectory(joints=JointTrajectory(joint_names=["joint1", "joint2"], points=points))
    client = GuardedActionClient(
        controllers.node, ExecuteTrajectory, "execute_trajectory", callback_group=controllers.group
    )
    assert client.wait_for_server(60.0)
    return answered(client.send_goal_async(ExecuteTrajectory.Goal(trajectory=trajectory, **fields)))


def executed(controllers: Controllers, duration: float, **fields: Any) -> Any:
    return answered(begin(controllers, duration, **fields).get_result_async()).result


def underway(controllers: Controllers, duration: float) -> tuple[Any, Any]:
    """The handle of a motion that moves, and the future of its result."""
    handle = begin(controllers, duration)
    ended = handle.get_result_async()
    wait_in_motion(lambda: len(controllers.topic) >= 30, ended)
    return handle, ended


def last_window(controllers: Controllers, points: int) -> JointTrajectory:
    """Wait until the last window has so many points; the result of a motion may come before what holds it."""
    end = time.monotonic() + 30.0
    while not controllers.topic or len(controllers.topic[-1].points) != points:
        assert time.monotonic() < end, [len(window.points) for window in controllers.topic]
        time.sleep(0.01)
    return controllers.topic[-1]


def answered(future: Any) -> Any:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(60.0)
    return future.result()


def test_goals_and_windows_keep_the_controllers_rules_and_begin_at_one_stamp(controllers: Controllers) -> None:
    result = executed(controllers, 4.0)
    assert result.success, result.message
    (goal,) = controllers.goals
    assert goal.header.stamp == controllers.topic[0].header.stamp
    assert len(controllers.topic) > 20
    lengths = [seconds(window.points[-1].time_from_start) for window in controllers.topic]
    assert max(lengths) <= 0.3 + 1e-6


def test_a_goal_that_is_rejected_starts_nothing(controllers: Controllers) -> None:
    controllers.rejects = True
    result = executed(controllers, 2.0)
    assert (result.code, result.controller) == (Result.NO_CONTROLLER, "first")
    assert "rejected the goal" in result.message
    assert controllers.goals == []
    assert list(last_window(controllers, 1).points[0].positions) == [0.0]


def test_a_goal_that_is_aborted_tells_its_reason_and_holds_the_others(controllers: Controllers) -> None:
    _, ended = underway(controllers, 8.0)
    controllers.verdict = FollowJointTrajectory.Result(
        error_code=FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED,
        error_string="Aborted due to path tolerance violation",
    )
    result = answered(ended).result
    assert (result.code, result.controller) == (Result.CONTROLLER_LOST, "first")
    assert "Aborted due to path tolerance violation; held at once" in result.message
    last_window(controllers, 1)


def test_a_soft_stop_replaces_the_goal_whose_abortion_is_no_fault(controllers: Controllers) -> None:
    handle, ended = underway(controllers, 8.0)
    answered(handle.cancel_goal_async())
    answer = answered(ended)
    assert (answer.status, answer.result.code) == (GoalStatus.STATUS_CANCELED, Result.STOPPED)
    first, *_, last = controllers.goals  # the path waits for controllers on a slow machine, which get a goal then too
    own = 3.0 * (answer.result.path_time / 8.0) ** 2 - 2.0 * (answer.result.path_time / 8.0) ** 3
    assert last.points[-1].positions[0] == pytest.approx(own, abs=1e-6)
    assert first.points[-1].positions[0] == 1.0


def test_a_controller_that_falls_silent_is_lost(controllers: Controllers) -> None:
    _, ended = underway(controllers, 20.0)
    controllers.silent = True
    result = answered(ended).result
    assert (result.code, result.controller) == (Result.CONTROLLER_LOST, "second")
    assert "no controller_state has come for 3" in result.message
    end = time.monotonic() + 60.0
    while not controllers.cancelled:
        assert time.monotonic() < end, "the other controller's goal goes on"
        time.sleep(0.01)


def test_a_bridge_that_hangs_has_its_goals_cancelled_and_tells_of_it(controllers: Controllers) -> None:
    _, ended = underway(controllers, 20.0)
    controllers.bridge.send_signal(signal.SIGSTOP)
    hung = time.monotonic()
    try:
        while not controllers.cancelled:
            assert time.monotonic() < hung + 15.0, "its goal goes on"  # of 20 s; the watchdog's are 3
            time.sleep(0.01)
        last = controllers.topic[-1]
        assert seconds(last.points[-1].time_from_start) <= 0.3 + 1e-6
    finally:
        controllers.bridge.send_signal(signal.SIGCONT)
    result = answered(ended).result
    assert result.code == Result.CONTROLLER_LOST
    assert "the bridge hung for" in result.message
    controllers.broken.clear()  # what was on its way came late
