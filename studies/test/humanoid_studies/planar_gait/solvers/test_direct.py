# SPDX-License-Identifier: Apache-2.0
import casadi
import numpy as np
import pytest
from fixtures.gait_oracles import ORACLES
from fixtures.gait_problems import oracle_problem, stance

from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.solvers.direct import DirectOptions, solve_direct, transcription
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseStatus
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions, synthesize_phase


@pytest.mark.parametrize("name", ["five-bar", "hard closure", "stance foot"])
def test_derivatives_put_together_are_those_of_casadi(name):
    if name == "stance foot":
        problem = oracle_problem("bip_ssp_cyclic")
        problem = problem.replace(rows=stance(problem).unilateral(6.0), hard_inequalities=True)
    else:
        problem = oracle_problem("5bar_A").replace(hard_closure=name == "hard closure")
    program = transcription(problem, 2)
    rng = np.random.default_rng(5)
    x, p, f, g = (program.nlp[key] for key in ("x", "p", "f", "g"))
    multipliers = casadi.MX.sym("lambda", g.numel())
    point, values = 0.3 * rng.normal(size=x.numel()), phase_parameters(problem).vector
    weights = rng.normal(size=g.numel())
    whole = casadi.Function(
        "whole",
        [x, p, multipliers],
        [casadi.gradient(f, x), casadi.jacobian(g, x), casadi.hessian(1.3 * f + casadi.dot(multipliers, g), x)[0]],
    )
    gradient, jacobian, hessian = (np.array(item) for item in whole(point, values, weights))
    ours = program.derivatives
    np.testing.assert_allclose(np.array(ours["grad_f"](point, values)[1]), gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        np.array(ours["jac_g"](point, values)[1]), jacobian, rtol=1e-10, atol=1e-10 * np.abs(jacobian).max()
    )
    np.testing.assert_allclose(
        np.array(ours["hess_lag"](point, values, 1.3, weights)), np.triu(hessian), atol=1e-11 * np.abs(hessian).max()
    )


def test_costates_from_multipliers_come_closer_on_finer_meshes():
    oracle = ORACLES["rabbit_dsp"]
    problem = oracle_problem("rabbit_dsp")
    errors = []
    for intervals in (10, 20):
        direct = solve_direct(problem, DirectOptions(intervals, tolerance=1e-10))
        assert direct.converged
        errors.append(np.abs(direct.costates[0] - oracle["w0"]).max())
        assert direct.cost == pytest.approx(oracle["J_pmp"], rel=1e-5)
    assert errors[1] < 0.3 * errors[0]


def test_warm_start_takes_few_iterations():
    problem = oracle_problem("5bar_C")
    first = solve_direct(problem)
    near = problem.replace(duration=0.43)
    cold, warm = solve_direct(near), solve_direct(near, warm_start=first)
    assert warm.converged
    assert warm.iterations < cold.iterations
    assert warm.cost == pytest.approx(cold.cost, rel=1e-6)


def test_weights_and_masses_need_no_new_program():
    problem = oracle_problem("5bar_A")
    program = transcription(problem, 20)
    changed = problem.replace(mass_scale=0.5, duration=0.6, penalties=Penalties(closure=300.0))
    assert transcription(changed, 20) is program
    assert solve_direct(changed).converged


def test_inequalities_may_be_hard():
    """The swing tip stays above the ground without penalty, and the result says that it is a transcription's."""
    problem = oracle_problem("rabbit_ssp_5torques").replace(penalties=Penalties(), hard_inequalities=True)
    solution = synthesize_phase(problem, SynthesisOptions(direct=DirectOptions(40)))
    assert solution.method == "direct"
    assert solution.status is PhaseStatus.CONVERGED, solution.message
    tip = problem.model.points["swing_tip"].position(solution.q)[:, 1]
    assert tip.min() > -1e-6
    assert solution.cost > ORACLES["rabbit_ssp_5torques"]["J_pmp"]
