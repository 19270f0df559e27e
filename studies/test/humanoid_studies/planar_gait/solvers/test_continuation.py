# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fixtures.gait_models import BIP
from fixtures.gait_oracles import ORACLES
from fixtures.gait_problems import oracle_problem

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueResult
from humanoid_studies.planar_gait.solvers.collocation import solve_collocation
from humanoid_studies.planar_gait.solvers.continuation import (
    INERTIA_THEN_PENALTIES,
    ContinuationPath,
    Stage,
    follow,
    with_parameters,
)
from humanoid_studies.planar_gait.solvers.guess import line_guess


def solve(problem, mesh, y) -> BoundaryValueResult:
    return solve_collocation(ExtremalProblem(problem), mesh, y)


def from_a_line(case: str, schedule: tuple[Stage, ...], masses: list[tuple[float, float]]) -> ContinuationPath:
    """The path; ``masses`` gets the shares of a shank's and of the trunk's mass in each problem that is solved."""
    problem = oracle_problem(case)
    x, w = line_guess(problem, 41)

    def noted(candidate, mesh, y) -> BoundaryValueResult:
        shares = [
            now.mass / own.mass
            for name in ("rear_shank", "trunk")
            for now, own in zip(candidate.tree.bodies, problem.tree.bodies, strict=True)
            if own.name == name
        ]
        if shares:
            masses.append((round(shares[0], 9), round(shares[1], 9)))
        return solve(candidate, mesh, y)

    return follow(
        problem, schedule, noted, np.linspace(0.0, 1.0, 41), ExtremalProblem(problem).pack(x, w, problem.duration)
    )


@pytest.mark.feature("003-F095")
def test_large_transfer_needs_the_path():
    """Five-bar C: a straight line leads nowhere, the thesis' schedule to the reference (F-095, F-096)."""
    problem = oracle_problem("5bar_C")
    x, w = line_guess(problem, 21)
    crude = solve(problem, np.linspace(0.0, 1.0, 21), ExtremalProblem(problem).pack(x, w, problem.duration))
    assert not crude.converged
    path = from_a_line("5bar_C", INERTIA_THEN_PENALTIES, [])
    assert path.converged
    assert [step[0] for step in path.steps][:2] == ["closure", "mass_scale"]
    assert path.steps[-1][3]
    w0 = ExtremalProblem(problem).split(path.result.y)[1][0]
    np.testing.assert_allclose(w0, ORACLES["5bar_C"]["w0"], atol=1e-6)


@pytest.mark.feature("003-F096")
def test_trunk_mass_comes_last():
    schedule = (
        Stage("closure", (1.0 / 150.0,)),
        Stage("slap", (1.0 / 150.0,)),
        Stage("body:trunk", (0.3,)),
        Stage("mass_scale", (0.1, 0.4, 1.0)),
        Stage("body:trunk", (0.6, 1.0)),
        Stage("closure", (0.1, 1.0)),
        Stage("slap", (1.0,)),
    )
    masses = []
    path = from_a_line("bip_dsp_cyclic", schedule, masses)
    assert path.converged
    # What is solved has the masses that the schedule says: all but the trunk first, the trunk's own last.
    solved = iter(masses)
    assert all(step in solved for step in [(0.1, 0.03), (0.4, 0.12), (1.0, 0.3), (1.0, 0.6), (1.0, 1.0)])
    w0 = ExtremalProblem(oracle_problem("bip_dsp_cyclic")).split(path.result.y)[1][0]
    oracle = np.array(ORACLES["bip_dsp_cyclic"]["w0"])
    np.testing.assert_allclose(w0, oracle, atol=1e-4 * np.abs(oracle).max())


@pytest.mark.feature("003-F096")
def test_scaled_trunk_is_the_robot_with_that_trunk():
    problem = with_parameters(oracle_problem("bip_dsp_cyclic"), {"body:trunk": 0.5})
    lighter = BIP.with_trunk_mass(0.5 * BIP.segments["trunk"].mass).double_support(0.5).tree
    np.testing.assert_allclose(problem.tree.inertia, lighter.inertia, atol=1e-12)
    np.testing.assert_allclose(problem.tree.moments, lighter.moments, atol=1e-12)
    assert problem.tree.mass == pytest.approx(lighter.mass)


def test_failed_steps_are_halved():
    problem = oracle_problem("5bar_A")
    tried = []

    def fussy(candidate, mesh, y):
        tried.append(candidate.mass_scale)
        known = [scale for scale in accepted if candidate.mass_scale - scale <= 0.3 + 1e-12]
        if known:
            accepted.append(candidate.mass_scale)
        return BoundaryValueResult(bool(known), "refused", mesh, y, np.zeros_like(y), 0.0, 0.0, 1, 1, ())

    accepted = [0.1]
    path = follow(problem, (Stage("mass_scale", (0.2, 1.0)),), fussy, np.linspace(0.0, 1.0, 5), np.zeros((5, 16)))
    assert path.converged
    assert tried[:4] == pytest.approx([0.2, 1.0, 0.6, 0.4])
    accepted[:] = [0.1]
    stuck = follow(
        problem, (Stage("mass_scale", (0.2, 1.0)),), lambda c, m, y: fussy(c, m, y) if c.mass_scale < 0.5 else
        BoundaryValueResult(False, "no", m, y, y, 1.0, 1.0, 1, 1, ()),
        np.linspace(0.0, 1.0, 5), np.zeros((5, 16)),
    )  # fmt: skip
    assert not stuck.converged
    assert "stuck at mass_scale" in stuck.message


def test_bounds_may_be_widened():
    problem = oracle_problem("5bar_A")
    problem = problem.replace(model=problem.model.with_bounds(C1=(-10.0, 20.0), F_O5y=(5.0, math.inf)))
    wide = with_parameters(problem, {"bounds": 0.5}).model
    assert wide.control_lower[0] == pytest.approx(-20.0)
    assert wide.control_upper[0] == pytest.approx(30.0)
    assert wide.control_lower[5] == pytest.approx(2.5)
    assert math.isinf(wide.control_upper[5])
    assert with_parameters(problem, {"bounds": 0.0}).model is problem.model


@pytest.mark.parametrize(
    ("parameter", "values"), [("speed", (1.0,)), ("closure", ()), ("closure", (math.nan,)), ("slap", (-1.0,))]
)
def test_bad_stages(parameter, values):
    with pytest.raises(InputError):
        Stage(parameter, values)
