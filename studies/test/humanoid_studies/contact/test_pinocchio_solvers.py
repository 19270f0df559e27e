# SPDX-License-Identifier: Apache-2.0
"""Pinocchio's own solvers behind our interface, and Pinocchios that have none."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.contact_problems import box_problem, random_problem
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import ContactProblem, solve_contacts

METHODS = {"pinocchio_pgs": "PGS", "pinocchio_admm": "ADMM"}
needs_pinocchio_4 = pytest.mark.skipif(
    not hasattr(pin, "PGSConstraintSolver"), reason=f"Pinocchio {pin.__version__} has no constraint solvers"
)


@needs_pinocchio_4
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_same_forces_as_ours(method: str, seed: int) -> None:
    """In units far from one as well: their tolerances are absolute, ours relative."""
    problem = random_problem(np.random.default_rng(seed), 4, 15)
    scaled = ContactProblem(1e-4 * problem.W, 1e-2 * problem.v_free, problem.mu)
    ours = solve_contacts(scaled, tolerance=1e-11, max_iterations=100_000)
    theirs = solve_contacts(scaled, method, tolerance=1e-8, max_iterations=100_000)
    assert theirs.converged
    assert_allclose(theirs.impulses, ours.impulses, atol=1e-5 * max(np.abs(ours.impulses).max(), 1.0))


@needs_pinocchio_4
@pytest.mark.parametrize("method", METHODS)
def test_box_slides_alike(method: str) -> None:
    """Specification 000 §9.9, 25 degrees."""
    result = solve_contacts(box_problem(math.radians(25.0)), method, tolerance=1e-9, max_iterations=100_000)
    assert result.converged
    assert result.iterations > 1
    assert_allclose(result.impulses.sum(axis=0), [8.88181631, -3.55272653, 0.0], atol=1e-6)
    assert_allclose(result.velocities[:, 1], 5.889324e-4, atol=1e-9)


@needs_pinocchio_4
@pytest.mark.parametrize("method", METHODS)
def test_warm_start_is_used(method: str) -> None:
    problem = box_problem(math.radians(25.0))
    cold = solve_contacts(problem, method, tolerance=1e-9, max_iterations=100_000)
    warm = solve_contacts(problem, method, tolerance=1e-9, max_iterations=100_000, warm_start=cold.impulses)
    assert warm.iterations < cold.iterations


@pytest.mark.parametrize(("method", "kind"), METHODS.items())
def test_a_pinocchio_without_solvers_is_named(method: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pin, f"{kind}ConstraintSolver", raising=False)
    with pytest.raises(InputError, match=rf"Pinocchio .* has no {kind} constraint solver.*pin 4"):
        solve_contacts(box_problem(0.0), method)
