# SPDX-License-Identifier: Apache-2.0
"""Camera and lights of a scene as markers: what they say, and back."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("visualization_msgs", reason="ROS 2 is not installed")

from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model import load_scene
from humanoid_model.camera import Camera
from humanoid_model.errors import InputError
from humanoid_model.scene import Light, Scene
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.scene_view import read_view, scene_view

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
