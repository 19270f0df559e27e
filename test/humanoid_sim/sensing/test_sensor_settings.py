# SPDX-License-Identifier: Apache-2.0
"""Noise and delay of simulated sensors by settings."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model import load_scene
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.sensor_settings import SensorSettings

pytestmark = pytest.mark.feature("000-F147")


def simulated(settings: SensorSettings) -> tuple[Simulation, NoisySensors]:
    simulation = Simulation(settings.disturbed(load_scene("bip_stand"), 1e-3))
    sensors = NoisySensors(settings.sensor_seed)
    simulation.add_module(sensors)
    return simulation, sensors


def test_delayed_readings_are_those_of_steps_before() -> None:
    simulation, sensors = simulated(SensorSettings(sensor_delay=3e-3))
    robot = simulation.robots["bip"]
    name = next(key for key, sensor in robot.robot.sensors.items() if sensor.type == "imu")
    force = next(key for key, sensor in robot.robot.sensors.items() if sensor.type == "force_torque")
    simulation.apply_wrench("bip/trunk", [200.0, 0.0, 0.0], duration=0.1)
    true, read = [], []
    for _ in range(12):
        simulation.step()
        true.append([robot.joint_positions[0], robot.imu(name).linear_acceleration[0], robot.wrench(force)[2]])
        inertia = sensors.imu("bip", name).linear_acceleration
        read.append([sensors.joint_positions("bip")[0], inertia[0], sensors.wrench("bip", force)[2]])
    np.testing.assert_allclose(read[3:], true[:-3], rtol=1e-9)
    assert np.abs(np.diff(np.array(true), axis=0)).min(axis=0).max() > 0.0, "what stands still shows no delay"


def test_usual_noise_has_the_documented_size_and_its_biases_follow_the_seed() -> None:
    biases = []
    for seed in (1, 1, 2):
        simulation, sensors = simulated(SensorSettings(sensor_noise="usual", sensor_seed=seed))
        robot = simulation.robots["bip"]
        name = next(key for key, sensor in robot.robot.sensors.items() if sensor.type == "imu")
        errors = []
        for _ in range(400):
            simulation.step()
            errors.append(sensors.imu("bip", name).angular_velocity - robot.imu(name).angular_velocity)
        assert np.std(errors, axis=0) == pytest.approx(5e-3, rel=0.15)
        biases.append(np.mean(errors, axis=0))
    np.testing.assert_array_equal(biases[0], biases[1])
    assert np.linalg.norm(biases[0] - biases[2]) > 1e-3
    assert 1e-3 < np.linalg.norm(biases[0]) < 0.03


def test_only_noise_that_there_is_can_be_chosen() -> None:
    assert SensorSettings().ideal
    assert not SensorSettings(sensor_noise="file").ideal
    with pytest.raises(InputError, match="sensor_noise: is 'loud'"):
        SensorSettings(sensor_noise="loud")
    with pytest.raises(InputError, match="sensor_delay"):
        SensorSettings(sensor_delay=-1.0)
