# SPDX-License-Identifier: Apache-2.0
"""The solver of stages: its derivatives are CasADi's, its optimum is IPOPT's, and it ends when it is asked to."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from humanoid_gait import (
    AccelerationCost,
    ClearanceCost,
    ForceCost,
    GaitSolver,
    PowerCost,
    TimeCost,
    TorqueCost,
    WalkRequest,
)
from humanoid_gait.batched import BatchedFunction
from humanoid_gait.guess import posture_guess, unknowns_guess
from humanoid_gait.program_solution import SolverOptions
from humanoid_gait.stages import Stages
from humanoid_gait.transcription import Transcription
from humanoid_model import InputError, load_robot
from humanoid_model.progress import Progress

pytestmark = pytest.mark.feature("003-F093")
COSTS = (TorqueCost(), TimeCost(), AccelerationCost(), ForceCost(), PowerCost(1e-3))


@pytest.mark.parametrize(
    ("single", "least", "impacts"),
    [(0.6, 0.0, False), ((0.4, 0.8), 0.0, False), (0.6, 20.0, False), (0.6, 20.0, True)],
    ids=["given durations", "free durations", "least forces", "impacts"],
)  # fmt: skip
def test_values_and_derivatives_are_those_of_the_expressions(
    single: float | tuple[float, float], least: float, impacts: bool
) -> None:
    robot = load_robot("bip", geometry=False)
    request = WalkRequest(0.25, single=single, double=0.2, intervals=(1, 2), costs=COSTS, impacts=impacts)
    problem = request.problem(robot)
    phases = [replace(one, holds=tuple(replace(hold, least=least) for hold in one.holds)) for one in problem.phases]
    problem = replace(problem, phases=phases)
    postures = posture_guess(problem)
    program = Transcription(problem, postures, carried=True)
    generator = np.random.default_rng(5)
    x = unknowns_guess(program, postures) + 0.02 * generator.standard_normal(program.layout.unknowns)
    factors = generator.standard_normal(len(program.row_lower))
    own = program.expressions
    results = [own.cost, own.rows, ca.densify(own.gradient.T), own.jacobian, own.hessian]
    function = ca.Function("f", [own.x, own.sigma, own.multipliers], results)
    expected = [np.asarray(ca.densify(part)) for part in function(x, 1.0, factors)]
    stages, layout = Stages(program), program.layout
    cost, rows = stages.values(x)
    at = stages.linearised(x)
    points = np.isin(np.arange(len(rows)), np.concatenate([path.ravel() for path in program.paths]))
    stiffness = np.where(points & (program.row_lower < program.row_upper), generator.uniform(0.0, 2.0, len(rows)), 0.0)
    expected[4] = expected[4] + expected[3].T @ (stiffness[:, None] * expected[3])
    blocks = stages.hessian(x, at, factors, stiffness)
    J, H = np.zeros_like(expected[3]), np.zeros_like(expected[4])
    states = layout.states()
    for index in range(len(program.points)):
        for i, columns in enumerate(layout.stages(index)):
            k = int(layout.first[index]) + i
            J[np.ix_(program.gaps[k], columns)] -= at.dynamics[index][i]
            J[program.gaps[k], states[k + 1]] += 1.0
            J[np.ix_(program.paths[index][i], columns)] += at.paths[index][i]
            H[np.ix_(columns, columns)] += blocks[index][i]
    H[np.ix_(states[-1], states[-1])] += blocks[-1][0]
    for k, parts in enumerate(at.nodes):
        for part in parts:
            J[np.ix_(part.rows, states[k])] += part.jacobian
    for found, wanted in zip((cost, rows, at.gradient, J, H), expected, strict=True):
        np.testing.assert_allclose(
            np.ravel(found), wanted.ravel(), atol=1e-9 * max(1.0, float(np.abs(wanted).max()))
        )


def test_batches_are_what_casadi_computes() -> None:
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b")
    values = ca.vertcat(
        ca.exp(a[0]) / b, ca.sqrt(1.0 + a[1] ** 2) * ca.tanh(b), -ca.sin(a[2]) + ca.cos(a[0]) ** 3,
        ca.fmax(a[0], a[1]) ** 2, ca.fmin(a[1], b) * ca.fabs(a[2]), ca.sign(a[0]) * a[1],
        ca.if_else(a[0] > a[2], a[1], b), ca.if_else(a[0] <= a[2], b, a[2] ** 2),
    )  # fmt: skip
    function = ca.Function("f", [a, b], [values, ca.jacobian(values, a)])
    batched, generator = BatchedFunction.of(function), np.random.default_rng(2)
    many, one = generator.standard_normal((57, 3)), np.array([0.7])
    value, jacobian = batched(many, one)
    for k, row in enumerate(many):
        expected = function(row, one)
        np.testing.assert_allclose(value[k], np.asarray(expected[0]).ravel(), rtol=1e-13)
        np.testing.assert_allclose(batched.dense(1, jacobian)[k], np.asarray(ca.densify(expected[1])), rtol=1e-13)
    with pytest.raises(InputError, match="an operation other than"):
        BatchedFunction.of(ca.Function("f", [a], [ca.atan2(a[0], a[1])]))


def test_a_price_of_clearance_has_the_same_optimum() -> None:
    """Its second derivative jumps where a corner comes too low, here in the whole swing."""
    robot = load_robot("bip_planar", geometry=False)
    costs = (TorqueCost(), AccelerationCost(1e-4), ForceCost(), ClearanceCost("front_sole", 0.05, 10.0))
    problem = WalkRequest(0.3, intervals=(2, 5), costs=costs).problem(robot)
    own, other = (GaitSolver(problem, SolverOptions(name, tolerance=1e-8)).solve() for name in ("stages", "ipopt"))
    assert own.solution.converged, own.report()
    assert own.cost == pytest.approx(other.cost, rel=1e-6)
    bare = GaitSolver(WalkRequest(0.3, intervals=(2, 5), costs=costs[:-1]).problem(robot)).solve()
    assert own.cost > bare.cost + 1e-4


def test_the_optimum_is_that_of_ipopt_and_a_neighbour_is_nearer() -> None:
    robot = load_robot("bip_planar", geometry=False)
    costs = (TorqueCost(), AccelerationCost(1e-4), ForceCost())
    problem = WalkRequest(0.3, intervals=(2, 5), costs=costs).problem(robot)
    own, other = (GaitSolver(problem, SolverOptions(name, tolerance=1e-8)).solve() for name in ("stages", "ipopt"))
    assert own.solution.converged
    assert other.solution.converged
    assert own.cost == pytest.approx(other.cost, rel=1e-5)
    again = GaitSolver(problem, SolverOptions(tolerance=1e-8)).solve(own)
    assert again.cost == pytest.approx(own.cost, rel=1e-6)
    assert again.solution.iterations < own.solution.iterations


def test_progress_may_cancel_and_time_ends() -> None:
    robot = load_robot("bip_planar", geometry=False)
    solver = GaitSolver(WalkRequest(0.3, intervals=(2, 5)).problem(robot))
    seen: list[Progress] = []

    def cancel(item: Progress) -> bool:
        seen.append(item)
        return True

    result = solver.solve(progress=cancel)
    assert not result.success
    assert "it was cancelled" in result.report()
    assert np.isfinite([seen[0].residual, seen[0].cost]).all()
    assert "the time limit of 0 s is reached" in solver.solve(time_limit=0.0).report()


def test_what_a_solver_can_not_do_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no solver 'fatrop'"):
        SolverOptions("fatrop")
    with pytest.raises(InputError, match="tolerance"):
        SolverOptions(tolerance=0.0)
    robot = load_robot("bip_planar", geometry=False)
    coarse, fine = (GaitSolver(WalkRequest(0.3, intervals=(2, k)).problem(robot)) for k in (4, 5))
    with pytest.raises(InputError, match="start: has"):
        fine.solve(coarse.solve(time_limit=0.0))
    other = GaitSolver(WalkRequest(0.3, intervals=(2, 4)).problem(robot), SolverOptions("ipopt"))
    with pytest.raises(InputError, match="solver 'ipopt': can't be stopped"):
        other.solve(time_limit=1.0)
