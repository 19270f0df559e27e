# SPDX-License-Identifier: Apache-2.0
"""Cameras that look at a point."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from humanoid_model.sensor import Camera


def test_target_is_in_the_middle_of_an_upright_view() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        eye, target = rng.normal(size=(2, 3))
        camera = Camera.looking_at(eye, target).placement
        assert_allclose(camera.rotation @ camera.rotation.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(camera.rotation) > 0
        # The camera looks along its -z; the world's z is up in the picture, not to the side.
        assert_allclose(camera.actInv(target), [0, 0, -np.linalg.norm(target - eye)], atol=1e-12)
        up = camera.rotation.T @ [0.0, 0.0, 1.0]
        assert abs(up[0]) < 1e-12
        assert up[1] > 0


def test_straight_up_and_down() -> None:
    for height in (-2.0, 2.0):
        camera = Camera.looking_at(np.array([1.0, 1.0, height]), np.array([1.0, 1.0, 0.0])).placement
        assert_allclose(camera.actInv(np.array([1.0, 1.0, 0.0])), [0, 0, -2], atol=1e-12)
        assert_allclose(camera.rotation[:, 1], [0, 1, 0], atol=1e-12)
