# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from fixtures.gait_models import RABBIT
from fixtures.gait_oracles import ORACLES
from fixtures.gait_problems import oracle_problem

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.solvers.spline import solve_spline


@pytest.mark.feature("003-F099")
@pytest.mark.parametrize("case", ["5bar_A", "bip_ssp_stop"])
def test_splines_come_near_from_above(case):
    """Sub-optimal, the less so the more pieces there are (F-099)."""
    best = ORACLES[case]["J_pmp"]
    gaps = []
    for pieces in (1, 3, 6):
        result = solve_spline(oracle_problem(case), pieces)
        assert result.converged
        gaps.append(result.cost / best - 1.0)
    assert gaps[0] > gaps[1] > gaps[2] > -1e-4
    assert gaps[2] < 0.01


def test_motion_and_controls_belong_together():
    problem = oracle_problem("5bar_A")
    result = solve_spline(problem, 5)
    step = np.diff(result.t)[:, None]
    quotient = np.diff(result.q, axis=0) / step
    np.testing.assert_allclose(quotient, 0.5 * (result.v[1:] + result.v[:-1]), atol=0.01 * np.abs(result.v).max())
    # u balances the momentum rate: p' by differences of p = M v between close points.
    p = problem.model.tree.momentum(result.q, result.v)
    rate = problem.model.momentum_rate(result.q, result.v, result.u)
    middle = 0.5 * (rate[1:] + rate[:-1])
    change = np.diff(p, axis=0) / step
    np.testing.assert_allclose(change, middle, atol=0.03 * np.abs(rate).max())


def test_what_splines_cannot_do_is_refused():
    five = oracle_problem("5bar_A")
    with pytest.raises(InputError, match="bounds"):
        solve_spline(five.replace(model=five.model.with_bounds(C1=(-15.0, 15.0))))
    with pytest.raises(InputError, match="isn't fixed"):
        solve_spline(five.replace(end=EndState(five.end.q, five.end.v, free_v=("bar_1",))))
    with pytest.raises(InputError, match="is 0"):
        solve_spline(five, 0)
    single = oracle_problem("rabbit_ssp_5torques")
    with pytest.raises(InputError, match="4 controls for 5 coordinates"):
        solve_spline(single.replace(model=RABBIT.single_support()))
