# SPDX-License-Identifier: Apache-2.0
"""Scenes on the page: bodies, deformed meshes, traces."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import viser

from humanoid_model.description import Box, Sphere
from humanoid_model.errors import InputError
from humanoid_ros.viewer.drawing.scene_drawing import (
    ColouredMesh,
    ColouredMeshDrawing,
    SceneDrawing,
    SceneItem,
    TraceDrawing,
    TraceLine,
)
from humanoid_ros.viewer.page import Page

RED = np.array([1.0, 0.0, 0.0, 1.0])


def item(frame: str = "world", size: float = 0.1, placement: pin.SE3 | None = None) -> SceneItem:
    return SceneItem(frame, placement or pin.SE3.Identity(), Box(np.full(3, size)), RED)


def frames(page: Page) -> list[viser.FrameHandle]:
    nodes = page.server.scene._handle_from_node_name
    return [node for name, node in nodes.items() if isinstance(node, viser.FrameHandle) and name.startswith("/scene/")]


def test_item_is_drawn_at_frame_times_placement(page: Page) -> None:
    drawing = SceneDrawing(page.server.scene)
    body, offset = pin.SE3.Random(), pin.SE3.Random()
    drawing.set(("box", 0), item("box", placement=offset))
    drawing.update({"box": body}.get)
    (node,) = frames(page)
    np.testing.assert_allclose(node.position, (body * offset).translation)
    assert node.visible


def test_item_of_an_unknown_frame_is_hidden(page: Page) -> None:
    drawing = SceneDrawing(page.server.scene)
    drawing.set(1, item("box"))
    drawing.update(lambda frame: pin.SE3.Identity())
    drawing.update(lambda frame: None)
    assert not frames(page)[0].visible


def test_same_look_moves_and_other_look_replaces(page: Page) -> None:
    drawing = SceneDrawing(page.server.scene)
    drawing.set(1, item())
    (first,) = frames(page)
    drawing.set(1, item(placement=pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0]))))
    drawing.update(lambda frame: pin.SE3.Identity())
    assert frames(page) == [first]
    assert first.position[2] == 1.0
    drawing.set(1, item(size=0.2))
    (second,) = frames(page)
    assert second is not first
    assert len(drawing) == 1


@pytest.mark.parametrize(
    ("size", "height", "tilt", "level"),
    [
        ((4.0, 4.0, 0.2), -0.1, 0.0, True),
        ((4.0, 4.0, 0.2), 0.1, 0.0, False),  # its top is at 0.2 m
        ((4.0, 4.0, 0.2), -0.1, 0.2, False),  # a slope
        ((0.4, 0.4, 0.2), -0.1, 0.0, False),  # a stepping stone
    ],
)
def test_level_ground(page: Page, size: tuple[float, float, float], height: float, tilt: float, level: bool) -> None:
    drawing = SceneDrawing(page.server.scene)
    placement = pin.SE3(pin.utils.rotate("y", tilt), np.array([0.0, 0.0, height]))
    drawing.set(1, SceneItem("world", placement, Box(np.array(size)), RED))
    assert drawing.has_level_ground("world") == level
    assert not drawing.has_level_ground("another frame")


def test_remove_and_bad_shape_leave_no_node(page: Page) -> None:
    drawing = SceneDrawing(page.server.scene)
    drawing.set(1, item())
    drawing.set(2, SceneItem("world", pin.SE3.Identity(), Sphere(0.1), RED))
    drawing.remove(1)
    drawing.remove("never there")
    assert drawing.keys == [2]
    with pytest.raises(InputError):
        drawing.set(3, SceneItem("world", pin.SE3.Identity(), None, RED))  # type: ignore[arg-type]
    assert len(frames(page)) == 1


def test_extent_is_of_everything_but_endless_ground(page: Page) -> None:
    drawing = SceneDrawing(page.server.scene)
    assert drawing.extent({}.get) is None
    drawing.set("ground", SceneItem("world", pin.SE3.Identity(), Box(np.array([20.0, 20.0, 0.02])), RED))
    drawing.set("box", item("box", 0.2))
    drawing.set("lost", item("nowhere", 5.0))
    assert drawing.frames() == ["world", "box", "nowhere"]
    places = {"world": pin.SE3.Identity(), "box": pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0]))}
    extent = drawing.extent(places.get)
    assert extent is not None
    np.testing.assert_allclose(extent, [[0.9, 1.9, 2.9], [1.1, 2.1, 3.1]])


SQUARE = np.array([[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]], dtype=float)
CRIMSON, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def parts(page: Page) -> dict[tuple[int, ...], viser.MeshHandle]:
    nodes = page.server.scene._handle_from_node_name.values()
    return {tuple(node.color): node for node in nodes if isinstance(node, viser.MeshHandle) and node.visible}


@pytest.mark.feature("000-F023")
def test_each_colour_has_its_triangles(page: Page) -> None:
    drawing = ColouredMeshDrawing(page.server.scene)
    drawing.set({"sole": ColouredMesh("foot", SQUARE, np.array([CRIMSON, BLUE]))})
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
    drawing.set({"sole": ColouredMesh("foot", SQUARE, np.array([CRIMSON, CRIMSON]))})
    for shift, sent in ((1e-6, 0.0), (1.9e-6, 0.0), (3e-6, 3e-6)):  # from what was sent last, not from step to step
        drawing.set({"sole": ColouredMesh("foot", SQUARE + shift, np.array([CRIMSON, CRIMSON]))})
        np.testing.assert_allclose(parts(page)[255, 0, 0].vertices, (SQUARE + sent).reshape(-1, 3), atol=1e-7)


def test_it_follows_its_frame_and_goes(page: Page) -> None:
    drawing = ColouredMeshDrawing(page.server.scene)
    drawing.set({"sole": ColouredMesh("foot", SQUARE, np.array([CRIMSON, CRIMSON]))})
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


WAY = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [2.0, 1.0, 0.5]])


def lines(page: Page) -> list[viser.LineSegmentsHandle]:
    return [n for n in page.server.scene._handle_from_node_name.values() if isinstance(n, viser.LineSegmentsHandle)]


def test_a_line_grows_and_goes(page: Page) -> None:
    drawing = TraceDrawing(page.server.scene)
    drawing.set({"hand": TraceLine(WAY[:2], (1.0, 0.5, 0.0))})
    (line,) = lines(page)
    np.testing.assert_allclose(line.points, [WAY[:2]])
    np.testing.assert_array_equal(line.colors[0, 0], [255, 128, 0])
    drawing.set({"hand": TraceLine(WAY, (1.0, 0.5, 0.0)), "foot": TraceLine(WAY - 1.0, (0.0, 0.0, 1.0))})
    assert lines(page)[0] is line
    np.testing.assert_allclose(line.points, [WAY[:2], WAY[1:]])
    assert line.colors.shape == (2, 2, 3)
    drawing.set({"foot": TraceLine(WAY - 1.0, (0.0, 0.0, 1.0))})
    (left,) = lines(page)
    np.testing.assert_allclose(left.points[0, 0], WAY[0] - 1.0)
    drawing.visible = False
    assert not drawing.visible
