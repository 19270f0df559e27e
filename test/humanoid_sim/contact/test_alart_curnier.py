# SPDX-License-Identifier: Apache-2.0
"""The Alart-Curnier function: its Jacobian, its constants, Newton's method and the fallback."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_sim.contact.alart_curnier import alart_curnier, newton_contact, optimal_steps, polar_search
from humanoid_sim.contact.cone import project_on_cone

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
