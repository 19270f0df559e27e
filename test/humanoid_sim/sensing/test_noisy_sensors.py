# SPDX-License-Identifier: Apache-2.0
"""Noisy readings beside the ideal ones, repeatable and saved (specification 000, F147)."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.sensor import Noise
from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors


@pytest.fixture(scope="module")
def robot() -> Robot:
    """HRP-2 with noise on one ankle, its inertial unit and its encoders."""
    plain = load_robot("hrp2")
    noises = {
        "right_ankle": {"force": Noise(deviation=2.0, bias=(1.0, 0.0, -3.0)), "torque": Noise(resolution=0.5)},
        "imu": {"orientation": Noise(bias=0.01), "angular_velocity": Noise(deviation=0.05)},
    }
    sensors = {
        name: dataclasses.replace(sensor, noise=noises.get(name, {})) for name, sensor in plain.sensors.items()
    }
    encoders = {"RLEG_JOINT3": {"position": Noise(resolution=0.01)}, "LLEG_JOINT3": {"velocity": Noise(bias=1.0)}}
    return dataclasses.replace(plain, sensors=sensors, encoders=encoders)


def stand(robot: Robot, seed: int = 0, rate: float | None = None) -> tuple[Simulation, NoisySensors]:
    simulation = Simulation(scene(floor(), robots=(standing(robot),), friction=0.8))
    measured = NoisySensors(seed, rate)
    simulation.add_module(measured)
    return simulation, measured


def everything(measured: NoisySensors) -> np.ndarray:
    imu = measured.imu("hrp2", "imu")
    return np.concatenate(
        [
            measured.wrench("hrp2", "right_ankle"),
            imu.orientation,
            imu.angular_velocity,
            measured.joint_positions("hrp2"),
            measured.joint_velocities("hrp2"),
        ]
    )


def test_noise_is_beside_the_ideal_readings(robot: Robot) -> None:
    simulation, measured = stand(robot)
    simulation.run(0.5)
    errors, turns = [], []
    hrp2 = simulation.robots["hrp2"]

    def watch(_: Simulation) -> None:
        errors.append(measured.wrench("hrp2", "right_ankle") - hrp2.wrench("right_ankle"))
        quaternions = [reading.orientation for reading in (hrp2.imu("imu"), measured.imu("hrp2", "imu"))]
        ideal, disturbed = (pin.Quaternion(quaternion).matrix() for quaternion in quaternions)
        turns.append(pin.log3(ideal.T @ disturbed))

    simulation.run(0.4, watch)
    forces = np.array(errors)[:, :3]
    assert_allclose(forces.mean(axis=0), [1.0, 0.0, -3.0], atol=5 * 2.0 / math.sqrt(400))
    assert_allclose(forces.std(axis=0), 2.0, rtol=5 / math.sqrt(800))
    assert np.abs(np.array(errors)[:, 3:]).max() <= 0.25 + 1e-12
    assert_allclose(turns, 0.01, atol=1e-9)
    assert_allclose(measured.wrench("hrp2", "left_ankle"), hrp2.wrench("left_ankle"), atol=1e-12)
    positions = measured.joint_positions("hrp2")
    knee = hrp2.joint_names.index("RLEG_JOINT3")
    assert positions[knee] == pytest.approx(round(hrp2.joint_positions[knee] / 0.01) * 0.01)
    assert_allclose(np.delete(positions, knee), np.delete(hrp2.joint_positions, knee), atol=0)
    other = hrp2.joint_names.index("LLEG_JOINT3")
    assert_allclose((measured.joint_velocities("hrp2") - hrp2.joint_velocities)[other], 1.0)


@pytest.mark.feature("000-F147")
def test_seeds_repeat_and_states_go_on_bit_for_bit(robot: Robot) -> None:
    first, first_measured = stand(robot, seed=7)
    second, second_measured = stand(robot, seed=7)
    _, other = stand(robot, seed=8)
    assert (everything(other) != everything(first_measured)).any()
    first.run(0.05)
    second.run(0.02)
    state = second.save_state()
    second.run(0.01)
    second.restore_state(state)
    second.run(0.03)
    assert everything(first_measured).tobytes() == everything(second_measured).tobytes()
    first.reset()
    second.reset()
    assert everything(first_measured).tobytes() == everything(second_measured).tobytes()


def test_samples_are_held_between_sampling_times(robot: Robot) -> None:
    simulation, measured = stand(robot, rate=200.0)
    seen = []
    for _ in range(20):
        simulation.step()
        seen.append(measured.imu("hrp2", "imu").angular_velocity[0])
    changes = np.flatnonzero(np.diff(seen)) + 2  # step number of the change
    assert list(changes) == [5, 10, 15, 20]


def test_other_sensors_draw_no_numbers_of_this_one(robot: Robot) -> None:
    """A sensor's noise stays the same when another one gets none."""
    quiet = {**robot.sensors, "imu": dataclasses.replace(robot.sensors["imu"], noise={})}
    _, first = stand(robot)
    _, second = stand(dataclasses.replace(robot, sensors=quiet, encoders={}))
    assert_allclose(first.wrench("hrp2", "right_ankle"), second.wrench("hrp2", "right_ankle"), atol=0)


def test_unknown_names_and_bad_numbers_are_refused(robot: Robot) -> None:
    _, measured = stand(robot)
    with pytest.raises(InputError, match=r"no sensor 'imu' of the robot 'hrp2' measures force.*right_ankle"):
        measured.wrench("hrp2", "imu")
    with pytest.raises(InputError, match=r"no sensor 'right_ankle' .* measures orientation.*imu"):
        measured.imu("hrp2", "right_ankle")
    with pytest.raises(InputError, match=r"no robot 'bip'.*hrp2"):
        measured.joint_positions("bip")
    with pytest.raises(InputError, match="belong to no simulation"):
        NoisySensors().imu("hrp2", "imu")
    with pytest.raises(InputError, match="seed is -1"):
        NoisySensors(-1)
    for rate in (0.0, math.nan):
        with pytest.raises(InputError, match="rate is"):
            NoisySensors(rate=rate)
    bad = dataclasses.replace(robot, encoders={"RLEG_JOINT0": {"position": Noise(deviation=-1.0)}})
    with pytest.raises(InputError, match="deviation is -1"):
        stand(bad)
