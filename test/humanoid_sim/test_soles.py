# SPDX-License-Identifier: Apache-2.0
"""HRP-2 on deformable soles in the running simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_sim import Simulation


@pytest.mark.feature("000-F131")
def test_a_robot_stands_on_soft_soles() -> None:
    """It starts with its soles on the floor, sinks in by what they give, and goes on bit for bit from a saved state."""
    simulation = Simulation("soft_soles")
    robot = simulation.robots["hrp2"]
    start = robot.placement("r_sole").translation[2]
    assert abs(start - 0.02) < 1e-9
    simulation.run(0.4)
    contacts = simulation.contacts
    weight = robot.robot.total_mass * 9.81
    assert len(contacts) >= 100
    assert_allclose(contacts.force.sum(axis=0), [0.0, 0.0, weight], atol=0.02 * weight)
    sunk = start - robot.placement("r_sole").translation[2]
    # half the weight on each sole of about 7 MN/m, a little more as it isn't loaded evenly
    assert 0.5 < sunk / (0.5 * weight / 7.2e6) < 2.0
    assert np.abs(simulation.v).max() < 5e-3
    assert simulation.solver is not None
    assert simulation.solver.residuals.natural_map <= 1e-9
    state = simulation.save_state()
    simulation.run(0.02)
    q = simulation.q.copy()
    simulation.restore_state(state)
    simulation.run(0.02)
    assert np.array_equal(simulation.q, q)
