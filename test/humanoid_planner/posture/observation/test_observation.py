# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model import InputError, Robot, Surface, load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.observation.observation import (
    CentreOfMassOver,
    Eye,
    PairedFeet,
    View,
    observation_postures,
    observation_task,
)
from humanoid_planner.posture.posture_result import PostureResult
from humanoid_planner.posture.tasks.state import ForceModel, PostureState

GROUND = Surface("ground", "world", pin.SE3.Identity())
EYE = Eye("HEAD_LINK1", (0.1, 0.0, 0.12), (1.0, 0.0, 0.0))
DISTANCE = 0.4


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


@pytest.fixture(scope="module")
def feet(robot: Robot) -> PairedFeet:
    return PairedFeet.of_posture(robot, robot.postures["half_sitting"], "left_sole", "right_sole")


def direction(azimuth: float, elevation: float) -> np.ndarray:
    """Gaze turned left by an azimuth and down by an elevation, degrees."""
    a, e = math.radians(azimuth), math.radians(elevation)
    return np.array([math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), -math.sin(e)])


def link_frame(robot: Robot, q: np.ndarray, link: str) -> pin.SE3:
    """By Pinocchio, not by the planner's kinematics."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    place = robot.parts.links[link]
    return data.oMi[place.joint_id] * place.placement_joint_link


def check(robot: Robot, feet: PairedFeet, result: PostureResult, target: np.ndarray, v: np.ndarray) -> None:
    """All that section 9.2 asks for, to 1e-4."""
    assert result.success, result.explanation
    q = result.q
    assert (q[7:] >= robot.limits.lower[7:] - 1e-6).all()
    assert (q[7:] <= robot.limits.upper[7:] + 1e-6).all()
    head = link_frame(robot, q, EYE.link)
    H = head.act(np.asarray(EYE.point))
    assert_allclose(head.rotation @ EYE.axis, v, atol=1e-4)
    assert np.linalg.norm(target - H) > DISTANCE - 1e-4
    assert_allclose((target - H) / np.linalg.norm(target - H), v, atol=1e-4)
    places = [link_frame(robot, q, foot.link) * foot.placement_link_patch for foot in (feet.first, feet.second)]
    for place in places:
        assert place.translation[2] == pytest.approx(0.0, abs=1e-4)
        assert_allclose(place.rotation[:, 2], [0, 0, 1], atol=1e-4)
    between = places[0].inverse() * places[1]
    assert_allclose(between.homogeneous, feet.placement_first_second.homogeneous, atol=1e-4)
    G = places[0].actInv(pin.centerOfMass(robot.model, robot.model.createData(), q))
    assert feet.polygon.contains(G[:2], tolerance=1e-4)


@pytest.mark.feature("001-F096", "001-F257")
@pytest.mark.parametrize("turned", ["around", "down"])
def test_angles_from_0_to_70_degrees(robot: Robot, feet: PairedFeet, turned: str) -> None:
    """X04, both ways to read the angle of Fig. 3.12: around the object, and from above it."""
    target = np.array([1.0, 0.0, 1.1]) if turned == "around" else np.array([0.8, 0.0, 0.75])
    directions = [direction(a, 15) if turned == "around" else direction(0, a) for a in range(0, 71, 10)]
    results = observation_postures(robot, GROUND, feet, EYE, [View(target, v, DISTANCE) for v in directions])
    assert len(results) == 8
    for v, result in zip(directions, results, strict=True):
        check(robot, feet, result, target, v)
    steps = np.array([link_frame(robot, result.q, "LLEG_LINK5").translation for result in results])
    assert np.linalg.norm(np.diff(steps, axis=0), axis=1).min() > 1e-3  # the feet do move


@pytest.mark.feature("001-F049")
def test_criterion_brings_the_centre_of_mass_to_the_middle(robot: Robot, feet: PairedFeet) -> None:
    (result,) = observation_postures(
        robot, GROUND, feet, EYE, [View([1.0, 0.3, 1.1], direction(20, 10), DISTANCE)], stability_margin=0.02
    )
    check(robot, feet, result, np.array([1.0, 0.3, 1.1]), direction(20, 10))
    place = link_frame(robot, result.q, feet.first.link) * feet.first.placement_link_patch
    G = place.actInv(pin.centerOfMass(robot.model, robot.model.createData(), result.q))[:2]
    assert np.linalg.norm(G - feet.polygon.largest_circle()[0]) < 0.02


@pytest.mark.feature("001-F096")
def test_the_robot_steps_back_from_what_is_too_near(robot: Robot, feet: PairedFeet) -> None:
    """An object right before the head: at the distance asked for, and not farther than that without need."""
    target = np.array([0.3, 0.0, 1.35])
    for distance in (0.4, 0.9):
        (result,) = observation_postures(robot, GROUND, feet, EYE, [View(target, direction(0, 5), distance)])
        assert result.success
        H = link_frame(robot, result.q, EYE.link).act(np.asarray(EYE.point))
        assert distance - 1e-4 < np.linalg.norm(target - H) < distance + 0.2


def test_impossible_views_are_explained(robot: Robot, feet: PairedFeet) -> None:
    """An object 3 m up can't be seen from above."""
    (result,) = observation_postures(robot, GROUND, feet, EYE, [View([1.0, 0, 3.0], direction(0, 60), DISTANCE)])
    assert not result.success
    assert result.explanation


def random_state(robot: Robot) -> PostureState:
    kinematics = RobotKinematics(robot)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    rng = np.random.default_rng(3)
    x = np.clip(rng.normal(scale=0.4, size=state.size), kinematics.lower, kinematics.upper)
    state.set(x)
    return state


def test_derivatives_by_finite_differences(robot: Robot, feet: PairedFeet) -> None:
    state = random_state(robot)
    kinematics = state.kinematics
    tasks = [
        observation_task(kinematics, EYE, View([0.8, 0.2, 1.0], direction(10, 20))),
        feet.relation(kinematics),
        feet.stability(kinematics),
    ]
    criterion = CentreOfMassOver("LLEG_LINK5", [0.02, -0.1, -0.1])
    jacobians = [task.jacobian(state).copy() for task in tasks]
    gradient = criterion.gradient(state)
    x, step = state.x.copy(), 1e-6
    for column in range(state.size):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[column] += sign * step
            state.set(moved)
            ends.append([*(task.value(state).copy() for task in tasks), criterion.value(state)])
        for index, J in enumerate(jacobians):
            assert_allclose(J[:, column], (ends[0][index] - ends[1][index]) / (2 * step), atol=1e-7)
        assert gradient[column] == pytest.approx((ends[0][-1] - ends[1][-1]) / (2 * step), abs=1e-7)


def test_polygon_moves_with_the_feet(robot: Robot, feet: PairedFeet) -> None:
    """Rows are distances of the centre of mass to the polygon's edges wherever the feet stand."""
    kinematics = RobotKinematics(robot)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    task = feet.stability(kinematics)
    values = []
    for yaw, shift in ((0.0, [0.0, 0.0]), (1.1, [2.0, -1.0])):
        q = robot.postures["half_sitting"]
        move = pin.SE3(pin.utils.rotate("z", yaw), np.array([*shift, 0.0]))
        q = robot.place_base(q, move * robot.placement_base(q))
        state.set(kinematics.coordinates(q))
        values.append(task.value(state).copy())
    assert_allclose(values[0], values[1], atol=1e-12)
    place = link_frame(robot, robot.postures["half_sitting"], feet.first.link) * feet.first.placement_link_patch
    G = place.actInv(pin.centerOfMass(robot.model, robot.model.createData(), robot.postures["half_sitting"]))
    assert -values[0].max() == pytest.approx(feet.polygon.margin(G[:2]))


@pytest.mark.feature("001-F096")
def test_bad_input_is_refused(robot: Robot, feet: PairedFeet) -> None:
    q = robot.postures["half_sitting"]
    with pytest.raises(InputError, match="there is no contact location 'sole'"):
        PairedFeet.of_posture(robot, q, "sole", "left_sole")
    raised = q.copy()
    raised[robot.index_q("LLEG_JOINT3")] += 0.3
    with pytest.raises(InputError, match="tilted by"):
        PairedFeet.of_posture(robot, raised, "left_sole", "right_sole")
    kinematics = RobotKinematics(robot)
    with pytest.raises(InputError, match="Give at most"):
        feet.stability(kinematics, 0.5)
    with pytest.raises(InputError, match="Give at most"):
        observation_postures(robot, GROUND, feet, EYE, [View([1, 0, 1], [1, 0, 0])], stability_margin=0.5)
    with pytest.raises(InputError, match="no direction"):
        observation_task(kinematics, EYE, View([1, 0, 1], [0, 0, 0]))
    with pytest.raises(InputError, match="there is no link 'EYE'"):
        observation_task(kinematics, Eye("EYE"), View([1, 0, 1], [1, 0, 0]))
