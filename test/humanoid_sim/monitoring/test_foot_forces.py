# SPDX-License-Identifier: Apache-2.0
"""Forces on soles: a robot that stands, that is pulled, and that has nothing under it."""

import numpy as np
import pytest
from fixtures.scenes import floor, scene, standing

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.monitoring import FootForceMonitor


def test_soles_bear_the_weight_and_hold_against_a_pull():
    simulation = Simulation("stand")
    monitor = FootForceMonitor("hrp2")
    simulation.add_module(monitor)
    simulation.run(0.3)
    simulation.apply_wrench("hrp2/WAIST", [20.0, 0.0, 0.0], duration=1.0)
    simulation.run(0.7)
    series = monitor.series
    assert set(series.force) == {"right_sole", "left_sole"}
    np.testing.assert_allclose(series.time, (np.arange(1000) + 0.5) * simulation.dt)
    total = series.force["right_sole"] + series.force["left_sole"]
    weight = simulation.robots["hrp2"].robot.total_mass * 9.81
    np.testing.assert_allclose(total[250:300].mean(axis=0), [0.0, 0.0, weight], atol=0.01 * weight)
    assert total[-100:, 0].mean() == pytest.approx(-20.0, abs=2.0)
    # The place that the resultant acts at is where it has the moment of all contacts.
    contacts = simulation.contacts
    right = [i for i, names in enumerate(contacts.bodies) if "hrp2/RLEG_LINK5" in names]
    moment = np.cross(contacts.position[right], contacts.force[right]).sum(axis=0)
    told = np.cross(series.centre_of_pressure["right_sole"][-1], series.force["right_sole"][-1])
    np.testing.assert_allclose(told[:2], moment[:2], atol=1e-9)
    state = simulation.save_state()
    simulation.run(0.01)
    simulation.restore_state(state)
    assert len(monitor.series.time) == 1000


def test_in_the_air_nothing_presses():
    simulation = Simulation(scene(robots=(standing(load_robot("hrp2")),)))
    monitor = FootForceMonitor("hrp2")
    simulation.add_module(monitor)
    simulation.run(0.005)
    assert not monitor.series.force["left_sole"].any()
    assert np.isnan(monitor.series.centre_of_pressure["left_sole"]).all()


def test_what_cannot_be_watched_is_refused():
    simulation = Simulation("stand")
    with pytest.raises(InputError, match=r"no robot 'bip'.*hrp2"):
        simulation.add_module(FootForceMonitor("bip"))
    arm = Simulation(scene(floor(), robots=(standing(load_robot("robot_2r_a"), "zero", "arm"),)))
    with pytest.raises(InputError, match="robot 'arm': has no support contact"):
        arm.add_module(FootForceMonitor("arm"))
