# SPDX-License-Identifier: Apache-2.0
"""Quadratic programs: conditions of optimality, elastic constraints, contradictions, dependent rows."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program


def _random(seed: int, n: int = 30, equalities: int = 8, inequalities: int = 20):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    A = rng.normal(size=(equalities + inequalities, n))
    inside = rng.uniform(-0.5, 0.5, n)
    lower, upper = A @ inside - rng.uniform(0, 0.3, len(A)), A @ inside + rng.uniform(0, 0.3, len(A))
    lower[:equalities] = upper[:equalities] = A[:equalities] @ inside
    lower[-5:] = -math.inf
    H, g = root @ root.T + np.eye(n), 5 * rng.normal(size=n)
    return QuadraticProgram(H, g, A, lower, upper, np.full(n, -1.0), np.full(n, 1.0))


@pytest.mark.parametrize("seed", range(5))
def test_hard_program_satisfies_the_conditions_of_optimality(seed: int) -> None:
    H, g, A, lower, upper, low, high = program = _random(seed)
    solution = solve_quadratic_program(program)
    assert solution is not None
    x, lam, z = solution.x, solution.multipliers, solution.bound_multipliers
    assert_allclose(H @ x + g + A.T @ lam + z, 0, atol=1e-9)
    value = A @ x
    assert (value >= lower - 1e-9).all()
    assert (value <= upper + 1e-9).all()
    assert (np.abs(x) <= 1).all()
    scale = np.abs(lam).max()
    assert (np.maximum(lam, 0) * np.where(np.isfinite(upper), upper - value, 1.0) < 1e-8 * scale).all()
    assert (np.maximum(-lam, 0) * np.where(np.isfinite(lower), value - lower, 1.0) < 1e-8 * scale).all()
    assert (np.maximum(z, 0) * (high - x) < 1e-8).all()
    assert (np.maximum(-z, 0) * (x - low) < 1e-8).all()


def test_contradiction_has_no_hard_solution() -> None:
    rows, ones = np.array([[1.0, 0.0], [1.0, 0.0]]), np.full(2, 5.0)
    values = np.array([0.0, 1.0])
    assert solve_quadratic_program(QuadraticProgram(np.eye(2), np.zeros(2), rows, values, values, -ones, ones)) is None


def test_elastic_constraints_share_a_contradiction_by_their_weights() -> None:
    """x = 0 and x = 1 with weights 1 and 2: the least of x² + 4 (x - 1)² is at 0.8; y stays free of it."""
    free = np.full(2, math.inf)
    rows, values = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, 1.0])
    program = QuadraticProgram(np.eye(2), np.array([0.0, -3.0]), rows, values, values, -free, free)
    solution = solve_quadratic_program(program, weights=np.array([1.0, 2.0]))
    assert solution is not None
    assert_allclose(solution.x, [0.8, 3.0], atol=1e-6)
    # Multipliers are the slopes of the elastic costs: weight² times violation over compliance.
    assert_allclose(solution.multipliers * 1e-7, [0.8, -0.8], rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_elastic_program_is_the_penalised_one(seed: int) -> None:
    """Contradicting, thrice repeated rows: the gradient of the penalised objective vanishes but for the bounds."""
    H, g, A, lower, upper, low, high = _random(seed)
    A, lower, upper = (
        np.vstack([A, A, A]),
        np.concatenate([lower, lower + 0.5, lower]),
        np.concatenate([upper + 0.1] * 3),
    )
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    weights = np.random.default_rng(seed).uniform(0.5, 5.0, len(A))
    compliance = 1e-5
    solution = solve_quadratic_program(
        QuadraticProgram(H, g, A, lower, upper, low, high), weights=weights, compliance=compliance
    )
    assert solution is not None
    x = solution.x
    violation = np.maximum(A @ x - upper, 0) - np.maximum(lower - A @ x, 0)
    slope = H @ x + g + A.T @ (weights**2 * violation / compliance)
    scale = np.abs(weights**2 * violation / compliance).max()
    inside = (x > low + 1e-9) & (x < high - 1e-9)
    assert inside.any()
    assert np.abs(slope[inside]).max() < 1e-6 * scale


def test_working_set_of_the_solution_needs_no_changes() -> None:
    program = _random(1)
    cold = solve_quadratic_program(program, weights=np.ones(28))
    assert cold is not None
    known = np.concatenate([cold.bound_multipliers, cold.multipliers])
    warm = solve_quadratic_program(program, weights=np.ones(28), working_set=known)
    assert warm is not None
    assert warm.iterations <= 2 < cold.iterations
    assert_allclose(warm.x, cold.x, atol=1e-8)


def test_no_constraints_and_fixed_variables() -> None:
    free = np.full(3, math.inf)
    free_low = -free.copy()
    free_low[1] = 2.0
    free[1] = 2.0
    none = np.zeros(0)
    program = QuadraticProgram(np.eye(3), np.ones(3), np.zeros((0, 3)), none, none, free_low, free)
    solution = solve_quadratic_program(program)
    assert solution is not None
    assert_allclose(solution.x, [-1, 2, -1], atol=1e-12)
    assert_allclose(solution.bound_multipliers, [0, -3, 0], atol=1e-9)
