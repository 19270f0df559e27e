# SPDX-License-Identifier: Apache-2.0
"""The thesis' stopping criterion (feature F060): where it stops, and that it is no residual."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from fixtures.contact_problems import random_problem
from fixtures.hard_contact_problems import stack
from numpy.testing import assert_allclose

from humanoid_sim import ContactProblem, solve_contacts
from humanoid_sim.contact.solve import ContactStatus


def relative_change(new: np.ndarray, old: np.ndarray) -> float:
    """Left side of (3.34); open contacts are left out."""
    sizes = np.linalg.norm(new, axis=1)
    closed = sizes > 0.0
    return float((np.linalg.norm(new - old, axis=1)[closed] / sizes[closed]).sum())


@pytest.mark.feature("000-F060")
@pytest.mark.parametrize("epsilon", [1e-3, 1e-6])
@pytest.mark.parametrize("seed", range(5))
def test_the_loop_stops_at_epsilon(epsilon: float, seed: int) -> None:
    """At the first sweep that changes less than epsilon, counted from outside by one sweep more each time."""
    problem = random_problem(np.random.default_rng(seed), 4, 24)
    stopped = solve_contacts(problem, "nsgs_relative_change", tolerance=epsilon)
    forces = [np.zeros((4, 3))]
    for sweeps in range(1, stopped.iterations + 1):
        forces.append(
            solve_contacts(problem, "nsgs_relative_change", tolerance=1e-300, max_iterations=sweeps).impulses
        )
    changes = [relative_change(new, old) for old, new in pairwise(forces)]
    assert changes[-1] < epsilon
    assert min(changes[:-1], default=np.inf) >= epsilon
    assert_allclose(stopped.impulses, forces[-1], atol=0.0)


def test_it_finds_the_same_forces_where_convergence_is_fast() -> None:
    problem = ContactProblem(
        np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.0]]), np.array([-1.0, 0.8, -0.5]), 0.4
    )
    result = solve_contacts(problem, "nsgs_relative_change", tolerance=1e-10)
    assert_allclose(result.impulses[0], [0.53884274, -0.17609241, 0.12428879], atol=1e-8)
    assert result.converged
    assert result.residuals.natural_map <= 1e-10


def test_a_small_change_is_no_small_error() -> None:
    """A box of 10^4 times the mass on another: a sweep changes a thousandth, and half of the force is still missing.

    The forces grow slowly and steadily. The status is the residual's, as with every solver.
    """
    problem = stack(np.random.default_rng(0), 2, 1e4)
    result = solve_contacts(problem, "nsgs_relative_change", tolerance=1e-3, max_iterations=20_000)
    assert result.iterations < 20_000
    exact = solve_contacts(problem, "nsgs_newton", tolerance=1e-11)
    assert exact.converged
    assert result.impulses[:, 0].sum() < 0.6 * exact.impulses[:, 0].sum()
    tight = solve_contacts(problem, "nsgs_relative_change", tolerance=1e-9, max_iterations=100)
    assert tight.status is ContactStatus.NOT_CONVERGED
