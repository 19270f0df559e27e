# SPDX-License-Identifier: Apache-2.0
"""Contacts beside limits and dry friction, against Gauss-Seidel, a quadratic programme and the laws themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from humanoid_sim.contact.block_nsgs import BOUNDED, CONTACT, UNILATERAL, BlockProblem, block_nsgs
from humanoid_sim.contact.scalar_active_set import (
    has_scalars_and_contacts_alone,
    scalar_active_set,
    scalars_as_contacts,
)

RECORDED = Path(__file__).parents[2] / "fixtures" / "lying_robot_joints.npz"
SIZES = {CONTACT: 3, UNILATERAL: 1, BOUNDED: 1}


def blocks(kinds):
    starts = np.concatenate([[0], np.cumsum([SIZES[kind] for kind in kinds])])
    return starts, np.array(kinds), np.full(len(kinds), -1)


def solve(solver, W, v_free, kinds, parameters, f=None, tolerance=1e-10, max_iterations=5000):
    starts, kinds, parents = blocks(kinds)
    f = np.zeros(v_free.size) if f is None else f.copy()
    v, residuals = np.empty(v_free.size), np.zeros(5)
    parameters = np.array(parameters, dtype=float)
    W = np.ascontiguousarray(W)
    problem = BlockProblem(W, v_free, starts, kinds, parameters, parents)
    count = solver(problem, f, tolerance, max_iterations, v, residuals)
    assert_allclose(v, W @ f + v_free, atol=1e-9)
    return f, v, residuals[0], count


def mechanism(rng, kinds, freedom):
    """Rows on a mechanism of so many degrees of freedom: a Delassus operator of that rank."""
    starts, _, _ = blocks(kinds)
    J = rng.normal(size=(int(starts[-1]), freedom))
    return J @ J.T, J @ rng.normal(size=freedom)


def assert_laws_hold(f, v, kinds, parameters, force, speed):
    """Signorini, Coulomb and maximum dissipation, limits and dry friction, up to a force and a speed."""
    firsts = blocks(kinds)[0][:-1]
    normals, limits, joints = (firsts[np.asarray(kinds) == kind] for kind in (CONTACT, UNILATERAL, BOUNDED))
    mu, bound = (np.asarray(parameters)[np.asarray(kinds) == kind] for kind in (CONTACT, BOUNDED))
    for pushes in (normals, limits):
        assert f[pushes].min(initial=0.0) >= -force
        assert v[pushes].min(initial=0.0) >= -speed
        assert np.minimum(f[pushes] / force, v[pushes] / speed).max(initial=0.0) <= 1.0
    friction, slip = f[normals[:, None] + [1, 2]], v[normals[:, None] + [1, 2]]
    assert (np.linalg.norm(friction, axis=1) - mu * f[normals]).max(initial=0.0) <= force
    slides = np.linalg.norm(slip, axis=1) > 10.0 * speed
    against = slip[slides] / np.linalg.norm(slip[slides], axis=1)[:, None]
    assert_allclose(friction[slides], -(mu * f[normals])[slides, None] * against, atol=10.0 * force)
    assert (np.abs(f[joints]) - bound).max(initial=0.0) <= force
    slides = np.abs(v[joints]) > speed
    assert_allclose(f[joints][slides], (-bound * np.sign(v[joints]))[slides], atol=force)


@pytest.mark.parametrize("seed", range(8))
def test_limits_and_dry_friction_alone_are_a_bounded_least_squares_problem(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = [UNILATERAL] * 4 + [BOUNDED] * 6
    W, v_free = mechanism(rng, kinds, 16)
    bound = rng.uniform(0.01, 0.5, 6)
    f, _, residual, count = solve(scalar_active_set, W, v_free, kinds, [0.0] * 4 + [*bound])
    assert residual <= 1e-10
    assert count <= 10
    L = np.linalg.cholesky(W)
    lower, upper = np.concatenate([np.zeros(4), -bound]), np.concatenate([np.full(4, np.inf), bound])
    expected = lsq_linear(L.T, -np.linalg.solve(L, v_free), (lower, upper), tol=1e-14).x
    assert_allclose(f, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_laws_hold_and_gauss_seidel_agrees(seed: int) -> None:
    """A robot's worth of rows in random order, nothing redundant: one solution."""
    rng = np.random.default_rng(100 + seed)
    kinds = list(rng.permutation([CONTACT] * 4 + [UNILATERAL] * 3 + [BOUNDED] * 12))
    W, v_free = mechanism(rng, kinds, 40)
    parameters = np.where(np.array(kinds) == CONTACT, 0.5, np.where(np.array(kinds) == BOUNDED, 0.1, 0.0))
    f, v, residual, _ = solve(scalar_active_set, W, v_free, kinds, parameters)
    assert residual <= 1e-10
    expected, _, other, _ = solve(block_nsgs, W, v_free, kinds, parameters)
    assert other <= 1e-10
    assert_allclose(f, expected, atol=1e-7 * np.abs(expected).max())
    assert_laws_hold(f, v, kinds, parameters, 1e-9, 1e-8)
    firsts = blocks(kinds)[0][:-1]
    assert f[firsts[np.array(kinds) != BOUNDED]].min() >= 0.0


def test_a_limit_beside_dry_friction_of_the_same_joint() -> None:
    """Both rows are the same; friction holds what it can, the limit the rest, whichever comes first."""
    rng = np.random.default_rng(5)
    J = rng.normal(size=(8, 12))
    for order in ([0, 1], [1, 0]):
        rows = np.vstack([J[:6], J[6], J[6]])
        kinds = [CONTACT, CONTACT, *(np.array([UNILATERAL, BOUNDED])[order])]
        parameters = [0.6, 0.6, *(np.array([0.0, 0.2])[order])]
        W = rows @ rows.T
        for push in (-0.5, -30.0, 30.0):
            v_free = np.array([-1.0, 0.1, 0.0, -1.0, 0.0, 0.2, push, push])
            _, v, residual, count = solve(scalar_active_set, W, v_free, kinds, parameters)
            assert residual <= 1e-10
            assert count < 60
            sweeps = solve(block_nsgs, W, v_free, kinds, parameters, tolerance=1e-11, max_iterations=100000)
            assert_allclose(v, sweeps[1], atol=1e-6)  # forces on the same row can be shared in many ways


def test_a_solution_is_recognised_and_a_warm_start_is_cheap() -> None:
    rng = np.random.default_rng(3)
    kinds = [CONTACT] * 3 + [BOUNDED] * 10
    W, v_free = mechanism(rng, kinds, 30)
    parameters = [0.4] * 3 + [0.3] * 10
    f, _, _, _ = solve(scalar_active_set, W, v_free, kinds, parameters)
    assert solve(scalar_active_set, W, v_free, kinds, parameters, f, 1e-9)[3] == 0
    near = v_free * (1.0 + 1e-3 * rng.normal(size=v_free.size))
    again = solve(scalar_active_set, W, near, kinds, parameters, f)
    assert again[2] <= 1e-10
    assert again[3] <= 15


@pytest.mark.parametrize("seed", range(30))
def test_redundant_rows_end_solved_or_say_so(seed: int) -> None:
    """More rows than degrees of freedom, joints held by several at once: solved, if need be by Gauss-Seidel."""
    rng = np.random.default_rng(500 + seed)
    kinds = list(rng.permutation([CONTACT] * 5 + [UNILATERAL] * 3 + [BOUNDED] * 12))
    W, v_free = mechanism(rng, kinds, 12)
    parameters = np.where(np.array(kinds) == CONTACT, 0.5, np.where(np.array(kinds) == BOUNDED, 0.1, 0.0))
    _, _, residual, count = solve(scalar_active_set, W, v_free, kinds, parameters, tolerance=1e-8, max_iterations=20000)
    assert residual <= 1e-8
    assert count > 0


@pytest.mark.parametrize("bound", [0, 1, 2, 5, 40])
@pytest.mark.parametrize("seed", range(6))
def test_iterations_are_bounded(seed: int, bound: int) -> None:
    """Stopped early it says what it has: a residual above the tolerance, nothing else; sweeps count with the rest."""
    rng = np.random.default_rng(520 + seed)
    kinds = list(rng.permutation([CONTACT] * 5 + [UNILATERAL] * 3 + [BOUNDED] * 12))
    W, v_free = mechanism(rng, kinds, 12)
    parameters = np.where(np.array(kinds) == CONTACT, 0.5, np.where(np.array(kinds) == BOUNDED, 0.1, 0.0))
    f, v, residual, count = solve(
        scalar_active_set, W, v_free, kinds, parameters, max_iterations=bound, tolerance=1e-18
    )
    assert count <= bound
    assert residual > 1e-18
    assert np.isfinite(f).all()
    assert np.isfinite(v).all()


def test_which_groups_it_is_for() -> None:
    assert has_scalars_and_contacts_alone(np.array([CONTACT, BOUNDED]))
    assert has_scalars_and_contacts_alone(np.array([UNILATERAL]))
    assert not has_scalars_and_contacts_alone(np.array([CONTACT, CONTACT]))
    assert not has_scalars_and_contacts_alone(np.array([CONTACT, BOUNDED, 3]))


def test_a_joint_on_its_last_way_to_its_limit_slides() -> None:
    """The limit lets it move on while dry friction brakes: both are one row, and not both are held."""
    W = np.ones((2, 2))
    f, v, residual, count = solve(
        scalar_active_set, W, np.array([-0.5, -1.0]), [UNILATERAL, BOUNDED], np.array([0.0, 0.1])
    )
    assert residual <= 1e-12
    assert count <= 3
    assert_allclose(f, [0.4, 0.1])
    assert_allclose(v, [0.0, -0.5], atol=1e-15)


@pytest.mark.feature("000-F144")
@pytest.mark.parametrize("seed", [7, 9, 11])
def test_a_contact_that_held_joints_leave_no_motion_keeps_its_force(seed: int) -> None:
    """A robot's contact with itself between links that dry friction holds: sweeps took 160 to 780 iterations."""
    rng = np.random.default_rng(seed)
    kinds = [CONTACT] * 3 + [BOUNDED] * 6
    J = rng.normal(size=(15, 12))
    J[6:9] = rng.normal(size=(3, 6)) @ J[9:]
    J[9:] *= 0.1
    W, v_free = J @ J.T, J @ rng.normal(size=12)
    f, v, residual, count = solve(scalar_active_set, W, v_free, kinds, [0.5] * 3 + [50.0] * 6, tolerance=1e-9)
    assert residual <= 1e-9
    assert count <= 40
    assert_allclose(v[9:], 0.0, atol=1e-8)
    assert (np.abs(f[9:]) < 50.0).all()


@pytest.mark.feature("000-F144")
@pytest.mark.parametrize("case", [0, 1, 2], ids=["few contacts", "contacts take long", "states cycle"])
def test_a_lying_robot_is_solved_with_its_joints(case: int) -> None:
    """TALOS on 29 to 41 points, each of its joints with dry friction, ten times with rounding of its own.

    States that the last forces tell cycle in the first and last case; in the second one contacts alone, joints held,
    need interior points that begin from nothing.
    """
    with np.load(RECORDED) as file:
        names = ("levers", "v_free", "forces", "parameters", "kinds")
        levers, v_free, forces, parameters, kinds = (file[f"{name}_{case}"].astype(float) for name in names)
    kinds = kinds.astype(int)
    random, solved = np.random.default_rng(0), 0
    for _ in range(10):
        own = levers * (1.0 + 1e-8 * random.normal(size=levers.shape))
        f, v, residual, _ = solve(scalar_active_set, own @ own.T, v_free, kinds, parameters, forces, 1e-9, 1000)
        if residual > 1e-9:
            continue
        solved += 1
        assert_laws_hold(f, v, kinds, parameters, 1e-7 * np.abs(f).max(), 1e-6 * np.abs(v_free).max())
    assert solved >= 9


@pytest.mark.feature("000-F144")
@pytest.mark.parametrize("seed", range(20))
def test_all_rows_at_once_as_contacts(seed: int) -> None:
    """Limits without friction, dry friction under a given load: the laws hold, and forces are those of Gauss-Seidel."""
    rng = np.random.default_rng(800 + seed)
    kinds = rng.permutation([CONTACT] * 4 + [UNILATERAL] * 3 + [BOUNDED] * 8)
    W, v_free = mechanism(rng, kinds, 40)
    parameters = np.select([kinds == CONTACT, kinds == BOUNDED], [0.5, rng.choice([0.0, 0.1, 0.4], kinds.size)])
    torques = np.where(np.repeat(kinds, [SIZES[kind] for kind in kinds]) == CONTACT, 10.0, 0.1)
    start = torques * rng.normal(size=v_free.size)  # tells how large torques are beside forces
    f, v, residual, _ = solve(scalars_as_contacts, W, v_free, kinds, parameters, start)
    assert residual <= 1e-8
    assert_laws_hold(f, v, kinds, parameters, 1e-8, 1e-7)
    expected, _, other, _ = solve(block_nsgs, W, v_free, kinds, parameters)
    assert other <= 1e-10
    assert_allclose(f, expected, atol=1e-7 * np.abs(expected).max())
