# SPDX-License-Identifier: Apache-2.0
"""The thesis' collision-free postures (X07-X09): found, and checked by Pinocchio and coal on the shapes themselves."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.true_shapes import overlaps
from numpy.testing import assert_allclose

from benchmark.posture_problems import HAND, Case, collision_options, perturbed, scene_case
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import CollisionModel, PostureResult
from humanoid_planner.posture.generate import solve_problem
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements

pytestmark = [pytest.mark.slow, pytest.mark.feature("001-F006")]
#: What may touch: contacts and what a hand grasps.
ALLOWED = {
    "car": {("LLEG_LINK5", "floor"), ("RLEG_LINK5", "cabin_floor")},
    "fridge": {("LLEG_LINK5", "floor"), ("RLEG_LINK5", "floor"), ("LARM_LINK5", "can"), ("LARM_LINK6", "can")},
    "warehouse": {
        ("LLEG_LINK5", "tread_2"),
        ("RLEG_LINK5", "tread_2"),
        ("RARM_LINK5", "right_rail"),
        ("RARM_LINK6", "right_rail"),
    },
}


@pytest.fixture(scope="module", params=sorted(ALLOWED))
def solved(request: pytest.FixtureRequest) -> tuple[Case, PostureResult, PostureResult]:
    """A scene's case, its posture without regard to collisions, and one without collisions."""
    case = scene_case(request.param)
    options = SolverOptions(max_iterations=300)
    free = PostureProblem(
        case.robot, case.stance, PostureRequirements(scene=case.scene, **case.options), start=case.start
    )
    careless = solve_problem(free, case.start, options=options)
    more = {**case.options, **collision_options(case, CollisionModel(case.robot, case.scene))}
    problem = PostureProblem(case.robot, case.stance, PostureRequirements(scene=case.scene, **more), start=case.start)
    rng = np.random.default_rng(0)
    result = solve_problem(problem, case.start, options=options, explain=False)
    for _ in range(11):  # a local search: some starts lead into dead ends
        if result.success:
            break
        q = perturbed(case.robot, case.start, rng, 0.05)
        result = solve_problem(problem, q, options=options, explain=False)
    return case, careless, result


def collisions(case: Case, q: np.ndarray) -> dict[tuple[str, str], float]:
    """Links in bodies of the scene, with the depth; what may touch left out."""
    assert case.scene is not None
    found = overlaps(case.robot, case.scene, q)
    return {pair: depth for pair, depth in found.items() if pair not in ALLOWED[case.scene.name]}


@pytest.mark.feature("001-F043", "001-F255")
def test_found_and_clear_of_the_scene(solved: tuple[Case, PostureResult, PostureResult]) -> None:
    case, _, result = solved
    assert result.success, result.violations
    assert collisions(case, result.q) == {}
    lower, upper = case.robot.limits.lower[7:], case.robot.limits.upper[7:]
    assert (result.q[7:] >= lower - 1e-6).all()
    assert (result.q[7:] <= upper + 1e-6).all()


def test_avoiding_costs_criterion(solved: tuple[Case, PostureResult, PostureResult]) -> None:
    """Without regard to collisions the criterion is no worse."""
    _, careless, result = solved
    assert careless.success, careless.explanation
    assert careless.criterion <= result.criterion + 1e-3


def test_contacts_and_hands_are_where_they_should_be(solved: tuple[Case, PostureResult, PostureResult]) -> None:
    case, _, result = solved
    assert case.scene is not None
    robot = case.robot
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, result.q)
    bodies = {body.name: body.placement_world_body for body in case.scene.bodies}

    def link(name: str) -> pin.SE3:
        place = robot.parts.links[name]
        return data.oMi[place.joint_id] * place.placement_joint_link

    for contact in case.stance.contacts:
        surface = contact.surface
        wanted = bodies[surface.body] * surface.placement_body_surface * contact.placement_surface_patch
        patch = link(contact.location.link) * contact.location.placement_link_patch
        assert_allclose(patch.homogeneous, wanted.homogeneous, atol=1e-5)
    target = {"fridge": [0.63, 0.10, 0.94], "warehouse": [0.49, 0.70, 1.55]}.get(case.scene.name)
    if target is not None:
        assert_allclose(link("LARM_LINK5").act(HAND), target, atol=1e-5)


@pytest.mark.feature("001-F255")
def test_the_car_is_entered_on_the_left_foot_alone() -> None:
    """The right foot bears nothing: the centre of mass is above the left sole."""
    case = scene_case("car")
    problem = PostureProblem(
        case.robot, case.stance, PostureRequirements(scene=case.scene, **case.options), start=case.start
    )
    result = solve_problem(problem, case.start)
    assert result.success
    G = pin.centerOfMass(case.robot.model, case.robot.model.createData(), result.q)
    assert -0.08 - 1e-6 <= G[0] <= 0.14 + 1e-6
    assert 0.065 - 1e-6 <= G[1] <= 0.195 + 1e-6
