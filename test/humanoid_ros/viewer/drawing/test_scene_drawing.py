# SPDX-License-Identifier: Apache-2.0
"""Scene items follow their frames, and are made anew only when their look changes."""

import numpy as np
import pinocchio as pin
import pytest
import viser

from humanoid_model.description import Box, Sphere
from humanoid_model.errors import InputError
from humanoid_ros.viewer.drawing.scene_drawing import SceneDrawing, SceneItem
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
