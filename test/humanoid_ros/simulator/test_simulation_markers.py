# SPDX-License-Identifier: Apache-2.0
"""Markers of contacts; those of a running node are in test_simulator_node.py."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("visualization_msgs", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.messages.conversions import stamp
from humanoid_ros.simulator.simulation_markers import CONES, FORCES, POINTS, STATE_COLOURS, SimulationMarkers
from humanoid_sim.stepping.contacts import Contacts, ContactState


def contacts(normal_forces: list[float], friction: float = 0.5) -> Contacts:
    """Contacts whose normals are x, pushed along x and a little along y."""
    m = len(normal_forces)
    force = np.zeros((m, 3))
    force[:, 0] = normal_forces
    force[:, 1] = 0.1 * np.array(normal_forces)
    return Contacts(
        position=np.arange(3.0 * m).reshape(m, 3),
        normal=np.tile([1.0, 0.0, 0.0], (m, 1)),
        force=force,
        torque=np.zeros_like(force),
        gap=np.zeros(m),
        velocity=np.zeros((m, 3)),
        friction=np.full(m, friction),
        state=np.full(m, int(ContactState.SLIP)),
        bodies=[("a", "b")] * m,
    )


def shown(markers: SimulationMarkers, contacts: Contacts, time: Time) -> MarkerArray:
    return deserialize_message(markers.update(contacts, time), MarkerArray)


def of(message: MarkerArray, namespace: str, action: int = Marker.ADD) -> list[Marker]:
    return [m for m in message.markers if m.ns == namespace and m.action == action]


def test_cone_and_arrow_of_each_loaded_contact() -> None:
    markers = SimulationMarkers("world", cone_scale=0.01, arrow_scale=0.02)
    message = shown(markers, contacts([10.0, 0.0, 40.0]), stamp(1.5))
    cones, arrows = of(message, CONES), of(message, FORCES)
    assert [cone.scale.z for cone in cones] == pytest.approx([0.1, 0.4])
    # Half-angle atan(mu): the width at the open end is 2 mu times the height.
    assert [cone.scale.y for cone in cones] == pytest.approx([0.1, 0.4])
    assert [(c.points[1].x, c.points[0].x - c.points[1].x) for c in cones] == [
        (0.0, pytest.approx(0.1)),
        (6.0, pytest.approx(0.4)),
    ]
    assert arrows[0].points[1].x - arrows[0].points[0].x == pytest.approx(0.2)
    assert arrows[0].points[1].y - arrows[0].points[0].y == pytest.approx(0.02)
    expected, colour = STATE_COLOURS[ContactState.SLIP], arrows[0].color
    assert (colour.r, colour.g, colour.b) == pytest.approx((expected.r, expected.g, expected.b))
    assert len(of(message, POINTS)[0].points) == 3
    for marker in message.markers:
        assert (marker.header.frame_id, marker.header.stamp.nanosec) == ("world", 500_000_000)


def test_what_is_gone_is_deleted_once() -> None:
    markers = SimulationMarkers("world", 0.01, 0.02)
    shown(markers, contacts([1.0, 2.0, 3.0]), stamp(0.0))
    message = shown(markers, contacts([1.0]), stamp(0.1))
    assert [m.id for m in of(message, CONES, Marker.DELETE)] == [1, 2]
    assert [m.id for m in of(message, FORCES, Marker.DELETE)] == [1, 2]
    message = shown(markers, Contacts.none(), stamp(0.2))
    assert [m.id for m in of(message, CONES, Marker.DELETE)] == [0]
    assert len(of(message, POINTS, Marker.DELETE)) == 1
    assert of(shown(markers, Contacts.none(), stamp(0.3)), CONES, Marker.DELETE) == []


def test_without_friction_the_cone_is_a_spike() -> None:
    markers = SimulationMarkers("world", 0.01, 0.02)
    cone = of(shown(markers, contacts([10.0], friction=0.0), stamp(0.0)), CONES)[0]
    assert cone.scale.y == pytest.approx(0.01)
