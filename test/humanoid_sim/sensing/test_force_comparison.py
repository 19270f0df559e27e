# SPDX-License-Identifier: Apache-2.0
"""Contact forces of the simulation beside sensor readings (specification 000, F149)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.sensor import Noise
from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.noisy_sensors import ForceComparison


@pytest.mark.feature("000-F149")
def test_ankles_tell_the_contact_forces_of_the_soles() -> None:
    """At rest to the newton's thousandth; a push makes a difference of the feet's inertia only."""
    simulation = Simulation("stand")
    modules = [ForceComparison("hrp2", f"{side}_ankle") for side in ("right", "left")]
    for module in modules:
        simulation.add_module(module)
    simulation.run(1.5)
    simulation.apply_wrench("hrp2/CHEST_LINK1", [60.0, 0.0, 0.0], duration=0.1)
    simulation.run(0.1)
    series = [module.series for module in modules]
    assert len(series[0].time) == 1600
    assert series[0].time[-1] == pytest.approx(1.6)
    settled = slice(1400, 1500)
    vertical = sum(one.simulated[settled, 2] for one in series)
    assert_allclose(vertical, 58.0 * 9.81, rtol=1e-3)
    for one in series:
        assert np.abs(one.difference[settled]).max() < 1e-2
        assert np.ptp(one.simulated[1500:, 4]) > 1.0  # the push is seen
        foot = 1.3 * 9.81
        assert one.largest[2] < 2 * foot
        assert (one.root_mean_square <= one.largest).all()


def test_measured_forces_differ_by_their_noise() -> None:
    plain = load_robot("hrp2")
    ankle = dataclasses.replace(plain.sensors["right_ankle"], noise={"force": Noise(deviation=1.0)})
    robot = dataclasses.replace(plain, sensors={**plain.sensors, "right_ankle": ankle})
    simulation = Simulation(scene(floor(), robots=(standing(robot),), friction=0.8))
    measured = NoisySensors()
    comparison = ForceComparison("hrp2", "right_ankle", measured=measured)
    with pytest.raises(InputError, match="requires the module 'noisy_sensors'"):
        simulation.add_module(comparison)
    simulation.add_module(measured)
    simulation.run(1.0)
    simulation.add_module(comparison)
    simulation.run(0.4)
    assert_allclose(comparison.series.root_mean_square[:3], 1.0, rtol=0.2)
    assert comparison.series.largest[3:].max() < 0.05
    state = simulation.save_state()
    simulation.run(0.01)
    simulation.restore_state(state)
    assert len(comparison.series.time) == 400


def test_unknown_names_are_refused() -> None:
    simulation = Simulation("stand")
    with pytest.raises(InputError, match="no robot 'bip'"):
        simulation.add_module(ForceComparison("bip", "right_ankle"))
    with pytest.raises(InputError, match="no force_torque sensor 'imu'"):
        simulation.add_module(ForceComparison("hrp2", "imu"))
