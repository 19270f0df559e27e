# SPDX-License-Identifier: Apache-2.0
"""The controller node over DDS, before a robot of messages that stands still: commands, estimate, faults, life."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped, WrenchStamped
from humanoid_stack.action import CarryOut
from humanoid_stack.msg import ControllerStatus, JointCommand
from humanoid_stack.msg import WholeBodyTrajectory as WholeBodyMessage
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Imu, JointState

from humanoid_model import load_robot
from humanoid_model.contact import Contact, Surface
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_ros.messages.conversions import fill_vector, seconds, stamp
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.node.clients import GuardedActionClient

pytestmark = [pytest.mark.ros, pytest.mark.feature("000-F029")]

CONTROLLER_ARGUMENTS = (
    *("-p", "patience:=1.5", "-p", "status_rate:=100.0", "-p", "diagnostics_rate:=10.0", "-p", "velocity_timeout:=1.0"),
    *("-p", "approach:=0.5"),
)
"""Patient with the tests' machine."""
TICK = 0.002


class StandingRobot:
    """HRP-2 at rest: what its sensors say, tick by tick of its own clock, and what it is commanded."""

    def __init__(self, client: Any) -> None:
        self.client, self.robot = client, load_robot("hrp2")
        q = self.robot.posture("half_sitting")
        self.joints = JointState(name=list(self.robot.joint_names))
        self.joints.position = [float(q[self.robot.index_q(name)]) for name in self.joints.name]
        self.joints.velocity = [0.0] * len(self.joints.name)
        self.imu = Imu()
        self.imu.linear_acceleration.z = 9.81
        self.wrenches = {}
        for foot in ("left_ankle", "right_ankle"):
            self.wrenches[foot] = WrenchStamped()
            self.wrenches[foot].wrench.force.z = 0.5 * 9.81 * self.robot.total_mass
        self.commands = client.listen(JointCommand, "commands/position")
        self.status = client.listen(ControllerStatus, "controller/status")
        self.odometry = client.listen(Odometry, "odom")
        best_effort = qos_profile_sensor_data
        self.to_imu = client.publisher(Imu, "imu", best_effort)
        self.to_wrenches = {
            name: client.publisher(WrenchStamped, f"wrenches/{name}", best_effort) for name in self.wrenches
        }
        self.to_joints = client.publisher(JointState, "joint_states")
        self.time = 10.0

    def tick(self, count: int = 1, *, silent: tuple[str, ...] = ()) -> None:
        """Measure so often."""
        for _ in range(count):
            self.time += TICK
            for name, message in (("joints", self.joints), ("imu", self.imu), *self.wrenches.items()):
                message.header.stamp = stamp(self.time)
                if name in silent:
                    continue
                where = {"joints": self.to_joints, "imu": self.to_imu}.get(name) or self.to_wrenches[name]
                where.publish(message)
            time.sleep(0.002)

    def until(self, condition: Callable[[ControllerStatus], bool], **options: Any) -> ControllerStatus:
        """Measure on until the controller's status is so."""
        self.status.clear()
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            self.tick(5, **options)
            for message in list(self.status.messages):
                if condition(message):
                    return message
        raise AssertionError(f"never so; at last {self.status.messages[-1:]}")


@pytest.fixture(scope="module")
def robot(controller: Any) -> StandingRobot:
    return StandingRobot(controller)


@pytest.fixture(autouse=True)
def standing(robot: StandingRobot) -> Iterator[None]:
    robot.until(lambda status: status.mode == ControllerStatus.STANDING)
    yield
    assert robot.client.process.poll() is None


def finite(command: JointCommand) -> bool:
    numbers = (*command.positions, *command.velocities, *command.efforts)
    return bool(np.isfinite(numbers).all())


def is_hold(command: JointCommand) -> bool:
    return not len(command.efforts) and not len(command.stiffness) and seconds(command.period) == 0.0


def change(controller: Any, transition: int) -> None:
    request = ChangeState.Request(transition=Transition(id=transition))
    assert controller.call(ChangeState, "controller/change_state", request).success


def test_each_measurement_is_answered_with_efforts_and_where_the_joints_should_be(robot: StandingRobot) -> None:
    robot.commands.clear()
    robot.tick(20)
    command = robot.commands.wait(lambda m: seconds(m.header.stamp) == pytest.approx(robot.time, abs=1e-6))
    assert finite(command)
    assert len(command.names) == len(command.efforts) == len(command.stiffness) == 30
    assert seconds(command.period) == pytest.approx(2 * TICK)
    np.testing.assert_allclose(command.positions, robot.joints.position, atol=0.01)
    knee = command.efforts[list(command.names).index("RLEG_JOINT3")]
    assert abs(knee) > 5.0, "a bent knee bears the body"
    assert len({seconds(m.header.stamp) for m in robot.commands.messages}) == len(robot.commands.messages)


def test_the_estimate_is_told_with_its_covariance(robot: StandingRobot) -> None:
    robot.odometry.clear()
    robot.tick(10)
    message = robot.odometry.wait()
    assert (message.header.frame_id, message.child_frame_id) == ("odom", "WAIST")
    assert message.pose.pose.position.z == pytest.approx(0.65, abs=0.03)
    assert message.pose.pose.orientation.w == pytest.approx(1.0, abs=1e-3)
    for covariance in (message.pose.covariance, message.twist.covariance):
        own = np.reshape(covariance, (6, 6))
        np.testing.assert_allclose(own, own.T, atol=1e-12)
        assert np.linalg.eigvalsh(own).min() > -1e-12
        assert np.diag(own).min() > 0.0


def test_status_tells_of_balance_and_punctuality(robot: StandingRobot) -> None:
    status = robot.until(lambda m: len(m.contacts) == 2)
    assert sorted(status.contacts) == ["left_sole", "right_sole"]
    assert 0.02 < status.margin < 0.15
    assert math.hypot(status.zmp.x - status.dcm.x, status.zmp.y - status.dcm.y) < 0.1
    before = status.ticks
    assert robot.until(lambda m: m.ticks >= before + 20).tick_seconds > 0.0
    assert status.time_to_footstep == 0.0


@pytest.mark.parametrize("lost", ["left_ankle", "imu", "encoder"])
def test_a_lost_sensor_lets_the_drives_hold_until_it_is_back(robot: StandingRobot, lost: str) -> None:
    place = robot.joints.name.index("RLEG_JOINT2")
    where = robot.joints.position[place]
    robot.commands.clear()
    if lost == "encoder":
        robot.joints.position[place] = math.nan
    try:
        robot.until(lambda m: m.mode == ControllerStatus.HOLDING, silent=(lost,))
        hold = robot.commands.wait(is_hold)
    finally:
        robot.joints.position[place] = where
    assert finite(hold)
    np.testing.assert_allclose(hold.positions, robot.joints.position, atol=1e-9)
    assert all(finite(command) for command in robot.commands.messages)
    assert robot.until(lambda m: m.mode == ControllerStatus.STANDING)


def test_silence_lets_the_drives_hold(robot: StandingRobot) -> None:
    robot.commands.clear()
    hold = robot.commands.wait(is_hold)
    assert finite(hold)
    robot.until(lambda m: m.mode == ControllerStatus.STANDING)


def test_a_clock_that_goes_back_begins_anew(robot: StandingRobot) -> None:
    robot.time -= 5.0
    status = robot.until(lambda m: any("the clock went back" in fault for fault in m.faults))
    assert status
    robot.until(lambda m: m.mode == ControllerStatus.STANDING)


def test_velocities_are_taken_bounded_and_forgotten(robot: StandingRobot) -> None:
    publisher = robot.client.publisher(TwistStamped, "cmd_vel")
    diagnostics = robot.client.listen(DiagnosticArray, "/diagnostics")
    command = TwistStamped()
    command.twist.linear.x = math.nan
    publisher.publish(command)
    diagnostics.wait(lambda m: any("cmd_vel: twist: is [nan" in v.value for v in m.status[0].values))
    fill_vector(command.twist.linear, (0.0, 9.0, 0.0))
    publisher.publish(command)
    status = robot.until(lambda m: m.velocity.linear.y > 0.0)
    assert status.velocity.linear.y == pytest.approx(0.15)
    robot.until(lambda m: m.velocity.linear.y == 0.0)
    command.header.stamp.sec = 1
    publisher.publish(command)
    diagnostics.wait(lambda m: any("cmd_vel: header.stamp: is" in v.value for v in m.status[0].values))


def test_inactive_it_commands_nothing_and_leaves_the_joints_to_their_drives(robot: StandingRobot) -> None:
    robot.commands.clear()
    change(robot.client, Transition.TRANSITION_DEACTIVATE)
    try:
        robot.commands.wait(is_hold)
        robot.commands.clear()
        robot.tick(50)
        assert all(is_hold(command) for command in robot.commands.messages)
    finally:
        change(robot.client, Transition.TRANSITION_ACTIVATE)
    robot.commands.clear()
    robot.until(lambda m: m.mode == ControllerStatus.STANDING)
    robot.commands.wait(lambda m: not is_hold(m))


def still(seconds: float) -> WholeBodyTrajectory:
    """HRP-2 stays as it stands."""
    robot, ground = load_robot("hrp2"), Surface("ground", "ground", pin.SE3.Identity())
    names = [name for name, location in robot.contacts.items() if location.support]
    spans = [ContactSpan(Contact(robot.contacts[name], ground, 0.0, 0.0, 0.0), 0.0, seconds) for name in names]
    q, rest = robot.postures["half_sitting"], np.zeros((2, robot.model.nv))
    return WholeBodyTrajectory(robot, [0.0, seconds], [q, q], rest, rest, spans)


def ask(robot: StandingRobot, message: WholeBodyMessage) -> tuple[Any, list[CarryOut.Feedback]]:
    """Send a motion; returns the goal's handle and what comes of its progress."""
    told: list[CarryOut.Feedback] = []
    client = GuardedActionClient(robot.client.node, CarryOut, "carry_out")
    assert client.wait_for_server(60.0)
    sent = client.send_goal_async(CarryOut.Goal(trajectory=message), lambda news: told.append(news.feedback))
    while not sent.done():
        robot.tick(5)
    return sent.result(), told


def end(robot: StandingRobot, handle: Any) -> CarryOut.Result:
    """Measure on until a motion has ended."""
    answer = handle.get_result_async()
    stop = time.monotonic() + 60.0
    while not answer.done() and time.monotonic() < stop:
        robot.tick(5)
    return answer.result().result


def test_a_motion_is_carried_out_and_told_of(robot: StandingRobot) -> None:
    handle, told = ask(robot, whole_body_message(still(0.6), "world"))
    robot.until(lambda m: m.mode == ControllerStatus.MOVING and math.isnan(m.margin))
    result = end(robot, handle)
    assert (result.success, result.code) == (True, CarryOut.Result.DONE), result.message
    assert sorted(result.contacts) == ["left_sole", "right_sole"]
    assert result.path_time == pytest.approx(0.6, abs=0.01)
    assert told
    assert all(news.duration == pytest.approx(0.6) and news.distance < 0.02 for news in told)
    change(robot.client, Transition.TRANSITION_DEACTIVATE)
    change(robot.client, Transition.TRANSITION_ACTIVATE)


def test_a_motion_is_cancelled_and_ends_with_the_activity(robot: StandingRobot) -> None:
    handle, _ = ask(robot, whole_body_message(still(60.0), "world"))
    robot.until(lambda m: m.mode == ControllerStatus.MOVING)
    handle.cancel_goal_async()
    result = end(robot, handle)
    assert (result.success, result.code) == (False, CarryOut.Result.CANCELLED), result.message
    assert sorted(result.contacts) == ["left_sole", "right_sole"]
    handle, _ = ask(robot, whole_body_message(still(60.0), "world"))
    robot.tick(20)
    change(robot.client, Transition.TRANSITION_DEACTIVATE)
    try:
        assert end(robot, handle).code == CarryOut.Result.HELD
        handle, _ = ask(robot, whole_body_message(still(60.0), "world"))
        assert end(robot, handle).code == CarryOut.Result.NOT_READY
    finally:
        change(robot.client, Transition.TRANSITION_ACTIVATE)


def test_a_node_that_leaves_its_robot_ends_the_motion_first(robot: StandingRobot) -> None:
    handle, _ = ask(robot, whole_body_message(still(60.0), "world"))
    robot.tick(20)
    change(robot.client, Transition.TRANSITION_DEACTIVATE)
    change(robot.client, Transition.TRANSITION_CLEANUP)
    try:
        assert end(robot, handle).code == CarryOut.Result.HELD
    finally:
        change(robot.client, Transition.TRANSITION_CONFIGURE)
        change(robot.client, Transition.TRANSITION_ACTIVATE)


def test_motions_that_can_t_be_carried_out_are_refused_by_name(robot: StandingRobot) -> None:
    elsewhere, whole = whole_body_message(still(1.0), "world"), whole_body_message(still(1.0), "world")
    for one in elsewhere.joints.points:
        one.positions = [position + 0.2 for position in one.positions]
    loose, other = copy.deepcopy(whole), copy.deepcopy(whole)
    loose.contacts, other.robot = [], "bip"
    whole.base[1].position.z = math.nan
    for message, code, words in (
        (elsewhere, CarryOut.Result.WRONG_START, "off the first point for 0.5 s"),
        (loose, CarryOut.Result.INVALID, "trajectory.contacts: is empty"),
        (other, CarryOut.Result.INVALID, "trajectory.robot: is 'bip'"),
        (whole, CarryOut.Result.INVALID, "trajectory.base[1]"),
    ):
        handle, _ = ask(robot, message)
        result = end(robot, handle)
        assert (result.success, result.code) == (False, code), result.message
        assert words in result.message


def test_a_robot_that_is_not_there_is_said_at_the_start(
    start_badly: Callable[..., dict[str, tuple[int, str]]]
) -> None:
    told = start_badly("controller", ["robot:=nobody", "posture:=flying", "walker.step_time:=0.1"])
    for parameter, words in (("robot:=nobody", "nobody"), ("posture:=flying", "flying")):
        code, text = told[parameter]
        assert code == 1
        assert words in text
    assert "step_time" in told["walker.step_time:=0.1"][1]
