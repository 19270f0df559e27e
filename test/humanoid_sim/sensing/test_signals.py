# SPDX-License-Identifier: Apache-2.0
"""Statistics of measured signals (specification 000, F147)."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.sensor import Noise, Sensor
from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.signals import (
    ForceSensor,
    NoisyOrientation,
    NoisySignal,
    identify_force_sensor,
    noisy_colours,
    noisy_distances,
    per_axis,
)

PERIOD = 0.01


def signal(*noises: Noise, seed: int = 0) -> NoisySignal:
    return NoisySignal(noises, PERIOD, np.random.default_rng(seed))


def samples(measured: NoisySignal, values: np.ndarray) -> np.ndarray:
    return np.array([measured.sample(row) for row in values])


def test_silent_signals_pass_unchanged() -> None:
    values = np.random.default_rng(1).normal(size=(20, 2))
    assert_allclose(samples(signal(Noise(), Noise()), values), values, atol=0)


@pytest.mark.feature("000-F147")
def test_white_noise_has_its_deviation_bias_and_no_memory() -> None:
    k = 20_000
    measured = samples(signal(Noise(deviation=0.5, bias=2.0), Noise(deviation=3.0)), np.zeros((k, 2)))
    assert_allclose(measured.mean(axis=0), [2.0, 0.0], atol=5 * 3.0 / math.sqrt(k))
    assert_allclose(measured.std(axis=0), [0.5, 3.0], rtol=5 / math.sqrt(2 * k))
    lagged = np.corrcoef(measured[1:, 0], measured[:-1, 0])[0, 1]
    assert abs(lagged) < 5 / math.sqrt(k)
    assert abs(np.corrcoef(measured.T)[0, 1]) < 5 / math.sqrt(k)
    # Gaussian: 68.27 % within one standard deviation.
    within = np.mean(np.abs(measured[:, 1]) < 3.0)
    assert within == pytest.approx(0.6827, abs=5 * math.sqrt(0.6827 * 0.3173 / k))


def test_bias_walks_by_its_deviation_in_a_second() -> None:
    """After t seconds the spread over many channels is bias_walk sqrt(t)."""
    channels = 2000
    walking = signal(*[Noise(bias_walk=0.2)] * channels)
    measured = samples(walking, np.zeros((401, channels)))
    assert measured[0].std() == 0.0
    assert measured[100].std() == pytest.approx(0.2, rel=5 / math.sqrt(2 * channels))
    assert measured[400].std() == pytest.approx(0.4, rel=5 / math.sqrt(2 * channels))


def test_filter_answers_a_step_with_its_time_constant() -> None:
    filtered = signal(Noise(time_constant=0.05))
    filtered.sample(np.zeros(1))
    step = samples(filtered, np.ones((30, 1)))[:, 0]
    assert_allclose(step, 1.0 - np.exp(-PERIOD * np.arange(1, 31) / 0.05), atol=1e-12)


def test_readings_come_late_and_rounded() -> None:
    values = np.arange(10.0)[:, None] * [1.0, 1.0, 0.3]
    measured = samples(signal(Noise(), Noise(latency=3), Noise(resolution=0.5)), values)
    assert_allclose(measured[:, 0], values[:, 0])
    assert_allclose(measured[:, 1], [0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    assert_allclose(measured[:, 2], [0, 0.5, 0.5, 1, 1, 1.5, 2, 2, 2.5, 2.5])


def test_the_same_seed_repeats_and_a_saved_state_goes_on() -> None:
    noise = Noise(0.1, 0.2, 0.3, 1e-3, 0.02, 2)
    values = np.random.default_rng(2).normal(size=(40, 1))
    first, second, other = signal(noise), signal(noise), signal(noise, seed=1)
    expected = samples(first, values)
    assert_allclose(samples(second, values[:20]), expected[:20], atol=0)
    state = second.save()
    samples(second, values[:7])
    second.restore(state)
    assert_allclose(samples(second, values[20:]), expected[20:], atol=0)
    second.restore(state)  # a state can be restored more than once
    assert_allclose(samples(second, values[20:]), expected[20:], atol=0)
    assert np.abs(samples(other, values) - expected).max() > 0.01


def test_orientations_are_disturbed_about_the_sensors_axes() -> None:
    k = 4000
    measured = NoisyOrientation(
        Noise(deviation=0.02, bias=(0.1, 0.0, -0.05)), PERIOD, np.random.default_rng(3)
    )
    R = pin.exp3(np.array([0.4, -1.0, 2.0]))
    true = np.array(pin.Quaternion(R).coeffs())
    errors = []
    for _ in range(k):
        quaternion = measured.sample(true)
        assert abs(np.linalg.norm(quaternion) - 1.0) < 1e-12
        errors.append(pin.log3(R.T @ pin.Quaternion(quaternion).matrix()))
    assert_allclose(np.mean(errors, axis=0), [0.1, 0.0, -0.05], atol=5 * 0.02 / math.sqrt(k))
    assert_allclose(np.std(errors, axis=0), 0.02, rtol=5 / math.sqrt(2 * k))


def test_orientations_are_filtered_rounded_and_late() -> None:
    axis = np.array([0.0, 0.6, 0.8])
    turned = [np.array(pin.Quaternion(pin.exp3(angle * axis)).coeffs()) for angle in (0.0, 1.0)]

    def angles(noise: Noise) -> list[float]:
        measured = NoisyOrientation(noise, PERIOD, np.random.default_rng(0))
        rows = [measured.sample(turned[0])] + [measured.sample(turned[1]) for _ in range(5)]
        return [float(np.linalg.norm(pin.log3(pin.Quaternion(row).matrix()))) for row in rows]

    filtered = 1.0 - np.exp(-PERIOD * np.arange(6) / 0.02)
    assert_allclose(angles(Noise(time_constant=0.02)), filtered, atol=1e-9)
    assert_allclose(angles(Noise(latency=2)), [0, 0, 0, 1, 1, 1], atol=1e-9)
    assert_allclose(angles(Noise(resolution=0.25))[1], np.linalg.norm([0.5, 0.75]), atol=1e-9)
    whole = NoisyOrientation(Noise(0.1, latency=1, time_constant=0.1), PERIOD, np.random.default_rng(0))
    whole.sample(turned[0])
    state = whole.save()
    first = [whole.sample(turned[1]) for _ in range(4)]
    whole.restore(state)
    assert_allclose([whole.sample(turned[1]) for _ in range(4)], first, atol=0)


@pytest.mark.parametrize(
    ("noise", "says"),
    [
        (Noise(deviation=-1.0), "deviation is -1"),
        (Noise(bias=math.nan), "bias is nan"),
        (Noise(bias=(1.0, 2.0)), r"bias is \(1.0, 2.0\).*or 3"),
        (Noise(resolution=math.inf), "resolution is inf"),
        (Noise(latency=-1), "latency is -1"),
        (Noise(latency=1.5), "latency is 1.5.*whole"),  # type: ignore[arg-type]
    ],
)
def test_senseless_noise_is_refused(noise: Noise, says: str) -> None:
    with pytest.raises(InputError, match=says):
        per_axis(noise, 3)
    with pytest.raises(InputError, match="period is 0"):
        NoisySignal([Noise()], 0.0, np.random.default_rng())


GREY = np.full((200, 300, 3), 128, dtype=np.uint8)


def draw(seed=0):
    return np.random.default_rng(seed)


def test_colours_have_the_deviation_and_the_biases_that_are_given():
    noises = {"colour": Noise(deviation=4.0, bias=(5.0, 0.0, -10.0))}
    errors = noisy_colours(GREY, noises, draw()).astype(float) - 128.0
    count = GREY.size / 3
    np.testing.assert_allclose(errors.mean(axis=(0, 1)), [5.0, 0.0, -10.0], atol=5 * 4.0 / math.sqrt(count))
    # rounding to whole levels adds its variance of 1/12
    np.testing.assert_allclose(errors.std(axis=(0, 1)), math.sqrt(16.0 + 1.0 / 12.0), rtol=5 / math.sqrt(2 * count))
    assert np.abs(np.corrcoef(errors.reshape(-1, 3).T) - np.eye(3)).max() < 5 / math.sqrt(count)


def test_colours_end_at_black_and_white():
    ends = np.tile(np.array([0, 255], dtype=np.uint8), (100, 100, 1))[:, :, :, None].reshape(100, 200, 1)
    found = noisy_colours(np.repeat(ends, 3, axis=2), {"colour": Noise(deviation=30.0)}, draw())
    assert found.dtype == np.uint8
    assert found[:, ::2].max() < 200
    assert found[:, 1::2].min() > 55


@pytest.mark.feature("000-F147")
@pytest.mark.parametrize("distance", [0.5, 1.0, 4.0])
def test_errors_of_distances_grow_with_their_square(distance):
    depths = np.full((300, 300), distance)
    found = noisy_distances(depths, {"inverse_depth": Noise(deviation=0.002)}, draw())
    assert found.std() == pytest.approx(0.002 * distance**2, rel=0.02)  # 5 deviations of a deviation of 90 000
    steps = noisy_distances(
        np.linspace(distance, 1.1 * distance, 5000), {"inverse_depth": Noise(resolution=0.01)}, draw()
    )
    assert np.diff(np.unique(steps))[0] == pytest.approx(0.01 * distance**2, rel=0.1)


def test_errors_of_distances_can_be_the_same_everywhere():
    depths = np.tile([1.0, 5.0], (200, 100))
    found = noisy_distances(depths, {"depth": Noise(deviation=0.01, bias=0.03)}, draw())
    np.testing.assert_allclose((found - depths)[:, ::2].std(), 0.01, rtol=0.03)
    np.testing.assert_allclose((found - depths)[:, 1::2].std(), 0.01, rtol=0.03)
    assert (found - depths).mean() == pytest.approx(0.03, abs=5e-4)


def test_what_is_nowhere_stays_there_and_what_is_lost_goes_there():
    depths = np.array([[np.inf, 2.0, 1000.0, np.inf]] * 500)
    found = noisy_distances(depths, {"inverse_depth": Noise(deviation=0.01), "depth": Noise(deviation=0.01)}, draw())
    assert np.isinf(found[:, [0, 3]]).all()
    assert np.isfinite(found[:, 1]).all()
    assert 0.3 < np.isinf(found[:, 2]).mean() < 0.7
    assert (found > 0.0).all()


def seeing(noise, seed=0):
    robot = load_robot("hrp2")
    eye = dataclasses.replace(robot.sensors["imu"], name="eye", type="camera", noise=noise, size=(40, 30))
    assert isinstance(eye, Sensor)
    simulation = Simulation(scene(floor(), robots=(standing(dataclasses.replace(robot, sensors={"eye": eye})),)))
    measured = NoisySensors(seed)
    simulation.add_module(measured)
    return simulation, measured


@pytest.mark.feature("000-F147")
def test_the_same_seed_and_time_give_the_same_picture():
    noise = {"colour": Noise(deviation=6.0), "inverse_depth": Noise(deviation=0.01)}
    (simulation, measured), (_, other) = seeing(noise, 1), seeing(noise, 2)
    first, deep = measured.image("hrp2", "eye"), measured.depth_image("hrp2", "eye")
    np.testing.assert_array_equal(measured.image("hrp2", "eye"), first)
    assert (other.image("hrp2", "eye") != first).any()
    ideal = simulation.robots["hrp2"].image("eye")
    assert np.abs(first.astype(float) - ideal)[(ideal > 30) & (ideal < 225)].std() > 2.0
    assert deep.shape == (30, 40)
    state = simulation.save_state()
    simulation.step()
    later = measured.image("hrp2", "eye")
    assert (later != first).mean() > 0.5
    simulation.restore_state(state)
    np.testing.assert_array_equal(measured.depth_image("hrp2", "eye"), deep)
    simulation.step()
    np.testing.assert_array_equal(measured.image("hrp2", "eye"), later)


def test_without_noise_a_camera_is_ideal():
    simulation, measured = seeing({})
    np.testing.assert_array_equal(measured.image("hrp2", "eye"), simulation.robots["hrp2"].image("eye"))
    np.testing.assert_allclose(
        measured.depth_image("hrp2", "eye"), simulation.robots["hrp2"].depth_image("eye")[0], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("noise", "told"),
    [
        ({"colour": Noise(latency=1)}, "noise.colour: latency is 1. Leave it out"),
        ({"depth": Noise(bias=(1.0, 2.0, 3.0))}, "noise.bias"),
        ({"depth": Noise(deviation=-1.0)}, "noise.deviation: deviation is -1.0"),
    ],
)
def test_noise_that_pictures_cant_have_is_refused(noise, told):
    with pytest.raises(InputError, match=told):
        seeing(noise)


def test_who_has_no_such_camera_is_told():
    _, measured = seeing({})
    with pytest.raises(InputError, match="no"):
        measured.image("hrp2", "nose")
    with pytest.raises(InputError, match="there is no robot 'nobody'"):
        measured.depth_image("nobody", "eye")


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
