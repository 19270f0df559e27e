# SPDX-License-Identifier: Apache-2.0
"""Faceted cones and Signorini's problem as linear complementarity problems."""

import math

import numpy as np
import pytest
from fixtures.contact_problems import box_problem, random_problem
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import ContactProblem, solve_contacts
from humanoid_sim.contact.impact import LcpStatus, solve_lcp
from humanoid_studies.contact.complementarity import faceted_lcp, faceted_size, pyramid_residual, solve_faceted


def faceted_forces(problem: ContactProblem, facets: int, *, circumscribed: bool = False) -> np.ndarray:
    """Forces by the compiled assembly and pivoting, shape (m, 3)."""
    m = problem.mu.size
    f, v, residuals = np.zeros(3 * m), np.empty(3 * m), np.empty(5)
    reach = 1.0 / math.cos(math.pi / facets) if circumscribed else 1.0
    solve_faceted(problem.W, problem.v_free, problem.mu, f, 10_000, v, residuals, facets, reach)
    assert pyramid_residual(problem.W, problem.v_free, problem.mu, f, v, facets, reach) < 1e-9
    return f.reshape(m, 3)


@pytest.mark.feature("000-F053")
def test_sizes() -> None:
    """N2 and E4: 67 contacts with 8 facets; 201 unknowns iteratively."""
    assert faceted_size(67, 8) == 670
    problem = box_problem(0.0)
    M, q = faceted_lcp(problem, 8)
    assert M.shape == (40, 40)
    assert q.shape == (40,)
    assert problem.v_free.size == 12


@pytest.mark.feature("000-F053")
def test_matrix_is_that_of_the_thesis() -> None:
    """Equation 2.35 written out for one contact with 4 facets, in SI units."""
    W = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.0]])
    M, q = faceted_lcp(ContactProblem(W, [-1.0, 0.8, -0.5], 0.4), 4)
    D = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]).T
    u = np.ones((4, 1))
    expected = np.block(
        [
            [W[:1, :1], W[:1, 1:] @ D, np.zeros((1, 1))],
            [D.T @ W[1:, :1], D.T @ W[1:, 1:] @ D, u],
            [np.array([[0.4]]), -u.T, np.zeros((1, 1))],
        ]
    )
    assert_allclose(M, expected, atol=1e-12)
    assert_allclose(q, np.concatenate([[-1.0], D.T @ [0.8, -0.5], [0.0]]), atol=1e-12)


@pytest.mark.feature("000-F053")
@pytest.mark.parametrize("circumscribed", [False, True])
def test_general_pivoting_on_the_assembled_problem_gives_the_same(circumscribed: bool) -> None:
    problem = random_problem(np.random.default_rng(2), 4, 12)
    M, q = faceted_lcp(problem, 6, circumscribed=circumscribed)
    answer = solve_lcp(M, q)
    assert answer.status is LcpStatus.SOLVED
    z = answer.z.reshape(4, 8)
    reach = 1.0 / math.cos(math.pi / 6) if circumscribed else 1.0
    angles = 2.0 * math.pi * np.arange(6) / 6
    forces = np.column_stack([z[:, 0], reach * z[:, 1:7] @ np.cos(angles), reach * z[:, 1:7] @ np.sin(angles)])
    assert_allclose(forces, faceted_forces(problem, 6, circumscribed=circumscribed), atol=1e-9)


@pytest.mark.feature("000-F053")
@pytest.mark.parametrize(("facets", "error"), [(4, 0.293), (8, 0.0761), (16, 0.0192)])
def test_error_against_facets(facets: int, error: float) -> None:
    """E23b: friction against slip between two edges is short by 1 - cos(pi/k) inscribed, long by as much outside."""
    angle = math.pi / facets
    shortfall = 1.0 - math.cos(angle)
    assert shortfall == pytest.approx(error, abs=1e-3)
    W = np.diag([1.0, 1.0, 1.0])
    problem = ContactProblem(W, [-1.0, -10.0 * math.cos(angle), -10.0 * math.sin(angle)], 0.5)
    exact = solve_contacts(problem, tolerance=1e-12).impulses[0]
    assert np.linalg.norm(exact[1:]) == pytest.approx(0.5)
    along = exact[1:] / 0.5
    inside = faceted_forces(problem, facets)[0]
    outside = faceted_forces(problem, facets, circumscribed=True)[0]
    assert along @ inside[1:] == pytest.approx(0.5 * math.cos(angle), rel=1e-9)
    assert along @ outside[1:] == pytest.approx(0.5, rel=1e-9)
    # Towards an edge the pyramid in the cone is exact and the one around it too strong.
    towards = ContactProblem(W, [-1.0, -10.0, 0.0], 0.5)
    assert faceted_forces(towards, facets)[0, 1] == pytest.approx(0.5, rel=1e-9)
    assert faceted_forces(towards, facets, circumscribed=True)[0, 1] == pytest.approx(0.5 / math.cos(angle), rel=1e-9)


def test_more_facets_come_nearer_to_the_cone() -> None:
    problem = random_problem(np.random.default_rng(5), 5, 15)
    exact = solve_contacts(problem, tolerance=1e-11, max_iterations=20_000).impulses
    errors = [np.abs(faceted_forces(problem, k) - exact).max() for k in (4, 8, 16, 32)]
    assert errors[3] < 0.3 * errors[0]
    assert errors[3] < 0.02 * np.abs(exact).max()


def test_own_law_is_not_passed_by_other_forces() -> None:
    """The residual of the pyramid sees too little friction, friction outside it, and a wrong normal force."""
    problem = box_problem(math.radians(25.0))
    good = faceted_forces(problem, 8).reshape(-1)

    def residual(f: np.ndarray) -> float:
        v = problem.W @ f + problem.v_free
        return pyramid_residual(problem.W, problem.v_free, problem.mu, f, v, 8, 1.0)

    assert residual(good) < 1e-9
    for scale in ([1.0, 0.9, 0.9], [1.0, 1.1, 1.1], [1.1, 1.0, 1.0]):
        assert residual(good * np.tile(scale, 4)) > 1e-3


@pytest.mark.feature("000-F050", "000-F052")
def test_signorini_is_the_bounded_quadratic_programme() -> None:
    """F052: pivoting and the library's programme give the same forces."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        problem = random_problem(rng, 5, 15)
        pivoting = solve_contacts(problem, "lemke_frictionless", tolerance=1e-8)
        programme = solve_contacts(problem, "qp_frictionless", tolerance=1e-8)
        assert_allclose(pivoting.impulses, programme.impulses, atol=1e-8 * max(1.0, pivoting.impulses.max()))


@pytest.mark.feature("000-F054")
@pytest.mark.parametrize("seed", range(6))
def test_staggered_projections_find_the_faceted_solution(seed: int) -> None:
    """F054: two programmes in turns settle where Lemke's method is in one go."""
    problem = random_problem(np.random.default_rng(seed), 4, 15)
    staggered = solve_contacts(problem, "staggered_projections", tolerance=1e-9, max_iterations=500)
    expected = faceted_forces(problem, 8)
    assert_allclose(staggered.impulses, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("facets", [0, 3, 5])
def test_bad_facets_are_refused(facets: int) -> None:
    with pytest.raises(InputError, match=f"{facets} facets"):
        faceted_lcp(box_problem(0.0), facets)
