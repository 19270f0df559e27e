# SPDX-License-Identifier: Apache-2.0
"""Cones and arrows: heights and lengths proportional to the forces, half-angles atan(mu)."""

import numpy as np
import pytest
import viser
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_ros.viewer.drawing.contact_drawing import (
    THINNER,
    ContactDrawing,
    ContactView,
    rotation_to,
    unit_cone,
)
from humanoid_ros.viewer.page import Page

CONE_SCALE, ARROW_SCALE = 0.002, 0.003


def contacts(force: np.ndarray, friction: float = 0.5, tilt: float = 0.0) -> ContactView:
    """Contacts of one foot in a row, normals tilted about y."""
    m = len(force)
    normal = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    return ContactView(
        position=np.column_stack([np.arange(m), np.zeros(m), np.zeros(m)]).astype(float),
        normal=np.tile(normal, (m, 1)),
        force=np.asarray(force, dtype=float),
        friction=np.full(m, friction),
        slipping=np.zeros(m, dtype=bool),
        bodies=(("hrp2/foot", "floor"),) * m,
    )


def drawn_cones(page: Page) -> np.ndarray:
    """(k, v, 3) world vertices of the cones that are not shrunk to nothing."""
    node = page.server.scene._handle_from_node_name["/contacts/cones"]
    shown = node.batched_scales[:, 2] > 0.0
    out = []
    for wxyz, position, scale in zip(
        node.batched_wxyzs[shown],
        node.batched_positions[shown],
        node.batched_scales[shown],
        strict=True,
    ):
        rotation = viser.transforms.SO3(wxyz.astype(float)).as_matrix()
        out.append((node.vertices * scale) @ rotation.T + position)
    return np.array(out)


def arrows(page: Page, name: str) -> np.ndarray:
    """Starts and ends of all arrows, the thickest first."""
    nodes = page.server.scene._handle_from_node_name
    found = [nodes.get(f"/contacts/{name}/{size}") for size in range(len(THINNER))]
    return np.concatenate([np.zeros((0, 2, 3)), *(node.points for node in found if node is not None)])


@pytest.mark.feature("000-F022")
def test_cone_height_is_proportional_to_normal_force(page: Page) -> None:
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    forces = np.array([[0.0, 0.0, 20.0], [5.0, 0.0, 40.0], [0.0, -3.0, 100.0]])
    drawing.update(contacts(forces))
    height = np.ptp(drawn_cones(page)[:, :, 2], axis=1)
    np.testing.assert_allclose(height, CONE_SCALE * forces[:, 2], rtol=1e-5)
    drawing.update(contacts(2.0 * forces))
    np.testing.assert_allclose(np.ptp(drawn_cones(page)[:, :, 2], axis=1), 2.0 * height, rtol=1e-5)


@pytest.mark.feature("000-F022")
def test_cone_half_angle_is_the_friction_angle_about_the_normal(page: Page) -> None:
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    view = contacts(np.array([[10.0, 0.0, 50.0], [0.0, 0.0, 80.0]]), friction=0.8, tilt=0.4)
    drawing.update(view)
    for vertices, apex, normal in zip(drawn_cones(page), view.position, view.normal, strict=True):
        np.testing.assert_allclose(vertices[0], apex, atol=1e-6)
        rim = vertices[1:] - apex
        cosine = rim @ normal / np.linalg.norm(rim, axis=1)
        np.testing.assert_allclose(np.tan(np.arccos(cosine)), 0.8, rtol=1e-4)


def test_arrows_start_at_contacts_and_show_forces(page: Page) -> None:
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    forces = np.array([[0.0, 0.0, 20.0], [5.0, 0.0, 60.0]])
    drawing.update(contacts(forces))
    points = arrows(page, "forces")
    np.testing.assert_allclose(points[:, 0], [[0, 0, 0], [1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(points[:, 1] - points[:, 0], ARROW_SCALE * forces, atol=1e-6)
    # One resultant for the foot, at the centre of pressure: 60 / 80 of the way.
    resultant = arrows(page, "resultants")
    np.testing.assert_allclose(resultant[:, 0], [[0.75, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(resultant[0, 1] - resultant[0, 0], ARROW_SCALE * forces.sum(axis=0), atol=1e-6)


def test_short_arrows_are_thin_enough_for_their_heads(page: Page) -> None:
    """No head is longer than its arrow, down to 1 N; long arrows keep their thickness."""
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    for force in (300.0, 12.0, 6.0, 3.0):
        drawing.update(contacts(np.array([[0.0, 0.0, force]])))
        nodes = page.server.scene._handle_from_node_name.values()
        (node,) = [node for node in nodes if isinstance(node, viser.ArrowsHandle)]
        length = np.linalg.norm(node.points[0, 1] - node.points[0, 0])
        assert length == pytest.approx(ARROW_SCALE * force, rel=1e-5)
        assert node.head_length < length
        assert (node.shaft_radius == 0.008) == (force == 300.0)


def test_contacts_come_and_go(page: Page) -> None:
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    for count in (1, 8, 50, 3, 0, 2):
        drawing.update(contacts(np.tile([0.0, 0.0, 30.0], (count, 1))))
        shown = page.server.scene._handle_from_node_name.get("/contacts/cones")
        assert count == (0 if shown is None else len(drawn_cones(page)))
        assert len(arrows(page, "forces")) == count


def test_open_contacts_are_not_drawn(page: Page) -> None:
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    drawing.update(contacts(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 30.0]])))
    assert len(drawn_cones(page)) == 1
    assert len(arrows(page, "forces")) == 1


def test_unchanged_contacts_send_nothing(page: Page) -> None:
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    view = contacts(np.tile([0.0, 0.0, 30.0], (4, 1)))
    drawing.update(view)
    cones = page.server.scene._handle_from_node_name["/contacts/cones"]
    sent: list[str] = []
    cones._queue_update = lambda name, value: sent.append(name)  # type: ignore[method-assign]
    drawing.update(view)
    assert sent == []
    drawing.update(contacts(np.tile([0.0, 0.0, 60.0], (4, 1))))
    assert sent != []


def test_hidden_stays_hidden_when_contacts_change(page: Page) -> None:
    drawing = ContactDrawing(page.server.scene, CONE_SCALE, ARROW_SCALE)
    drawing.show_cones = drawing.show_forces = False
    for count in (2, 40):
        drawing.update(contacts(np.tile([0.0, 0.0, 30.0], (count, 1))))
        nodes = page.server.scene._handle_from_node_name
        assert not nodes["/contacts/cones"].visible
        assert not nodes["/contacts/forces/0"].visible


@settings(max_examples=60, deadline=None)
@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_rotation_to_brings_z_onto_any_direction(vector: tuple[float, float, float]) -> None:
    direction = np.array(vector) / np.linalg.norm(vector)
    rotation = viser.transforms.SO3(rotation_to(direction[None])[0])
    np.testing.assert_allclose(rotation @ np.array([0.0, 0.0, 1.0]), direction, atol=1e-6)


def test_rotation_to_straight_down() -> None:
    rotation = viser.transforms.SO3(rotation_to(np.array([[0.0, 0.0, -1.0]]))[0])
    np.testing.assert_allclose(rotation @ np.array([0.0, 0.0, 1.0]), [0.0, 0.0, -1.0], atol=1e-12)


def test_unit_cone_faces_look_outwards() -> None:
    vertices, faces = unit_cone()
    for face in faces:
        a, b, c = vertices[face]
        outward = np.cross(b - a, c - a)
        middle = (a + b + c) / 3.0
        assert outward[:2] @ middle[:2] > 0.0


def test_view_sums_normal_forces_per_body_and_picks_a_robots_contacts() -> None:
    view = ContactView(
        position=np.zeros((3, 3)),
        normal=np.tile([0.0, 0.0, 1.0], (3, 1)),
        force=np.array([[1.0, 0.0, 10.0], [0.0, 0.0, 20.0], [0.0, 0.0, 5.0]]),
        friction=np.full(3, 0.5),
        slipping=np.zeros(3, dtype=bool),
        bodies=(("a/foot", "floor"), ("b/foot", "floor"), ("a/foot", "floor")),
    )
    assert view.normal_force_by_body() == {"a/foot": 15.0, "b/foot": 20.0}
    assert view.of_robot("a").normal_force_by_body() == {"a/foot": 15.0}
    assert len(view.of_robot("c").position) == 0
