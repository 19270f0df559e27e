# SPDX-License-Identifier: Apache-2.0
"""RABBIT and the five-bar mechanism as URDF: the same dynamics as the gait generator's planar models."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.gait_models import FIVE_BAR, RABBIT
from fixtures.generators import assert_files_are_generated
from fixtures.scenes import scene

from humanoid_model import load_robot
from humanoid_model.files import find_resource
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_studies.planar_gait.mechanism.multiplier_elimination import simulate_closed


def without_rotors(robot):
    model = robot.model.copy()
    model.armature = np.zeros(model.nv)
    return model


def test_files_equal_the_generators_output():
    assert_files_are_generated("gait_mechanisms_generate")


def test_rabbit_is_the_planar_model():
    robot = load_robot("rabbit")
    assert robot.total_mass == pytest.approx(40.0)
    model, data = without_rotors(robot), robot.model.createData()
    planar = RABBIT.double_support(0.45)
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1.0, 1.0, 5), rng.normal(size=5)
    hip = planar.points["hip"]
    place, speed = hip.position(q), hip.jacobian(q) @ v
    posture, velocity = np.zeros(7), np.zeros(7)
    base = [robot.index_q(name) for name in ("base_x", "base_z", "base_pitch")]
    posture[base] = [place[0], place[1], math.pi / 2 - q[4]]
    velocity[base] = [speed[0], speed[1], -v[4]]
    for name, angle, rate in zip(planar.joint_names, planar.robot_angles(q), planar.robot_rates(v), strict=True):
        posture[robot.index_q(name)] = angle
        velocity[robot.index_v(name)] = rate
    assert pin.computeKineticEnergy(model, data, posture, velocity) == pytest.approx(
        0.5 * v @ planar.tree.momentum(q, v), rel=1e-9
    )
    assert pin.computePotentialEnergy(model, data, posture) == pytest.approx(planar.tree.potential(q), abs=1e-9)
    for side in ("rear", "front"):
        contact = robot.contacts[f"{side}_tip"]
        link = robot.parts.links[contact.link]
        tip = (data.oMi[link.joint_id] * link.placement_joint_link).act(contact.vertices_link[0])
        np.testing.assert_allclose(tip[[0, 2]], planar.points[f"{side}_tip"].position(q), atol=1e-12)
    for joint, lower, upper in zip(planar.joint_names, planar.joint_lower, planar.joint_upper, strict=True):
        index = robot.index_q(joint)
        kind = joint.partition("_")[2]
        assert (RABBIT.joints[kind].lower, RABBIT.joints[kind].upper) == pytest.approx(
            (robot.limits.lower[index], robot.limits.upper[index])
        )
        assert upper - lower == pytest.approx(robot.limits.upper[index] - robot.limits.lower[index])


def test_rabbits_controls_are_its_joint_torques():
    planar = RABBIT.double_support(0.45)
    rng = np.random.default_rng(2)
    v, u = rng.normal(size=5), rng.normal(size=6)
    power = planar.robot_torques(u) @ planar.robot_rates(v)
    assert power == pytest.approx(u[:4] @ planar.torque_rates(v))


def test_five_bar_is_the_planar_model():
    robot = load_robot("five_bar")
    assert robot.total_mass == pytest.approx(13.0)
    model, data = without_rotors(robot), robot.model.createData()
    tree = FIVE_BAR.phase().tree
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-3.0, 3.0, 4), rng.normal(size=4)
    index = [robot.index_q(f"O{i}") for i in range(1, 5)]
    posture, velocity = np.zeros(4), np.zeros(4)
    posture[index], velocity[index] = -tree.relative_angles(q), -tree.relative_angles(v)
    assert pin.computeKineticEnergy(model, data, posture, velocity) == pytest.approx(
        0.5 * v @ tree.momentum(q, v), rel=1e-9
    )
    assert pin.computePotentialEnergy(model, data, posture) == pytest.approx(tree.potential(q), abs=1e-7)


def test_five_bars_loop_is_closed_in_its_posture():
    robot = load_robot("five_bar")
    index = [robot.index_q(f"O{i}") for i in range(1, 5)]
    tree = FIVE_BAR.phase().tree
    q = tree.absolute_angles(-robot.postures["transfer_start"][index])
    np.testing.assert_allclose(q, FIVE_BAR.posture(0.1 + 0.6j), atol=1e-8)
    (loop,) = robot.loops
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.postures["transfer_start"])
    ends = []
    for name, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b)):
        link = robot.parts.links[name]
        ends.append((data.oMi[link.joint_id] * link.placement_joint_link * placement).translation)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)
    assert loop.rows == ("x", "z")


def test_five_bar_falls_in_the_simulator_as_by_eliminated_multipliers(tmp_path):
    for ending in ("urdf", "yaml"):
        text = find_resource(f"urdf/five_bar.{ending}").read_text()
        (tmp_path / f"five_bar.{ending}").write_text(
            text.replace('  "O*": {}\n', "").replace("actuators:", "actuators: {}")
        )
    robot = load_robot(tmp_path / "five_bar.urdf")
    posture = robot.postures["transfer_start"]
    placed = SceneRobot("five_bar", robot, "transfer_start", pin.SE3.Identity(), posture)
    simulation = Simulation(scene(robots=(placed,)), dt=1e-3)
    simulation.robots["five_bar"].set_state(posture)
    simulation.run(0.25)
    index = [robot.index_q(f"O{i}") for i in range(1, 5)]
    tree = FIVE_BAR.phase().tree
    motion = simulate_closed(
        FIVE_BAR.phase(), FIVE_BAR.posture(0.1 + 0.6j), np.zeros(4), lambda t, q, v: np.zeros(5), 0.25
    )
    found = tree.absolute_angles(-simulation.robots["five_bar"].q[index])
    assert np.abs(motion.q[-1] - motion.q[0]).max() > 0.3
    np.testing.assert_allclose(found, motion.q[-1], atol=5e-3)
