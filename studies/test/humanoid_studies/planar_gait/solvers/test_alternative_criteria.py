# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fixtures.gait_problems import oracle_problem

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel, Torque
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree
from humanoid_studies.planar_gait.optimal_control.effort import energies
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.alternative_criteria import Criterion, CriterionOptions, solve_criterion
from humanoid_studies.planar_gait.solvers.direct import solve_direct

INERTIA, BOUND = 2.0, 30.0


def rotor(bound: float = BOUND) -> PhaseProblem:
    """A rotor turned by one radian in a second, from rest to rest."""
    tree = PlanarTree.from_bodies([PlanarBody("rotor", None, 0.0, 1.0, 0.0, INERTIA)])
    model = PhaseModel("rotor", tree, (Torque("C", "rotor", None, -bound, bound),))
    return PhaseProblem(model, EndState(np.zeros(1), np.zeros(1)), EndState(np.ones(1), np.zeros(1)), 1.0)


@pytest.mark.feature("003-F067")
def test_least_energy_of_a_rotor_is_bang_zero_bang():
    """Accelerate as hard as allowed, coast, brake: two times the energy of coasting, J_e = I v² (F-067)."""
    result = solve_criterion(rotor(), Criterion.ENERGY, CriterionOptions(60, 1e-3))
    assert result.converged
    a = BOUND / INERTIA
    coasting = 0.5 * (a - math.sqrt(a**2 - 4.0 * a))  # v - v²/a = 1 rad in 1 s
    # The grid of controls, 1/60 s, doesn't have the instants at which the best ones jump.
    np.testing.assert_allclose(result.energy, INERTIA * coasting**2, rtol=3e-3)
    assert result.energy >= INERTIA * coasting**2
    u = result.u[::2, 0]
    levels = np.array([np.abs(u - level) < 1e-2 * BOUND for level in (BOUND, 0.0, -BOUND)])
    assert levels.any(axis=0).sum() >= len(u) - 2
    assert list(levels.sum(axis=1)) == [4, 50, 4]
    assert math.isinf(result.effort_rate)


@pytest.mark.feature("003-F068")
def test_least_effort_rate_of_a_rotor_is_a_quintic():
    """x(6) = 0 with u' = 0 at both ends: u = I (5 - 30 s² + 20 s³), J_d = gamma² I² 3600 / 30 (F-068)."""
    problem = rotor(100.0)
    result = solve_criterion(problem, Criterion.EFFORT_RATE, CriterionOptions(60, 1e-9))
    assert result.converged
    s = result.t[:-1]
    np.testing.assert_allclose(result.u[:, 0], INERTIA * (5.0 - 30.0 * s**2 + 20.0 * s**3), atol=0.01)
    np.testing.assert_allclose(result.effort_rate, (1e-2 * INERTIA) ** 2 * 3600.0 / 30.0, rtol=1e-3)


@pytest.mark.feature("003-F067")
def test_energy_falls_below_that_of_least_effort():
    """The five-bar linkage moves its load with a tenth of the energy, under controls that jump (section 2.16)."""
    problem = oracle_problem("5bar_A")
    direct = solve_direct(problem)
    before = energies(problem.model, problem.effort, direct.duration * direct.s, direct.v, direct.u)
    bounded = problem.replace(model=problem.model.with_bounds(**{f"C{k}": (-25.0, 25.0) for k in range(1, 6)}))
    result = solve_criterion(bounded, Criterion.ENERGY)
    assert result.converged
    assert result.infeasibility < 1e-6
    assert result.energy < 0.1 * before.total
    assert result.effort > direct.cost
    assert np.abs(result.u[:, :5]).max() <= 25.0 + 1e-6
    jumps = np.abs(np.diff(result.u[::2, :5], axis=0)).max()
    smooth = np.abs(np.diff(direct.u[:, :5], axis=0)).max()
    assert jumps > 5.0 * smooth
    np.testing.assert_array_equal(result.q[[0, -1]], [problem.start.q, problem.end.q])


@pytest.mark.feature("003-F068")
@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp", "bip_ssp_cyclic"])
def test_effort_rate_makes_controls_smoother(case):
    problem = oracle_problem(case)
    direct = solve_direct(problem)
    before = energies(problem.model, problem.effort, direct.duration * direct.s, direct.v, direct.u)
    result = solve_criterion(problem, Criterion.EFFORT_RATE, CriterionOptions(effort_share=10.0))
    assert result.converged
    assert result.infeasibility < 1e-6
    assert result.effort_rate < 0.95 * before.effort_rate
    # The motion is one of the model's: momenta change as they should.
    p = problem.model.tree.momentum(result.q, result.v)
    rate = problem.model.momentum_rate(result.q[:-1], result.v[:-1], result.u)
    changed = np.diff(p[::2], axis=0) / np.diff(result.t[::2])[:, None]
    ends = np.concatenate([rate[2::2], rate[-1:]])
    simpson = (rate[::2] + 4.0 * rate[1::2] + ends) / 6.0
    np.testing.assert_allclose(changed[:-1], simpson[:-1], atol=5e-3 * np.abs(rate).max())


@pytest.mark.slow
def test_energy_of_a_step_of_bip():
    """Half the energy of least effort, 128 J, for twice its effort."""
    problem = oracle_problem("bip_ssp_cyclic")
    torques = problem.model.control_names[: problem.model.torque_count]
    bounded = problem.replace(model=problem.model.with_bounds(**dict.fromkeys(torques, (-250.0, 250.0))))
    result = solve_criterion(bounded, Criterion.ENERGY)
    assert result.converged
    assert result.energy < 64.0
    assert result.effort < 1.6


def test_what_has_no_answer_is_refused():
    five = oracle_problem("5bar_A")
    with pytest.raises(InputError, match="torque 'C1' has no bounds"):
        solve_criterion(five, Criterion.ENERGY)
    with pytest.raises(InputError, match="free end or duration"):
        solve_criterion(five.replace(duration_range=(0.2, 0.8)), Criterion.EFFORT_RATE)
    with pytest.raises(InputError, match="is 1"):
        CriterionOptions(intervals=1)
    with pytest.raises(InputError, match="is nan"):
        CriterionOptions(effort_share=math.nan)


def test_time_too_short_is_told():
    """One radian in 0.2 s takes more than the bound: no motion."""
    result = solve_criterion(rotor().replace(duration=0.2), Criterion.EFFORT_RATE)
    assert not result.converged
    assert "nfeasible" in result.status or result.infeasibility > 1e-3


def test_time_that_runs_out_is_told():
    """Energy goes through several shares of effort, none of which begins once time is over."""
    five = oracle_problem("5bar_A")
    bounded = five.replace(model=five.model.with_bounds(**{f"C{i}": (-25.0, 25.0) for i in range(1, 6)}))
    result = solve_criterion(bounded, Criterion.ENERGY, CriterionOptions(time_limit=1e-6))
    assert not result.converged
    assert result.status == "Maximum_WallTime_Exceeded"
    assert result.iterations < 10
