# SPDX-License-Identifier: Apache-2.0
"""Messages as what the embedded view draws: markers of visualization_msgs and contact forces."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from humanoid_stack.msg import ContactForce, ContactForces
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.description import Shape
from humanoid_model.errors import InputError
from humanoid_model.scene import Light
from humanoid_model.sensor import Camera
from humanoid_model.shape_triangles import Triangles
from humanoid_ros.messages.markers import marker_name, marker_placement, marker_shape, read_view
from humanoid_ros.viewer.drawing.contact_drawing import ContactView
from humanoid_ros.viewer.drawing.scene_drawing import ColouredMesh, SceneDrawing, SceneItem, TraceLine
from humanoid_ros.viewer.drawing.shapes import LARGEST, drawable, drawable_rows


def contact_view(message: ContactForces) -> ContactView:
    """Return contacts of a message as arrays; those with a number that can't be drawn are left out."""
    rows = np.array([_numbers(contact) for contact in message.contacts]).reshape(-1, 10)
    good = drawable_rows(rows)
    contacts, rows = [contact for contact, fits in zip(message.contacts, good, strict=True) if fits], rows[good]
    return ContactView(
        position=rows[:, :3],
        normal=rows[:, 3:6],
        force=rows[:, 6:9],
        friction=rows[:, 9],
        slipping=np.array([contact.state == ContactForce.SLIP for contact in contacts], dtype=bool),
        bodies=tuple((contact.body_a, contact.body_b) for contact in contacts),
    )


def _numbers(contact: ContactForce) -> tuple[float, ...]:
    """Return position, normal, force and friction."""
    p, n, f = contact.position, contact.normal, contact.force
    return p.x, p.y, p.z, n.x, n.y, n.z, f.x, f.y, f.z, contact.friction


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
        InputError: A number can't be drawn, or the marker is of a type that isn't a solid shape.
    """
    placement = marker_placement(marker)
    colour = np.array([marker.color.r, marker.color.g, marker.color.b, marker.color.a])
    scale = np.array([marker.scale.x, marker.scale.y, marker.scale.z])
    _check(marker_name(marker), placement.translation, scale, colour, _points(marker))
    shape: Shape | Triangles
    if marker.type == Marker.TRIANGLE_LIST:
        points = _points(marker)
        if len(points) == 0 or len(points) % 3:
            raise InputError(
                f"TRIANGLE_LIST of {len(points)} points", element=marker_name(marker), remedy="Give three each"
            )
        shape = Triangles(points * scale, np.arange(len(points)).reshape(-1, 3))
    else:
        shape = marker_shape(marker)
    return SceneItem(marker.header.frame_id, placement, shape, np.clip(colour, 0.0, 1.0))


def coloured_meshes(message: MarkerArray) -> dict[str, ColouredMesh]:
    """Return meshes of triangle lists with a colour per corner; markers of other kinds are left out.

    Raises:
        InputError: A number can't be drawn, or points and colours don't fit together.
    """
    meshes = {}
    for marker in message.markers:
        if marker.action != Marker.ADD or marker.type != Marker.TRIANGLE_LIST:
            continue
        name = f"{marker.ns}/{marker.id}"
        corners = _points(marker)
        colours = np.array([(colour.r, colour.g, colour.b) for colour in marker.colors]).reshape(-1, 3)
        if len(corners) == 0 or len(corners) % 3 or len(colours) != len(corners):
            raise InputError(
                f"TRIANGLE_LIST of {len(corners)} points and {len(colours)} colours",
                element=f"marker {name}",
                remedy="Give three points to a triangle and a colour to each",
            )
        _check(marker_name(marker), corners, colours)
        meshes[name] = ColouredMesh(
            marker.header.frame_id, corners.reshape(-1, 3, 3), colours.reshape(-1, 3, 3).mean(axis=1)
        )
    return meshes


def trace_lines(message: MarkerArray) -> dict[str, TraceLine]:
    """Return lines of line strips; those with numbers that can't be drawn are left out."""
    lines = {}
    for marker in message.markers:
        positions, colour = _points(marker), (marker.color.r, marker.color.g, marker.color.b)
        if marker.type == Marker.LINE_STRIP and len(positions) > 1 and drawable(positions) and drawable(colour):
            lines[f"{marker.ns}/{marker.id}"] = TraceLine(positions, colour)
    return lines


def viewed(message: MarkerArray) -> tuple[Camera | None, tuple[Light, ...]]:
    """Return camera and lights that a scene's view tells.

    Raises:
        InputError: a number can't be drawn, or a light lacks a colour.
    """
    camera, lights = read_view(message)
    if camera is not None:
        _check("scene_view: camera", camera.placement.translation)
    for index, light in enumerate(lights):
        _check(f"scene_view: light {index}", light.position, light.ambient, light.diffuse)
    return camera, lights


def _points(marker: Marker) -> np.ndarray:
    """(n, 3) points of a marker in its frame [m]."""
    return np.array([(point.x, point.y, point.z) for point in marker.points]).reshape(-1, 3)


def _check(name: str, *numbers: np.ndarray) -> None:
    if not all(drawable(some) for some in numbers):
        raise InputError(
            f"a number is none, or beyond {LARGEST:.0e}", element=name, remedy="Give one that can be drawn"
        )
