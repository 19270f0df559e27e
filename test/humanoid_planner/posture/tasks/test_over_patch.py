# SPDX-License-Identifier: Apache-2.0
"""The centre of mass above one sole, which may be anywhere: against the support polygon of that sole."""

import numpy as np
import pytest
from fixtures.planner_robots import finite_difference, random_variables
from fixtures.posture_problems import FLOOR, HALF_SITTING, HRP2, where_it_is
from numpy.testing import assert_allclose

from humanoid_model import Contact, ContactLocation, Stance
from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.problem.problem import PostureProblem
from humanoid_planner.posture.problem.requirements import PostureRequirements
from humanoid_planner.posture.tasks.over_patch import CentreOfMassOverPatch

SOLE = HRP2.contacts["left_sole"]


def test_jacobian() -> None:
    kinematics = RobotKinematics(HRP2)
    task = CentreOfMassOverPatch(kinematics, SOLE, 0.01)
    problem = PostureProblem(
        HRP2, Stance(()), PostureRequirements(tasks=[task], stability="none"), kinematics=kinematics
    )
    state = problem.state
    rng = np.random.default_rng(0)
    for _ in range(3):
        x = random_variables(kinematics, rng)

        def value(y: np.ndarray) -> np.ndarray:
            state.set(y)
            return task.value(state).copy()

        expected = finite_difference(value, x)
        state.set(x)
        assert_allclose(task.jacobian(state), expected, atol=1e-7)


def test_rows_are_the_support_polygon_of_a_flat_foot() -> None:
    kinematics = RobotKinematics(HRP2)
    task = CentreOfMassOverPatch(kinematics, SOLE)
    problem = PostureProblem(
        HRP2, Stance(()), PostureRequirements(tasks=[task], stability="none"), kinematics=kinematics
    )
    state = problem.state
    for shift in (np.zeros(3), np.array([0.3, -0.2, 0.1])):
        q = HALF_SITTING.copy()
        q[:3] += shift
        state.set(kinematics.coordinates(q))
        corners = [kinematics.point(SOLE.link, vertex) for vertex in SOLE.vertices_link]
        polygon = SupportPolygon.of_points(np.array(corners))
        assert_allclose(-np.max(task.value(state)), polygon.margin(kinematics.centre_of_mass()[:2]), atol=1e-9)


def test_standing_on_one_sliding_foot() -> None:
    kinematics = RobotKinematics(HRP2)
    contact = Contact(SOLE, FLOOR, 0.0, 0.0, 0.0, kind=ContactKind.SLIDING)
    problem = PostureProblem(
        HRP2,
        Stance((contact,)),
        PostureRequirements(tasks=[CentreOfMassOverPatch(kinematics, SOLE, 0.02)], stability="none"),
        kinematics=kinematics,
    )
    result = solve(problem.program, problem.start(HALF_SITTING))
    assert result.success
    q = problem.posture(result.x)
    placed = where_it_is("left_sole", q=q)
    again = PostureProblem(HRP2, Stance((placed,)), PostureRequirements(stability="polygon", stability_margin=0.019))
    values = again.program.constraints(again.start(q))
    excess = np.maximum(again.program.constraint_lower - values, values - again.program.constraint_upper)
    assert excess.max() < 1e-5


def test_bad_patches() -> None:
    kinematics = RobotKinematics(HRP2)
    point = ContactLocation("tip", SOLE.link, SOLE.placement_link_patch, np.zeros((1, 2)))
    with pytest.raises(InputError, match="1 points"):
        CentreOfMassOverPatch(kinematics, point)
    with pytest.raises(InputError, match="margin"):
        CentreOfMassOverPatch(kinematics, SOLE, -0.1)
