# SPDX-License-Identifier: Apache-2.0
"""The hybrid on problems that are hard on purpose: solved, or the status says so."""

from pathlib import Path

import numpy as np
import pytest
from fixtures.contact_problems import box_problem, random_problem
from fixtures.hard_contact_problems import HARD, stack
from numpy.testing import assert_allclose

from humanoid_sim import ContactProblem, solve_contacts
from humanoid_sim.contact.nsgs_newton import nsgs_newton

RECORDED = Path(__file__).parents[2] / "fixtures" / "lying_robot.npz"


def conditions(problem: ContactProblem, f: np.ndarray) -> float:
    """Largest violation of Signorini, Coulomb and maximum dissipation, from W f + v_free in numpy, relative."""
    v = (problem.W @ f.reshape(-1) + problem.v_free).reshape(-1, 3)
    rho = 3.0 / np.diag(problem.W).reshape(-1, 3).sum(axis=1)
    size = np.abs(f).max()
    slip = np.linalg.norm(v[:, 1:], axis=1)
    friction = np.linalg.norm(f[:, 1:], axis=1)
    gap = problem.mu * f[:, 0] * slip + np.einsum("ij,ij->i", f[:, 1:], v[:, 1:])
    sliding = slip * rho > 1e-6 * size
    return max(
        (-rho * v[:, 0]).max() / size,
        -f[:, 0].min() / size,
        np.minimum(rho * np.abs(v[:, 0]), f[:, 0]).max() / size,
        (friction - problem.mu * f[:, 0]).max() / size,
        (np.abs(gap)[sliding] / slip[sliding]).max(initial=0.0) / size,
    )


@pytest.mark.parametrize("kind", sorted(HARD))
def test_hard_problems_are_solved(kind: str) -> None:
    for seed in range(8):
        problem = HARD[kind](np.random.default_rng(seed))
        result = solve_contacts(problem, "nsgs_newton", tolerance=1e-8)
        assert result.converged, (kind, seed, result.residuals)
        if np.abs(result.impulses).max() > 0.0:
            assert conditions(problem, result.impulses) < 1e-6


@pytest.mark.feature("000-F025")
def test_stacks_are_beyond_the_sweeps() -> None:
    for seed in range(3):
        problem = stack(np.random.default_rng(seed))
        assert not solve_contacts(problem, "nsgs", tolerance=1e-8, max_iterations=2000).converged
        assert solve_contacts(problem, tolerance=1e-8, max_iterations=2000).converged  # the default ends


def test_all_of_many_random_problems_are_solved() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        problem = random_problem(rng, int(rng.integers(1, 13)), int(rng.choice([6, 15, 30])))
        assert solve_contacts(problem, "nsgs_newton", tolerance=1e-8).converged


def test_easy_problems_are_left_to_the_sweeps() -> None:
    """A free-standing body on one point: one sweep, as with Gauss-Seidel alone."""
    problem = ContactProblem(np.diag([2.0, 1.0, 1.0]), [-1.0, 0.1, 0.0], 0.5)
    assert solve_contacts(problem, "nsgs_newton").iterations == 1


def test_a_box_that_goes_on_as_before_takes_few_systems() -> None:
    problem = box_problem(0.3)
    before = solve_contacts(problem, "nsgs_newton", tolerance=1e-12)
    later = ContactProblem(problem.W, 1.001 * problem.v_free, problem.mu)
    begin = 1.01 * before.impulses
    result = solve_contacts(later, "nsgs_newton", warm_start=begin, tolerance=1e-7)
    assert result.iterations <= 2 < solve_contacts(later, "nsgs", warm_start=begin, tolerance=1e-7).iterations
    assert conditions(later, result.impulses) < 1e-6


def test_stopped_anywhere_it_keeps_to_its_limit() -> None:
    problem = stack(np.random.default_rng(1))
    residuals = []
    for limit in (1, 2, 5, 10, 20, 40, 80, 160):
        result = solve_contacts(problem, "nsgs_newton", tolerance=1e-8, max_iterations=limit)
        assert result.iterations <= limit
        residuals.append(result.residuals.natural_map)
    assert residuals[-1] <= 1e-8
    assert max(residuals) <= 1.0


def test_velocities_of_a_robust_answer_agree_with_gauss_seidel() -> None:
    problem = box_problem(np.radians(21.79))  # just below the critical angle: thousands of sweeps
    sweeps = solve_contacts(problem, "nsgs", tolerance=1e-10, max_iterations=100_000)
    hybrid = solve_contacts(problem, "nsgs_newton", tolerance=1e-10)
    assert sweeps.converged
    assert hybrid.converged
    assert hybrid.iterations < sweeps.iterations
    assert_allclose(hybrid.velocities, sweeps.velocities, atol=1e-9)


@pytest.mark.feature("000-F144")
def test_a_lying_robot_is_solved_whose_last_forces_lead_nowhere() -> None:
    """ANYmal on 33 points: neither from its last forces nor from where interior points end does Newton come on."""
    solved = 0
    for k in range(4):
        with np.load(RECORDED) as file:
            levers, v_free, mu, f = (file[f"{name}_{k}"].astype(float) for name in ("levers", "v_free", "mu", "forces"))
        W, v, residuals = levers @ levers.T, np.empty(v_free.size), np.zeros(5)
        nsgs_newton(W, v_free, mu, f, 1e-9, 1000, v, residuals)
        if residuals[0] > 1e-9:
            continue
        solved += 1
        v, f = (W @ f + v_free).reshape(-1, 3), f.reshape(-1, 3)
        assert f[:, 0].min() >= -1e-7 * np.abs(f).max()
        assert v[:, 0].min() >= -1e-6 * np.abs(v_free).max()
        assert np.abs(f[:, 0] * v[:, 0]).max() < 1e-6 * np.abs(f).max() * np.abs(v_free).max()
        assert (np.linalg.norm(f[:, 1:], axis=1) - mu * f[:, 0]).max() < 1e-6 * np.abs(f).max()
    assert solved >= 3
