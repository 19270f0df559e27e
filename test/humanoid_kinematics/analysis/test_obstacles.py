# SPDX-License-Identifier: Apache-2.0
"""Distances of a mechanism from obstacles, against geometry by hand."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.analysis.obstacles import Obstacles
from humanoid_kinematics.solver.commands import JointGoal
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model.description import Box, Sphere


def at(x, y, z):
    return pin.SE3(np.eye(3), np.array([x, y, z], float))


@pytest.mark.feature("002-F072", "002-F165")
def test_distance_of_an_arm_to_a_ball_changes_as_it_moves():
    solver = MechanismSolver(load_mechanism("hpr"))
    ball, floor = (Sphere(0.05), at(0.8, 0.0, 0.2)), (Box((4, 4, 0.1)), at(0, 0, -1))
    obstacles = Obstacles(solver, {"ball": ball, "floor": floor})
    nearest = obstacles.nearest()
    assert set(nearest) == {"ball", "floor"}
    ball = nearest["ball"]
    assert ball.part.startswith("link_")
    assert np.linalg.norm(ball.point_on_part - ball.point_on_obstacle) == pytest.approx(ball.distance, abs=1e-9)
    assert np.linalg.norm(ball.point_on_obstacle - [0.8, 0.0, 0.2]) == pytest.approx(0.05, abs=1e-6)
    for _ in range(10):
        solver.command(JointGoal("joint_1", np.pi / 2))
    assert obstacles.nearest()["ball"].distance > ball.distance + 0.1


def test_overlap_is_negative():
    solver = MechanismSolver(load_mechanism("hpr"))
    inside = solver.placement("link_3").translation
    assert Obstacles(solver, {"ball": (Sphere(0.2), at(*inside))}).nearest()["ball"].distance < 0.0
