# SPDX-License-Identifier: Apache-2.0
"""X06 on HRP-2: weight onto the left foot, then a step of the right one; sparse, by the interior-point method."""

import dataclasses
import math

import numpy as np
import pytest
from fixtures.posture_problems import HALF_SITTING, HRP2, feet

from humanoid_model import Stance
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture.motion.trajectory import TrajectoryProblem
from humanoid_planner.posture.motion.trajectory_program import Grid
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import NearReference
from humanoid_planner.posture.tasks.geometric_rows import POINT
from humanoid_planner.posture.tasks.task import GeometricTask, Row

LIFT_OFF, TOUCH_DOWN, STEP, HEIGHT = 0.3, 0.8, 0.2, 0.05


@pytest.mark.feature("001-F089")
@pytest.mark.slow
def test_step_of_hrp2() -> None:
    left, right = feet()
    kinematics = RobotKinematics(HRP2)
    bearing = PostureProblem(
        HRP2,
        Stance((left,)),
        PostureRequirements(stability="none", criterion=NearReference(kinematics, HALF_SITTING)),
        kinematics=kinematics,
    )
    balanced = PostureProblem(HRP2, Stance((left,)), PostureRequirements(stability="polygon", stability_margin=0.01))
    before = PostureProblem(HRP2, Stance((right,)), PostureRequirements(stability="none"))
    after = PostureProblem(
        HRP2, Stance((dataclasses.replace(right, x=right.x + STEP),)), PostureRequirements(stability="none")
    )
    body, placement = kinematics.body_of(right.location.link)

    def lifted(instant: float) -> PostureProblem:
        height = HEIGHT * math.sin(math.pi * (instant - LIFT_OFF) / (TOUCH_DOWN - LIFT_OFF)) ** 2
        up = np.array([0.0, 0.0, 1.0])
        rows = [
            Row(POINT, f"corner {corner}", height, math.inf, a=body, P=placement.act(vertex), w=up)
            for corner, vertex in enumerate(right.location.vertices_link)
        ]
        return PostureProblem(
            HRP2, Stance(()), PostureRequirements(tasks=[GeometricTask("clearance", rows)], stability="none")
        )

    step = TrajectoryProblem(
        [
            Grid(bearing, np.linspace(0.0, 1.0, 21)[1:]),
            Grid(balanced, np.linspace(LIFT_OFF, 1.0, 15)),
            Grid(before, np.linspace(0.05, LIFT_OFF, 6)),
            Grid(after, np.linspace(TOUCH_DOWN, 1.0, 5)),
            Grid(lifted, np.linspace(0.35, 0.75, 9)),
        ],
        HALF_SITTING,
    )
    result = step.solve(options=SolverOptions(max_iterations=500))
    assert result.success
    for violation in step.violations(result.x, refinement=5):
        assert violation.value <= (1e-3 if violation.equality else 1e-9), violation
