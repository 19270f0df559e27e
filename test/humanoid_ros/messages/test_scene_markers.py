# SPDX-License-Identifier: Apache-2.0
"""Markers of a scene with every shape there is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("visualization_msgs", reason="ROS 2 is not installed")

from visualization_msgs.msg import Marker

from humanoid_model import Scene
from humanoid_model.description import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HalfSpace,
    Mesh,
    Shape,
    Sphere,
)
from humanoid_model.scene import SceneBody
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.scene_markers import GROUND_THICKNESS, scene_markers

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
