# SPDX-License-Identifier: Apache-2.0
"""A simulation by another scheme than its own step reads like any other."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import ball, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.integration.moreau import Moreau


@pytest.mark.parametrize("integrator", ["moreau", "anitescu_hart", "foerg"])
def test_a_standing_robot_is_carried(integrator: str) -> None:
    simulation = Simulation("stand", integrator=integrator)
    simulation.run(0.05)
    contacts = simulation.contacts
    robot = simulation.robots["hrp2"]
    assert len(contacts) == 8
    assert_allclose(contacts.force.sum(axis=0), [0.0, 0.0, robot.robot.total_mass * 9.81], atol=5.0)
    assert simulation.solver is not None
    assert simulation.contact_problem is None
    weight = sum(force[2] for joint, force, _ in simulation.joint_wrenches() if joint > 0)
    assert weight == pytest.approx(contacts.force[:, 2].sum())
    assert abs(simulation.v).max() < 0.05


def test_smooth_schemes_fall_as_they_should() -> None:
    """Runge-Kutta is exact for a parabola, explicit Euler lags by half a step."""
    exact, euler = (
        Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 5.0))), integrator=name)
        for name in ("rk4", "explicit_euler")
    )
    for simulation in (exact, euler):
        simulation.run(0.2)
    height = 5.0 - 0.5 * 9.8 * 0.04
    assert exact.bodies["ball"].placement_world_body.translation[2] == pytest.approx(height, abs=1e-12)
    lag = euler.bodies["ball"].placement_world_body.translation[2] - height
    assert lag == pytest.approx(0.5 * 9.8 * 1e-3 * 0.2, rel=1e-9)


def test_a_push_acts_and_a_state_comes_back() -> None:
    simulation = Simulation(
        scene(floor(), box("block", (0.2, 0.2, 0.1), place(0, 0, 0.05), 2.0), friction=0.0), integrator=Moreau()
    )
    simulation.apply_wrench("block", [4.0, 0.0, 0.0], point=[0.0, 0.0, 0.05], duration=0.1)
    state = simulation.save_state()
    simulation.run(0.1)
    assert simulation.v[0] == pytest.approx(0.2, rel=1e-9)
    q = simulation.q.copy()
    simulation.restore_state(state)
    simulation.run(0.1)
    assert np.array_equal(simulation.q, q)


def test_unknown_integrators_and_scenes_that_they_cannot_do_are_refused() -> None:
    with pytest.raises(InputError, match="no integrator 'euler'"):
        Simulation("stand", integrator="euler")
    with pytest.raises(InputError, match="loops or deformable soles"):
        Simulation("soft_soles", integrator="moreau")
