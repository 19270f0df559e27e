# SPDX-License-Identifier: Apache-2.0
"""The augmented Lagrangian against what it is made of: excesses from the model, derivatives by differences."""

import dataclasses

import numpy as np
from fixtures.limited_five_bar import ANGLE, RATE, limited_five_bar, transcribed

from humanoid_studies.planar_gait.optimal_control.limited_extremal import LimitedExtremalProblem
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem
from humanoid_studies.planar_gait.optimal_control.state_multipliers import StateMultipliers

FACTOR, SHARE = 300.0, 0.01


def problem() -> tuple[LimitedExtremalProblem, np.ndarray, np.ndarray]:
    """With multipliers of everything, nodes of a transcribed motion, and y there, shaken."""
    hard = limited_five_bar()
    found = transcribed(10)
    penalties = dataclasses.replace(
        hard.penalties, inequality=FACTOR, range_weight=1.0, rate_weight=SHARE, clearance_weight=1.0
    )
    s = found.s
    mu = np.stack([2.0 + np.sin(7.0 * s), 0.5 * s, 0.3 + 0.2 * s], axis=1)
    limited = LimitedExtremalProblem(
        hard.replace(hard_inequalities=False, penalties=penalties), StateMultipliers(s, mu)
    )
    rng = np.random.default_rng(3)
    x = np.concatenate([found.q, found.p], axis=1)
    x = x + 0.02 * np.abs(x).max(axis=0) * rng.normal(size=x.shape)
    w = found.costates + 0.02 * np.abs(found.costates).max(axis=0) * rng.normal(size=x.shape)
    return limited, s, limited.pack(x, w, s)


def excesses(limited: LimitedExtremalProblem, y: np.ndarray) -> np.ndarray:
    """Angle of the third joint, rate of the first one either way, from the numeric model."""
    x, _ = limited.split(y)
    model, n = limited.problem.model, limited.system.n
    angles, rates = model.joint_angles(x[:, :n]), model.joint_rates(limited.system.velocity(x))
    return np.stack([angles[:, 2] - ANGLE, rates[:, 0] - RATE, -rates[:, 0] - RATE], axis=1)


def test_cost_is_the_augmented_lagrangian():
    limited, s, y = problem()
    h = excesses(limited, y)
    np.testing.assert_allclose(limited.excesses(y), h, atol=1e-12)
    r = FACTOR * np.array([1.0, SHARE, SHARE])
    shift = limited.multipliers.at(s) / r
    added = 0.5 * (r * (np.maximum(h + shift, 0.0) ** 2 - shift**2)).sum(axis=1)
    assert (h + shift > 0.0).any(axis=0)[[0, 2]].all()
    assert (h + shift < 0.0).any()
    x, w = limited.split(y)
    plain = PontryaginSystem(limited_five_bar()).evaluate(x, w)  # hard limits are no part of its cost
    np.testing.assert_allclose(limited.running_cost(y), plain.running_cost + added, rtol=1e-12)
    weighted = np.maximum(h, 0.0) * np.sqrt([1.0, SHARE, SHARE])
    assert limited.excess(y) == weighted.max()


def test_costates_change_as_the_hamiltonian_with_the_state():
    limited, _, y = problem()
    x, w = limited.split(y)
    shift = limited.shift(y)
    rate = limited.system.evaluate(x, w, shift).w_rate
    for j in range(x.shape[1]):
        step = 1e-6 * max(1.0, np.abs(x[:, j]).max())
        ahead, behind = x.copy(), x.copy()
        ahead[:, j] += step
        behind[:, j] -= step
        H = [limited.system.evaluate(state, w, shift).hamiltonian for state in (ahead, behind)]
        slope = (H[0] - H[1]) / (2.0 * step)
        np.testing.assert_allclose(rate[:, j], -slope, atol=1e-5 * max(1.0, np.abs(slope).max()))


def test_jacobian_is_that_of_the_rates():
    limited, _, y = problem()
    rates, J = limited.rates_and_jacobian(y)
    np.testing.assert_array_equal(rates, limited.rates(y))
    np.testing.assert_array_equal(rates[:, -1], 1.0)  # s' = 1
    for j in range(y.shape[1] - 1):
        step = 1e-6 * max(1e-3, np.abs(y[:, j]).max())
        ahead, behind = y.copy(), y.copy()
        ahead[:, j] += step
        behind[:, j] -= step
        slope = (limited.rates(ahead) - limited.rates(behind)) / (2.0 * step)
        size = np.abs(slope).max(axis=0) + 1e-6 * np.abs(slope).max()
        near_kink = (np.abs(limited.excesses(y) + limited.shift(y)) < 1e-4).any(axis=1)
        assert (np.abs(J[~near_kink, :, j] - slope[~near_kink]) / size).max() < 1e-4


def test_improved_multipliers_keep_their_integrals():
    limited, s, y = problem()
    middles = 0.5 * (s[1:] + s[:-1])
    middle_y = np.concatenate([0.5 * (y[1:] + y[:-1])[:, :-1], middles[:, None]], axis=1)
    better = limited.improved(s, y, middle_y)
    r = FACTOR * np.array([1.0, SHARE, SHARE])
    nodes, between = (
        r * np.maximum(excesses(limited, item) + limited.multipliers.at(at) / r, 0.0)
        for item, at in ((y, s), (middle_y, middles))
    )
    h = np.diff(s)[:, None]
    simpson = (h / 6.0 * (nodes[:-1] + 4.0 * between + nodes[1:])).sum(axis=0)
    np.testing.assert_allclose(np.trapezoid(better.values, s, axis=0), simpson, rtol=1e-12)
    assert (better.values >= 0.0).all()


def test_stiffer_penalties_keep_the_multipliers():
    limited, _, y = problem()
    stiffer = limited.with_multipliers(limited.multipliers, 10.0)
    assert stiffer.problem.penalties.inequality == 10.0 * FACTOR
    np.testing.assert_allclose(10.0 * stiffer.shift(y), limited.shift(y), rtol=1e-12)
