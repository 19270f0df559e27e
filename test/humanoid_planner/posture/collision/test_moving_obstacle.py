# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model import Contact, Robot, Stance, Surface, load_robot
from humanoid_planner.distance.placed_volume import PlacedVolume
from humanoid_planner.distance.robot_volumes import robot_volumes
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.collision.collision_task import CollisionTask
from humanoid_planner.posture.collision.moving_obstacle import MovingObstacle
from humanoid_planner.posture.motion.reactive import ReactivePosture
from humanoid_planner.posture.problem.force_model import ForceModel
from humanoid_planner.posture.problem.state import PostureState
from humanoid_planner.posture.tasks.link_tasks import gaze

RADIUS = 0.15
GROUND = Surface("ground", "world", pin.SE3.Identity())


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


def ball_among(robot: Robot, kinematics: RobotKinematics) -> MovingObstacle:
    volume = SphereTorusVolume.from_points(np.zeros((1, 3)), RADIUS, 1.0)
    links = ("CHEST_LINK1", "HEAD_LINK1", "RARM_LINK3", "LARM_LINK3", "WAIST")
    own = [placed for placed in robot_volumes(robot, kinematics.body_of) if placed.owner in links]
    return MovingObstacle(PlacedVolume("ball", 0, volume), own)


def test_distances_follow_the_obstacle(robot: Robot) -> None:
    """From above the head the distance grows as the ball rises, and the witness point on the ball is on its surface."""
    kinematics = RobotKinematics(robot)
    kinematics.set(kinematics.coordinates(robot.postures["half_sitting"]))
    kinematics.place_bodies()
    ball = ball_among(robot, kinematics)
    head = next(index for index, volume in enumerate(ball.volumes) if volume.owner == "HEAD_LINK1")
    values = []
    for height in (1.8, 2.0):
        ball.placement = pin.SE3(np.eye(3), np.array([0.0, 0.0, height]))
        ball.evaluate(kinematics.rotations, kinematics.origins)
        values.append(ball.values[head])
        assert np.linalg.norm(ball.points_b[head] - ball.placement.translation) == pytest.approx(RADIUS)
    assert values[1] - values[0] == pytest.approx(0.2, abs=0.01)


def test_derivatives_by_finite_differences(robot: Robot) -> None:
    kinematics = RobotKinematics(robot)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    ball = ball_among(robot, kinematics)
    ball.placement = pin.SE3(np.eye(3), np.array([0.45, 0.1, 1.1]))
    task = CollisionTask(ball, np.zeros(len(ball.pairs)))
    x = kinematics.coordinates(robot.postures["half_sitting"])
    state.set(x)
    J = task.jacobian(state).copy()
    step = 1e-6
    for column in range(36):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[column] += sign * step
            state.set(moved)
            values.append(task.value(state).copy())
        assert_allclose(J[:, column], (values[0] - values[1]) / (2 * step), atol=1e-5)
    assert np.abs(J).max() > 0.1


@pytest.mark.feature("001-F094")
def test_the_robot_gives_way_to_a_ball_that_it_looks_at(robot: Robot) -> None:
    """Section 9.1: the ball comes towards the waist; left to itself the robot lets it come nearer than it may."""
    kinematics = RobotKinematics(robot)
    stance = Stance(
        (
            Contact(robot.contacts["left_sole"], GROUND, 0.04, 0.095, 0.0),
            Contact(robot.contacts["right_sole"], GROUND, 0.04, -0.095, 0.0),
        )
    )
    eye = {"link": "HEAD_LINK1", "point": [0.1, 0.0, 0.12], "axis": [1.0, 0.0, 0.0], "distance": 0.3}
    path = np.linspace([0.6, 0.0, 0.95], [0.1, 0.0, 0.75], 16)
    smallest = {}
    for clearance in (None, 0.07):
        ball = ball_among(robot, kinematics)
        ball.clearance = clearance or 0.0
        follow = ReactivePosture(
            robot,
            stance,
            lambda kinematics, place: gaze(kinematics, target=place, **eye),  # type: ignore[arg-type]
            path[0],
            obstacle=None if clearance is None else ball,
        )
        gaps = []
        for place in path:
            result = follow.step(place)
            assert result.success, result.explanation
            kinematics.set(kinematics.coordinates(result.q))
            kinematics.place_bodies()
            ball.placement = pin.SE3(np.eye(3), place)
            ball.evaluate(kinematics.rotations, kinematics.origins)
            gaps.append(ball.values.min())
        smallest[clearance] = min(gaps)
    assert smallest[None] < 0.06
    assert smallest[0.07] > 0.07 - 1e-5
