# SPDX-License-Identifier: Apache-2.0
"""The kinematics node as a relay: driven joints in, all joints out; a tool's way in, the motors' out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration, Time  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Quaternion, Transform, Vector3  # noqa: E402
from humanoid_stack.msg import MechanismLink  # noqa: E402
from humanoid_stack.srv import SetMechanismParameters  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint  # noqa: E402

from humanoid_kinematics import MechanismSolver, load_mechanism  # noqa: E402

pytestmark = pytest.mark.ros
KINEMATICS_ARGUMENTS = (
    *("-p", "mechanism:=fourbar", "-p", "relay:=motors", "-p", "relay_efforts:=true", "-p", "diagnostics_rate:=20.0"),
)
FOURBAR = load_mechanism("fourbar")


def rocker(crank: float) -> complex:
    """Angle of the coupler in the world, and of the rocker, of the four-bar: circles that meet [rad]."""
    a = 0.1 * np.exp(1j * crank)
    to = 0.32 - a
    inner = np.arccos((abs(to) ** 2 + 0.26**2 - 0.24**2) / (2 * abs(to) * 0.26))
    coupler = float(np.angle(to) + inner)
    return complex(coupler, float(np.angle(a + 0.26 * np.exp(1j * coupler) - 0.32)))


def relayed(node: Any, joints: Any, crank: float, **more: Any) -> JointState:
    message = JointState(name=["gripper", "joint_1"], position=[0.3, crank], **more)
    message.header.stamp = Time(sec=7, nanosec=round(1e6 * crank))
    node.publisher(JointState, "motors").publish(message)
    return joints.wait(lambda told: told.header.stamp == message.header.stamp)


@pytest.mark.feature("002-F182")
def test_driven_joints_come_back_with_those_that_the_loop_moves(kinematics: Any) -> None:
    joints = kinematics.listen(JointState, "fourbar/joint_states")
    told = relayed(kinematics, joints, 1.2, velocity=[0.0, 2.0], effort=[0.0, 3.0])
    assert list(told.name) == ["joint_1", "joint_2", "joint_3"]
    angles = rocker(1.2)
    assert np.array(told.position) == pytest.approx([1.2, angles.real - 1.2, angles.imag], abs=1e-9)
    slope = (rocker(1.2 + 1e-6) - rocker(1.2 - 1e-6)) / 2e-6
    assert np.array(told.velocity) == pytest.approx([2.0, 2.0 * (slope.real - 1.0), 2.0 * slope.imag], abs=1e-6)
    assert list(told.effort) == [3.0, 0.0, 0.0]
    without = relayed(kinematics, joints, 1.3)
    assert list(without.velocity) == [0.0, 0.0, 0.0]
    assert all(np.isnan(without.effort))


@pytest.mark.feature("002-F182")
def test_messages_that_can_not_be_completed_are_told_and_the_next_is(kinematics: Any) -> None:
    joints = kinematics.listen(JointState, "fourbar/joint_states")
    problems = kinematics.listen(DiagnosticArray, "/diagnostics")
    motors = kinematics.publisher(JointState, "motors")
    for message, words in (
        (JointState(name=["joint_3"], position=[0.1]), "without joint_1"),
        (JointState(name=["joint_1"], position=[float("nan")]), "nan"),
        (JointState(name=["joint_1"], position=[0.1, 0.2]), "2 numbers for 1 joints"),
        (JointState(name=["joint_1"]), "position"),
        (JointState(name=["joint_1"], position=[1e4]), "Give -"),
        (JointState(name=["joint_1"], position=[1e100]), "is 1e+100"),
    ):
        motors.publish(message)
        told = problems.wait(lambda told, words=words: any(words in item.value for item in told.status[0].values))
        assert told.status[0].level == DiagnosticStatus.WARN
        assert words in told.status[0].message
    # As long as the drives aren't completed, not only when that is told first.
    problems.wait_new(lambda told: told.status[0].message.startswith("not completed: "))
    assert relayed(kinematics, joints, 1.25).position[2] == pytest.approx(rocker(1.25).imag, abs=1e-9)


def test_a_changed_link_is_relayed(kinematics: Any) -> None:
    joints = kinematics.listen(JointState, "fourbar/joint_states")
    for length in (0.12, 0.1):
        link = MechanismLink(name="link_2", type=MechanismLink.REVOLUTE, d=length)
        request = SetMechanismParameters.Request(mechanism="fourbar", links=[link])
        assert kinematics.call(SetMechanismParameters, "set_mechanism_parameters", request).success
        told = relayed(kinematics, joints, 1.2 + length)
        crank, coupler, angle = told.position
        end = length * np.exp(1j * crank) + 0.26 * np.exp(1j * (crank + coupler))
        assert abs(end - 0.32 - 0.24 * np.exp(1j * angle)) < 1e-9


@pytest.mark.feature("002-F182")
def test_a_tools_way_becomes_the_motors_way(kinematics: Any) -> None:
    ways = kinematics.listen(JointTrajectory, "fourbar/drive_trajectory")
    solver = MechanismSolver(FOURBAR)
    message = MultiDOFJointTrajectory(joint_names=["frame_6"])
    cranks = np.linspace(1.2, 1.5, 4)
    for at, crank in enumerate(cranks):
        angles = rocker(crank)
        q = np.array([crank, angles.real - crank, angles.imag])
        place = FOURBAR.robot.link_placements(q)["frame_6"]
        turn = Quaternion(**dict(zip("xyzw", pin.Quaternion(place.rotation).coeffs(), strict=True)))
        transform = Transform(translation=Vector3(**dict(zip("xyz", place.translation, strict=True))), rotation=turn)
        point = MultiDOFJointTrajectoryPoint(transforms=[transform], time_from_start=Duration(sec=at))
        message.points.append(point)
    assert solver.closing.closed
    tools = kinematics.publisher(MultiDOFJointTrajectory, "fourbar/tool_trajectory")
    tools.publish(message)
    way = ways.wait()
    assert list(way.joint_names) == ["joint_1"]
    assert [point.positions[0] for point in way.points] == pytest.approx(cranks, abs=1e-6)
    assert [point.time_from_start.sec for point in way.points] == [0, 1, 2, 3]
    assert way.points[1].velocities[0] == pytest.approx(0.1, abs=1e-3)
    problems = kinematics.listen(DiagnosticArray, "/diagnostics")
    message.points[2].transforms[0].translation.z = 1.0
    tools.publish(message)
    problems.wait(lambda told: any("2 s can't be reached" in item.value for item in told.status[0].values))
