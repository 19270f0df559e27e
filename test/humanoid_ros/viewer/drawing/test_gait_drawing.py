# SPDX-License-Identifier: Apache-2.0
"""A gait on the page: figures along the way, one that walks, arrows in the forces' direction, footprints."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_ros.viewer.drawing.gait_drawing import GaitDrawing, GaitView
from humanoid_ros.viewer.page import Page

TIMES = np.array([0.0, 0.5, 0.5, 1.0])


def view() -> GaitView:
    """A point hip and two tips of feet that slide along; the second foot presses in the second half only."""
    points = np.zeros((4, 3, 3))
    points[:, 0] = np.stack([TIMES, np.full(4, 0.05), np.full(4, 0.8)], axis=1)
    points[:, 1, 0], points[:, 2, 0] = TIMES - 0.1, TIMES + 0.1
    points[:, 2, 1] = 0.2
    forces = np.zeros((4, 2, 3))
    forces[:2, 0], forces[2:, 1] = (10.0, 0.0, 100.0), (-10.0, 20.0, 200.0)
    colours = np.array([[10, 20, 30], [40, 50, 60]])
    prints = [np.array([[0.0, 0.1, 0.0], [0.2, 0.1, 0.0], [0.2, 0.3, 0.0], [0.0, 0.3, 0.0]])]
    return GaitView(TIMES, points, np.array([[0, 1], [0, 2]]), colours, points[:, 1:], forces, prints)


@pytest.fixture
def drawing(page: Page) -> GaitDrawing:
    drawing = GaitDrawing(page.server.scene, "/gait", 0.001, figures=3)
    drawing.set(view())
    return drawing


def lines(drawing: GaitDrawing, name: str) -> np.ndarray:
    return np.asarray(drawing._nodes[name].points)


def test_the_figure_walks(drawing: GaitDrawing) -> None:
    np.testing.assert_allclose(lines(drawing, "figure")[0], [[0.0, 0.05, 0.8], [-0.1, 0.0, 0.0]], atol=1e-6)
    drawing.update(0.7)
    np.testing.assert_allclose(lines(drawing, "figure")[1], [[0.5, 0.05, 0.8], [0.6, 0.2, 0.0]], atol=1e-6)
    drawing.update(9.0)
    np.testing.assert_allclose(lines(drawing, "figure")[0, 0], [1.0, 0.05, 0.8], atol=1e-6)
    np.testing.assert_array_equal(drawing._nodes["figure"].colors[:, 0], [[10, 20, 30], [40, 50, 60]])


def test_arrows_are_the_forces(drawing: GaitDrawing) -> None:
    shaft = lines(drawing, "figure_forces")[0]
    np.testing.assert_allclose(shaft, [[-0.1, 0.0, 0.0], [-0.09, 0.0, 0.1]], atol=1e-6)
    drawing.update(0.6)
    arrows = lines(drawing, "figure_forces")
    assert len(arrows) == 2 * 3  # shaft and head
    np.testing.assert_allclose(arrows[3, 1] - arrows[3, 0], [-0.01, 0.02, 0.2], atol=1e-6)
    np.testing.assert_array_equal(arrows[:3, 0], arrows[:3, 1])  # the first foot is in the air


def test_the_way_has_its_figures_and_footprints(drawing: GaitDrawing) -> None:
    strip = lines(drawing, "strip")
    assert len(strip) == 3 * 2
    np.testing.assert_allclose(strip[::2, 0, 0], [0.0, 0.5, 1.0], atol=1e-6)
    prints = lines(drawing, "footprints")
    np.testing.assert_allclose(prints[:, 0, 1], [0.1, 0.1, 0.3, 0.3], atol=1e-6)
    assert (prints[:, :, 2] > 0.0).all()  # above the ground
    extent = drawing.extent()
    assert extent is not None
    np.testing.assert_allclose(extent, [[-0.1, 0.0, 0.0], [1.1, 0.2, 0.8]])


def test_parts_are_hidden_and_shown(drawing: GaitDrawing) -> None:
    drawing.walks, drawing.forces = False, False
    drawing.update(0.0)
    shown = {name: node.visible for name, node in drawing._nodes.items()}
    assert shown == {"figure": False, "figure_forces": False, "strip": True, "strip_forces": False, "footprints": True}
    drawing.walks, drawing.forces, drawing.strip = True, True, False
    drawing.update(0.0)
    assert drawing._nodes["figure_forces"].visible
    assert not drawing._nodes["strip"].visible
    drawing.sticks = False
    drawing.update(0.0)
    assert not drawing._nodes["figure"].visible
    assert drawing._nodes["figure_forces"].visible
    drawing.remove()
    assert not drawing._nodes
    assert drawing.extent() is None
