# SPDX-License-Identifier: Apache-2.0
"""Recorded problems of free bodies on which Newton's method is stuck, against the dense operator of their contacts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from humanoid_sim.contact.body_graph import BodyGraph, order_elimination
from humanoid_sim.contact.body_newton import BodyProblem, body_interior, body_newton
from humanoid_sim.contact.cone import contact_residuals
from humanoid_sim.delassus.constraint_rows import BodyOperator
from humanoid_sim.stepping.by_bodies import solve_on_graph
from humanoid_sim.stepping.step_data import SolverSettings

FIXTURES = Path(__file__).parents[2] / "fixtures"
LEANING = FIXTURES / "leaning_dominoes.npz"
"""Five dominoes that lean on each other at both ends of their edges: 18 contacts, whose 54 rows have rank 30."""
FALLING = FIXTURES / "falling_dominoes.npz"
"""Seven dominoes of a row that falls: 28 contacts."""


class Recorded(NamedTuple):
    """A problem of free bodies, and its dense operator."""

    problem: BodyProblem
    W: np.ndarray
    forces: np.ndarray

    def residual(self, forces: np.ndarray) -> float:
        """Residual by the dense operator."""
        velocities, residuals = np.empty(forces.size), np.empty(5)
        contact_residuals(self.W, self.problem.v_free, self.problem.mu, forces, velocities, residuals)
        return float(residuals[0])


def recorded(path: Path) -> Recorded:
    """Load a problem."""
    data = np.load(path)
    sides, wrenches, centres, inertias = (data[name] for name in ("sides", "wrenches", "centres", "inertias"))
    contacts, count = len(sides), len(inertias)
    X = np.zeros((3 * contacts, 6 * count))
    M = np.zeros((6 * count, 6 * count))
    for i in range(count):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = inertias[i]
    for c in range(contacts):
        for side in range(2):
            if sides[c, side] >= 0:
                own = (1 - 2 * side) * wrenches[3 * c : 3 * c + 3]
                own[:, 3:] -= np.cross(centres[sides[c, side]], own[:, :3])
                X[3 * c : 3 * c + 3, 6 * sides[c, side] : 6 * sides[c, side] + 6] = own
    W = X @ np.linalg.solve(M, X.T)
    diagonal = np.array([W[k : k + 3, k : k + 3] for k in range(0, 3 * contacts, 3)])
    operator = BodyOperator(
        wrenches, np.zeros(3 * contacts), sides, data["starts"], data["bodies"], data["responses"], diagonal,
        np.zeros((count, 6)),
    )  # fmt: skip
    place, order = np.empty((count, count), dtype=np.int64), np.empty(count, dtype=np.int64)
    firsts, neighbours = np.empty(count + 1, dtype=np.int64), np.empty(count * count, dtype=np.int64)
    blocks = order_elimination(sides, place, order, firsts, neighbours)
    graph = BodyGraph(
        centres, inertias, data["levers"], place, order, firsts, neighbours, np.empty((blocks, 6, 6)),
        np.empty((count, 6)), np.empty((3, 6, 6)),
    )  # fmt: skip
    return Recorded(BodyProblem(operator, graph, data["v_free"], data["friction"]), W, data["forces"])


def solve_recorded(path: Path, tolerance: float, most: int = 1000) -> tuple[int, int, float]:
    """Contacts, iterations from the last step's forces, and the residual by the dense operator."""
    found = recorded(path)
    forces, velocities, residuals = found.forces.copy(), np.empty(found.forces.size), np.empty(5)
    settings = SolverSettings(True, tolerance, most, np.inf, 1e-3)
    iterations = solve_on_graph(found.problem, forces, settings, velocities, residuals)
    return found.problem.mu.size, iterations, found.residual(forces)


def test_a_kick_solves_what_newton_and_interior_points_are_stuck_on() -> None:
    """The first kick or the next ones."""
    _, iterations, residual = solve_recorded(LEANING, 1e-9)
    assert residual <= 1.1e-9
    assert iterations > 20 + 30 + 2 * 36  # or nothing was stuck


def test_few_contacts_may_take_more_iterations_than_many_in_the_same_time() -> None:
    """Below rounding no iteration succeeds: the work ends, after more than the 260 iterations of a hundred contacts."""
    contacts, iterations, _ = solve_recorded(LEANING, 1e-30, most=100_000)
    assert iterations > 500
    assert (contacts + 15 * 5) * iterations <= 1.3 * 100_000  # those of interior points count twice and take less


def test_forces_that_just_solve_what_sticks_are_solved_further() -> None:
    """Else what is at rest would be solved again as soon as they don't."""
    leaning = recorded(LEANING)
    exact = np.tile([1.0, 0.0, 0.0], len(leaning.problem.mu))
    problem = leaning.problem._replace(v_free=-leaning.W @ exact, mu=np.ones(len(leaning.problem.mu)))
    forces = exact + 1e-9 * np.random.default_rng(0).uniform(-1.0, 1.0, exact.size)
    velocities, residuals = np.empty(exact.size), np.empty(5)
    body_newton(problem, forces.copy(), 1.0, 0, velocities, residuals, np.inf)
    tolerance = 1.5 * residuals[0]
    settings = SolverSettings(True, tolerance, 1000, np.inf, 1e-3)
    assert 1 <= solve_on_graph(problem, forces, settings, velocities, residuals) <= 2
    assert residuals[0] <= 0.03 * tolerance


def test_work_ends_at_the_bound_on_iterations() -> None:
    """Those of interior points count twice."""
    assert solve_recorded(LEANING, 1e-30, most=300)[1] <= 300


@pytest.mark.parametrize("growth", [4.0, 8.0, 12.0])
def test_interior_points_reach_a_solution_as_slip_gains_its_part_in_the_law(growth: float) -> None:
    """From the convex problem to Coulomb's; where they begin with this one they end far from a solution.

    All growths of 2 to 16 lead to one, also with free velocities changed by 1e-10 of themselves, and none does without.
    """
    falling = recorded(FALLING)
    found = []
    for iterations in (0.0, growth):
        size = falling.forces.size
        forces, velocities, residuals = np.zeros(size), np.empty(size), np.empty(5)
        body_interior(falling.problem, forces, 1e-9, 36, velocities, residuals, np.inf, iterations)
        body_newton(falling.problem, forces, 1e-9, 50, velocities, residuals, np.inf)
        found.append(falling.residual(forces))
    assert found[0] > 1e-6
    assert found[1] <= 1.1e-9


def test_far_from_a_solution_interior_points_set_out_again() -> None:
    """Not kicks, which lead back to where Newton's method was stuck."""
    _, iterations, residual = solve_recorded(FALLING, 1e-9)
    assert residual <= 1.1e-9
    assert iterations > 20 + 30 + 2 * 36
