# SPDX-License-Identifier: Apache-2.0
"""Markers become items of the view; unusable ones are named and left out."""

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Point
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.description import Box, Cylinder, Mesh, Sphere
from humanoid_model.errors import InputError
from humanoid_model.shape_triangles import Triangles
from humanoid_ros.viewer.drawing.drawn_messages import draw_markers, scene_item
from humanoid_ros.viewer.drawing.scene_drawing import SceneDrawing
from humanoid_ros.viewer.page import Page


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page(port=0)
    yield page
    page.close()


def marker(kind: int, scale: tuple[float, float, float], **fields: object) -> Marker:
    out = Marker(ns="floor", id=1, type=kind, **fields)
    out.header.frame_id = "world"
    out.pose.orientation.w = 1.0
    out.scale.x, out.scale.y, out.scale.z = scale
    out.color.r = out.color.a = 1.0
    return out


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        (marker(Marker.CUBE, (1.0, 2.0, 3.0)), Box(np.array([1.0, 2.0, 3.0]))),
        (marker(Marker.SPHERE, (0.4, 0.4, 0.4)), Sphere(0.2)),
        (marker(Marker.CYLINDER, (0.4, 0.4, 1.0)), Cylinder(0.2, 1.0)),
    ],
)
def test_shape_and_size(given: Marker, shape: object) -> None:
    item = scene_item(given)
    assert item.shape == shape
    assert item.frame == "world"
    np.testing.assert_array_equal(item.colour, [1.0, 0.0, 0.0, 1.0])


def test_pose_with_a_quaternion_that_is_not_normalised() -> None:
    given = marker(Marker.CUBE, (1.0, 1.0, 1.0))
    given.pose.position.z = 0.5
    given.pose.orientation.z = 1.0  # with w = 1: a quarter turn, length sqrt(2)
    placement = scene_item(given).placement
    np.testing.assert_allclose(placement.rotation @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(placement.translation, [0.0, 0.0, 0.5])


def test_triangle_list_is_scaled() -> None:
    given = marker(Marker.TRIANGLE_LIST, (2.0, 1.0, 1.0))
    given.points = [Point(), Point(x=1.0), Point(y=1.0)]
    shape = scene_item(given).shape
    assert isinstance(shape, Triangles)
    np.testing.assert_array_equal(shape.vertices[1], [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(shape.faces, [[0, 1, 2]])


def test_mesh_resource_by_file_address(tmp_path: object) -> None:
    path = tmp_path / "a mesh.obj"  # type: ignore[operator]
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    given = marker(Marker.MESH_RESOURCE, (1.0, 1.0, 1.0), mesh_resource=path.as_uri())
    shape = scene_item(given).shape
    assert isinstance(shape, Mesh)
    assert shape.path == path.resolve()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (marker(Marker.CUBE, (float("nan"), 1.0, 1.0)), "nan"),
        (marker(Marker.CYLINDER, (0.4, 0.5, 0.4)), "no solid shape"),
        (marker(Marker.TEXT_VIEW_FACING, (1.0, 1.0, 1.0)), "no solid shape"),
        (marker(Marker.TRIANGLE_LIST, (1.0, 1.0, 1.0)), "0 points"),
        (
            marker(Marker.MESH_RESOURCE, (1.0, 1.0, 1.0), mesh_resource="file:///no.stl"),
            "not found",
        ),
    ],
)
def test_unusable_marker_is_named(given: Marker, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        scene_item(given)
    assert "marker floor/1" in str(caught.value)


def test_actions_add_delete_and_delete_all(page: Page) -> None:
    drawing = SceneDrawing(page.server.scene)
    first, second, third = (marker(Marker.CUBE, (1.0, 1.0, 1.0)) for _ in range(3))
    second.id = 2
    third.ns = "box"
    assert draw_markers(drawing, MarkerArray(markers=[first, second, third])) == []
    assert len(drawing) == 3
    draw_markers(drawing, MarkerArray(markers=[Marker(ns="floor", id=2, action=Marker.DELETE)]))
    assert drawing.keys == [("floor", 1), ("box", 1)]
    draw_markers(drawing, MarkerArray(markers=[Marker(ns="floor", action=Marker.DELETEALL)]))
    assert drawing.keys == [("box", 1)]
    draw_markers(drawing, MarkerArray(markers=[Marker(action=Marker.DELETEALL), second]))
    assert drawing.keys == [("floor", 2)]


def test_bad_marker_does_not_keep_the_others_from_being_drawn(page: Page) -> None:
    drawing = SceneDrawing(page.server.scene)
    bad, good = marker(Marker.TEXT_VIEW_FACING, (1.0, 1.0, 1.0)), marker(Marker.CUBE, (1.0,) * 3)
    assert len(draw_markers(drawing, MarkerArray(markers=[bad, good]))) == 1
    assert len(drawing) == 1
