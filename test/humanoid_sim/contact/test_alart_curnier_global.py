# SPDX-License-Identifier: Apache-2.0
"""Newton on all contacts: derivatives, directions, redundant contacts and what defeats Gauss-Seidel."""

import math

import numpy as np
import pytest
from fixtures.contact_problems import box_problem
from fixtures.hard_contact_problems import grazing, many_points
from numpy.testing import assert_allclose

from humanoid_sim import solve_contacts
from humanoid_sim.contact.alart_curnier_global import (
    contact_derivatives,
    contact_function,
    newton_direction,
    newton_room,
)
from humanoid_sim.contact.nsgs import optimal_steps


def function(W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, steps: np.ndarray, f: np.ndarray) -> np.ndarray:
    """The Alart-Curnier function of all contacts at the forces f."""
    v = W @ f + v_free
    psi = np.empty(f.size)
    for i in range(mu.size):
        k = slice(3 * i, 3 * i + 3)
        contact_function(*steps[i], mu[i], f[k], v[k], psi[k])
    return psi


def random_point(seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    m = 5
    A = rng.normal(size=(3 * m, 3 * m))
    W = A @ A.T / m + 0.2 * np.eye(3 * m)
    steps = np.array([optimal_steps(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]) for i in range(m)])
    f = rng.normal(size=3 * m)
    f[::3] += 0.5
    return W, rng.normal(size=3 * m), rng.uniform(0.1, 1.0, m), steps, f


@pytest.mark.feature("000-F057")
@pytest.mark.parametrize("seed", range(20))
def test_jacobian_is_the_derivative_of_the_function(seed: int) -> None:
    """Central differences of the function of all contacts, through the coupling; all branches occur."""
    W, v_free, mu, steps, f = random_point(seed)
    n = f.size
    v = W @ f + v_free
    jacobian = np.zeros((n, n))
    A, B = np.empty((3, 3)), np.empty((3, 3))
    for i in range(mu.size):
        k = slice(3 * i, 3 * i + 3)
        opened = contact_derivatives(*steps[i], mu[i], f[k], v[k], A, B)
        assert opened == (f[3 * i] - steps[i, 0] * v[3 * i] <= 0.0)
        jacobian[k, k] += A
        jacobian[k] += B @ W[k]
    numeric = np.empty((n, n))
    h = 1e-7
    for c in range(n):
        move = h * np.eye(n)[c]
        ends = [function(W, v_free, mu, steps, f + sign * move) for sign in (1.0, -1.0)]
        numeric[:, c] = (ends[0] - ends[1]) / (2.0 * h)
    assert_allclose(jacobian, numeric, atol=2e-6 * np.abs(numeric).max())


def test_the_points_above_are_on_all_branches() -> None:
    branches = set()
    for seed in range(20):
        W, v_free, mu, steps, f = random_point(seed)
        v = W @ f + v_free
        for i in range(mu.size):
            augmented = f[3 * i] - steps[i, 0] * v[3 * i]
            outside = np.linalg.norm(f[3 * i + 1 : 3 * i + 3] - steps[i, 1] * v[3 * i + 1 : 3 * i + 3])
            branches.add("open" if augmented <= 0.0 else "stick" if outside <= mu[i] * augmented else "slip")
    assert branches == {"open", "stick", "slip"}


@pytest.mark.parametrize("seed", range(20))
def test_direction_solves_the_newton_system(seed: int) -> None:
    """Open contacts condensed out or not, the linearised function vanishes after the step."""
    W, v_free, mu, steps, f = random_point(seed)
    v = W @ f + v_free
    psi = function(W, v_free, mu, steps, f)
    direction = np.empty(f.size)
    assert newton_direction(W, mu, steps, f, v, psi, 0.0, direction, newton_room(mu.size))
    h = 1e-7
    slope = (function(W, v_free, mu, steps, f + h * direction) - psi) / h
    assert_allclose(slope, -psi, atol=1e-4 * max(1.0, np.abs(direction).max()))


@pytest.mark.parametrize("count", [10, 60])
@pytest.mark.parametrize("speed", [1e-4, 1e-2])
def test_redundant_contacts_push_as_with_gauss_seidel(count: int, speed: float) -> None:
    """Rank 6 with 30 or 180 unknowns, by the two eliminations, held and slipping.

    Unique are the net normal force, and the net force and the velocities where friction holds; how a body turns while
    it slips depends on how its weight is shared, which isn't.
    """
    problem = many_points(np.random.default_rng(count), count, speed)
    newton = solve_contacts(problem, "alart_curnier_global", tolerance=1e-10)
    sweeps = solve_contacts(problem, "nsgs", tolerance=1e-11, max_iterations=100_000)
    assert newton.converged
    assert sweeps.converged
    weight = 10.0 * 9.81
    assert newton.impulses[:, 0].sum() == pytest.approx(weight, rel=1e-7)
    if speed < 1e-3:
        assert_allclose(newton.velocities, 0.0, atol=1e-9)
        assert_allclose(newton.impulses.sum(axis=0), sweeps.impulses.sum(axis=0), atol=1e-6 * weight)
    else:
        assert newton.residuals.dissipation < 1e-8
        assert np.linalg.norm(newton.velocities[:, 1:], axis=1).min() > 1e-4


def test_newton_solves_what_sweeps_do_not() -> None:
    """At the edge of the cones 2000 sweeps don't get to 1e-8, some tens of Newton steps do."""
    for seed in range(5):
        problem = grazing(np.random.default_rng(seed))
        assert not solve_contacts(problem, "nsgs", tolerance=1e-8, max_iterations=2000).converged
        newton = solve_contacts(problem, "alart_curnier_global", tolerance=1e-8, max_iterations=100)
        assert newton.converged


def test_few_iterations_say_not_converged() -> None:
    result = solve_contacts(box_problem(math.radians(25.0)), "alart_curnier_global", tolerance=1e-13, max_iterations=1)
    assert result.iterations == 1
    assert not result.converged
