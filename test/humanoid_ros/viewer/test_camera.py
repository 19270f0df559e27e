# SPDX-License-Identifier: Apache-2.0
"""The camera's projection by hand, and that framing shows all of a thing."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_ros.viewer.camera import Camera


def test_projection_of_a_camera_along_x() -> None:
    camera = Camera(np.array([-2.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), np.pi / 2)
    points = np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0], [-4.0, 0.0, 1.0]])
    pixels = camera.project(points, 400, 200)
    # 90 degrees over 200 rows: at 2 m depth 1 m is 50 px; left is +y, up is +z.
    np.testing.assert_allclose(pixels[0], [200, 100, 2])
    np.testing.assert_allclose(pixels[1], [100, 100, 2])
    np.testing.assert_allclose(pixels[2], [200, 50, 2])
    assert pixels[3, 2] < 0


def test_framing_shows_top_and_bottom_with_a_margin() -> None:
    centre = np.array([3.0, -1.0, 0.8])
    ends = centre + np.array([[0.0, 0.0, -0.8], [0.0, 0.0, 0.8]])
    rows = Camera.framing(centre, 1.6).project(ends, 1600, 900)[:, 1]
    assert 60 < rows.min() < 200
    assert 700 < rows.max() < 840


def test_a_placed_camera_turns_about_what_is_next_to_its_view() -> None:
    """It looks along +x from the origin; what lies behind it leaves the point a metre ahead."""
    along_x = pin.SE3(np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.zeros(3))
    for centre, at in (([3.0, 0.5, 1.0], 3.0), ([-2.0, 0.0, 0.0], 1.0)):
        camera = Camera.placed(along_x, np.array(centre))
        np.testing.assert_allclose(camera.look_at, [at, 0.0, 0.0], atol=1e-12)
        np.testing.assert_array_equal(camera.up, [0.0, 0.0, 1.0])
    upside_down = Camera.placed(along_x * pin.SE3(pin.utils.rotate("z", np.pi), np.zeros(3)), np.array([3.0, 0.0, 0.0]))
    np.testing.assert_allclose(upside_down.up, [0.0, 0.0, -1.0], atol=1e-12)
    ((column, row, _),) = upside_down.project(np.array([[3.0, 0.0, 0.5]]), 400, 200)
    assert column == 200.0
    assert row > 100.0  # what is up is below


@pytest.mark.feature("002-F143")
def test_the_right_eye_is_beside_the_left_and_looks_the_same_way() -> None:
    left = Camera(np.array([3.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    right = left.right_eye
    np.testing.assert_allclose(right.position - left.position, [0.0, 0.1, 0.0], atol=1e-12)  # seen from +x, y is right
    np.testing.assert_allclose(right.look_at - right.position, left.look_at - left.position)
    # What is nearer than what is looked at is further left for the right eye: a larger disparity.
    near, far = (left.project(p, 100, 100)[0] - right.project(p, 100, 100)[0] for p in ([1.0, 0, 1], [-3.0, 0, 1]))
    assert near > far > 0.0
