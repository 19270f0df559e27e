# SPDX-License-Identifier: Apache-2.0
"""Markers become shapes of the library."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Vector3  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from humanoid_model.description import Box, Cylinder, Ellipsoid, Shape, Sphere  # noqa: E402
from humanoid_ros.messages.marker_shapes import take_obstacles  # noqa: E402


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
