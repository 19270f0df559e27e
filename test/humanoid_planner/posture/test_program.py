# SPDX-License-Identifier: Apache-2.0
"""The program that solvers see: order, scale, and one evaluation per point."""

import math

import numpy as np
import pytest
from fixtures.planner_robots import reference_data
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, feet_and_hand, kinematics_at

from humanoid_model import Stance
from humanoid_planner.posture import NearReference, generate_posture
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.program import FORCE_WEIGHT
from humanoid_planner.posture.tasks import link_tasks
from humanoid_planner.posture.tasks.geometric_rows import ANGLE
from humanoid_planner.posture.tasks.task import GeometricTask, Row

KINEMATICS = kinematics_at(HRP2, HALF_SITTING)


@pytest.fixture
def problem() -> PostureProblem:
    tasks = [
        link_tasks.joint_at(KINEMATICS, "RARM_JOINT3", -0.6),
        link_tasks.joint_at(KINEMATICS, "LARM_JOINT3", -0.6, 0.1),
        link_tasks.gaze(KINEMATICS, "HEAD_LINK1", [0, 0, 0], [1, 0, 0], [2, 0, 1.2], 0.1),
    ]
    return PostureProblem(
        HRP2,
        feet_and_hand(),
        PostureRequirements(tasks=tasks, torque_limits=True, criterion=NearReference(KINEMATICS, HALF_SITTING)),
    )


@pytest.mark.feature("001-F069")
def test_rows_are_sorted_as_the_thesis_solver_wants_them(problem: PostureProblem) -> None:
    """F069: nonlinear inequalities, nonlinear equalities, linear inequalities, linear equalities."""
    program = problem.program
    equal = program.constraint_lower == program.constraint_upper
    kinds = 2 * program.linear.astype(int) + equal
    assert set(kinds) == {0, 1, 2, 3}
    assert (np.diff(kinds) >= 0).all()


def test_every_row_is_its_tasks_over_its_scale(problem: PostureProblem) -> None:
    program, state = problem.program, problem.state
    x = problem.start(HALF_SITTING)
    values, J = program.constraints(x).copy(), program.jacobian(x).copy()
    state.set(x)
    for index, task in enumerate(program.tasks):
        rows = np.flatnonzero(program.row_tasks == index)
        labels = dict(zip(task.labels, range(task.size), strict=True)) if len(set(task.labels)) == task.size else None
        if labels is None:
            continue
        own = [labels[program.row_labels[row]] for row in rows]
        assert sorted(own) == list(range(task.size))
        np.testing.assert_allclose(values[rows], task.value(state)[own] / task.scale[own], atol=1e-13)
        np.testing.assert_allclose(J[rows], task.jacobian(state)[own] / task.scale[own][:, None], atol=1e-13)
        np.testing.assert_allclose(program.constraint_upper[rows], task.upper[own] / task.scale[own])


def test_a_point_is_evaluated_once(problem: PostureProblem) -> None:
    program = problem.program
    x = problem.start(HALF_SITTING)
    program.constraints(x)
    program.jacobian(x)
    before = program.evaluations, program.jacobian_evaluations, program.state.kinematics.placements_computed
    program.constraints(x)
    program.jacobian(x)
    program.objective(x)
    after = program.evaluations, program.jacobian_evaluations, program.state.kinematics.placements_computed
    assert after == before


def test_objective_weighs_forces_a_little(problem: PostureProblem) -> None:
    program, state = problem.program, problem.state
    x = problem.start(HALF_SITTING)
    f = x[state.first_force : state.first_extra]
    assert program.objective(x) == pytest.approx(program.criterion(x) + FORCE_WEIGHT * f @ f)
    H = program.objective_hessian(x)
    assert H is not None
    np.testing.assert_allclose(np.diag(H)[state.first_force :], 2 * FORCE_WEIGHT)


@pytest.mark.feature("001-F040")
def test_a_joint_margin_keeps_joints_from_both_limits() -> None:
    """F040: what the URDF says, less the margin; nothing bounds the base's place."""
    program = PostureProblem(HRP2, Stance(feet()), PostureRequirements(joint_margin=0.05, stability="none")).program
    for name, lower, upper in zip(KINEMATICS.names, program.lower, program.upper, strict=True):
        if not name.startswith("root_joint/"):
            limit = HRP2.description.joints[name].limit
            assert limit is not None
            assert (lower, upper) == pytest.approx((limit.lower + 0.05, limit.upper - 0.05))
    assert np.isinf(program.lower[:3]).all()
    stretched = [link_tasks.joint_at(KINEMATICS, "RLEG_JOINT3", 0.0, 0.03)]
    assert generate_posture(HRP2, Stance(()), tasks=stretched, stability="none").success
    assert not generate_posture(
        HRP2, Stance(()), tasks=stretched, stability="none", joint_margin=0.05, explain=False
    ).success


@pytest.mark.feature("001-F041")
def test_general_limits_of_a_compound_joint() -> None:
    """F041: b(q) <= 0, here a cone that the upper arm has to stay in, seen from the chest."""
    chest, arm = KINEMATICS.body_of("CHEST_LINK1")[0], KINEMATICS.body_of("RARM_LINK2")[0]
    down = np.array([0.0, 0.0, -1.0])
    cone = GeometricTask("shoulder cone", [Row(ANGLE, "", -math.inf, 0.3, "rad", a=arm, b=chest, u=down, w=down)])
    reach = link_tasks.point_at(KINEMATICS, "RARM_LINK6", [0, 0, 0], [0.4, -0.35, 0.95], 0.02)
    near = NearReference(KINEMATICS, HALF_SITTING)

    def angle(q: np.ndarray) -> float:
        data = reference_data(HRP2, q)
        frames = [data.oMf[HRP2.parts.links[link].frame_id].rotation for link in ("CHEST_LINK1", "RARM_LINK2")]
        return float(np.arccos(frames[0][:, 2] @ frames[1][:, 2]))

    free = generate_posture(HRP2, Stance(feet()), criterion=near, tasks=[reach])
    limited = generate_posture(HRP2, Stance(feet()), criterion=near, tasks=[reach, cone])
    assert free.success
    assert limited.success, limited.explanation
    assert angle(free.q) > 0.4
    assert angle(limited.q) <= 0.3 + 2e-6
