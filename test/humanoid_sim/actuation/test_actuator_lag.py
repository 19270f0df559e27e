# SPDX-License-Identifier: Apache-2.0
"""Efforts come late and filtered, as a closed form has it, and a simulation with them goes on from a kept state."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from fixtures.scenes import scene, standing

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.actuation import ActuatorLag, ActuatorSettings

pytestmark = pytest.mark.feature("000-F145")

ARM = """<robot name="arm"><link name="world"/>
<link name="rod"><inertial><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="axle" type="continuous"><parent link="world"/><child link="rod"/><axis xyz="0 0 1"/>
<limit effort="100" velocity="50"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "arm.yaml").write_text("actuators: {axle: {effort: 100.0, velocity: 50.0}}")
    simulation = Simulation(scene(robots=(standing(load_robot(tmp_path / "arm.urdf"), "zero"),)))
    simulation.robots["arm"].set_effort([0.0])
    return simulation


def given(simulation, steps):
    """Efforts of the next steps [N m]."""
    efforts = []
    for _ in range(steps):
        simulation.step()
        efforts.append(float(simulation.robots["arm"].joint_efforts[0]))
    return np.array(efforts)


def test_a_step_of_effort_comes_late_and_by_an_exponential(arm):
    arm.add_module(ActuatorLag(ActuatorSettings(effort_bandwidth=25.0, effort_delay=4e-3)))
    arm.robots["arm"].set_effort([3.0])
    times = arm.dt * np.arange(1, 41)
    efforts = given(arm, 40)
    late = round(4e-3 / arm.dt)
    np.testing.assert_array_equal(efforts[:late], 0.0)
    expected = 3.0 * (1.0 - np.exp(-2.0 * math.pi * 25.0 * times[: 40 - late]))
    np.testing.assert_allclose(efforts[late:], expected, rtol=1e-12)


def test_delay_alone_gives_what_was_commanded_before(arm):
    arm.add_module(ActuatorLag(ActuatorSettings(effort_delay=3e-3)))
    commanded, rng, came = [], np.random.default_rng(3), []
    for _ in range(20):
        commanded.append(float(rng.normal()))
        arm.robots["arm"].set_effort(commanded[-1:])
        came += given(arm, 1).tolist()
    late = round(3e-3 / arm.dt)
    assert came[:late] == [0.0] * late
    np.testing.assert_allclose(came[late:], commanded[:-late], rtol=1e-12)


def test_a_copy_and_a_kept_state_go_on_bit_for_bit(arm):
    arm.add_module(ActuatorLag(ActuatorSettings(effort_bandwidth=10.0, effort_delay=5e-3)))
    arm.robots["arm"].set_effort([2.0])
    given(arm, 7)
    state, other = arm.save_state(), copy.deepcopy(arm)
    first = given(arm, 30)
    np.testing.assert_array_equal(given(other, 30), first)
    arm.robots["arm"].set_effort([-9.0])
    given(arm, 3)
    arm.restore_state(state)
    np.testing.assert_array_equal(given(arm, 30), first)


def test_without_it_efforts_are_given_at_once_again(arm):
    arm.add_module(ActuatorLag(ActuatorSettings(effort_bandwidth=1.0)))
    arm.robots["arm"].set_effort([2.0])
    assert given(arm, 1)[0] < 0.1
    arm.remove_module("actuator_lag")
    assert given(arm, 1)[0] == 2.0
    arm.robots["arm"].set_effort([1.0])
    assert given(arm, 1)[0] == 1.0


@pytest.mark.parametrize("wrong", [{"effort_bandwidth": -1.0}, {"effort_delay": math.nan}, {"effort_delay": 1.0}])
def test_what_no_actuator_is_like_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        ActuatorSettings(**wrong)
