# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the program are those of its values; its optimum is the old engine's."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from fixtures.gait_problems import oracle_problem

from humanoid_gait import (
    GaitProblem,
    GaitResult,
    Phase,
    SolverOptions,
    State,
    TimeCost,
    TorqueCost,
    WalkRequest,
    hold_of,
    phase_proof,
)
from humanoid_gait.guess import posture_guess, unknowns_guess
from humanoid_gait.motion import whole_body_motion
from humanoid_gait.quadrature import GaussPoints
from humanoid_gait.solve import Program
from humanoid_gait.transcription import Transcription
from humanoid_model import load_robot
from humanoid_model.arrays import Array
from humanoid_planner.gait import Penalties, PhaseSolution, synthesize_phase
from humanoid_planner.gait.trajectory.robot_motion import PlanarRootMotion

pytestmark = pytest.mark.feature("003-F093")


@pytest.mark.parametrize("points", [1, 2, 3])
def test_points_integrate_polynomials_of_twice_their_number(points: int) -> None:
    gauss = GaussPoints.of(points)
    for power in range(2 * points):
        assert gauss.b @ gauss.c**power == pytest.approx(1.0 / (power + 1))
    for power in range(points):
        np.testing.assert_allclose(gauss.a @ gauss.c**power, gauss.c ** (power + 1) / (power + 1), atol=1e-14)
        twice = gauss.c ** (power + 2) / ((power + 1) * (power + 2))
        np.testing.assert_allclose(gauss.smooth @ gauss.c**power, twice, atol=1e-14)
    # What makes the method its own adjoint, and multipliers costates.
    np.testing.assert_allclose(
        gauss.b[:, None] * gauss.a + (gauss.b[:, None] * gauss.a).T, np.outer(gauss.b, gauss.b), atol=1e-14
    )


@pytest.mark.parametrize("carried", [True, False])
def test_derivatives_are_those_of_the_values(carried: bool) -> None:
    robot = load_robot("bip", geometry=False)
    request = WalkRequest(0.3, single=(0.4, 0.8), double=0.2, intervals=(1, 2), costs=(TorqueCost(), TimeCost()))
    problem = request.problem(robot)
    postures = posture_guess(problem)
    program = Transcription(problem, postures, points=2, carried=carried)
    generator = np.random.default_rng(5)
    x = unknowns_guess(program, postures) + 0.02 * generator.standard_normal(program.layout.unknowns)
    factors = generator.standard_normal(len(program.row_lower))
    way, step = generator.standard_normal(len(x)), 1e-5
    dense = ca.densify(program.gradient.T)
    pull = program.sigma * dense + program.jacobian.T @ program.multipliers
    given = [program.x, program.sigma, program.multipliers]
    function = ca.Function("f", given, [program.cost, program.rows, dense, program.jacobian, pull, program.hessian])
    cost, rows, gradient, J, _, H = (np.asarray(part) for part in function(x, 0.7, factors))
    one, other = (
        [np.asarray(part).ravel() for part in function(x + sign * step * way, 0.7, factors)] for sign in (1.0, -1.0)
    )
    slopes = [(a - b) / (2.0 * step) for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(gradient.ravel() @ way, slopes[0].item(), rtol=1e-5)
    np.testing.assert_allclose(J @ way, slopes[1], atol=1e-5 * np.abs(slopes[1]).max())
    np.testing.assert_allclose(H @ way, slopes[4], atol=1e-5 * np.abs(slopes[4]).max())
    np.testing.assert_allclose(H, H.T, atol=1e-8 * np.abs(H).max())
    del cost, rows


@pytest.fixture(scope="module")
def planar() -> tuple[GaitProblem, Array, PhaseSolution]:
    """BIP's single support in its plane without limits, postures between its ends, and what the old engine finds."""
    robot = load_robot("bip_planar", geometry=False)
    none = np.full(robot.model.nv, np.inf)
    limits = dataclasses.replace(robot.limits, lower=-none, upper=none, velocity=none, effort=none)
    robot = dataclasses.replace(robot, limits=limits)
    old = oracle_problem("bip_ssp_cyclic").replace(penalties=Penalties(inequality=0.0))
    q, v = np.array([old.start.q, old.end.q]), np.array([old.start.v, old.end.v])
    states = PlanarRootMotion(robot).states(old.model, q, v, np.zeros_like(q), np.zeros(2), False)
    sole = robot.contacts["rear_sole"]
    x = (robot.link_placements(states.q[0])[sole.link] * sole.placement_link_patch).translation[0]
    hold = hold_of(robot, "rear_sole", (x, 0.0))
    hold = dataclasses.replace(hold, contact=dataclasses.replace(hold.contact, bilateral=True))
    problem = GaitProblem(
        robot, [Phase((hold,), old.duration, 40)], State(states.q[0], states.v[0]), State(states.q[1], states.v[1]),
        (TorqueCost(weights=[0.5e-4] * 6),),
    )  # fmt: skip
    share = np.linspace(0.0, 1.0, 41)[:, None]
    return problem, (1.0 - share) * states.q[0] + share * states.q[1], synthesize_phase(old)


def test_a_planar_single_support_is_what_the_old_engine_finds(
    planar: tuple[GaitProblem, Array, PhaseSolution],
) -> None:
    problem, postures, old = planar
    program = Transcription(problem, postures)
    found = Program(program, SolverOptions("ipopt", tolerance=1e-9)).solve(unknowns_guess(program, postures))
    assert found.converged
    assert found.cost == pytest.approx(old.cost, rel=1e-6)
    result = GaitResult(problem, whole_body_motion(program, found.x), (), found, program, found.cost, (0.0, 0.0))
    proof = phase_proof(result, 0)
    # The old engine maximises; Hamiltonians and costates have the other sign.
    np.testing.assert_allclose(-proof.hamiltonian, np.mean(old.hamiltonian), rtol=1e-3)
    assert proof.maximum < 1e-4
    assert proof.adjoint < 1e-7
    assert proof.spread < 2e-3
