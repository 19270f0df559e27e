# SPDX-License-Identifier: Apache-2.0
"""The camera's projection by hand, and that framing shows all of a thing."""

import numpy as np

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
