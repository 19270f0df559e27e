# SPDX-License-Identifier: Apache-2.0
"""Experiment E1: a table of 1 kg on four legs, whose forces are not unique (specification 000 §27, N1, F074)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_sim.contact.solve import solve_contacts
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Row

WEIGHT = 9.8
"""Of the table [N]."""
METHODS = ("lemke_frictionless", "qp_frictionless", "nsgs", "nsgs_newton", "interior_point")
"""Contact solvers that are compared."""
_PRECISION = 1e-6
"""How well the sum and the direction have to be met [N]."""


def run(*, progress: bool = False) -> ExperimentResult:
    """Stand the table on its floor and give its contact problem to several solvers, all from no force at all.

    Any solution has forces that sum to the weight and have no moment: for legs in a rectangle under a uniform table
    that is 2.45 N for each, plus any multiple of (-1, 1, -1, 1) that lets no leg pull.

    Args:
        progress: not used, this takes no time.
    """
    simulation = Simulation("table")
    simulation.run(0.1)
    problem, contacts = simulation.contact_problem, simulation.contacts
    assert problem is not None
    x, y = contacts.position[:, 0], contacts.position[:, 1]
    in_turn = np.argsort(np.arctan2(y, x) % (2.0 * np.pi))  # around the table, as its legs are numbered
    rows = []
    for method in METHODS:
        result = solve_contacts(problem, method, tolerance=1e-12, max_iterations=20_000)
        rows += _rows(method, result.impulses[in_turn, 0])
    return ExperimentResult("E1", "A table on four legs", tuple(rows))


def _rows(method: str, forces: NDArray[np.float64]) -> list[Row]:
    """Return the summary of one solver's forces on the legs [N], shape (4,)."""
    alternating = np.array([-1.0, 1.0, -1.0, 1.0])
    surplus = forces - 0.25 * WEIGHT
    share = float(surplus @ alternating) / 4.0
    aside = float(np.abs(surplus - share * alternating).max())
    total, least = float(forces.sum()), float(forces.min())
    return [
        Row(f"{method}: least loaded leg", "2.275", least, "N", least >= 0.0),
        Row(f"{method}: sum", "9.8", total, "N", abs(total - WEIGHT) < _PRECISION),
        Row(f"{method}: multiple of (-1, 1, -1, 1)", "0.175", share, "N"),
        Row(f"{method}: what is not of that form", "0", aside, "N", aside < _PRECISION),
    ]
