# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.depth_images import ball_view
from numpy.testing import assert_allclose

from humanoid_planner.posture.observation.unknown_area import SmoothUnknownArea, unknown_area
from humanoid_planner.posture.observation.voxel_model import PinholeCamera, VoxelModel, VoxelState, look_at

pytestmark = pytest.mark.feature("001-F097")

CENTRE = np.array([0.3, 0.1, 0.9])
CAMERA = PinholeCamera.with_field_of_view(80, 60, np.deg2rad(40))
BALLS = [(CENTRE, 0.08), (CENTRE + np.array([0.0, 0.1, 0.05]), 0.05)]


@pytest.fixture(scope="module")
def seen() -> VoxelModel:
    """An object seen from -x."""
    model = VoxelModel(CENTRE - 0.16, CENTRE + 0.16, 0.01)
    camera = PinholeCamera.with_field_of_view(200, 150, np.deg2rad(40))
    model.carve(ball_view(camera, look_at(CENTRE + np.array([-0.6, 0, 0]), CENTRE), BALLS))
    return model


def around(angle: float, distance: float = 0.6) -> pin.SE3:
    return look_at(CENTRE + distance * np.array([-np.cos(angle), np.sin(angle), 0.2]), CENTRE)


def test_area_of_an_unknown_cube_is_that_of_its_face() -> None:
    """Seen straight on, a cube of edge a whose front is at depth z covers (f a / z)^2 pixels."""
    model = VoxelModel(CENTRE - 0.1, CENTRE + 0.1, 0.02)
    camera = PinholeCamera.with_field_of_view(400, 300, np.deg2rad(40))
    expected = (camera.focal * 0.2 / 0.5) ** 2 / (400 * 300)
    place = look_at(CENTRE + np.array([-0.6, 0, 0]), CENTRE)
    assert unknown_area(model, camera, place) == pytest.approx(expected, rel=0.02)
    # Smoothing widens the silhouette by less than a voxel on either side, so less as they shrink.
    for size in (0.02, 0.005):
        fine = VoxelModel(CENTRE - 0.1, CENTRE + 0.1, size)
        smooth = SmoothUnknownArea(fine, CAMERA).evaluate(place)[0]
        assert expected < smooth < expected * ((0.2 + 2 * size) / 0.2) ** 2


def test_the_first_voxel_decides() -> None:
    """A wall of surface voxels hides what is behind it; an empty one doesn't."""
    place = look_at(CENTRE + np.array([-0.6, 0, 0]), CENTRE)
    areas = []
    for state in (VoxelState.UNKNOWN, VoxelState.SURFACE, VoxelState.EMPTY):
        model = VoxelModel(CENTRE - 0.1, CENTRE + 0.1, 0.01)
        model.states[:10] = state
        areas.append((unknown_area(model, CAMERA, place), SmoothUnknownArea(model, CAMERA).evaluate(place)[0]))
    assert areas[1][0] == 0
    assert areas[1][1] < 1e-4
    assert 0 < areas[2][0] < areas[0][0]
    assert_allclose(areas[2][1], areas[2][0], rtol=0.16)


def test_a_ray_that_starts_inside_or_runs_along_an_axis() -> None:
    model = VoxelModel([0, 0, 0], [1, 1, 1], 0.1)
    one = PinholeCamera(1, 1, 100.0)
    straight = pin.SE3(np.eye(3), np.array([0.55, 0.55, -1.0]))
    assert unknown_area(model, one, straight) == 1.0
    model.states[:] = VoxelState.EMPTY
    assert unknown_area(model, one, straight) == 0.0
    model.states[5, 5, 9] = VoxelState.UNKNOWN
    assert unknown_area(model, one, straight) == 1.0
    inside = pin.SE3(np.eye(3), np.array([0.55, 0.55, 0.5]))
    assert unknown_area(model, one, inside) == 1.0
    model.states[5, 5, 6] = VoxelState.SURFACE
    assert unknown_area(model, one, inside) == 0.0
    beside = pin.SE3(np.eye(3), np.array([0.45, 0.55, 0.5]))
    assert unknown_area(model, one, beside) == 0.0


def test_smooth_area_follows_the_area(seen: VoxelModel) -> None:
    angles = np.linspace(0.3, np.pi, 8)
    smooth = SmoothUnknownArea(seen, CAMERA)
    exact = np.array([unknown_area(seen, CAMERA, around(a)) for a in angles])
    approximate = np.array([smooth.evaluate(around(a))[0] for a in angles])
    assert exact[-1] > 2 * unknown_area(seen, CAMERA, around(0.0))
    assert_allclose(approximate, exact, rtol=0.15)
    assert np.corrcoef(approximate, exact)[0, 1] > 0.99


def test_gradient_by_finite_differences(seen: VoxelModel) -> None:
    """Along all directions of the four vectors, whether or not they make a frame."""
    smooth = SmoothUnknownArea(seen, PinholeCamera.with_field_of_view(40, 30, np.deg2rad(30)))
    for angle in (0.2, 1.0, 2.5):
        place = around(angle)
        area, gradient = smooth.evaluate(place)
        assert area > 0
        assert np.abs(gradient).min() > 0
        step = 1e-6
        for row in range(4):
            for axis in range(3):
                moved = []
                for sign in (1, -1):
                    R, t = place.rotation.copy(), place.translation.copy()
                    if row < 3:
                        R[axis, row] += sign * step
                    else:
                        t[axis] += sign * step
                    moved.append(smooth.evaluate(pin.SE3(R, t))[0])
                assert gradient[row, axis] == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-4, abs=1e-6)


def test_gradient_is_continuous_along_a_path(seen: VoxelModel) -> None:
    """Halving the step halves the largest jump of the directional derivative, across borders of voxels as well."""
    smooth = SmoothUnknownArea(seen, PinholeCamera.with_field_of_view(20, 15, np.deg2rad(30)))
    jumps = []
    for count in (150, 300):
        angles = np.linspace(1.0, 1.04, count + 1)
        gradients = np.array([smooth.evaluate(around(a))[1].ravel() for a in angles])
        jumps.append(np.abs(np.diff(gradients, axis=0)).max())
    assert jumps[1] < 0.6 * jumps[0]
