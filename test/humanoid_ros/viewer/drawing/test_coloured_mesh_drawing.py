# SPDX-License-Identifier: Apache-2.0
"""Deformed meshes are split by colour, follow their frames, and are sent only when they change."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import viser

from humanoid_ros.viewer.drawing.coloured_mesh_drawing import ColouredMesh, ColouredMeshDrawing
from humanoid_ros.viewer.page import Page

SQUARE = np.array([[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]], dtype=float)
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def parts(page: Page) -> dict[tuple[int, ...], viser.MeshHandle]:
    nodes = page.server.scene._handle_from_node_name.values()
    return {tuple(node.color): node for node in nodes if isinstance(node, viser.MeshHandle) and node.visible}


@pytest.mark.feature("000-F023")
def test_each_colour_has_its_triangles(page: Page) -> None:
    drawing = ColouredMeshDrawing(page.server.scene)
    drawing.set({"sole": ColouredMesh("foot", SQUARE, np.array([RED, BLUE]))})
    drawn = parts(page)
    assert set(drawn) == {(255, 0, 0), (0, 0, 255)}
    np.testing.assert_allclose(drawn[255, 0, 0].vertices, SQUARE[0])
    np.testing.assert_allclose(drawn[0, 0, 255].vertices, SQUARE[1])

    drawing.set({"sole": ColouredMesh("foot", SQUARE + 0.1, np.array([BLUE, BLUE]))})
    drawn = parts(page)
    assert set(drawn) == {(0, 0, 255)}
    np.testing.assert_allclose(drawn[0, 0, 255].vertices, (SQUARE + 0.1).reshape(-1, 3), rtol=1e-6)
    assert drawn[0, 0, 255].faces.shape == (2, 3)


def test_what_hardly_changes_is_not_sent_again(page: Page) -> None:
    drawing = ColouredMeshDrawing(page.server.scene)
    drawing.set({"sole": ColouredMesh("foot", SQUARE, np.array([RED, RED]))})
    for shift, sent in ((1e-6, 0.0), (1.9e-6, 0.0), (3e-6, 3e-6)):  # from what was sent last, not from step to step
        drawing.set({"sole": ColouredMesh("foot", SQUARE + shift, np.array([RED, RED]))})
        np.testing.assert_allclose(parts(page)[255, 0, 0].vertices, (SQUARE + sent).reshape(-1, 3), atol=1e-7)


def test_it_follows_its_frame_and_goes(page: Page) -> None:
    drawing = ColouredMeshDrawing(page.server.scene)
    drawing.set({"sole": ColouredMesh("foot", SQUARE, np.array([RED, RED]))})
    placement = pin.SE3.Random()
    drawing.update({"foot": placement}.get)
    frames = [n for name, n in page.server.scene._handle_from_node_name.items() if name.count("/") == 2]
    frame = next(node for node in frames if isinstance(node, viser.FrameHandle) and node.name.startswith("/soles/"))
    np.testing.assert_allclose(frame.position, placement.translation)
    assert frame.visible
    drawing.update(lambda name: None)
    assert not frame.visible
    drawing.set({})
    assert len(drawing) == 0
    assert not parts(page)
