# SPDX-License-Identifier: Apache-2.0
"""The avatar's ball joints: servos on rotations, seen as the three joints of the URDF."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_sim import Simulation


@pytest.fixture(scope="module")
def avatar() -> Robot:
    return load_robot("avatar")


def fixed_in_the_air(robot: Robot) -> Simulation:
    """No gravity and no floor: only the servos act."""
    return Simulation(scene(robots=(standing(robot, "zero", "avatar"),), gravity=(0.0, 0.0, 0.0)))


@pytest.mark.feature("000-F044")
def test_shoulder_turns_by_sixty_degrees(avatar: Robot) -> None:
    """Specification 000 F044: the step response of a ball joint to a rotation of 60 degrees settles there."""
    name = next(ball for ball in avatar.ball_joints if "shoulder" in ball)
    members = list(avatar.ball_joints[name])
    simulation = fixed_in_the_air(avatar)
    robot = simulation.robots["avatar"]
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    start = avatar.index_q(name)
    target = pin.Quaternion(pin.exp3(np.pi / 3 * axis))
    simulation.servos.q_target[start : start + 4] = target.coeffs()
    angles = []

    def watch(running: Simulation) -> None:
        now = pin.Quaternion(running.q[start : start + 4])
        angles.append(float(now.angularDistance(target)))

    watch(simulation)
    simulation.run(1.5, watch)
    assert angles[0] == pytest.approx(np.pi / 3)
    assert angles[-1] < 1e-3
    assert max(angles) <= angles[0] + 1e-9
    # The same posture as angles of the three joints, which as targets lead to it as well.
    places = [robot.joint_names.index(member) for member in members]
    reached = robot.joint_positions[places]
    simulation.reset()
    robot.set_position_target(reached, joints=members)
    simulation.run(1.5)
    assert_allclose(robot.joint_positions[places], reached, atol=1e-3)


def test_members_of_a_ball_joint_move_and_push_one_by_one(avatar: Robot) -> None:
    members = next(iter(avatar.ball_joints.values()))
    simulation = fixed_in_the_air(avatar)
    robot = simulation.robots["avatar"]
    robot.set_position_target([0.3], joints=[members[1]])
    simulation.run(1.0)
    positions = dict(zip(robot.joint_names, robot.joint_positions, strict=True))
    assert positions[members[1]] == pytest.approx(0.3, abs=1e-3)
    assert positions[members[0]] == pytest.approx(0.0, abs=1e-3)
    assert np.abs(robot.joint_velocities).max() < 1e-2
    robot.set_effort([0.5], joints=[members[2]])
    simulation.step()
    efforts = dict(zip(robot.joint_names, robot.joint_efforts, strict=True))
    assert efforts[members[2]] == pytest.approx(0.5, abs=1e-6)
    assert efforts[members[0]] == pytest.approx(0.0, abs=1e-6)


def test_avatar_stands(avatar: Robot) -> None:
    simulation = Simulation(scene(floor(), robots=(standing(avatar, "zero", "avatar"),), friction=0.8))
    simulation.run(1.5)
    weight = avatar.total_mass * 9.8
    assert simulation.contacts.normal_force.sum() == pytest.approx(weight, rel=1e-3)
