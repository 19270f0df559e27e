# SPDX-License-Identifier: Apache-2.0
"""Every kind of constraint obeys its law, alone and together with the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from humanoid_sim.contact.block_nsgs import (
    BOUNDED,
    CONTACT,
    DAMPER,
    ROLL,
    SPIN,
    UNILATERAL,
    BlockProblem,
    block_nsgs,
)
from humanoid_sim.contact.nsgs import nsgs

SIZES = {CONTACT: 3, UNILATERAL: 1, BOUNDED: 1, SPIN: 1, ROLL: 2, DAMPER: 2}


def spd(rng: np.random.Generator, n: int) -> np.ndarray:
    A = rng.normal(size=(n, 2 * n))
    return A @ A.T / n


def solve(W, v_free, kinds, parameters, parents, tolerance=1e-11):
    starts = np.concatenate([[0], np.cumsum([SIZES[kind] for kind in kinds])])
    n = int(starts[-1])
    f, v, residuals = np.zeros(n), np.empty(n), np.zeros(5)
    problem = BlockProblem(
        np.ascontiguousarray(W), v_free, starts, np.array(kinds), np.array(parameters, dtype=float), np.array(parents)
    )
    sweeps = block_nsgs(problem, f, tolerance, 5000, v, residuals)
    assert residuals[0] <= tolerance, (sweeps, residuals)
    assert_allclose(v, W @ f + v_free, atol=1e-9)
    return f, v, starts


@pytest.mark.parametrize("seed", range(5))
def test_contacts_alone_are_those_of_nsgs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, v_free, mu = spd(rng, 12), rng.normal(size=12), rng.uniform(0.1, 1.0, 4)
    f, _, _ = solve(W, v_free, [CONTACT] * 4, mu, [-1] * 4)
    expected, v_expected = np.zeros(12), np.empty(12)
    nsgs(W, v_free, mu, expected, 1e-11, 5000, v_expected, np.zeros(5))
    assert_allclose(f, expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_limits_and_dry_friction_are_a_bounded_least_squares_problem(seed: int) -> None:
    """Without contacts the problem is the quadratic programme min f W f / 2 + v f within the bounds."""
    rng = np.random.default_rng(seed)
    W, v_free = spd(rng, 6), rng.normal(size=6)
    bound = rng.uniform(0.01, 0.5, 3)
    f, v, _ = solve(W, v_free, [UNILATERAL] * 3 + [BOUNDED] * 3, [0, 0, 0, *bound], [-1] * 6)
    L = np.linalg.cholesky(W)
    lower, upper = np.concatenate([np.zeros(3), -bound]), np.concatenate([np.full(3, np.inf), bound])
    expected = lsq_linear(L.T, -np.linalg.solve(L, v_free), (lower, upper), tol=1e-14).x
    assert_allclose(f, expected, atol=1e-6)
    assert np.all(v[:3] >= -1e-9)
    assert_allclose(f[:3] * v[:3], 0.0, atol=1e-9)


def test_spin_slips_or_sticks() -> None:
    """A disc that is pressed on and turned: the torque is what stops it, at most c times the normal force."""
    W = np.diag([1.0, 1.0, 1.0, 5.0])
    for turn, torque in ((0.02, -0.004), (-10.0, 0.03)):
        f, v, _ = solve(W, np.array([-0.1, 0.0, 0.0, turn]), [CONTACT, SPIN], [0.5, 0.3], [-1, 0])
        assert f[0] == pytest.approx(0.1)
        assert f[3] == pytest.approx(torque)
    assert v[3] == pytest.approx(-10.0 + 5.0 * 0.03)


def test_rolling_friction_opposes_rolling() -> None:
    rng = np.random.default_rng(1)
    W = np.zeros((5, 5))
    W[:3, :3], W[3:, 3:] = np.eye(3), spd(rng, 2)
    spin = np.array([3.0, -4.0])
    f, v, _ = solve(W, np.concatenate([[-2.0, 0.0, 0.0], spin]), [CONTACT, ROLL], [0.5, 0.01], [-1, 0])
    assert np.linalg.norm(f[3:]) == pytest.approx(0.02)
    assert_allclose(f[3:] / 0.02, -v[3:] / np.linalg.norm(v[3:]), atol=1e-9)
    f, v, _ = solve(W, np.array([-2.0, 0.0, 0.0, 1e-3, 0.0]), [CONTACT, ROLL], [0.5, 0.5], [-1, 0])
    assert_allclose(v[3:], 0.0, atol=1e-12)


def test_damper_acts_only_under_load() -> None:
    """A point that slides without friction: the damper's force is -c v, none where the contact is open."""
    damping = 2.0
    W = np.zeros((5, 5))
    W[:3, :3] = np.eye(3)
    W[3:, 3:] = np.eye(2) * (1.0 + 1.0 / damping)
    W[1, 3] = W[3, 1] = W[2, 4] = W[4, 2] = 1.0
    f, v, _ = solve(W, np.array([-1.0, 3.0, 0.0, 3.0, 0.0]), [CONTACT, DAMPER], [0.0, 0.0], [-1, 0])
    assert_allclose(f[3:], -damping * v[1:3], atol=1e-9)
    assert v[1] == pytest.approx(1.0)
    f, _, _ = solve(W, np.array([1.0, 3.0, 0.0, 3.0, 0.0]), [CONTACT, DAMPER], [0.0, 0.0], [-1, 0])
    assert_allclose(f, 0.0, atol=0.0)


@pytest.mark.parametrize("seed", range(10))
def test_all_kinds_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # no damper: its law jumps, so that there may be no solution
    kinds = [CONTACT, SPIN, ROLL, CONTACT, UNILATERAL, BOUNDED, CONTACT]
    parents = [-1, 0, 0, -1, -1, -1, -1]
    parameters = [0.5, 0.05, 0.02, 0.3, 0.0, 0.2, 0.8]
    n = sum(SIZES[kind] for kind in kinds)
    W = 0.5 * spd(rng, n) + 3.0 * np.eye(n)  # sweeps converge where the blocks are not too strongly coupled
    f, v, starts = solve(W, rng.normal(size=n), kinds, parameters, parents, 1e-10)
    for block, kind in enumerate(kinds):
        part = slice(starts[block], starts[block + 1])
        own, speed = f[part], v[part]
        if kind == CONTACT:
            assert own[0] >= 0.0
            assert speed[0] >= -1e-8
            assert np.linalg.norm(own[1:]) <= parameters[block] * own[0] + 1e-9
            slip = np.linalg.norm(speed[1:])
            assert parameters[block] * own[0] * slip + own[1:] @ speed[1:] == pytest.approx(0.0, abs=1e-8)
        elif kind in (SPIN, ROLL, BOUNDED):
            bound = parameters[block] * (1.0 if kind == BOUNDED else f[starts[parents[block]]])
            assert np.linalg.norm(own) <= bound + 1e-9
            assert bound * np.linalg.norm(speed) + own @ speed == pytest.approx(0.0, abs=1e-8)
