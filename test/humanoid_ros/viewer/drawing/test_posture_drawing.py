# SPDX-License-Identifier: Apache-2.0
"""The translucent second robot and what is drawn with it."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.urdf import read_urdf
from humanoid_ros.viewer.drawing.contact_drawing import ContactView
from humanoid_ros.viewer.drawing.posture_drawing import (
    FAILED_COLOUR,
    FOUND_COLOUR,
    PostureDrawing,
    PostureView,
    painted,
)
from humanoid_ros.viewer.page import Page

SQUARE = np.array([[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [1.0, 1.0, 0.1], [0.0, 1.0, 0.1]])


@pytest.fixture
def drawing(page: Page, urdf: str) -> PostureDrawing:
    page.server.scene.add_frame("/posture", show_axes=False)
    return PostureDrawing(page.server.scene, "/posture", read_urdf(urdf), 1e-3, 1e-3)


def view(found: bool = True, polygon: np.ndarray = SQUARE, x: float = 0.0) -> PostureView:
    contacts = ContactView(
        np.array([[x, 0.0, 0.0]]),
        np.array([[0.0, 0.0, 1.0]]),
        np.array([[0.0, 0.0, 40.0]]),
        np.array([0.5]),
        np.array([False]),
        (("two_links/base", "floor"),),
    )
    placements = {"base": pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])), "arm": pin.SE3.Identity()}
    return PostureView(placements, contacts, np.array([x, 0.0, 0.5]), polygon, found)


def test_all_shapes_are_painted(urdf: str) -> None:
    description = read_urdf(urdf)
    ghost = painted(description, FOUND_COLOUR)
    assert [len(link.visuals) for link in ghost.links.values()] == [2, 1, 0]
    for link in ghost.links.values():
        for visual in link.visuals:
            np.testing.assert_array_equal(visual.colour, FOUND_COLOUR)
    assert not np.array_equal(FOUND_COLOUR, FAILED_COLOUR)
    assert all(0.0 < colour[3] < 1.0 for colour in (FOUND_COLOUR, FAILED_COLOUR))


def test_the_ghost_is_green_or_red_and_where_the_posture_is(drawing: PostureDrawing) -> None:
    found, failed = drawing._ghosts[True], drawing._ghosts[False]
    assert not found.visible
    drawing.update(view(True, x=0.3))
    assert (found.visible, failed.visible) == (True, False)
    np.testing.assert_allclose(found._nodes["base"].position, [0.3, 0.0, 0.0])
    drawing.update(view(False, x=0.4))
    assert (found.visible, failed.visible) == (False, True)
    np.testing.assert_allclose(failed._nodes["base"].position, [0.4, 0.0, 0.0])
    drawing.update(None)
    assert not found.visible
    assert not failed.visible


def test_forces_polygon_and_centre_go_with_it(drawing: PostureDrawing) -> None:
    drawing.update(view())
    assert drawing._contacts._forces.count > 0
    assert drawing._balance.visible
    assert drawing._polygon is not None
    first = drawing._polygon
    assert first.points.shape == (4, 2, 3)
    np.testing.assert_allclose(first.points[3], SQUARE[[3, 0]] + np.array([0.0, 0.0, 4e-3]), atol=1e-6)
    drawing.update(view(polygon=SQUARE + 1.0))
    assert drawing._polygon is first
    drawing.update(view(polygon=SQUARE[:3]))
    assert drawing._polygon.points.shape == (3, 2, 3)
    drawing.update(view(polygon=np.zeros((0, 3))))
    assert drawing._polygon is None
    drawing.update(None)
    assert drawing._contacts._forces.count == 0
    assert not drawing._balance.visible
