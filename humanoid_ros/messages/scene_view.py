# SPDX-License-Identifier: Apache-2.0
"""Camera and lights of a scene as markers, and back.

The camera is an arrow along what it sees, with its own up as z. A light has a marker for each of its colours, in the
namespaces ``ambient``, ``diffuse`` and ``specular``, numbered: a ball where it is, or an arrow towards it if it is
infinitely far away.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.camera import Camera
from humanoid_model.errors import InputError
from humanoid_model.scene import Light, Scene
from humanoid_ros.messages.conversions import fill_pose, fill_vector, placement

CAMERA = "camera"
COLOURS = ("ambient", "diffuse", "specular")
_ARROW_OF_VIEW = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
"""Axes of an arrow (x along it, z up) in those of a camera (looking along -z, y up), as columns."""


def scene_view(scene: Scene, world: str) -> MarkerArray:
    """Return what tells the camera and the lights of a scene; the first marker deletes what was told before.

    Args:
        scene: the scene.
        world: name of the world frame.
    """
    message = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
    if scene.camera is not None:
        arrow = pin.SE3(scene.camera.placement.rotation @ _ARROW_OF_VIEW, scene.camera.placement.translation)
        message.markers.append(_marker(CAMERA, 0, Marker.ARROW, arrow, np.array([0.5, 0.5, 0.5, 1.0])))
    for number, light in enumerate(scene.lights):
        xyz, w = light.position[:3], float(light.position[3])
        if w == 0.0:
            kind, place = Marker.ARROW, pin.SE3(pin.Quaternion.FromTwoVectors(np.eye(3)[0], xyz).matrix(), np.zeros(3))
        else:
            kind, place = Marker.SPHERE, pin.SE3(np.eye(3), xyz / w)
        for name in COLOURS:
            message.markers.append(_marker(name, number, kind, place, getattr(light, name)))
    for marker in message.markers:
        marker.header.frame_id = world
    return message


def read_view(message: MarkerArray) -> tuple[Camera | None, tuple[Light, ...]]:
    """Camera and lights that :func:`scene_view` told; the position of a light has w = 1, or 0 and unit length.

    Raises:
        InputError: a number is not finite, a quaternion is not of unit length, or a light lacks a colour.
    """
    camera: Camera | None = None
    colours: dict[int, dict[str, np.ndarray]] = {}
    positions: dict[int, np.ndarray] = {}
    for marker in message.markers:
        if marker.action != Marker.ADD:
            continue
        place = placement(marker.pose, f"scene_view: {marker.ns}/{marker.id}")
        if marker.ns == CAMERA:
            camera = Camera(pin.SE3(place.rotation @ _ARROW_OF_VIEW.T, place.translation))
        elif marker.ns in COLOURS:
            far = marker.type == Marker.ARROW
            positions[marker.id] = np.append(place.rotation[:, 0] if far else place.translation, 0.0 if far else 1.0)
            colour = np.array([marker.color.r, marker.color.g, marker.color.b, marker.color.a])
            colours.setdefault(marker.id, {})[marker.ns] = colour
    for number, own in colours.items():
        if len(own) < len(COLOURS):
            missing = ", ".join(name for name in COLOURS if name not in own)
            raise InputError(f"light {number} has no {missing}", element="scene_view", remedy="Give all its colours")
    return camera, tuple(Light(positions[number], **colours[number]) for number in sorted(colours))


def _marker(name: str, number: int, kind: int, place: pin.SE3, colour: np.ndarray) -> Marker:
    marker = Marker(ns=name, id=number, type=kind, action=Marker.ADD)
    fill_pose(marker.pose, place)
    fill_vector(marker.scale, (0.3, 0.03, 0.03) if kind == Marker.ARROW else (0.1, 0.1, 0.1))
    r, g, b, a = (float(value) for value in colour)
    marker.color = ColorRGBA(r=r, g=g, b=b, a=a)
    return marker
