# SPDX-License-Identifier: Apache-2.0
"""Impacts: closed forms of N7 and N8, restitution, energy, chains."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from humanoid_model.errors import InputError
from humanoid_sim.contact.impact import SOLVED, LcpStatus, lemke, solve_impact, solve_lcp


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


def box(mass: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Normal Jacobian of the four lower corners of a uniform box, columns (v_z, w_x, w_y), and its inverse inertia."""
    corners = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * 0.25
    J = np.column_stack([np.ones(4), corners[:, 1], -corners[:, 0]])
    inertia = mass * (0.5**2 + 0.1**2) / 12.0
    return J, np.diag([1.0 / mass, 1.0 / inertia, 1.0 / inertia])


@pytest.mark.feature("000-F065")
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_flat_box(e: float) -> None:
    """N7: the impulses sum to (1 + e) m v, the box leaves at e v, its energy is e^2 of what it was."""
    J, inverse = box()
    Lambda = J @ inverse @ J.T
    before = np.array([-3.0, 0.0, 0.0])
    result = solve_impact(Lambda, J @ before, e)
    assert result.status is LcpStatus.SOLVED
    assert result.impulses.sum() == pytest.approx((1.0 + e) * 2.0 * 3.0, rel=1e-12)
    assert_allclose(result.velocities, 3.0 * e, atol=1e-12)
    after = before + inverse @ J.T @ result.impulses  # thesis equation 3.9
    assert_allclose(J @ after, result.velocities, atol=1e-12)
    assert after @ np.linalg.solve(inverse, after) == pytest.approx(
        e**2 * before @ np.linalg.solve(inverse, before), abs=1e-12
    )


@pytest.mark.feature("000-F065")
@pytest.mark.parametrize("e", [0.0, 0.7, 1.0])
def test_rod_at_one_end(e: float) -> None:
    """N8: Lambda = 1/m + (l/2)^2 / (m l^2 / 12) = 4/m, impulse (1 + e) m v / 4."""
    m, length, v = 3.0, 1.7, 2.0
    Lambda = 1.0 / m + (length / 2.0) ** 2 / (m * length**2 / 12.0)
    assert pytest.approx(4.0 / m) == Lambda
    result = solve_impact([[Lambda]], [-v], e)
    assert result.impulses[0] == pytest.approx((1.0 + e) * m * v / 4.0)
    assert result.velocities[0] == pytest.approx(e * v)


@pytest.mark.feature("000-F068")
def test_restitution_per_contact() -> None:
    """Two separate bodies."""
    result = solve_impact(np.diag([1.0, 0.5]), [-1.0, -1.0], [0.0, 1.0])
    assert_allclose(result.impulses, [1.0, 4.0])
    assert_allclose(result.velocities, [0.0, 1.0])


def test_no_contact_is_slower_than_newtons_law() -> None:
    """A box that lands on one edge: every condition of (3.7), whatever the other corners do."""
    J, inverse = box()
    rng = np.random.default_rng(0)
    for _ in range(100):
        before = rng.normal(size=3) - [1.0, 0.0, 0.0]
        e = rng.uniform(0.0, 1.0, 4)
        v = J @ before
        result = solve_impact(J @ inverse @ J.T, v, e)
        slack = result.velocities + e * v
        assert result.impulses.min() >= 0.0
        assert slack.min() > -1e-9
        assert np.abs(slack * result.impulses).max() < 1e-8
        assert result.residual < 1e-9


def test_separating_contacts_are_left_alone() -> None:
    result = solve_impact(np.eye(2), [0.5, 0.0], 0.8)
    assert_allclose(result.impulses, 0.0, atol=0.0)
    assert_allclose(result.velocities, [0.5, 0.0], atol=0.0)


def test_a_gap_may_still_be_closed() -> None:
    """The approach that is left is the one allowed, and no push where the contact is slower anyway."""
    result = solve_impact(np.diag([2.0, 1.0]), [-1.0, -1.0], 0.0, allowed=[0.25, 1.5])
    assert_allclose(result.impulses, [0.375, 0.0], atol=1e-12)
    assert_allclose(result.velocities, [-0.25, -1.0], atol=1e-12)


def test_no_contacts_no_impulses() -> None:
    assert solve_impact(np.zeros((0, 0)), [], 0.5).impulses.size == 0


@pytest.mark.parametrize(
    ("Lambda", "v", "e", "says"),
    [
        (np.eye(2), [-1.0], 0.5, "Lambda_nn has shape"),
        (np.eye(1), [np.nan], 0.5, r"v_minus\[0\] is nan"),
        ([[np.inf]], [-1.0], 0.5, "Lambda_nn"),
        (np.eye(2), [-1.0, -1.0], [0.5, 1.1], r"e\[1\] is 1.1"),
        (np.eye(1), [-1.0], -0.1, r"e\[0\] is -0.1"),
        (np.eye(1), [-1.0], [0.5, 0.5], "e has shape"),
        ([[1.0, 0.5], [0.0, 1.0]], [-1.0, -1.0], 0.5, "not symmetric"),
        ([[1.0, 0.0], [0.0, 0.0]], [-1.0, -1.0], 0.5, r"Lambda_nn\[1, 1\] is 0"),
    ],
)
def test_bad_impacts_are_refused(Lambda: object, v: object, e: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve_impact(Lambda, v, e)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("allowed", "says"),
    [([0.1, 0.1], "allowed has shape"), ([-0.1], r"allowed\[0\] is -0.1"), ([np.nan], r"allowed\[0\] is nan")],
)
def test_bad_allowed_speeds_are_refused(allowed: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve_impact([[1.0]], [-1.0], 0.0, allowed=allowed)  # type: ignore[arg-type]
