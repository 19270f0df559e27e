# SPDX-License-Identifier: Apache-2.0
"""Gain, offset and hand weight of a force sensor (specification 000 §20.2, F146, N14, static part of E18)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import scene, standing
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.force_sensor import ForceSensor, identify_force_sensor

GAIN = np.eye(6) + 0.05 * np.random.default_rng(0).normal(size=(6, 6))

SIDEWAYS = "rpy: [0, 3.141592653589793, 1.5707963267948966]"
"""Sensor turned with respect to the hand: z along the hanging hand, y to the rear of it."""

TEST_HAND = """<robot name="test_hand"><link name="world"/>
<link name="arm"><inertial><origin xyz="0 0 -0.2"/><mass value="3"/>
<inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.005"/></inertial></link>
<link name="hand"><inertial><origin xyz="0.01 0 -0.06"/><mass value="0.770"/>
<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.0005"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
<joint name="wrist" type="revolute"><parent link="arm"/><child link="hand"/><origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint></robot>"""


def hand(tmp_path: Path) -> tuple[Robot, list[str], float]:
    """The hand of 0.770 kg, fixed to the world by its shoulder."""
    (tmp_path / "hand.urdf").write_text(TEST_HAND)
    (tmp_path / "hand.yaml").write_text(f"sensors: {{wrist: {{type: force_torque, link: hand, {SIDEWAYS}}}}}")
    return load_robot(tmp_path / "hand.urdf"), ["shoulder"], 0.770


def hrp2(tmp_path: Path) -> tuple[Robot, list[str], float]:
    """HRP-2 with its waist held, the sensor at its right wrist turned."""
    text = find_resource("urdf/hrp2.urdf").read_text()
    (tmp_path / "hrp2.urdf").write_text(text)
    turned = f"wrist: {{type: force_torque, link: RARM_LINK5, {SIDEWAYS}}}"
    own = "right_wrist: {type: force_torque, link: RARM_LINK5}"
    yaml = find_resource("urdf/hrp2.yaml").read_text().replace(own, turned)
    assert turned in yaml
    (tmp_path / "hrp2.yaml").write_text(yaml)
    return load_robot(tmp_path / "hrp2.urdf", floating_base=False), ["RARM_JOINT0"], 0.5 + 0.4


@pytest.mark.feature("000-F146")
@pytest.mark.parametrize("make", [hand, hrp2])
def test_the_hands_weight_moves_from_z_to_y(tmp_path: Path, make) -> None:
    """N14: hanging hand z = weight (7.55 N of 0.770 kg), y = 0; horizontal z = 0, y = weight; x stays 0."""
    robot, shoulder, mass = make(tmp_path)
    simulation = Simulation(scene(robots=(standing(robot, "zero", "robot"),)))
    arm, weight = simulation.robots["robot"], 9.8 * mass
    arm.set_gains(np.full(len(arm.joint_names), 2e4), np.full(len(arm.joint_names), 1e3))  # hardly any sag
    simulation.run(1.0)
    hanging = arm.wrench("wrist")
    arm.set_position_target([-math.pi / 2], joints=shoulder)
    simulation.run(2.5)
    horizontal = arm.wrench("wrist")
    if make is hand:
        assert weight == pytest.approx(7.55, abs=0.005)
    assert_allclose(hanging[:3], [0.0, 0.0, weight], atol=0.01 * weight)
    assert_allclose(horizontal[:3], [0.0, weight, 0.0], atol=0.01 * weight)


def test_weight_and_external_wrench_of_a_hand_that_is_pulled(tmp_path: Path) -> None:
    robot, _, mass = hand(tmp_path)
    simulation = Simulation(scene(robots=(standing(robot, "zero", "robot"),)))
    simulation.run(0.5)
    sensors, force = simulation.sensors, np.array([1.0, -2.0, 3.0])
    point = simulation.placement("robot/hand").act(np.array([0.1, 0.0, -0.1]))
    simulation.apply_wrench("robot/hand", force, point=point, duration=1.0)
    simulation.run(1.0)
    place = simulation.placement("robot/hand") * robot.sensors["wrist"].placement_link_sensor
    down = np.array([0.0, 0.0, -9.8 * mass])
    com = simulation.placement("robot/hand").act(np.array([0.01, 0.0, -0.06]))
    expected = np.concatenate([down, np.cross(com - place.translation, down)])
    turn = np.kron(np.eye(2), place.rotation.T)
    assert_allclose(sensors.weight("robot", robot, "wrist"), turn @ expected, atol=1e-4)
    grip = simulation.placement("robot/hand").act(np.array([0.1, 0.0, -0.1]))
    pulled = np.concatenate([force, np.cross(grip - place.translation, force)])
    assert_allclose(sensors.external_wrench("robot", robot, "wrist"), turn @ pulled, atol=1e-3)
    total = sensors.weight("robot", robot, "wrist") + sensors.external_wrench("robot", robot, "wrist")
    assert_allclose(simulation.robots["robot"].wrench("wrist"), total, atol=1e-2)


@pytest.mark.feature("000-F146")
def test_raw_readings_and_external_wrenches_are_inverse() -> None:
    """Equation (5.6) takes back what the inverse model reads: f_l = G^-1 (f_e + P) - f_d."""
    rng = np.random.default_rng(1)
    sensor = ForceSensor(GAIN, rng.normal(size=6))
    for _ in range(20):
        external, weight = 50.0 * rng.normal(size=6), rng.normal(size=6)
        raw = sensor.raw(external + weight)
        assert_allclose(raw, np.linalg.inv(GAIN) @ (external + weight) - sensor.offset, atol=1e-12)
        assert_allclose(sensor.external(raw, weight), external, atol=1e-12)
        assert_allclose(sensor.carried(raw), external + weight, atol=1e-12)
    carried = rng.normal(size=6)
    assert_allclose(sensor.zeroed(carried).raw(carried), 0.0, atol=1e-14)
    assert_allclose(sensor.zeroed(carried).external(np.zeros(6), weight), carried - weight, atol=1e-12)


@pytest.mark.parametrize("n", [3, 6])
def test_gain_and_offset_are_identified_from_postures(n: int) -> None:
    rng = np.random.default_rng(2)
    gain, offset = GAIN[:n, :n], rng.normal(size=n)
    weights = []
    for _ in range(30):
        R, lever, mass = pin.exp3(rng.normal(size=3)), rng.normal(size=3), rng.uniform(0.5, 2.0)
        force = R @ np.array([0.0, 0.0, -9.8 * mass])
        weights.append(np.concatenate([force, np.cross(lever, force)])[:n])
    raw = np.linalg.solve(gain, np.transpose(weights)).T - offset
    found, found_offset = identify_force_sensor(raw, weights)
    assert_allclose(found, gain, atol=1e-10)
    assert_allclose(found_offset, offset, atol=1e-10)
    noisy = raw + 0.01 * rng.normal(size=raw.shape)
    found, found_offset = identify_force_sensor(noisy, weights)
    assert_allclose(found, gain, atol=0.01)
    assert_allclose(found_offset, offset, atol=0.05)


def test_the_module_reads_through_gain_and_offset(tmp_path: Path) -> None:
    robot, shoulder, _ = hand(tmp_path)
    robot.sensors["wrist"].gain[:] = GAIN
    simulation = Simulation(scene(robots=(standing(robot, "zero", "robot"),)))
    measured = NoisySensors()
    simulation.add_module(measured)
    simulation.run(1.0)
    ideal = simulation.robots["robot"].wrench("wrist")
    assert_allclose(measured.raw_wrench("robot", "wrist"), np.linalg.solve(GAIN, ideal), atol=1e-12)
    assert_allclose(measured.wrench("robot", "wrist"), ideal, atol=1e-12)
    measured.zero("robot", "wrist")
    assert_allclose(measured.force_sensor("robot", "wrist").offset, np.linalg.solve(GAIN, ideal), atol=1e-12)
    simulation.robots["robot"].set_position_target([-math.pi / 2], joints=shoulder)
    simulation.run(2.0)
    moved = simulation.robots["robot"].wrench("wrist")
    assert_allclose(measured.raw_wrench("robot", "wrist"), np.linalg.solve(GAIN, moved - ideal), atol=1e-9)
    assert_allclose(measured.wrench("robot", "wrist"), moved, atol=1e-9)
    assert_allclose(measured.external_wrench("robot", "wrist"), 0.0, atol=0.01)
    simulation.reset()
    assert not measured.force_sensor("robot", "wrist").offset.any()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ForceSensor(np.eye(3)), r"gain has the shape \(3, 3\)"),
        (lambda: ForceSensor(np.zeros((6, 6))), "gain is singular"),
        (lambda: ForceSensor(np.full((6, 6), math.nan)), "gain is not finite"),
        (lambda: ForceSensor(offset=np.full(6, math.inf)), "offset is"),
        (lambda: identify_force_sensor(np.zeros((4, 3)), np.zeros((5, 3))), "raw readings have the shape"),
        (lambda: identify_force_sensor(np.ones((4, 3)), np.ones((4, 3))), "tell only 1 of 4"),
        (lambda: identify_force_sensor([[math.nan] * 3], [[0.0] * 3]), "raw holds"),
    ],
)
def test_bad_numbers_are_refused(make, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()
