# SPDX-License-Identifier: Apache-2.0
"""Static efforts and external wrench against potential energy, Pinocchio and finite differences."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import ROBOTS, finite_difference, random_variables, robot_named

from humanoid_model import load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.state import ForceModel, Load, PostureState

pytestmark = pytest.mark.feature("001-F047")

GRAVITY = np.array([0.3, -0.2, -9.7])


def loaded(
    name: str, rng: np.random.Generator, in_link_frame: bool
) -> tuple[RobotKinematics, PostureState, list[Load]]:
    kinematics = RobotKinematics(robot_named(name))
    links = [link for link, (body, _) in kinematics.variables.bodies_of_links.items() if body]
    chosen = rng.choice(links, size=min(3, len(links)), replace=False)
    loads = [
        Load(str(link), 10 * rng.standard_normal(3), rng.standard_normal(3), 3 * rng.standard_normal(3), in_link_frame)
        for link in chosen
    ]
    return kinematics, PostureState(kinematics, ForceModel(kinematics, (), loads, GRAVITY)), loads


@pytest.mark.parametrize("name", ROBOTS)
def test_efforts_balance_the_change_of_potential(name: str) -> None:
    """Virtual work: efforts are minus the derivative of the work of weights and constant forces."""
    rng = np.random.default_rng(3)
    kinematics, state, loads = loaded(name, rng, in_link_frame=False)
    loads = [Load(load.link, load.force, load.point) for load in loads]
    state = PostureState(kinematics, ForceModel(kinematics, (), loads, GRAVITY))
    x = random_variables(kinematics, rng)

    def work(y: np.ndarray) -> list[float]:
        kinematics.set(y)
        total = kinematics.total_mass * GRAVITY @ kinematics.centre_of_mass()
        return [total + sum(np.dot(load.force, kinematics.point(load.link, load.point)) for load in loads)]

    expected = -finite_difference(work, x)[0]
    state.set(x)
    np.testing.assert_allclose(state.efforts, expected, atol=2e-6)


def test_couples_load_a_joint_by_their_part_along_its_axis() -> None:
    kinematics = RobotKinematics(load_robot("tree4"))
    link, (body, _) = list(kinematics.variables.bodies_of_links.items())[-1]
    x = random_variables(kinematics, np.random.default_rng(0))
    couple = np.array([1.0, 2.0, 3.0])
    with_couple = PostureState(kinematics, ForceModel(kinematics, (), [Load(link, couple=couple)], np.zeros(3)))
    with_couple.set(x)
    kinematics.place_bodies()
    tree = kinematics.tree
    expected = np.zeros(kinematics.size)
    for k in tree.chain(body):
        expected[tree.dof_column[k]] = -kinematics.placements.S[k, 3:] @ couple
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(with_couple.efforts, expected, atol=1e-12)


def test_gravity_alone_is_pinocchios() -> None:
    robot = load_robot("hrp2")
    kinematics = RobotKinematics(robot)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    x = random_variables(kinematics, np.random.default_rng(1))
    state.set(x)
    data = robot.model.createData()
    expected = pin.computeGeneralizedGravity(robot.model, data, kinematics.configuration(x))
    np.testing.assert_allclose(state.efforts[6:], expected[6:], atol=1e-10)


@pytest.mark.parametrize("in_link_frame", [False, True])
@pytest.mark.parametrize("link", ["LARM_LINK5", "r_sole"])
def test_loads_act_in_the_frame_that_they_are_given_in(link: str, in_link_frame: bool) -> None:
    """Against Pinocchio's Jacobians in the axes of the link and of the world; the sole is fixed to the foot."""
    robot = load_robot("hrp2")
    kinematics = RobotKinematics(robot)
    force, point, couple = np.array([3.0, -4.0, 5.0]), np.array([0.1, 0.2, -0.3]), np.array([0.5, 0.7, -0.2])
    load = Load(link, force, point, couple, in_link_frame)
    state = PostureState(kinematics, ForceModel(kinematics, (), [load], np.zeros(3)))
    x = random_variables(kinematics, np.random.default_rng(4))
    state.set(x)
    model, data, frame = robot.model, robot.model.createData(), robot.parts.links[link].frame_id
    q = kinematics.configuration(x)
    pin.framesForwardKinematics(model, data, q)
    axes = pin.ReferenceFrame.LOCAL if in_link_frame else pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    arm = point if in_link_frame else data.oMf[frame].rotation @ point
    J = pin.computeFrameJacobian(model, data, q, frame, axes)
    expected = -J.T @ np.concatenate([force, couple + np.cross(arm, force)])
    np.testing.assert_allclose(state.efforts[6:], expected[6:], atol=1e-12)


@pytest.mark.parametrize("in_link_frame", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_efforts_and_wrench(name: str, in_link_frame: bool) -> None:
    rng = np.random.default_rng(5)
    kinematics, state, _ = loaded(name, rng, in_link_frame)
    x = random_variables(kinematics, rng)

    def efforts(y: np.ndarray) -> np.ndarray:
        state.set(y)
        return state.efforts.copy()

    def wrench(y: np.ndarray) -> np.ndarray:
        state.set(y)
        return state.place_forces().wrench().copy()

    by_effort, by_wrench = finite_difference(efforts, x), finite_difference(wrench, x)
    state.set(x)
    model = state.place_forces()
    np.testing.assert_allclose(model.efforts_jacobian(), by_effort, atol=1e-5)
    np.testing.assert_allclose(model.wrench_jacobian(state.size), by_wrench, atol=1e-5)
