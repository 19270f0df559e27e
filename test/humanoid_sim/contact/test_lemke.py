# SPDX-License-Identifier: Apache-2.0
"""Lemke's pivoting against enumeration of all bases, degenerate and unsolvable problems."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from humanoid_model.errors import InputError
from humanoid_sim.contact.lemke import SOLVED, LcpStatus, lemke, solve_lcp


def solutions(M: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
    """All basic solutions, by trying which of z are positive."""
    n = len(q)
    found = []
    for chosen in range(2**n):
        s = [i for i in range(n) if chosen >> i & 1]
        z = np.zeros(n)
        if s:
            block = M[np.ix_(s, s)]
            if np.linalg.cond(block) > 1e10:
                continue
            z[s] = np.linalg.solve(block, -q[s])
        if z.min() >= -1e-10 and (M @ z + q).min() >= -1e-10:
            found.append(z)
    return found


@pytest.mark.feature("000-F051")
@pytest.mark.parametrize("kind", ["definite", "positive definite, asymmetric"])
def test_the_only_solution_is_found(kind: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 7))
        A, B = rng.normal(size=(n, n)), rng.normal(size=(n, n))
        M = A @ A.T + 0.1 * np.eye(n) + (0.0 if kind == "definite" else 1.0) * (B - B.T)
        q = rng.normal(size=n)
        result = solve_lcp(M, q)
        (expected,) = solutions(M, q)
        assert result.status is LcpStatus.SOLVED
        assert_allclose(result.z, expected, atol=1e-7 * max(1.0, expected.max()))
        assert_allclose(result.w, M @ result.z + q, atol=1e-12)


def test_semidefinite_problems_get_one_of_their_solutions() -> None:
    """Contacts of less rank than their number: w is unique, z is not."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 7))
        B = rng.normal(size=(n, max(1, n // 2)))
        q = B @ rng.normal(size=B.shape[1])
        result = solve_lcp(B @ B.T, q)
        assert result.status is LcpStatus.SOLVED
        assert result.z.min() >= 0.0
        assert result.w.min() > -1e-9
        assert np.abs(result.z * result.w).max() < 1e-8 * max(1.0, result.z.max())
        assert_allclose(result.w, B @ B.T @ solutions(B @ B.T, q)[0] + q, atol=1e-8)


def test_matrices_of_any_kind_are_solved_or_end_in_a_ray() -> None:
    """A ray is no proof that there is no solution; a solution is one, and without one there is always a ray."""
    rng = np.random.default_rng(2)
    outcomes = set()
    for _ in range(300):
        n = int(rng.integers(1, 6))
        M, q = rng.normal(size=(n, n)), rng.normal(size=n)
        result = solve_lcp(M, q)
        exists = bool(solutions(M, q))
        outcomes.add((result.status, exists))
        if result.status is LcpStatus.SOLVED:
            assert result.residual < 1e-8
            assert result.z.min() >= 0.0
            assert result.w.min() > -1e-8
        else:
            assert_allclose(result.z, 0.0, atol=0.0)
    assert (LcpStatus.SOLVED, False) not in outcomes
    assert (LcpStatus.RAY_TERMINATION, False) in outcomes


def test_large_problems_against_bounded_least_squares() -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(80, 80))
    M = A @ A.T + np.eye(80)
    q = rng.normal(size=80)
    factor = np.linalg.cholesky(M)
    expected, _ = nnls(factor.T, -np.linalg.solve(factor, q))
    assert_allclose(solve_lcp(M, q).z, expected, atol=1e-8)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_ties_do_not_cycle(n: int) -> None:
    """Equal legs under a symmetric load: every ratio test is a tie."""
    result = solve_lcp(np.ones((n, n)), -np.ones(n))
    assert result.status is LcpStatus.SOLVED
    assert result.z.sum() == pytest.approx(1.0)
    assert result.pivots <= n + 1


@pytest.mark.feature("000-F051")
@pytest.mark.parametrize(
    ("M", "q"),
    [
        ([[0, -2, -2, -3], [2, 0, 2, -1], [2, -2, 0, 2], [3, 1, -2, 0]], [0, -1, -1, -1]),
        ([[1, 3, -5, 3], [-3, 0, 2, 1], [3, -2, 1, 0], [-5, -1, 2, 1]], [-1, -1, -1, 0]),
        ([[2, 0, 2, 0, 0], [1, 1, 2, 1, 2], [2, 0, 0, 2, 0], [1, 0, 0, 3, 2], [0, 2, 2, 0, 1]], [-1, -1, 0, -1, -1]),
    ],
)
def test_degenerate_pivoting_does_not_cycle(M: list[list[int]], q: list[int]) -> None:
    """With the first of tied rows leaving, pivoting goes round for ever: found by a search of small matrices.

    This is the bare method: ``solve_lcp`` would shift the diagonal and so hide a cycle.
    """
    matrix, vector, z = np.array(M, dtype=float), np.array(q, dtype=float), np.zeros(len(q))
    outcome, pivots = lemke(matrix, vector, 60, z)
    assert outcome == SOLVED
    assert pivots < 20
    w = matrix @ z + vector
    assert min(z.min(), w.min()) > -1e-12
    assert np.abs(z * w).max() < 1e-12


def test_murtys_exponential_example() -> None:
    """2^n pivots (Murty 1978, n = 8): long, but it ends where it should."""
    n = 8
    M = np.tril(np.full((n, n), 2.0), -1) + np.eye(n)
    q = -np.ones(n)
    result = solve_lcp(M, q)
    assert_allclose(result.z, solutions(M, q)[0], atol=1e-9)


def test_no_solution_is_a_ray() -> None:
    assert solve_lcp([[-1.0]], [-1.0]).status is LcpStatus.RAY_TERMINATION
    assert solve_lcp([[0.0]], [-1.0]).status is LcpStatus.RAY_TERMINATION


def test_pivot_limit_is_told() -> None:
    rng = np.random.default_rng(4)
    A = rng.normal(size=(10, 10))
    assert solve_lcp(A @ A.T, -np.ones(10), max_pivots=1).status is LcpStatus.PIVOT_LIMIT


def test_nothing_to_do_is_done() -> None:
    result = solve_lcp(np.eye(2), [0.0, 3.0])
    assert result.pivots == 0
    assert_allclose(result.z, 0.0, atol=0.0)
    assert solve_lcp(np.zeros((0, 0)), []).status is LcpStatus.SOLVED


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_do_not_matter(scale: float) -> None:
    rng = np.random.default_rng(5)
    A = rng.normal(size=(6, 6))
    q = rng.normal(size=6)
    plain, scaled = solve_lcp(A @ A.T, q), solve_lcp(scale * A @ A.T, q / scale)
    assert_allclose(scaled.z * scale**2, plain.z, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("M", "q", "limit", "says"),
    [
        (np.eye(2), [1.0], None, r"M has shape \(2, 2\)"),
        ([[np.nan]], [1.0], None, r"M\[0, 0\] is nan"),
        ([[1.0]], [np.inf], None, r"q\[0\] is inf"),
        ([[1.0]], [1.0], 0, "max_pivots is 0"),
    ],
)
def test_bad_problems_are_refused(M: object, q: object, limit: int | None, says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve_lcp(M, q, max_pivots=limit)  # type: ignore[arg-type]
