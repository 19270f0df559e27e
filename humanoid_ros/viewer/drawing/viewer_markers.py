# SPDX-License-Identifier: Apache-2.0
"""Markers of visualization_msgs as items of the embedded view."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.description import Shape
from humanoid_model.errors import InputError
from humanoid_model.shape_triangles import Triangles
from humanoid_ros.messages.marker_shapes import marker_name, marker_placement, marker_shape
from humanoid_ros.viewer.drawing.coloured_mesh_drawing import ColouredMesh
from humanoid_ros.viewer.drawing.scene_drawing import SceneDrawing, SceneItem
from humanoid_ros.viewer.drawing.trace_drawing import TraceLine


def draw_markers(drawing: SceneDrawing, message: MarkerArray) -> list[str]:
    """Add, change and delete items as the markers say.

    Args:
        drawing: Where the ground and bodies are drawn.
        message: Markers, with the actions ADD, DELETE and DELETEALL.

    Returns:
        One message per marker that couldn't be drawn.
    """
    problems = []
    for marker in message.markers:
        key: Hashable = (marker.ns, marker.id)
        if marker.action == Marker.DELETEALL:
            for drawn in drawing.keys:
                if not marker.ns or drawn[0] == marker.ns:  # type: ignore[index]
                    drawing.remove(drawn)
        elif marker.action == Marker.DELETE:
            drawing.remove(key)
        else:
            try:
                drawing.set(key, scene_item(marker))
            except InputError as error:
                problems.append(str(error))
    return problems


def scene_item(marker: Marker) -> SceneItem:
    """Return a marker's shape, colour and place.

    Raises:
        InputError: A number is not finite, or the marker is of a type that isn't a solid shape.
    """
    placement = marker_placement(marker)
    colour = np.array([marker.color.r, marker.color.g, marker.color.b, marker.color.a])
    shape: Shape | Triangles
    if marker.type == Marker.TRIANGLE_LIST:
        points = np.array([[point.x, point.y, point.z] for point in marker.points])
        if len(points) == 0 or len(points) % 3:
            raise InputError(
                f"TRIANGLE_LIST of {len(points)} points", element=marker_name(marker), remedy="Give three each"
            )
        scale = np.array([marker.scale.x, marker.scale.y, marker.scale.z])
        shape = Triangles(points * scale, np.arange(len(points)).reshape(-1, 3))
    else:
        shape = marker_shape(marker)
    return SceneItem(marker.header.frame_id, placement, shape, colour)


def coloured_meshes(message: MarkerArray) -> dict[str, ColouredMesh]:
    """Return meshes of triangle lists with a colour per corner; markers of other kinds are left out.

    Raises:
        InputError: A number is not finite, or points and colours don't fit together.
    """
    meshes = {}
    for marker in message.markers:
        if marker.action != Marker.ADD or marker.type != Marker.TRIANGLE_LIST:
            continue
        name = f"{marker.ns}/{marker.id}"
        corners = np.array([(point.x, point.y, point.z) for point in marker.points]).reshape(-1, 3)
        colours = np.array([(colour.r, colour.g, colour.b) for colour in marker.colors]).reshape(-1, 3)
        if len(corners) == 0 or len(corners) % 3 or len(colours) != len(corners):
            raise InputError(
                f"TRIANGLE_LIST of {len(corners)} points and {len(colours)} colours",
                element=f"marker {name}",
                remedy="Give three points to a triangle and a colour to each",
            )
        if not (np.isfinite(corners).all() and np.isfinite(colours).all()):
            raise InputError("points or colours are not finite", element=f"marker {name}")
        meshes[name] = ColouredMesh(
            marker.header.frame_id, corners.reshape(-1, 3, 3), colours.reshape(-1, 3, 3).mean(axis=1)
        )
    return meshes


def trace_lines(message: MarkerArray) -> dict[str, TraceLine]:
    """Return lines of line strips; those with numbers that are not finite are left out."""
    lines = {}
    for marker in message.markers:
        positions = np.array([(point.x, point.y, point.z) for point in marker.points]).reshape(-1, 3)
        if marker.type == Marker.LINE_STRIP and len(positions) > 1 and np.isfinite(positions).all():
            lines[f"{marker.ns}/{marker.id}"] = TraceLine(positions, (marker.color.r, marker.color.g, marker.color.b))
    return lines
