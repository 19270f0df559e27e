# SPDX-License-Identifier: Apache-2.0
"""Postures and balance on the page."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.urdf import read_urdf
from humanoid_ros.viewer.drawing.contact_drawing import ContactView
from humanoid_ros.viewer.drawing.posture_drawing import (
    FAILED_COLOUR,
    FOUND_COLOUR,
    BalanceDrawing,
    PostureDrawing,
    PostureView,
    centre_of_mass,
    centre_of_pressure,
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
    np.testing.assert_allclose(found._nodes["base"].node.position, [0.3, 0.0, 0.0])
    drawing.update(view(False, x=0.4))
    assert (found.visible, failed.visible) == (False, True)
    np.testing.assert_allclose(failed._nodes["base"].node.position, [0.4, 0.0, 0.0])
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


def contacts_view(position: list, normal_force: list) -> ContactView:
    m = len(position)
    return ContactView(
        position=np.array(position, dtype=float).reshape(m, 3),
        normal=np.tile([0.0, 0.0, 1.0], (m, 1)),
        force=np.column_stack([np.zeros((m, 2)), normal_force]),
        friction=np.full(m, 0.5),
        slipping=np.zeros(m, dtype=bool),
        bodies=(("foot", "floor"),) * m,
    )


def test_centre_of_mass_is_pinocchios(urdf: str) -> None:
    model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    data = model.createData()
    q = pin.integrate(model, pin.neutral(model), np.linspace(-0.7, 0.9, model.nv))
    expected = pin.centerOfMass(model, data, q)
    pin.updateFramePlacements(model, data)
    description = read_urdf(urdf)
    placements = {link: data.oMf[model.getFrameId(link)] for link in description.links}
    np.testing.assert_allclose(centre_of_mass(description, placements), expected, atol=1e-12)


def test_centre_of_mass_needs_every_heavy_link(urdf: str) -> None:
    assert centre_of_mass(read_urdf(urdf), {"base": pin.SE3.Identity()}) is None


def test_centre_of_pressure_is_the_weighted_mean() -> None:
    pressure = centre_of_pressure(contacts_view([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0]], [10, 20, 10]))
    np.testing.assert_allclose(pressure, [0.1, 0.025, 0.0])
    assert centre_of_pressure(contacts_view([[0, 0, 0]], [0.0])) is None
    assert centre_of_pressure(ContactView.empty()) is None


def test_marks_lie_on_the_ground_below(page: Page) -> None:
    drawing = BalanceDrawing(page.server.scene, "r")
    nodes = page.server.scene._handle_from_node_name
    drawing.update(np.array([0.3, -0.1, 0.8]), contacts_view([[0, 0, 0.05], [0.2, 0, 0.05]], [1, 3]))
    np.testing.assert_allclose(nodes["/balance/r/com"].position, [0.3, -0.1, 0.8])
    np.testing.assert_allclose(nodes["/balance/r/com_mark"].position[:2], [0.3, -0.1])
    np.testing.assert_allclose(nodes["/balance/r/pressure_mark"].position[:2], [0.15, 0.0])
    for mark in ("com_mark", "pressure_mark"):
        assert 0.0 < nodes[f"/balance/r/{mark}"].position[2] - 0.05 < 0.01
        assert nodes[f"/balance/r/{mark}"].visible


@pytest.mark.parametrize("com", [None, np.array([0.0, 0.0, 1.0])])
def test_without_contacts_nothing_is_marked_on_the_ground(page: Page, com: np.ndarray | None) -> None:
    drawing = BalanceDrawing(page.server.scene, "r")
    drawing.update(com, ContactView.empty())
    nodes = page.server.scene._handle_from_node_name
    assert nodes["/balance/r/com"].visible == (com is not None)
    assert not nodes["/balance/r/com_mark"].visible
    assert not nodes["/balance/r/pressure_mark"].visible
