# SPDX-License-Identifier: Apache-2.0
"""An object between two arms: pressed from both sides, gripped rigidly, or held by one and worked on by the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from fixtures.two_arms import HEIGHT, MASS, grasp, posture, two_arms

from humanoid_gait import (
    AccelerationCost,
    ForceCost,
    GaitProblem,
    GaitResult,
    GaitSolver,
    Hold,
    Phase,
    State,
    TorqueCost,
)
from humanoid_gait.hold import hold_of
from humanoid_gait.proof import gait_proof
from humanoid_model import InputError, Robot
from humanoid_model.arrays import Array
from humanoid_model.ground_profile import LEVEL
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.whole_body_trajectory import PlannedForce, WholeBodyTrajectory

pytestmark = pytest.mark.feature("003-F006", "003-F113", "003-F114")
SIDES = ("left", "right")
WEIGHT, FRICTION = 9.81 * MASS, 0.5


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return two_arms(tmp_path_factory.mktemp("two_arms"))


def moved(robot: Robot, holds: tuple[Hold, ...], **given: object) -> GaitResult:
    """The box is lifted, carried aside and turned within a second."""
    begins = posture(robot, pin.SE3(np.eye(3), np.array([0.0, 0.0, HEIGHT])))
    ends = posture(robot, pin.SE3(pin.utils.rotate("z", 0.3), np.array([0.05, 0.1, HEIGHT + 0.15])))
    problem = GaitProblem(robot, [Phase(holds, 1.0, 12)], State(begins), State(ends), **given)  # type: ignore[arg-type]
    return GaitSolver(problem, posture=begins).solve()


def pressed(forces: tuple[PlannedForce, ...], side: str) -> tuple[float, float]:
    """Normal and tangential force of a pad [N]."""
    own = [force for force in forces if force.location == f"{side}_pad"]
    total, normal = np.sum([force.force for force in own], axis=0), own[0].normal
    return float(total @ normal), float(np.linalg.norm(total - total @ normal * normal))


@pytest.fixture(scope="module")
def lifted(robot: Robot) -> GaitResult:
    return moved(robot, tuple(grasp(robot, side, FRICTION) for side in SIDES))


def box_places(motion: WholeBodyTrajectory, side: str) -> Array:
    """(K, 3) a hand's origin in the box."""
    links = [motion.robot.link_placements(q) for q in motion.q]
    return np.array([own["box"].actInv(own[f"{side}_hand"].translation) for own in links])


def test_a_box_that_nothing_drives_is_lifted_by_friction(lifted: GaitResult) -> None:
    """F006, F114: both contacts are released, six coordinates more, and close again."""
    assert lifted.success, lifted.report()
    motion = lifted.motion
    for side in SIDES:
        assert np.ptp(box_places(motion, side), axis=0).max() < 1e-4
        for forces in motion.forces:
            normal, along = pressed(forces, side)
            assert normal > 1.0
            assert along < FRICTION * normal * (1.0 + 1e-4)
    numbers = gait_proof(lifted).numbers
    assert max(numbers[name] for name in ("maximum", "adjoint", "ends")) < 1e-5


def test_what_carries_the_box_is_newtons_force(robot: Robot, lifted: GaitResult) -> None:
    motion, frame = lifted.motion, robot.parts.links["box"].frame_id
    for k in range(0, len(motion.times), 5):
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, motion.q[k], motion.v[k], motion.a[k])
        a = pin.getFrameClassicalAcceleration(robot.model, data, frame, pin.LOCAL_WORLD_ALIGNED).linear
        on_hands = np.sum([force.force for force in motion.forces[k]], axis=0)
        np.testing.assert_allclose(-on_hands, MASS * (a - robot.model.gravity.linear), atol=1e-3 * WEIGHT)


def test_the_squeeze_is_no_greater_than_friction_takes(robot: Robot) -> None:
    """Held at rest at least forces, each pad presses with half the weight over the coefficient."""
    holds = tuple(grasp(robot, side, FRICTION) for side in SIDES)
    at = posture(robot, pin.SE3(np.eye(3), np.array([0.0, 0.0, HEIGHT])))
    costs = (ForceCost(1.0), AccelerationCost())
    still = GaitSolver(GaitProblem(robot, [Phase(holds, 0.5, 4)], State(at), State(at), costs), posture=at).solve()
    assert still.success, still.report()
    for side in SIDES:
        normal, along = pressed(still.motion.forces[len(still.motion.times) // 2], side)
        assert normal == pytest.approx(0.5 * WEIGHT / FRICTION, rel=0.02)
        assert along == pytest.approx(0.5 * WEIGHT, rel=0.02)


def rigid(hold: Hold) -> Hold:
    return replace(hold, contact=replace(hold.contact, bilateral=True))


def test_rigid_grasps_take_less_than_pressed_ones(robot: Robot, lifted: GaitResult) -> None:
    """F114: twelve driven joints for six ways to move."""
    found = moved(robot, tuple(rigid(grasp(robot, side)) for side in SIDES))
    assert found.success, found.report()
    assert found.cost < lifted.cost


def test_one_arm_holds_what_the_other_works_on(robot: Robot) -> None:
    """F113: the right hand presses with 40 N at least wherever the left one carries the box."""
    found = moved(robot, (rigid(grasp(robot, "left")), grasp(robot, "right", FRICTION, least=10.0)))
    assert found.success, found.report()
    normals = [pressed(forces, "right")[0] for forces in found.motion.forces]
    assert min(normals) > 40.0 - 1e-3
    assert min(normals) < 41.0


def test_a_grasp_that_slips_is_named(lifted: GaitResult) -> None:
    motion, robot = lifted.motion, lifted.problem.robot
    q = motion.q.copy()
    q[len(q) // 2 :, robot.index_q("box_j2")] += 5e-3
    slipped = WholeBodyTrajectory(
        robot, motion.times, q, motion.v, motion.a, motion.contacts, tau=motion.tau, forces=motion.forces,
    )  # fmt: skip
    found = [str(violation) for violation in judge_motion(slipped, LEVEL, FRICTION)]
    assert any("from where it holds box" in one for one in found), found


def test_an_object_that_is_none_is_named(robot: Robot) -> None:
    with pytest.raises(InputError, match="'bax'"):
        hold_of(robot, "left_pad", (0.0, 0.0), on="bax")


def test_dear_torques_leave_the_load_to_the_other_arm(robot: Robot, lifted: GaitResult) -> None:
    dear = [0.25 if name.startswith("left") else 1.0 for name in robot.actuators]
    costs = (TorqueCost(weights=[weight / 80.0**2 for weight in dear]), *lifted.problem.costs[1:])
    found = moved(robot, tuple(grasp(robot, side, FRICTION) for side in SIDES), costs=costs)
    assert found.success, found.report()
    own = np.array([name.startswith("left") for name in robot.actuators])

    def share(result: GaitResult) -> float:
        efforts = (result.motion.torques**2).sum(axis=0)
        return float(efforts[own].sum() / efforts.sum())

    assert share(found) > share(lifted) + 0.05
