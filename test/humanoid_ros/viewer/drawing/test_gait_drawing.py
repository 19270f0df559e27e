# SPDX-License-Identifier: Apache-2.0
"""A gait on the page: the way of the base, arrows in the forces' direction, footprints."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_ros.viewer.drawing.gait_drawing import GaitDrawing, GaitView
from humanoid_ros.viewer.page import Page

TIMES = np.array([0.0, 0.5, 0.6, 1.0])


def view() -> GaitView:
    """A base and two soles that slide along; the second sole presses in the second half only."""
    way = np.stack([TIMES, np.full(4, 0.05), np.full(4, 0.8)], axis=1)
    at, forces = np.zeros((2, 4, 2, 3))
    at[:, 0, 0], at[:, 1, 0], at[:, 1, 1] = TIMES - 0.1, TIMES + 0.1, 0.2
    forces[:2, 0], forces[2:, 1] = (10.0, 0.0, 100.0), (-10.0, 20.0, 200.0)
    prints = [np.array([[0.0, 0.1, 0.0], [0.2, 0.1, 0.0], [0.2, 0.3, 0.0], [0.0, 0.3, 0.0]])]
    return GaitView(TIMES, way, at, forces, prints)


@pytest.fixture
def drawing(page: Page) -> GaitDrawing:
    drawing = GaitDrawing(page.server.scene, "/gait", 0.001)
    drawing.set(view())
    return drawing


def lines(drawing: GaitDrawing, name: str) -> np.ndarray:
    return np.asarray(drawing._nodes[name].points)


def test_samples_are_the_last_ones() -> None:
    assert [view().sample(time) for time in (-1.0, 0.0, 0.55, 0.6, 9.0)] == [0, 0, 1, 2, 3]
    assert view().duration == 1.0
    np.testing.assert_allclose(view().extent, [[0.0, 0.05, 0.0], [1.0, 0.3, 0.8]])


def test_arrows_are_the_forces(drawing: GaitDrawing) -> None:
    shaft = lines(drawing, "forces")[0]
    np.testing.assert_allclose(shaft, [[-0.1, 0.0, 0.0], [-0.09, 0.0, 0.1]], atol=1e-6)
    drawing.update(0.7)
    arrows = lines(drawing, "forces")
    assert len(arrows) == 2 * 3  # shaft and head
    np.testing.assert_allclose(arrows[3, 1] - arrows[3, 0], [-0.01, 0.02, 0.2], atol=1e-6)
    np.testing.assert_array_equal(arrows[:3, 0], arrows[:3, 1])  # the first foot is in the air


def test_the_way_and_its_footprints(drawing: GaitDrawing) -> None:
    way = lines(drawing, "way")
    np.testing.assert_allclose(way[:, 0, 0], TIMES[:-1], atol=1e-6)
    np.testing.assert_allclose(way[:, 1, 0], TIMES[1:], atol=1e-6)
    prints = lines(drawing, "footprints")
    np.testing.assert_allclose(prints[:, 0, 1], [0.1, 0.1, 0.3, 0.3], atol=1e-6)
    assert (prints[:, :, 2] > 0.0).all()  # above the ground


def test_parts_are_hidden_and_shown(drawing: GaitDrawing) -> None:
    drawing.forces = False
    drawing.update(0.0)
    assert {name: node.visible for name, node in drawing._nodes.items()} == {
        "way": True, "footprints": True, "forces": False
    }  # fmt: skip
    drawing.forces, drawing.visible = True, False
    drawing.update(0.0)
    assert not any(node.visible for node in drawing._nodes.values())
    drawing.visible = True
    drawing.update(0.0)
    assert all(node.visible for node in drawing._nodes.values())
