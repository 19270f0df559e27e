# SPDX-License-Identifier: Apache-2.0
"""Marks have the size, shape, colour, transparency and texture that they are given, all at once."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_ros.viewer.mechanisms.mark_drawing import BOX, CHECKS, CONE, DARK, STRIPES, Mark, MarkDrawing
from humanoid_ros.viewer.page import Page

RED = np.array([1.0, 0.2, 0.0])


def mark(**look: object) -> Mark:
    return Mark(pin.SE3.Identity(), np.array([0.1, 0.2, 0.3]), RED, **look)  # type: ignore[arg-type]


def area(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


@pytest.mark.feature("002-F163")
def test_marks_of_a_shape_are_one_node_and_a_texture_has_light_and_dark_fields(page: Page) -> None:
    drawing = MarkDrawing(page.server.scene, "/marks")
    drawing.update([mark(), mark(opacity=0.7), mark(shape=BOX, texture=STRIPES)])
    (plain,), (light, dark) = drawing._kinds["sphere", "plain"], drawing._kinds[BOX, STRIPES]
    np.testing.assert_allclose(plain.node.batched_opacities, [0.4, 0.7])
    np.testing.assert_allclose(plain.node.batched_scales, [[0.1, 0.2, 0.3]] * 2)
    np.testing.assert_array_equal(light.node.batched_colors, [[255, 51, 0]])
    np.testing.assert_array_equal(dark.node.batched_colors, [np.round(255.0 * DARK * RED)])
    fields = [area(batch.node.vertices, batch.node.faces) for batch in (light, dark)]
    assert sum(fields) == 24.0  # of a box with half axes of 1, whose faces are all there once
    assert min(fields) > 6.0
    assert np.abs(light.node.vertices).max() == 1.0


@pytest.mark.feature("002-F163")
def test_a_shape_is_its_own_and_goes_when_no_mark_has_it(page: Page) -> None:
    drawing = MarkDrawing(page.server.scene, "/marks")
    drawing.update([mark(shape=CONE, texture=CHECKS)])
    (light, _) = drawing._kinds[CONE, CHECKS]
    vertices = np.vstack([batch.node.vertices for batch in drawing._kinds[CONE, CHECKS]])
    np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [[-1] * 3, [1] * 3], atol=1e-6)
    np.testing.assert_allclose(vertices[vertices[:, 2] > 0.999], [[0.0, 0.0, 1.0]] * 2, atol=1e-6)
    drawing.update([mark(shape="unheard of")])
    assert light.node is None
    assert list(drawing._kinds) == [("sphere", "plain")]
