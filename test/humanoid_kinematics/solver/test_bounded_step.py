# SPDX-License-Identifier: Apache-2.0
"""The step of closures first, then commands, within bounds, against numpy and a quadratic program."""

import daqp
import numpy as np
import pytest

from humanoid_kinematics.solver.bounded_step import FREE, LOCKED, Linear, bounded_step, group_rows


def problem(seed, *, loops=2, bound=np.inf, redundant=True):
    """Two loops that share no joint, rows that depend on others, two free joints, seven command rows."""
    rng = np.random.default_rng(seed)
    n = 6 * loops + 2
    J = np.zeros((4 * loops, n))
    for g in range(loops):
        J[4 * g : 4 * g + 4, 6 * g : 6 * g + 6] = rng.normal(size=(4, 6))
        if redundant:
            J[4 * g + 3] = J[4 * g] - 2.0 * J[4 * g + 1]
    e = J @ (0.1 * rng.normal(size=n))  # can be closed
    S = rng.normal(size=(7, n))
    linear = Linear(
        J, e, S, rng.normal(size=7), np.full(n, -bound), np.full(n, bound), np.zeros(n), group_rows(J != 0.0)
    )
    return linear, np.zeros(n, np.int8), np.empty(n)


def priority(J, e, S, b):
    """Closure first (specification §3.15), by numpy's pseudo-inverses."""
    P = np.linalg.pinv(J, rcond=1e-10)
    N = np.eye(J.shape[1]) - P @ J
    return P @ e + np.linalg.pinv(S @ N, rcond=1e-10) @ (b - S @ P @ e)


def test_groups_share_no_joint_and_leave_none_out():
    J = np.zeros((5, 8), bool)
    J[0, [0, 1]] = J[2, [1, 2]] = J[4, [2]] = True
    J[1, [5, 6]] = J[3, [6]] = True
    groups = group_rows(J)
    rows = np.split(groups.rows, groups.row_begin[1:-1])
    columns = np.split(groups.columns, groups.column_begin[1:-1])
    assert [list(r) for r in rows] == [[0, 2, 4], [1, 3], []]
    assert [list(c) for c in columns] == [[0, 1, 2], [5, 6], [3, 4, 7]]


@pytest.mark.feature("002-F067")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("redundant", [True, False])
def test_closures_come_first_and_commands_take_what_is_left(seed, redundant):
    linear, held, x = problem(seed, redundant=redundant)
    free = bounded_step(linear, held, 1e-7, 0.0, 1e-9, x)
    assert free == 14 - 2 * (3 if redundant else 4)
    np.testing.assert_allclose(linear.J @ x, linear.e, atol=1e-10)
    np.testing.assert_allclose(x, priority(linear.J, linear.e, linear.S, linear.b), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_locked_joint_stays_and_the_others_take_its_share(seed):
    linear, held, x = problem(seed)
    held[[1, 7]] = LOCKED
    bounded_step(linear, held, 1e-7, 0.0, 1e-9, x)
    rest = np.flatnonzero(held != LOCKED)
    assert (x[[1, 7]] == 0.0).all()
    np.testing.assert_allclose(x[rest], priority(linear.J[:, rest], linear.e, linear.S[:, rest], linear.b), atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_within_bounds_it_is_the_optimum_of_the_quadratic_program(seed):
    linear, held, x = problem(seed, bound=0.25)
    bounded_step(linear, held, 1e-3, 0.0, 1e-9, x)
    assert (abs(x) <= 0.25 + 1e-9).all()
    assert (held != FREE).any()  # bounds matter in this problem
    np.testing.assert_allclose(linear.J @ x, linear.e, atol=1e-9)
    # The same by daqp: independent rows of the closures as equalities.
    J, e = linear.J[[0, 1, 2, 4, 5, 6]], linear.e[[0, 1, 2, 4, 5, 6]]
    H = linear.S.T @ linear.S + 1e-6 * np.eye(len(x))
    best, _, flag, _ = daqp.solve(
        H, -linear.S.T @ linear.b, J.copy(), np.r_[np.full(14, 0.25), e], np.r_[np.full(14, -0.25), e],
        np.r_[np.zeros(14, np.int32), np.full(6, 5, np.int32)],
    )  # fmt: skip
    assert flag > 0
    assert 0.5 * x @ H @ x - x @ linear.S.T @ linear.b <= 0.5 * best @ H @ best - best @ linear.S.T @ linear.b + 1e-6
    np.testing.assert_allclose(x, best, atol=1e-3)


def test_what_is_left_free_follows_the_preference():
    linear, held, x = problem(3)
    S, b = linear.S[:2].copy(), linear.b[:2].copy()
    wish = np.random.default_rng(1).normal(size=14)
    linear = linear._replace(S=S, b=b, preferred=wish)
    bounded_step(linear, held, 1e-7, 0.0, 1e-9, x)
    np.testing.assert_allclose(S @ x, b, atol=1e-6)
    both = np.vstack([linear.J, S])
    N = np.eye(14) - np.linalg.pinv(both, rcond=1e-10) @ both
    np.testing.assert_allclose(N @ x, N @ wish, atol=1e-6)


def test_damping_shortens_the_closing_step_of_loops_that_hardly_can():
    linear, held, x = problem(0)
    none = np.zeros((0, 14))
    linear = linear._replace(S=none, b=np.zeros(0))
    bounded_step(linear, held, 0.0, 0.0, 1e-9, x)
    np.testing.assert_allclose(x, np.linalg.pinv(linear.J, rcond=1e-10) @ linear.e, atol=1e-9)
    undamped = np.linalg.norm(x)
    bounded_step(linear, held, 0.0, 3.0, 1e-9, x)
    J = linear.J
    np.testing.assert_allclose(x, J.T @ np.linalg.solve(J @ J.T + 9.0 * np.eye(8), linear.e), atol=1e-9)
    assert np.linalg.norm(x) < undamped
