# SPDX-License-Identifier: Apache-2.0
"""Markers of deformed soles: where the surface is, how it is coloured, and what the page makes of them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("visualization_msgs", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.errors import InputError
from humanoid_ros.simulator.simulation_markers import RAMP, SoleMarkers
from humanoid_ros.viewer.drawing.drawn_messages import coloured_meshes
from humanoid_sim import Simulation


@pytest.fixture(scope="module")
def standing() -> Simulation:
    simulation = Simulation("soft_soles")
    simulation.run(0.2)
    return simulation


@pytest.mark.feature("000-F023")
def test_the_surface_is_where_its_nodes_touch(standing: Simulation) -> None:
    """Points under load are on the floor z = 0, through the link's placement; magnified they are below it."""
    markers = SoleMarkers(1.0, 1e-4)
    (body, sole), *_ = standing.soles.items()
    message = markers.update({body: sole}, Time(sec=3))
    (marker,) = message.markers
    assert (marker.type, marker.header.frame_id, marker.header.stamp.sec) == (Marker.TRIANGLE_LIST, body, 3)
    assert len(marker.points) == len(marker.colors) == 3 * len(sole.triangles)
    corners = np.array([[point.x, point.y, point.z] for point in marker.points])
    world = np.array([standing.placement(body).act(corner) for corner in corners])
    assert abs(world[:, 2].min()) < 1e-6
    np.testing.assert_allclose(corners[:3], sole.deformed_mesh()[0][sole.triangles[0]], atol=1e-15)

    markers.magnification = 100.0
    larger = markers.update({body: sole}, Time()).markers[0]
    moved = np.array([[point.x, point.y, point.z] for point in larger.points])
    at_rest = sole.vertices[sole.triangles.reshape(-1)]
    np.testing.assert_allclose(moved - at_rest, 100.0 * (corners - at_rest), atol=1e-12)


def test_colours_tell_the_displacement(standing: Simulation) -> None:
    sole = next(iter(standing.soles.values()))
    colours = SoleMarkers(1.0, 0.5 * sole.max_displacement).colours(sole)
    moved = np.zeros(len(sole.vertices))
    moved[: sole.free] = np.linalg.norm(sole.U.reshape(-1, 3), axis=1)
    np.testing.assert_allclose(colours[moved == 0.0], np.tile(RAMP[0], ((moved == 0.0).sum(), 1)))
    np.testing.assert_allclose(colours[np.argmax(moved)], RAMP[-1])
    third = int(np.argmin(np.abs(moved - sole.max_displacement / 6.0)))
    expected = 6.0 * moved[third] / sole.max_displacement  # in steps of the ramp
    low = int(expected)
    np.testing.assert_allclose(colours[third], RAMP[low] + (expected - low) * (RAMP[low + 1] - RAMP[low]))


def test_soles_that_are_gone_are_deleted(standing: Simulation) -> None:
    markers = SoleMarkers(1.0, 1e-4)
    assert [m.action for m in markers.update(standing.soles, Time()).markers] == [Marker.ADD, Marker.ADD]
    assert [(m.id, m.action) for m in markers.update({}, Time()).markers] == [(0, Marker.DELETE), (1, Marker.DELETE)]
    assert markers.update({}, Time()).markers == []


def test_the_page_reads_them(standing: Simulation) -> None:
    message = SoleMarkers(1.0, 1e-4).update(standing.soles, Time())
    meshes = coloured_meshes(message)
    assert list(meshes) == ["soles/0", "soles/1"]
    sole = next(iter(standing.soles.values()))
    np.testing.assert_allclose(meshes["soles/0"].triangles, sole.deformed_mesh()[0][sole.triangles])
    assert meshes["soles/0"].colours.shape == (len(sole.triangles), 3)
    message.markers[1].points[5].y = float("nan")
    with pytest.raises(InputError, match="soles/1: a number is none"):
        coloured_meshes(message)
    broken = Marker(type=Marker.TRIANGLE_LIST, points=message.markers[0].points[:4])
    with pytest.raises(InputError, match="TRIANGLE_LIST of 4 points and 0 colours"):
        coloured_meshes(MarkerArray(markers=[broken]))
