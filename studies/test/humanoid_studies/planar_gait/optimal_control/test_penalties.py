# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest
from fixtures.gait_problems import oracle_problem

from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem


@pytest.mark.feature("003-F077", "003-F080")
def test_penalised_cost_is_the_sum_that_the_thesis_writes():
    """(II.44) term by term, from the numeric model, at states beyond every limit and within."""
    problem = oracle_problem("bip_ssp_cyclic")
    obstacle = Obstacle(0.1, 0.1, 0.3)
    penalties = Penalties(
        inequality=20.0,
        range_weight=3.0,
        rate_weight=0.5,
        clearance_weight=2.0,
        clearance=0.05,
        point_weights={"swing_toe": 7.0},
        obstacles=(obstacle,),
    )
    joints = tuple(
        dataclasses.replace(joint, lower=-0.5, upper=0.8, rate_limit=1.0) for joint in problem.model.joints
    )
    problem = problem.replace(penalties=penalties, model=problem.model.replace(joints=joints))
    model = problem.model
    rng = np.random.default_rng(2)
    q = problem.start.q + 0.5 * rng.normal(size=(8, 6))
    v, u = rng.normal(size=(8, 6)), 50.0 * rng.normal(size=(8, 6))
    phi, rate = model.joint_angles(q), model.joint_rates(v)

    def over(h: np.ndarray) -> np.ndarray:
        return (np.maximum(h, 0.0) ** 2).sum(axis=1)

    expected = 3.0 * (over(-0.5 - phi) + over(phi - 0.8)) + 0.5 * (over(rate - 1.0) + over(-rate - 1.0))
    sole = [(f"swing_sole_{k}", 2.0) for k in range(1, 6)]  # with obstacles, what is between heel and toe counts too
    for name, weight in (("swing_heel", 2.0), ("swing_toe", 7.0), *sole):
        place = model.points[name].position(q)
        height = obstacle.envelope(place[:, 0]) + 0.05
        expected += weight * over((height - place[:, 1])[:, None])
    expected = 10.0 * expected + 0.5 * 1e-4 * (u**2).sum(axis=1)
    np.testing.assert_allclose(PontryaginSystem(problem).running_cost(q, v, u), expected, rtol=1e-10)


def test_closures_are_penalised_with_their_own_factors():
    problem = oracle_problem("bip_dsp_cyclic").replace(penalties=Penalties(closure=200.0, slap=3.0))
    model = problem.model
    q = problem.start.q + 0.1 * np.random.default_rng(4).normal(size=(5, 7))
    expected = 100.0 * (model.closure(q) ** 2).sum(axis=1) + 1.5 * (model.slap(q) ** 2).sum(axis=1)
    cost = PontryaginSystem(problem).running_cost(q, np.zeros((5, 7)), np.zeros((5, 9)))
    np.testing.assert_allclose(cost, expected, rtol=1e-12)


def test_envelope_covers_the_obstacle():
    obstacle = Obstacle(0.3, 0.2, 0.05, margin=0.04)
    assert obstacle.envelope(np.linspace(0.2, 0.4, 50)).min() > 0.998 * 0.05
    assert obstacle.envelope(np.array([0.1, 0.5])) == pytest.approx(0.0, abs=1e-5)
