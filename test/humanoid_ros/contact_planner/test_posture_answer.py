# SPDX-License-Identifier: Apache-2.0
"""Joint states of postures, held against Pinocchio's own placements of the links."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_model import Robot, load_robot
from humanoid_ros.contact_planner.posture_answer import joint_state


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


@pytest.fixture(scope="module")
def avatar() -> Robot:
    return load_robot("avatar", geometry=False)


def random_configuration(robot: Robot, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return pin.integrate(robot.model, pin.neutral(robot.model), rng.uniform(-0.7, 0.7, robot.model.nv))


def test_joint_state_is_what_the_urdf_names(hrp2: Robot, avatar: Robot) -> None:
    q = random_configuration(hrp2, 6)
    state = joint_state(hrp2, q, {"CHEST_JOINT0": 3.0, "HEAD_JOINT1": -4.0}, "world")
    assert list(state.name) == list(hrp2.joint_names)
    assert state.header.frame_id == "world"
    np.testing.assert_array_equal(state.position, [q[hrp2.index_q(name)] for name in state.name])
    efforts = dict(zip(state.name, state.effort, strict=True))
    assert (efforts.pop("CHEST_JOINT0"), efforts.pop("HEAD_JOINT1")) == (3.0, -4.0)
    assert not any(efforts.values())
    state = joint_state(avatar, random_configuration(avatar, 7), {}, "world")
    assert set(state.name) >= {member for members in avatar.ball_joints.values() for member in members}
    assert not state.effort


def test_members_of_ball_joints_turn_as_the_ball_does(avatar: Robot) -> None:
    q = random_configuration(avatar, 8)
    state = joint_state(avatar, q, {}, "world")
    positions = dict(zip(state.name, state.position, strict=True))
    links = avatar.link_placements(q)
    for members in avatar.ball_joints.values():
        joints = [avatar.description.joints[member] for member in members]
        turn = np.eye(3)
        for joint in joints:
            turn = turn @ joint.placement.rotation @ pin.exp3(joint.axis * positions[joint.name])
        expected = links[joints[0].parent].rotation.T @ links[joints[-1].child].rotation
        np.testing.assert_allclose(turn, expected, atol=1e-9)
