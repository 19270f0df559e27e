# SPDX-License-Identifier: Apache-2.0
"""A recorded problem of free bodies on which Newton's method is stuck, against the dense operator of its contacts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from humanoid_sim.contact.body_newton import BodyGraph, order_elimination
from humanoid_sim.contact.cone import contact_residuals
from humanoid_sim.delassus.body_operator import BodyOperator
from humanoid_sim.stepping.by_bodies import _solve_on_graph
from humanoid_sim.stepping.step_settings import SolverSettings

RECORDED = Path(__file__).parents[2] / "fixtures" / "leaning_dominoes.npz"
"""Five dominoes that lean on each other at both ends of their edges: 18 contacts, whose 54 rows have rank 30."""


def solve_recorded(tolerance: float) -> tuple[int, int, float]:
    """Contacts, iterations from the last step's forces, and the residual by the dense operator."""
    data = np.load(RECORDED)
    sides, levers, inertias = data["sides"], data["levers"], data["inertias"]
    contacts, count = len(sides), len(inertias)
    X = np.zeros((3 * contacts, 6 * count))
    M = np.zeros((6 * count, 6 * count))
    for i in range(count):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = inertias[i]
    for c in range(contacts):
        for side in range(2):
            if sides[c, side] >= 0:
                X[3 * c : 3 * c + 3, 6 * sides[c, side] : 6 * sides[c, side] + 6] = levers[c, side]
    W = X @ np.linalg.solve(M, X.T)
    diagonal = np.array([W[k : k + 3, k : k + 3] for k in range(0, 3 * contacts, 3)])
    operator = BodyOperator(
        data["wrenches"], np.zeros(3 * contacts), sides, data["starts"], data["bodies"], data["responses"], diagonal,
        np.zeros((count, 6)),
    )  # fmt: skip
    place, order = np.empty((count, count), dtype=np.int64), np.empty(count, dtype=np.int64)
    firsts, neighbours = np.empty(count + 1, dtype=np.int64), np.empty(count * count, dtype=np.int64)
    blocks = order_elimination(sides, place, order, firsts, neighbours)
    graph = BodyGraph(
        inertias, levers, place, order, firsts, neighbours, np.empty((blocks, 6, 6)), np.empty((count, 6)),
        np.empty((3, 6, 6)),
    )  # fmt: skip
    forces, velocities, residuals = data["forces"].copy(), np.empty(3 * contacts), np.empty(5)
    settings = SolverSettings(True, tolerance, 1000, np.inf, 1e-3)
    iterations = _solve_on_graph(
        operator, graph, data["v_free"], data["friction"], forces, settings, velocities, residuals
    )
    contact_residuals(W, data["v_free"], data["friction"], forces, velocities, residuals)
    return contacts, iterations, float(residuals[0])


def test_a_kick_solves_what_newton_and_interior_points_are_stuck_on() -> None:
    """The first kick or the next ones."""
    contacts, iterations, residual = solve_recorded(1e-9)
    assert residual <= 1.1e-9
    assert iterations > 2 * 36 + 20 + 30  # or nothing was stuck


def test_few_contacts_may_take_more_iterations_than_many_in_the_same_time() -> None:
    """Below rounding no iteration succeeds: the work ends, after more than the 230 iterations of a hundred contacts."""
    contacts, iterations, _ = solve_recorded(1e-30)
    assert iterations > 400
    assert (contacts + 40) * iterations <= 32_000
