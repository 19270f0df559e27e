# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.depth_images import ball_view
from numpy.testing import assert_allclose

from humanoid_model import InputError, Robot, Surface, load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.observation.next_best_view import (
    MountedCamera,
    NextBestView,
    SlidingFeet,
    UnknownArea,
    ViewSearch,
    next_best_view,
)
from humanoid_planner.posture.observation.unknown_area import unknown_area
from humanoid_planner.posture.observation.voxel_model import PinholeCamera, VoxelModel, VoxelState, look_at
from humanoid_planner.posture.tasks.state import ForceModel, PostureState

pytestmark = pytest.mark.feature("001-F049")

GROUND = Surface("ground", "world", pin.SE3.Identity())
CENTRE = np.array([0.9, 0.0, 1.0])
# A torso with a head and an arm that sticks out to one side, away from the first view.
FIGURE = [
    (CENTRE, 0.07),
    (CENTRE + np.array([0.0, 0.0, 0.09]), 0.04),
    (CENTRE + np.array([0.08, 0.05, 0.02]), 0.03),
    (CENTRE + np.array([0.11, 0.07, 0.03]), 0.025),
]
CAMERA = MountedCamera(
    PinholeCamera.with_field_of_view(160, 120, np.deg2rad(45)),
    "HEAD_LINK1",
    pin.SE3(np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]]), np.array([0.1, 0.0, 0.12])),
)
FEET = SlidingFeet(GROUND, "left_sole", "right_sole")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


def seen_once() -> VoxelModel:
    """The figure after a view from the robot's side, as after the first iteration of Fig. 3.13."""
    model = VoxelModel(CENTRE - 0.15, CENTRE + 0.15, 0.01)
    model.carve(ball_view(CAMERA.camera, look_at(CENTRE + np.array([-0.6, 0, 0.1]), CENTRE), FIGURE))
    return model


@pytest.fixture(scope="module")
def view(robot: Robot) -> NextBestView:
    return next_best_view(robot, FEET, CAMERA, seen_once(), ViewSearch(tries=2))


def test_gradient_by_finite_differences(robot: Robot) -> None:
    kinematics = RobotKinematics(robot)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    criterion = UnknownArea(seen_once(), CAMERA)
    x = kinematics.coordinates(robot.postures["half_sitting"])
    x[kinematics.names.index("HEAD_JOINT1")] = 0.25
    x[kinematics.names.index("CHEST_JOINT0")] = 0.1
    state.set(x)
    assert criterion.value(state) < -0.05
    gradient = criterion.gradient(state)
    step = 1e-6
    for column in range(36):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[column] += sign * step
            state.set(moved)
            values.append(criterion.value(state))
        assert gradient[column] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-3, abs=1e-6)
    assert np.count_nonzero(np.abs(gradient) > 1e-6) >= 10


@pytest.mark.feature("001-F097", "001-F257")
def test_more_of_the_unknown_is_seen(robot: Robot, view: NextBestView) -> None:
    """X05."""
    model = seen_once()
    assert view.result.success
    first = unknown_area(model, CAMERA.camera, look_at(CENTRE + np.array([-0.6, 0, 0.1]), CENTRE))
    assert view.area > 1.5 * first
    again, other = seen_once(), seen_once()
    gained = again.carve(ball_view(CAMERA.camera, view.placement_world_camera, FIGURE))
    repeated = other.carve(ball_view(CAMERA.camera, look_at(CENTRE + np.array([-0.6, 0, 0.1]), CENTRE), FIGURE))
    assert repeated == 0
    assert gained > 0.3 * model.count(VoxelState.UNKNOWN)


@pytest.mark.feature("001-F097")
def test_the_best_of_several_views_is_taken(robot: Robot, view: NextBestView) -> None:
    """Of the two first, the second one leads to more of the unknown, although its start shows less."""
    alone = next_best_view(robot, FEET, CAMERA, seen_once(), ViewSearch(tries=1))
    assert alone.result.success
    assert view.started_from < alone.started_from
    assert view.area > alone.area


def test_posture_stands_and_looks(robot: Robot, view: NextBestView) -> None:
    """Feet flat on the ground, the centre of mass above the line between them (F099), the object in the image."""
    model, q = robot.model, view.result.q
    data = model.createData()
    G = pin.centerOfMass(model, data, q)[:2]
    pin.forwardKinematics(model, data, q)
    middles = []
    for name in (FEET.first, FEET.second):
        location = robot.contacts[name]
        place = robot.parts.links[location.link]
        patch = data.oMi[place.joint_id] * place.placement_joint_link * location.placement_link_patch
        assert patch.translation[2] == pytest.approx(0.0, abs=1e-5)
        assert_allclose(patch.rotation[:, 2], [0, 0, 1], atol=1e-5)
        middles.append(patch.translation[:2])
    along = middles[1] - middles[0]
    length = np.linalg.norm(along)
    offset = G - middles[0]
    assert along[0] * offset[1] - along[1] * offset[0] == pytest.approx(0.0, abs=1e-5 * length)
    assert 0 <= offset @ along <= length**2
    place = robot.parts.links[CAMERA.link]
    seen = data.oMi[place.joint_id] * place.placement_joint_link * CAMERA.placement_link_camera
    assert_allclose(seen.homogeneous, view.placement_world_camera.homogeneous, atol=1e-9)
    local = seen.actInv(CENTRE)
    half_angle = np.arctan(60 / CAMERA.camera.focal)
    assert np.arctan2(np.linalg.norm(local[:2]), local[2]) < 0.5 * half_angle + 1e-5
    assert np.linalg.norm(local) > seen_once().bounding_ball[1] / np.sin(half_angle) - 1e-5


def test_maximising_beats_where_it_started(robot: Robot) -> None:
    """From one view beside the best one, the criterion alone leads to more unknown than is seen there."""
    model = seen_once()
    worst = next_best_view(robot, FEET, CAMERA, model, ViewSearch(azimuths=1, heights=[1.15], tries=1))
    assert worst.result.success
    assert worst.tried == 1
    assert worst.area > worst.started_from


def test_bad_input_is_refused(robot: Robot) -> None:
    model = seen_once()
    with pytest.raises(InputError, match="azimuths"):
        ViewSearch(azimuths=0)
    with pytest.raises(InputError, match="there is no contact location 'sole'"):
        next_best_view(robot, SlidingFeet(GROUND, "sole", "right_sole"), CAMERA, model)
