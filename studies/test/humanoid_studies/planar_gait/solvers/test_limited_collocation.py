# SPDX-License-Identifier: Apache-2.0
"""Extremals within state limits, against fine transcriptions with hard ones."""

import functools
import time

import numpy as np
import pytest
from fixtures.limited_five_bar import ANGLE, RATE, limited_five_bar, transcribed

from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem
from humanoid_studies.planar_gait.optimal_control.state_multipliers import StateMultipliers
from humanoid_studies.planar_gait.solvers.direct import DirectOptions, solve_direct
from humanoid_studies.planar_gait.solvers.limited_collocation import LimitedResult, LimitOptions, solve_limited


def nothing_known() -> StateMultipliers:
    return StateMultipliers(np.array([0.0, 1.0]), np.zeros((2, 3)))


@functools.cache
def solve(options: LimitOptions | None = None, deadline: float = np.inf) -> LimitedResult:
    start = transcribed(20)
    x = np.concatenate([start.q, start.p], axis=1)
    return solve_limited(limited_five_bar(), start.s, x, start.costates, nothing_known(), options, deadline)


def test_limits_hold_at_the_cost_of_a_fine_transcription():
    found = solve()
    assert found.converged, found.message
    fine = transcribed(80)
    assert found.cost == pytest.approx(fine.cost, rel=1e-5)
    problem = limited_five_bar()
    s = np.linspace(0.0, 1.0, 401)
    x, w = found.extremal.split(found.result.at(s))
    n, model = problem.model.n, problem.model
    rates = model.joint_rates(found.extremal.system.velocity(x))[:, 0]
    assert model.joint_angles(x[:, :n])[:, 2].max() == pytest.approx(ANGLE, abs=1e-5)
    assert np.abs(rates).max() == pytest.approx(RATE, abs=1e-3)
    # Of the problem with hard limits H is constant along the extremal, through arcs and touching points.
    H = PontryaginSystem(problem).evaluate(x, w).hamiltonian
    assert np.ptp(H) < 2e-4 * found.cost / problem.duration
    # Estimates that begin with nothing end where limits are touched, and are zero elsewhere.
    along = found.extremal.multipliers
    free = model.joint_angles(found.extremal.split(found.result.at(along.mesh))[0][:, :n])[:, 2] < ANGLE - 1e-3
    assert free.any()
    assert np.abs(along.values[free, 0]).max() == 0.0
    assert along.values[:, 0].max() > 0.0


def test_initial_costate_is_the_slope_of_the_cost():
    found = solve()
    problem, step = limited_five_bar(), 1e-4
    n, j = problem.model.n, 2
    costs = []
    for sign in (1.0, -1.0):
        v = np.array(problem.start.v, dtype=float)
        v[j] += sign * step
        moved = problem.replace(start=EndState(problem.start.q, v))
        trial = solve_direct(moved, DirectOptions(60, tolerance=1e-9))
        assert trial.converged
        costs.append(trial.cost)
    _, w = found.extremal.split(found.result.y[:1])
    by_rate = problem.tree.mass_matrix(problem.start.q)[j] @ w[0, n:]
    assert -by_rate == pytest.approx((costs[0] - costs[1]) / (2.0 * step), rel=1e-3)


def test_the_transcription_costs_less_than_soft_limits_allow():
    """One penalty of the first factor, without multipliers, as a check that those do anything."""
    soft = solve(LimitOptions(rounds=1))
    assert not soft.converged
    assert "not settled" in soft.message
    assert soft.cost < 0.9999 * transcribed(80).cost
    assert soft.extremal.excess(soft.result.y) > 5e-4


def test_out_of_time_is_no_solution():
    found = solve(deadline=time.perf_counter())
    assert not found.converged
    assert np.isnan(found.cost)
    assert len(found.log) >= 1
