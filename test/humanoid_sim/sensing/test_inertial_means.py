# SPDX-License-Identifier: Apache-2.0
"""Means of inertial readings over steps."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.inertial_means import InertialMeans

pytestmark = pytest.mark.feature("000-F147")


@pytest.mark.parametrize("noisy", [False, True])
def test_a_mean_is_of_the_steps_since_it_was_taken_last(noisy: bool) -> None:
    simulation = Simulation("bip_stand")
    sensors = NoisySensors(1) if noisy else None
    if sensors is not None:
        simulation.add_module(sensors)
    means = InertialMeans(sensors=sensors)
    simulation.add_module(means)
    simulation.apply_wrench("bip/trunk", [300.0, 0.0, 0.0], duration=0.01)
    robot = simulation.robots["bip"]
    name = next(key for key, sensor in robot.robot.sensors.items() if sensor.type == "imu")
    for steps in (3, 1, 5):
        single = []
        for _ in range(steps):
            simulation.step()
            own = robot.imu(name) if sensors is None else sensors.imu("bip", name)
            single.append([own.angular_velocity, own.linear_acceleration])
        assert steps == 1 or np.ptp(np.array(single)[:, 1, 0]) > 1e-6, "equal readings would show nothing"
        np.testing.assert_allclose(means.take("bip", name), np.mean(single, axis=0), rtol=1e-12)
        assert means.take("bip", name) is None
    assert means.take("bip", "none") is None


def test_it_goes_on_from_a_kept_state_and_in_a_copy() -> None:
    simulation = Simulation("bip_stand")
    simulation.add_module(InertialMeans("bip"))
    simulation.apply_wrench("bip/trunk", [300.0, 0.0, 0.0], duration=0.01)
    simulation.step(2)
    state, twin = simulation.save_state(), copy.copy(simulation)
    taken = []
    for own in (simulation, twin):
        own.step(2)
        module = own.modules["inertial_means/bip"]
        assert isinstance(module, InertialMeans)
        taken.append(module.take("bip"))
    simulation.restore_state(state)
    simulation.step(2)
    module = simulation.modules["inertial_means/bip"]
    assert isinstance(module, InertialMeans)
    np.testing.assert_array_equal(taken[1], taken[0])
    np.testing.assert_array_equal(module.take("bip"), taken[0])
