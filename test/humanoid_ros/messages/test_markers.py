# SPDX-License-Identifier: Apache-2.0
"""Markers of scenes, cameras and lights, and shapes of markers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("visualization_msgs", reason="ROS 2 is not installed")
pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Vector3
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model import load_scene
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Geometry, HalfSpace, Mesh, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.scene import Light, Scene, SceneBody
from humanoid_model.sensor import Camera
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.markers import (
    GROUND_THICKNESS,
    read_view,
    scene_markers,
    scene_view,
    take_obstacles,
)

SHIFT = pin.SE3(pin.utils.rotate("x", 0.5), np.array([1.0, 2.0, 3.0]))
LOCAL = pin.SE3(pin.utils.rotate("z", 0.3), np.array([0.0, 0.1, 0.0]))
COLOUR = (0.1, 0.2, 0.3, 0.4)


def markers(shape: Shape, *, moves: bool) -> list[Marker]:
    body = SceneBody(
        name="thing",
        label="a thing",
        mass=1.0,
        com=np.zeros(3),
        inertia=np.eye(3),
        placement_world_body=SHIFT,
        twist=np.zeros(6),
        geometries=(Geometry("g", shape, LOCAL, COLOUR),),
    )
    message = scene_markers(Scene(name="s", bodies=(body,)), "world", {"thing"} if moves else set())
    assert message.markers[0].action == Marker.DELETEALL
    return list(message.markers[1:])


@pytest.mark.parametrize(
    ("shape", "kinds", "scale"),
    [
        (Box(np.array([1.0, 2.0, 3.0])), [Marker.CUBE], [1.0, 2.0, 3.0]),
        (Sphere(0.5), [Marker.SPHERE], [1.0, 1.0, 1.0]),
        (Cylinder(0.5, 2.0), [Marker.CYLINDER], [1.0, 1.0, 2.0]),
        (Ellipsoid(np.array([0.5, 1.0, 1.5])), [Marker.SPHERE], [1.0, 2.0, 3.0]),
        (Capsule(0.5, 2.0), [Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE], [1.0, 1.0, 2.0]),
        (Mesh(Path("/some/where/it is.stl"), np.array([2.0, 2.0, 2.0])), [Marker.MESH_RESOURCE], [2.0] * 3),
    ],
)
@pytest.mark.parametrize("moves", [False, True])
def test_shapes(shape: Shape, kinds: list[int], scale: list[float], moves: bool) -> None:
    drawn = markers(shape, moves=moves)
    assert [marker.type for marker in drawn] == kinds
    assert len({marker.id for marker in drawn}) == len(kinds)
    first = drawn[0]
    assert [first.scale.x, first.scale.y, first.scale.z] == scale
    expected = LOCAL if moves else SHIFT * LOCAL
    np.testing.assert_allclose(placement(first.pose, "pose").homogeneous, expected.homogeneous, atol=1e-12)
    assert (first.header.frame_id, first.frame_locked) == ("thing" if moves else "world", moves)
    assert (first.color.r, first.color.a) == (pytest.approx(0.1), pytest.approx(0.4))
    assert first.ns == "thing"
    if isinstance(shape, Mesh):
        assert first.mesh_resource == "file:///some/where/it%20is.stl"


def test_capsule_has_its_caps_at_the_ends() -> None:
    caps = markers(Capsule(0.5, 2.0), moves=True)[1:]
    for cap, z in zip(caps, (-1.0, 1.0), strict=True):
        np.testing.assert_allclose(placement(cap.pose, "pose").translation, LOCAL.act(np.array([0.0, 0.0, z])))


def test_half_space_has_its_upper_face_in_the_plane() -> None:
    plate = markers(HalfSpace(), moves=False)[0]
    top = placement(plate.pose, "pose").act(np.array([0.0, 0.0, 0.5 * GROUND_THICKNESS]))
    np.testing.assert_allclose(top, (SHIFT * LOCAL).translation, atol=1e-12)


SAMPLE = (
    Light(np.array([0.5, 0.5, 0.1, 0.0]), np.array([0.15, 0.15, 0.25, 1]), np.array([0.95, 0.95, 1, 1]), np.ones(4)),
    Light(np.array([0.0, -5.0, 3.0, 2.0]), np.array([0.2, 0.2, 0.6, 1]), np.array([0.825, 0.66, 0.165, 1]), np.ones(4)),
)


@pytest.mark.feature("000-F013")
def test_lights_and_camera_come_back() -> None:
    """The specification's sample lights, the second made a point; a light's w becomes 1, a direction's length 1."""
    camera = Camera(pin.SE3.Random())
    told = scene_view(Scene("view", (), (), camera=camera, lights=SAMPLE), "world")
    assert told.markers[0].action == Marker.DELETEALL
    assert all(marker.header.frame_id == "world" for marker in told.markers)
    found, lights = read_view(told)
    assert found is not None
    assert_allclose(found.placement.homogeneous, camera.placement.homogeneous, atol=1e-12)
    length = np.sqrt(0.51)
    assert_allclose(lights[0].position, [0.5 / length, 0.5 / length, 0.1 / length, 0.0], atol=1e-12)
    assert_allclose(lights[1].position, [0.0, -2.5, 1.5, 1.0])
    for light, given in zip(lights, SAMPLE, strict=True):
        for name in ("ambient", "diffuse", "specular"):
            assert_allclose(getattr(light, name), getattr(given, name), atol=1e-6)  # colours are of 32 bits


def test_the_camera_is_an_arrow_along_what_it_sees() -> None:
    scene = load_scene("stand")
    (arrow,) = (marker for marker in scene_view(scene, "world").markers if marker.ns == "camera")
    place = placement(arrow.pose, "camera")
    view = np.array([0.0, 0.0, 0.75]) - np.array([2.6, -1.6, 1.3])
    assert arrow.type == Marker.ARROW
    assert_allclose(place.rotation[:, 0], view / np.linalg.norm(view), atol=1e-9)
    assert place.rotation[2, 2] > 0.9  # z is up
    assert_allclose(place.translation, [2.6, -1.6, 1.3])


def test_nothing_told_is_nothing() -> None:
    assert read_view(scene_view(Scene("view", (), ()), "world")) == (None, ())


def test_what_cannot_be_is_refused() -> None:
    told = scene_view(Scene("view", (), (), lights=SAMPLE), "world")
    with pytest.raises(InputError, match="light 0 has no ambient, specular"):
        read_view(MarkerArray(markers=[marker for marker in told.markers if (marker.ns, marker.id) == ("diffuse", 0)]))
    told.markers[1].pose.position.x = np.nan
    with pytest.raises(InputError, match="scene_view: ambient/0"):
        read_view(told)


def marker(number: int, kind: int, *scale: float, ns: str = "room") -> Marker:
    made = Marker(ns=ns, id=number, type=kind, scale=Vector3(x=scale[0], y=scale[1], z=scale[2]))
    made.header.frame_id = "world"
    return made


@pytest.mark.feature("002-F148")
def test_obstacles_are_shapes_in_the_world_that_come_move_and_go() -> None:
    obstacles: dict[str, tuple[Shape, pin.SE3]] = {}
    ball, post = marker(1, Marker.SPHERE, 0.4, 0.4, 0.4), marker(2, Marker.CYLINDER, 0.2, 0.2, 1.5)
    crate = marker(1, Marker.CUBE, 0.1, 0.2, 0.3, ns="store")
    crate.pose.position.z, crate.pose.orientation.w, crate.pose.orientation.z = 0.5, 0.0, 2.0  # made a unit one
    assert take_obstacles(MarkerArray(markers=[ball, post, crate]), obstacles, "world") == []
    egg = marker(1, Marker.SPHERE, 0.2, 0.4, 0.6, ns="egg")
    assert take_obstacles(MarkerArray(markers=[egg]), eggs := {}, "world") == []
    assert eggs["egg/1"][0] == Ellipsoid(np.array([0.1, 0.2, 0.3]))
    kinds = {name: type(shape) for name, (shape, _) in obstacles.items()}
    assert kinds == {"room/1": Sphere, "room/2": Cylinder, "store/1": Box}
    assert obstacles["room/1"][0].radius == 0.2
    np.testing.assert_allclose(obstacles["store/1"][1].rotation, np.diag([-1.0, -1.0, 1.0]), atol=1e-12)
    ball.pose.position.x = 3.0
    gone = Marker(ns="room", id=2, action=Marker.DELETE)
    assert take_obstacles(MarkerArray(markers=[ball, gone]), obstacles, "world") == []
    assert obstacles["room/1"][1].translation[0] == 3.0
    assert set(obstacles) == {"room/1", "store/1"}
    take_obstacles(MarkerArray(markers=[Marker(ns="room", action=Marker.DELETEALL)]), obstacles, "world")
    assert set(obstacles) == {"store/1"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"type": Marker.POINTS}, "no solid shape"), ({"frame": "hand"}, "frame 'hand'"), ({"z": np.nan}, "nan")],
)
def test_what_can_not_be_an_obstacle_is_told_and_the_others_are(changes: dict, words: str) -> None:
    bad, good = marker(1, Marker.CUBE, 1.0, 1.0, 1.0), marker(2, Marker.CUBE, 1.0, 1.0, 1.0)
    bad.type = changes.get("type", bad.type)
    bad.header.frame_id = changes.get("frame", "world")
    bad.pose.position.z = changes.get("z", 0.0)
    obstacles: dict[str, tuple[Shape, pin.SE3]] = {}
    (problem,) = take_obstacles(MarkerArray(markers=[bad, good]), obstacles, "world")
    assert words in problem
    assert "marker room/1" in problem
    assert list(obstacles) == ["room/2"]
