# SPDX-License-Identifier: Apache-2.0
"""Postures to messages and back, held against Pinocchio's own placements of the links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Quaternion
from humanoid_stack.msg import Posture

from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.posture_messages import configuration, posture_message

MIMIC = """
<robot name="gripper">
  <link name="palm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="left"/><link name="right"/>
  <joint name="l" type="revolute"><parent link="palm"/><child link="left"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="r" type="revolute"><parent link="palm"/><child link="right"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/><mimic joint="l" multiplier="-2" offset="0.1"/></joint>
</robot>
"""

BALL = """
<robot name="ball">
  <link name="root"/><link name="a"/><link name="b"/><link name="tip"/>
  <joint name="one" type="revolute"><parent link="root"/><child link="a"/><origin rpy="0.5 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="two" type="revolute"><parent link="a"/><child link="b"/><origin rpy="0 0 0.4"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="three" type="revolute"><parent link="b"/><child link="tip"/><origin rpy="0.2 0 0"/>
    <axis xyz="0 0.980066577841 -0.198669330795"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
</robot>
"""
"""A ball joint whose members' frames are turned against each other."""


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


@pytest.fixture(scope="module")
def avatar() -> Robot:
    return load_robot("avatar", geometry=False)


def random_configuration(robot: Robot, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    q = pin.neutral(robot.model)
    return pin.integrate(robot.model, q, rng.uniform(-0.7, 0.7, robot.model.nv))


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    path = tmp_path_factory.mktemp("ball") / "ball.urdf"
    path.write_text(BALL)
    path.with_suffix(".yaml").write_text("floating_base: false\nball_joints: {shoulder: [one, two, three]}\n")
    return load_robot(path)


@pytest.mark.parametrize("name", ["hrp2", "avatar", "ball"])
def test_a_configuration_comes_back(name: str, request: pytest.FixtureRequest) -> None:
    robot = request.getfixturevalue(name)
    q = random_configuration(robot, 3)
    again = configuration(posture_message(robot, q), robot, "initial")
    for one, other in zip(robot.link_placements(q).values(), robot.link_placements(again).values(), strict=True):
        np.testing.assert_allclose(one.homogeneous, other.homogeneous, atol=1e-12)


def test_the_base_is_the_root_links_place(hrp2: Robot) -> None:
    q = random_configuration(hrp2, 4)
    base = placement(posture_message(hrp2, q).base, "base")
    np.testing.assert_allclose(base.homogeneous, hrp2.link_placements(q)["WAIST"].homogeneous, atol=1e-12)


@pytest.mark.parametrize("name", ["avatar", "ball"])
def test_ball_joints_tell_the_child_links_orientation_in_the_parent_link(
    name: str, request: pytest.FixtureRequest
) -> None:
    robot = request.getfixturevalue(name)
    q = random_configuration(robot, 5)
    links, message = robot.link_placements(q), posture_message(robot, q)
    assert list(message.ball_joint_names) == list(robot.ball_joints)
    assert message.ball_joint_names
    for ball, turn in zip(message.ball_joint_names, message.ball_joint_orientations, strict=True):
        members = [robot.description.joints[member] for member in robot.ball_joints[ball]]
        expected = links[members[0].parent].rotation.T @ links[members[-1].child].rotation
        given = pin.Quaternion(np.array([turn.x, turn.y, turn.z, turn.w])).matrix()
        np.testing.assert_allclose(given, expected, atol=1e-12)


def test_an_empty_posture_is_the_robots_default_one(hrp2: Robot) -> None:
    q = configuration(Posture(), hrp2, "initial")
    np.testing.assert_array_equal(q, hrp2.postures["half_sitting"])
    np.testing.assert_array_equal(q, hrp2.default_posture)
    bare = load_robot("tree4", geometry=False)
    np.testing.assert_array_equal(bare.default_posture, bare.postures["zero"])


def test_a_base_alone_moves_the_default_posture_there(hrp2: Robot) -> None:
    message = Posture()
    message.base.position.x = 2.0
    q = configuration(message, hrp2, "initial")
    np.testing.assert_array_equal(hrp2.placement_base(q).translation, [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(q[7:], hrp2.postures["half_sitting"][7:])


def test_joints_that_are_not_named_stay_as_in_the_default_posture(hrp2: Robot) -> None:
    q = configuration(Posture(joint_names=["CHEST_JOINT0"], positions=[0.2]), hrp2, "initial")
    expected = np.array(hrp2.postures["half_sitting"])
    expected[hrp2.index_q("CHEST_JOINT0")] = 0.2
    np.testing.assert_array_equal(q[7:], expected[7:])


def test_followers_follow_and_are_not_named() -> None:
    robot = load_robot(MIMIC)
    q = configuration(Posture(joint_names=["l"], positions=[0.3]), robot, "initial")
    assert q[robot.index_q("r")] == pytest.approx(-0.5)
    assert list(posture_message(robot, q).joint_names) == ["l"]
    with pytest.raises(InputError, match=r"initial.joint_names\[0\]: 'r' follows 'l'. Give 'l' only."):
        configuration(Posture(joint_names=["r"], positions=[0.3]), robot, "initial")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"robot": "bip"}, "initial.robot: is 'bip', the request is about 'hrp2'"),
        ({"joint_names": ["NOSE"], "positions": [0.0]}, "initial.joint_names[0]: there is no joint 'NOSE'. Known are"),
        ({"joint_names": ["RLEG_JOINT0"]}, "initial.positions: has 0 values for 1 joint_names"),
        ({"positions": [1.0]}, "initial.positions: has 1 values for 0 joint_names"),
        ({"joint_names": ["RLEG_JOINT0"], "positions": [float("nan")]}, "initial.positions: is [nan]. Give finite"),
        ({"joint_names": ["RLEG_JOINT0"] * 2, "positions": [0.0, 0.0]}, "joint_names[1]: 'RLEG_JOINT0' comes twice"),
        ({"ball_joint_names": ["neck"]}, "initial.ball_joint_orientations: has 0 values for 1 ball_joint_names"),
        (
            {"ball_joint_names": ["neck"], "ball_joint_orientations": [Quaternion()]},
            "initial.ball_joint_names[0]: there is no ball joint 'neck'. Known are: none.",
        ),
    ],
)
def test_what_is_no_posture_is_refused(hrp2: Robot, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        configuration(Posture(**fields), hrp2, "initial")
    assert message in str(error.value)


def test_bad_bases_and_ball_joints_are_refused(hrp2: Robot, avatar: Robot) -> None:
    message = Posture()
    message.base.orientation.w = 0.5
    with pytest.raises(InputError, match=r"initial\.base\.orientation: .* has the length 0\.5"):
        configuration(message, hrp2, "initial")
    ball = next(iter(avatar.ball_joints))
    message = Posture(ball_joint_names=[ball], ball_joint_orientations=[Quaternion(w=float("inf"))])
    with pytest.raises(InputError, match=r"initial\.ball_joint_orientations\[0\]: is \[0\.0, 0\.0, 0\.0, inf\]"):
        configuration(message, avatar, "initial")
    member = avatar.ball_joints[ball][0]
    with pytest.raises(InputError, match=f"'{member}' is part of the ball joint '{ball}'"):
        configuration(Posture(joint_names=[member], positions=[0.0]), avatar, "initial")


def test_a_fixed_robots_base_is_not_read(tmp_path: Path) -> None:
    robot = load_robot("hrp2", floating_base=False, geometry=False)
    message = Posture()
    message.base.position.x = 2.0
    np.testing.assert_array_equal(configuration(message, robot, "initial"), robot.default_posture)
