# SPDX-License-Identifier: Apache-2.0
import casadi
import numpy as np
import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT, RABBIT_WALK

from humanoid_studies.planar_gait.global_step.global_problem import global_problem
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker


@pytest.mark.parametrize("name", ["rabbit per metre", "rabbit in all", "bip"])
def test_derivatives_put_together_are_those_of_casadi(name):
    settings = GlobalSettings(double_intervals=2, single_intervals=2, per_metre="all" not in name)
    walker, walk = (BipWalker(BIP), CYCLIC) if name == "bip" else (RabbitWalker(RABBIT), RABBIT_WALK)
    problem = global_problem(walker, cyclic_walk(walk), settings, True, speed=0.7)
    program = problem.program()
    x, p, f, g = (program.nlp[key] for key in ("x", "p", "f", "g"))
    rng = np.random.default_rng(7)
    multipliers = casadi.MX.sym("lambda", g.numel())
    whole = casadi.Function(
        "whole",
        [x, p, multipliers],
        [casadi.gradient(f, x), casadi.jacobian(g, x), casadi.hessian(1.7 * f + casadi.dot(multipliers, g), x)[0]],
    )
    values = np.concatenate([*(phase_parameters(item.problem).vector for item in problem.phases), problem.numbers])
    point, weights = 0.3 * rng.normal(size=x.numel()) + 0.5, rng.normal(size=g.numel())
    gradient, jacobian, hessian = (np.array(item) for item in whole(point, values, weights))
    ours = program.derivatives
    scale = np.abs(jacobian).max()
    found = np.array(ours["grad_f"](point, values)[1])
    np.testing.assert_allclose(found, gradient, atol=1e-10 * np.abs(gradient).max())
    np.testing.assert_allclose(np.array(ours["jac_g"](point, values)[1]), jacobian, atol=1e-10 * scale)
    np.testing.assert_allclose(
        np.array(ours["hess_lag"](point, values, 1.7, weights)), np.triu(hessian), atol=1e-10 * np.abs(hessian).max()
    )


def test_speed_and_masses_need_no_new_program():
    settings = GlobalSettings(double_intervals=2, single_intervals=2)
    specs = cyclic_walk(CYCLIC)
    first = global_problem(BipWalker(BIP), specs, settings, True, speed=0.7)
    lighter = BipWalker(BIP.with_trunk_mass(40.0))
    second = global_problem(lighter, specs, settings.replace(friction=0.4), True, speed=0.5, step_length=0.45)
    assert first.program() is second.program()
    assert first.program() is not global_problem(BipWalker(BIP), specs, settings, True).program()
