# SPDX-License-Identifier: Apache-2.0
"""Experiment E7 of specification 000 §27 (F099): slopes are computing times, so only forces are judged here."""

from __future__ import annotations

import pytest

from humanoid_sim import Simulation
from humanoid_studies.simulator import collision_groups
from humanoid_studies.simulator.power_law import log_log_slope


@pytest.mark.feature("000-F099")
def test_both_ways_give_the_same_forces() -> None:
    result = collision_groups.run((8, 12))
    assert result.passes
    assert 0.0 <= result.row("largest difference of a contact force").ours < 1e-6
    assert result.row("one group: step with 12 cubes").ours > 0.0


def test_cubes_slide_on_four_corners_each() -> None:
    simulation = Simulation(collision_groups.cubes(5))
    simulation.run(0.02)
    assert len(simulation.contacts) == 20
    assert simulation.solver is not None
    assert abs(simulation.contacts.normal_force.sum() - 5 * 9.8) < 1e-3


def test_slope_of_a_power() -> None:
    assert abs(log_log_slope([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0]) - 2.0) < 1e-12
