# SPDX-License-Identifier: Apache-2.0
"""Experiment E4 of specification 000 §27 (N2), and 67 rigid contacts in the simulator (F075)."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_sim import Simulation
from humanoid_studies.simulator import cost_of_contacts
from humanoid_studies.simulator.cost_of_contacts import bend_knees
from humanoid_studies.simulator.studded_feet import studded_hrp2


@pytest.mark.feature("000-F075")
def test_sixty_seven_rigid_contacts_converge_in_every_step() -> None:
    simulation = Simulation(studded_hrp2(67))
    simulation.run(0.05)
    contacts = simulation.contacts
    assert len(contacts) == 67
    assert contacts.normal_force.sum() == pytest.approx(58.0 * 9.8, rel=0.02)
    residual, _ = bend_knees(simulation, 0.1)
    assert len(simulation.contacts) == 67
    assert residual <= 1e-9
    contacts = simulation.contacts
    across = contacts.force - contacts.normal_force[:, None] * contacts.normal
    assert (np.linalg.norm(across, axis=1) <= contacts.friction * contacts.normal_force + 1e-6).all()


@pytest.mark.parametrize("contacts", [8, 15])
def test_studs_are_shared_by_both_feet(contacts: int) -> None:
    simulation = Simulation(studded_hrp2(contacts))
    simulation.run(0.02)
    feet = [a if a.startswith("hrp2") else b for a, b in simulation.contacts.bodies]
    assert len(feet) == contacts
    assert feet.count("hrp2/RLEG_LINK5") == contacts - contacts // 2


def test_sizes_and_profile() -> None:
    result = cost_of_contacts.run((20, 67), 0.05)
    assert result.passes, result.table()
    assert result.row("67 contacts: unknowns of the iterative solver").ours == 201
    assert result.row("67 contacts: unknowns with 8 facets").ours == 670
    shares = [row.ours for row in result.rows if "share of" in row.quantity]
    assert sum(shares) == pytest.approx(100.0)
    assert len(shares) == 6
