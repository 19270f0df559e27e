# SPDX-License-Identifier: Apache-2.0
"""The thesis' solver on postures: contact forces in many small cones, and early failure out of reach."""

import numpy as np
import pytest
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, feet_and_hand, hand_on_wall

from humanoid_model import Stance
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import ReturnCode
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_studies.feasible_sqp.tube import TubeProgram

pytestmark = pytest.mark.feature("001-F056")


@pytest.mark.parametrize("seed", range(3))
def test_posture_with_forces_and_torque_limits(seed: int) -> None:
    """From perturbed starts; without cutting planes none of these ends within the iterations allowed."""
    kinematics = RobotKinematics(HRP2)
    problem = PostureProblem(
        HRP2, feet_and_hand(), PostureRequirements(stability="forces", torque_limits=True), kinematics=kinematics
    )
    rng = np.random.default_rng(seed)
    x = kinematics.coordinates(HALF_SITTING) + 0.1 * rng.normal(size=kinematics.size)
    start = problem.start(kinematics.configuration(np.clip(x, kinematics.lower, kinematics.upper)))
    result = solve(problem.program, start, solver="feasible_sqp")
    assert result.success
    assert result.iterations < 100


def test_hand_out_of_reach_fails_in_phase_one() -> None:
    """F065: the tube tells within phase 1; without it the solver goes on for long."""
    problem = PostureProblem(HRP2, Stance((*feet(), hand_on_wall(height=2.6))), PostureRequirements(stability="none"))
    start = problem.start(HALF_SITTING)
    without = solve(problem.program, start, solver="feasible_sqp")
    within = solve(TubeProgram(problem.program, -0.05, 0.05), start, solver="feasible_sqp")
    assert within.code == ReturnCode.INEQUALITIES_INFEASIBLE
    assert without.code not in (ReturnCode.SUCCESS, ReturnCode.INEQUALITIES_INFEASIBLE)
    assert 5 * within.evaluations < without.evaluations
