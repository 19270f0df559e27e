# SPDX-License-Identifier: Apache-2.0
"""Flights and impacts: a jump's landing against Pinocchio's impulses, walks that may strike the ground, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait import GaitProblem, GaitResult, GaitSolver, Phase, State, WalkRequest, generate_gait
from humanoid_gait.proof import gait_proof
from humanoid_gait.repeat import repeated
from humanoid_gait.walk import soles
from humanoid_model import InputError, Robot, SceneRobot, load_robot, load_scene
from humanoid_model.arrays import Array
from humanoid_model.ground_profile import LEVEL
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_sim import Simulation
from humanoid_sim.playback import play_motion

pytestmark = pytest.mark.feature("003-F031")
FLIGHT = 0.1


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("bip", geometry=False)


def jump(robot: Robot, hard: bool) -> GaitProblem:
    """From rest to rest, soles side by side."""
    standing = WalkRequest(0.2, settle=0.5).starting(robot, robot.default_posture, np.zeros(robot.model.nv))
    assert isinstance(standing.start, State)
    both, rest = standing.phases[0].holds, State(standing.start.q)
    landing = [Phase(both, 0.0, 1)] if hard else []
    phases = [Phase(both, 0.5, 16), Phase((), FLIGHT, 8, soles(robot), 0.01), *landing, Phase(both, 0.6, 20)]
    return GaitProblem(robot, phases, rest, rest)


@pytest.fixture(scope="module")
def hard(robot: Robot) -> GaitResult:
    return GaitSolver(jump(robot, hard=True)).solve()


@pytest.fixture(scope="module")
def soft(robot: Robot) -> GaitResult:
    return GaitSolver(jump(robot, hard=False)).solve()


def landing(motion: WholeBodyTrajectory) -> tuple[Array, Array, Array]:
    """Configuration of the impact, velocities before and after it."""
    (impact,) = motion.impacts
    before, after = np.flatnonzero(motion.times == impact.time)
    np.testing.assert_array_equal(motion.q[before], motion.q[after])
    return motion.q[before], motion.v[before], motion.v[after]


def test_a_hard_landing_is_pinocchios_and_costs_less_than_a_soft_one(
    robot: Robot, hard: GaitResult, soft: GaitResult
) -> None:
    assert hard.success, hard.report()
    q, before, after = landing(hard.motion)
    assert np.abs(after - before).max() > 0.05
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    rows = []
    for name in soles(robot):
        location = robot.contacts[name]
        part = robot.parts.links[location.link]
        J = pin.getJointJacobian(model, data, part.joint_id, pin.LOCAL_WORLD_ALIGNED)
        rows.append(J)
    expected = pin.impulseDynamics(model, data, q, before, np.vstack(rows), 0.0, 0.0)
    np.testing.assert_allclose(after, expected, atol=1e-4)
    assert soft.success, soft.report()
    assert not soft.motion.impacts
    assert hard.cost < 0.95 * soft.cost


def test_a_soft_landing_is_played_by_servos_a_hard_one_is_refused(hard: GaitResult, soft: GaitResult) -> None:
    with pytest.raises(InputError, match=r"has an impact at 0\.6 s"):
        hard.motion.joint_trajectory()
    scene = load_scene("stand")
    placed = SceneRobot("bip", load_robot("bip"), "", pin.SE3.Identity(), soft.motion.q[0])
    played = play_motion(Simulation(replace(scene, robots=(placed,))), "bip", soft.motion)
    assert played.fallen is None
    assert played.goal_base < 5e-3


def test_nothing_touches_in_flight(robot: Robot, hard: GaitResult) -> None:
    motion = hard.motion
    aloft = (motion.times > 0.5) & (motion.times < 0.5 + FLIGHT)
    assert aloft.any()
    assert not any(motion.forces[k] for k in np.flatnonzero(aloft))
    momentum = []
    for q, v in zip(motion.q[aloft], motion.v[aloft], strict=True):
        momentum.append(np.array(pin.computeCentroidalMomentum(robot.model, robot.model.createData(), q, v)))
    fall = np.array(momentum)[:, 2] + 9.81 * robot.total_mass * motion.times[aloft]
    np.testing.assert_allclose(fall, fall[0], atol=2e-3 * robot.total_mass)
    np.testing.assert_allclose(np.array(momentum)[:, 4], momentum[0][4], atol=2e-3 * robot.total_mass)


def test_pontryagins_conditions_hold_across_an_impact(hard: GaitResult) -> None:
    numbers = gait_proof(hard).numbers
    assert max(numbers[name] for name in ("maximum", "adjoint", "ends")) < 1e-5


def test_a_jump_of_velocities_needs_an_impulse_that_makes_it(hard: GaitResult) -> None:
    motion = hard.motion
    (impact,) = motion.impacts
    weaker = tuple(replace(own, force=0.9 * own.force) for own in impact.impulses)
    pulling = tuple(replace(own, force=-own.force) for own in impact.impulses)
    first = impact.impulses[0]
    faint = (replace(first, force=-0.05 * first.normal), *impact.impulses[1:])
    for impacts, what in (
        ((impact._replace(impulses=faint),), "normal impulse"),
        ((impact._replace(impulses=weaker),), "momentum that nothing gives"),
        ((impact._replace(impulses=pulling),), "normal impulse"), ((), "jump of a velocity"),
    ):  # fmt: skip
        changed = WholeBodyTrajectory(
            motion.robot, motion.times, motion.q, motion.v, motion.a, motion.contacts, tau=motion.tau,
            forces=motion.forces, base=motion.base,
        ).with_impacts(impacts)  # fmt: skip
        found = [str(violation) for violation in judge_motion(changed, LEVEL, 0.6)]
        assert any(what in one for one in found), found


def test_a_walk_that_may_strike_the_ground_costs_no_more_and_repeats(robot: Robot) -> None:
    request = WalkRequest(0.3, single=0.35, double=0.1, intervals=(3, 9), impacts=True)
    walk = generate_gait(robot, request, 4)
    assert walk.success, walk.message
    assert len(walk.motion.impacts) == 4
    soft = GaitSolver(replace(request, impacts=False).problem(robot)).solve()
    assert walk.parts["cycle"].cost <= soft.cost * (1.0 + 1e-4)
    problem = walk.parts["cycle"].problem
    again = repeated(walk.parts["cycle"].motion, problem.end, 2)  # type: ignore[arg-type]
    assert [own.time for own in again.impacts] == [own.time for own in walk.motion.impacts]


def test_what_no_impact_can_have_is_refused(robot: Robot) -> None:
    holds = WalkRequest(0.2).problem(robot).phases[0].holds
    for wrong in (
        lambda: Phase(holds, 0.0), lambda: Phase((), 0.0, 1), lambda: Phase(holds, 0.0, 1, ("left_sole",)),
        lambda: Phase(holds, -0.1, 1),
    ):  # fmt: skip
        with pytest.raises(InputError, match="duration"):
            wrong()
