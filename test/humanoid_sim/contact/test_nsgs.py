# SPDX-License-Identifier: Apache-2.0
"""Oracles of specification 000 §§9.8 and 9.9, the hyperstatic table, and random problems."""

import functools
import math

import numpy as np
import pytest
from fixtures.contact_problems import box_problem, random_problem
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import ContactProblem
from humanoid_sim.contact import solve
from humanoid_sim.contact.cone import project_on_cone
from humanoid_sim.contact.nsgs import alart_curnier, newton_contact, optimal_steps, polar_search
from humanoid_sim.contact.solve import ContactStatus

W_SINGLE = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.0]])
V_SINGLE = np.array([-1.0, 0.8, -0.5])


def slipping_problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """A random contact whose stick force leaves the cone, with that force brought back to it."""
    while True:
        A = rng.normal(size=(3, 3))
        W = A @ A.T + 0.05 * np.eye(3)
        v = rng.normal(size=3)
        mu = rng.uniform(0.05, 1.0)
        stick = -np.linalg.solve(W, v)
        if v[0] < 0.0 and not np.hypot(stick[1], stick[2]) <= mu * stick[0]:
            start = np.array(project_on_cone(stick[0], stick[1], stick[2], mu))
            if start[0] <= 0.0:
                start[0] = -v[0] / W[0, 0]
            return W, v, mu, start


@pytest.mark.feature("000-F058")
def test_optimal_steps_oracle() -> None:
    """Specification 000 §9.8."""
    rho_n, rho_t = optimal_steps(W_SINGLE)
    assert rho_n == pytest.approx(0.5)
    assert rho_t == pytest.approx(0.42490463, abs=1e-8)


@pytest.mark.feature("000-F057")
def test_newton_reaches_the_oracle_in_three_iterations() -> None:
    """Specification 000 §9.8: 3 iterations from the projected stick force (one more confirms)."""
    stick = -np.linalg.solve(W_SINGLE, V_SINGLE)
    assert_allclose(stick, [0.67814053, -0.71611072, 0.70723918], atol=1e-8)
    f = np.array(project_on_cone(stick[0], stick[1], stick[2], 0.4))
    iterations = newton_contact(W_SINGLE, V_SINGLE, 0.4, *optimal_steps(W_SINGLE), f)
    assert 0 < iterations <= 5
    assert_allclose(f, [0.53884274, -0.17609241, 0.12428879], atol=1e-8)


@pytest.mark.feature("000-F057")
def test_jacobian_is_the_derivative_of_the_function() -> None:
    """Central differences on all branches: separated, sticking, slipping, empty disc."""
    rng = np.random.default_rng(0)
    branches = set()
    for _ in range(400):
        W, v, mu, _ = slipping_problem(rng)
        f = rng.normal(size=3)
        f[0] += 0.5
        steps = optimal_steps(W)
        psi, jacobian = np.empty(3), np.empty((3, 3))
        alart_curnier(W, v, mu, *steps, f, psi, jacobian)
        numeric = np.empty((3, 3))
        h = 1e-7
        for c in range(3):
            ends = []
            for sign in (1.0, -1.0):
                moved = f.copy()
                moved[c] += sign * h
                value = np.empty(3)
                alart_curnier(W, v, mu, *steps, moved, value, np.empty((3, 3)))
                ends.append(value)
            numeric[:, c] = (ends[0] - ends[1]) / (2.0 * h)
        assert_allclose(jacobian, numeric, atol=1e-6 * max(1.0, np.abs(numeric).max()))
        velocity = v + W @ f
        separated = f[0] - steps[0] * velocity[0] <= 0.0
        slips = np.linalg.norm(f[1:] - steps[1] * velocity[1:]) > mu * f[0]
        branches.add((separated, "empty" if f[0] <= 0.0 else "slip" if slips else "stick"))
    assert len(branches) >= 5


def test_newton_and_polar_search_agree() -> None:
    """Two unrelated methods give the same force, and where Newton cycles the search answers.

    The blocks here have condition numbers up to some hundreds, far worse than feet on a floor, so that Newton
    fails in some per cent of them.
    """
    rng = np.random.default_rng(1)
    newton_failed = agree = 0
    for _ in range(2000):
        W, v, mu, start = slipping_problem(rng)
        f = start.copy()
        newton = newton_contact(W, v, mu, *optimal_steps(W), f) >= 0 and f[0] >= 0.0
        g = np.zeros(3)
        polar = polar_search(W, v, mu, g)
        newton_failed += not newton
        if newton and polar:
            assert_allclose(f, g, atol=1e-8 * max(1.0, np.abs(f).max()))
            agree += 1
        assert newton or polar
        velocity = v + W @ (g if polar else f)
        force = g if polar else f
        assert abs(velocity[0]) < 1e-9
        assert np.hypot(force[1], force[2]) == pytest.approx(mu * force[0], rel=1e-9)
        slip = np.linalg.norm(velocity[1:])
        assert force[1:] @ velocity[1:] == pytest.approx(-mu * force[0] * slip, rel=1e-6, abs=1e-9)
    assert 0 < newton_failed < 300
    assert agree > 1700


solve_contacts = functools.partial(solve.solve_contacts, method="nsgs")


def test_single_contact_oracle() -> None:
    """Specification 000 §9.8."""
    result = solve_contacts(ContactProblem(W_SINGLE, V_SINGLE, 0.4), tolerance=1e-12)
    assert_allclose(result.impulses[0], [0.53884274, -0.17609241, 0.12428879], atol=1e-8)
    assert_allclose(result.velocities[0], [0.0, 0.70994309, -0.50108900], atol=1e-8)
    assert result.converged


@pytest.mark.parametrize(
    ("degrees", "normal", "tangent", "velocity"),
    [
        (0.0, 9.8, 0.0, 0.0),
        (20.0, 9.20898768, -3.35179740, 0.0),
        (25.0, 8.88181631, -3.55272653, 5.889324e-4),
    ],
)
def test_box_on_slope_oracle(degrees: float, normal: float, tangent: float, velocity: float) -> None:
    """Specification 000 §9.9: net forces and velocity; the corner forces themselves are not unique."""
    result = solve_contacts(box_problem(math.radians(degrees)), tolerance=1e-11)
    assert result.converged
    assert_allclose(result.impulses.sum(axis=0), [normal, tangent, 0.0], atol=2e-8)
    assert_allclose(result.velocities[:, 1], velocity, atol=1e-10)
    assert_allclose(result.velocities[:, [0, 2]], 0.0, atol=1e-10)


@pytest.mark.parametrize(("mu", "critical"), [(0.1, 5.7106), (0.4, 21.8014), (0.983, 44.5088)])
def test_critical_angle(mu: float, critical: float) -> None:
    """The box starts to slide between 0.01 degree below and above atan(mu).

    With every corner at the edge of its cone Gauss-Seidel is slow; it still gets there.
    """
    below, above = (box_problem(math.radians(critical + offset), mu=mu) for offset in (-0.01, 0.01))
    held = solve_contacts(below, tolerance=1e-11, max_iterations=100_000)
    slides = solve_contacts(above, tolerance=1e-11, max_iterations=100_000)
    assert held.converged
    assert np.abs(held.velocities[:, 1]).max() < 1e-11
    assert slides.velocities[:, 1].min() > 1e-8


def test_hyperstatic_table() -> None:
    """Four legs, 1 kg: the sum is the weight, and the legs differ from 2.45 N along (-1, 1, -1, 1) only."""
    problem = box_problem(0.0, mu=0.0)
    for start in (None, [[9.8, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], [[2.275, 0, 0], [2.625, 0, 0]] * 2):
        result = solve_contacts(problem, tolerance=1e-12, warm_start=start)
        forces = result.impulses[:, 0]
        assert result.converged
        assert forces.sum() == pytest.approx(9.8, abs=1e-6)
        assert forces.min() >= 0.0
        null = np.array([-1.0, 1.0, -1.0, 1.0]) / 2.0
        rest = forces - 2.45
        assert_allclose(rest - (rest @ null) * null, 0.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_random_problems_satisfy_every_condition(seed: int) -> None:
    """Signorini, Coulomb and maximum dissipation, recomputed here in numpy from W f + v_free."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, int(rng.integers(1, 9)), 6 if seed % 2 else 24)
    result = solve_contacts(problem, tolerance=1e-9, max_iterations=20000)
    assert result.converged, result
    v = (problem.W @ result.impulses.reshape(-1) + problem.v_free).reshape(-1, 3)
    assert_allclose(v, result.velocities, atol=1e-12)
    f = result.impulses
    size = max(np.linalg.norm(f, axis=1).max(), 1e-3)
    speed = max(np.abs(problem.v_free).max(), 1e-3)
    assert v[:, 0].min() > -1e-7 * speed
    assert f[:, 0].min() >= -1e-9 * size
    assert np.abs(f[:, 0] * v[:, 0]).max() < 1e-6 * size * speed
    slip = np.linalg.norm(v[:, 1:], axis=1)
    assert (np.linalg.norm(f[:, 1:], axis=1) - problem.mu * f[:, 0]).max() < 1e-8 * size
    gap = problem.mu * f[:, 0] * slip + np.einsum("ij,ij->i", f[:, 1:], v[:, 1:])
    assert np.abs(gap).max() < 1e-6 * size * speed


def test_frictionless_problem_is_the_quadratic_programme() -> None:
    """Without friction the forces minimise f W f / 2 + v f on f >= 0: scipy's bounded solver is the oracle."""
    from scipy.optimize import nnls

    rng = np.random.default_rng(3)
    for _ in range(20):
        problem = random_problem(rng, 5, 15)
        problem.mu[:] = 0.0
        normal = problem.W[::3, ::3]
        factor = np.linalg.cholesky(normal)
        expected, _ = nnls(factor.T, -np.linalg.solve(factor, problem.v_free[::3]))
        result = solve_contacts(problem, tolerance=1e-12, max_iterations=50000)
        assert_allclose(result.impulses[:, 0], expected, atol=1e-8 * max(1.0, expected.max()))
        assert_allclose(result.impulses[:, 1:], 0.0, atol=0.0)


def test_warm_start_at_the_solution_needs_no_sweep() -> None:
    problem = box_problem(math.radians(25.0))
    cold = solve_contacts(problem, tolerance=1e-9)
    warm = solve_contacts(problem, tolerance=1e-9, warm_start=cold.impulses)
    assert cold.iterations > 0
    assert warm.iterations == 0
    assert_allclose(warm.impulses, cold.impulses, atol=0.0)


def test_separating_contacts_carry_nothing() -> None:
    problem = box_problem(0.0, g=-9.8)
    result = solve_contacts(problem)
    assert_allclose(result.impulses, 0.0, atol=0.0)
    assert_allclose(result.velocities.reshape(-1), problem.v_free, atol=0.0)


def test_not_converged_says_so() -> None:
    result = solve_contacts(box_problem(math.radians(25.0)), tolerance=1e-14, max_iterations=1)
    assert result.status is ContactStatus.NOT_CONVERGED
    assert result.iterations == 1
    assert result.residuals.natural_map > 1e-14


@pytest.mark.parametrize(
    ("W", "v_free", "mu", "says"),
    [
        (np.eye(3), [0.0, 0.0], 0.5, "v_free"),
        (np.eye(6), [0.0, 0.0, 0.0], 0.5, "W"),
        (np.eye(3), [0.0, np.nan, 0.0], 0.5, r"v_free\[1\] is nan"),
        (np.diag([1.0, np.inf, 1.0]), [0.0, 0.0, 0.0], 0.5, "W"),
        (np.eye(3), [0.0, 0.0, 0.0], -0.1, r"mu\[0\] is -0.1"),
        (np.eye(3), [0.0, 0.0, 0.0], [0.1, 0.2], "mu"),
        (np.diag([1.0, -1.0, 1.0]), [0.0, 0.0, 0.0], 0.5, "eigenvalue -1"),
        (np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3), 0.5, "not symmetric"),
    ],
)
def test_bad_problems_are_refused(W: np.ndarray, v_free: np.ndarray, mu: float, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ContactProblem(W, v_free, mu)


def test_bad_options_are_refused() -> None:
    problem = ContactProblem(W_SINGLE, V_SINGLE, 0.4)
    with pytest.raises(InputError, match=r"no contact solver 'magic'.*nsgs"):
        solve_contacts(problem, method="magic")
    with pytest.raises(InputError, match="tolerance is 0"):
        solve_contacts(problem, tolerance=0)
    with pytest.raises(InputError, match="max_iterations is 0"):
        solve_contacts(problem, max_iterations=0)
    with pytest.raises(InputError, match="warm start"):
        solve_contacts(problem, warm_start=[[0.0, 0.0]])


@pytest.mark.feature("000-F097")
def test_blocks_are_those_of_pairs_of_contacts() -> None:
    """A view of the operator in 3 x 3 blocks (feature F097)."""
    problem = box_problem(0.0)
    assert problem.blocks.shape == (4, 4, 3, 3)
    for i in range(4):
        for j in range(4):
            assert_allclose(problem.blocks[i, j], problem.W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3], atol=0.0)
    assert np.shares_memory(problem.blocks, problem.W)
