# SPDX-License-Identifier: Apache-2.0
"""Markers of the ways that traced bodies took."""

from __future__ import annotations

import colorsys

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_sim.recording.path_trace import PathTrace

WIDTH = 0.006
"""Of the lines [m]."""


class DrawnTrace(PathTrace):
    """Ways that are there to be drawn only: they begin anew where the simulation jumps, and saved states have none."""

    def save(self) -> object:
        """Nothing: a trace decides nothing."""
        return None

    def restore(self, state: object) -> None:
        """Begin anew."""
        self.clear()


def trace_markers(trace: PathTrace | None, world: str, time: Time) -> MarkerArray:
    """Return a line strip per trace, namespace and text its name; the first marker deletes what was drawn before.

    Args:
        trace: the ways; None for none.
        world: name of the world frame.
        time: simulated time.
    """
    message = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
    message.markers[0].header.frame_id = world
    names = () if trace is None else trace.names
    for number, name in enumerate(names):
        assert trace is not None
        positions = trace[name].positions
        if len(positions) < 2:
            continue
        marker = Marker(ns=name, id=0, type=Marker.LINE_STRIP, action=Marker.ADD, text=name)
        marker.header.frame_id, marker.header.stamp = world, time
        marker.pose.orientation.w = 1.0
        marker.scale.x = WIDTH
        red, green, blue = colorsys.hsv_to_rgb((0.08 + 0.31 * number) % 1.0, 0.85, 0.85)
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=1.0)
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in positions.tolist()]
        message.markers.append(marker)
    return message
