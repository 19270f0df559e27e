# SPDX-License-Identifier: Apache-2.0
"""Markers of visualization_msgs: forces, ground and bodies of a scene, its camera and lights; and shapes of markers.

A force is an arrow, with a friction cone as high as the normal force is large. The camera is an arrow along what it
sees, with its own up as z. A light has a marker for each of its colours, in the namespaces ``ambient``, ``diffuse`` and
``specular``, numbered: a ball where it is, or an arrow towards it if it is infinitely far away.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.description import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HalfSpace,
    HeightField,
    Mesh,
    Shape,
    Sphere,
)
from humanoid_model.errors import InputError
from humanoid_model.files import resolve_mesh_path
from humanoid_model.height_field import grid_triangles
from humanoid_model.scene import Light, Scene
from humanoid_model.sensor import Camera
from humanoid_ros.messages.conversions import fill_pose, fill_vector, placement, point
from humanoid_ros.node.requested_files import requested_reading

CONE_COLOUR = ColorRGBA(r=0.85, g=0.05, b=0.05, a=0.6)
SHAFT = 0.008
"""Diameter of a force arrow's shaft [m]."""


def cone_numbers(
    tips: NDArray[np.float64], normals: NDArray[np.float64], heights: NDArray[np.float64], friction: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what :func:`write_cone` needs of friction cones (specification 000 §1.7, F022).

    A cone is all head: its tip is the contact point, its axis the normal, its half-angle atan(friction).

    Args:
        tips: contact points [m], shape (n, 3).
        normals: unit, shape (n, 3).
        heights: of the cones [m], shape (n,).
        friction: coefficients [-], shape (n,).

    Returns:
        Shape (n, 8).
    """
    # A frictionless contact keeps a thin spike.
    widths = np.maximum(2.0 * friction, 0.1) * heights
    return np.column_stack([tips + heights[:, None] * normals, tips, widths, heights])


def write_cone(marker: Marker, numbers: Sequence[float]) -> None:
    """Make an arrow marker a friction cone of :func:`cone_numbers`."""
    marker.points = [point(numbers[:3]), point(numbers[3:6])]
    fill_vector(marker.scale, (1e-4, numbers[6], numbers[7]))
    marker.color = CONE_COLOUR


def write_force(
    marker: Marker,
    start: Sequence[float] | NDArray[np.float64],
    end: Sequence[float] | NDArray[np.float64],
    colour: ColorRGBA,
) -> None:
    """Make an arrow marker a force, from a start (3,) to an end (3,) in metres."""
    marker.points = [point(start), point(end)]
    fill_vector(marker.scale, (SHAFT, 2.5 * SHAFT, 0.0))
    marker.color = colour


GROUND_SIZE = 20.0
"""Edge of the plate that stands for a half-space [m]."""
GROUND_THICKNESS = 0.02
"""Its thickness [m]; its upper face is the plane."""


def scene_markers(scene: Scene, world: str, bodies_with_frame: set[str]) -> MarkerArray:
    """All bodies of a scene; the first marker deletes what was drawn before.

    Args:
        scene: the scene.
        world: name of the world frame, in which the other bodies are placed.
        bodies_with_frame: bodies that have a frame of their own name in /tf, which their markers follow.
    """
    message = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
    message.markers[0].header.frame_id = world
    for body in scene.bodies:
        moves = body.name in bodies_with_frame
        frame = body.name if moves else world
        placement = pin.SE3.Identity() if moves else body.placement_world_body
        number = 0
        for geometry in body.geometries:
            for marker in shape_markers(geometry, placement * geometry.placement):
                marker.ns, marker.id = body.name, number
                marker.header.frame_id = frame
                # With time 0 and this flag a display moves the marker with its frame.
                marker.frame_locked = moves
                marker.text = body.label
                message.markers.append(marker)
                number += 1
    return message


def shape_markers(geometry: Geometry, placement: pin.SE3) -> list[Marker]:
    """Return markers of one shape, of a body or of a link; namespace, number and frame are the caller's.

    Args:
        geometry: shape and colour; its own placement is not read.
        placement: of the shape in the markers' frame.
    """
    shape = geometry.shape
    if isinstance(shape, Box):
        parts = [(Marker.CUBE, pin.SE3.Identity(), shape.size)]
    elif isinstance(shape, Sphere):
        parts = [(Marker.SPHERE, pin.SE3.Identity(), np.full(3, 2.0 * shape.radius))]
    elif isinstance(shape, Ellipsoid):
        parts = [(Marker.SPHERE, pin.SE3.Identity(), 2.0 * shape.radii)]
    elif isinstance(shape, Cylinder):
        parts = [(Marker.CYLINDER, pin.SE3.Identity(), _round(shape.radius, shape.length))]
    elif isinstance(shape, Capsule):
        ends = [pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * sign * shape.length])) for sign in (-1, 1)]
        ball = np.full(3, 2.0 * shape.radius)
        parts = [(Marker.CYLINDER, pin.SE3.Identity(), _round(shape.radius, shape.length))]
        parts += [(Marker.SPHERE, end, ball) for end in ends]
    elif isinstance(shape, HalfSpace):
        below = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 * GROUND_THICKNESS]))
        parts = [(Marker.CUBE, below, np.array([GROUND_SIZE, GROUND_SIZE, GROUND_THICKNESS]))]
    elif isinstance(shape, HeightField):
        parts = [(Marker.TRIANGLE_LIST, pin.SE3.Identity(), np.ones(3))]
    else:
        assert isinstance(shape, Mesh)
        parts = [(Marker.MESH_RESOURCE, pin.SE3.Identity(), shape.scale)]
    markers = []
    for kind, local, scale in parts:
        marker = Marker(type=kind, action=Marker.ADD)
        fill_pose(marker.pose, placement * local)
        fill_vector(marker.scale, scale)
        r, g, b, a = (float(value) for value in geometry.colour)
        marker.color = ColorRGBA(r=r, g=g, b=b, a=a)
        if isinstance(shape, Mesh):
            marker.mesh_resource = shape.path.resolve().as_uri()
        elif isinstance(shape, HeightField):
            points, corners = grid_triangles(shape.size, shape.heights)
            marker.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points[corners.reshape(-1)]]
        markers.append(marker)
    return markers


def _round(radius: float, length: float) -> np.ndarray:
    return np.array([2.0 * radius, 2.0 * radius, length])


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


def marker_name(marker: Marker) -> str:
    """Return what a marker is called in messages."""
    return f"marker {marker.ns}/{marker.id}"


def marker_placement(marker: Marker) -> pin.SE3:
    """Return the placement of a marker in its frame; a quaternion of zeros is no turn.

    Raises:
        InputError: a number of its pose or scale is not finite.
    """
    at, turn, scale = marker.pose.position, marker.pose.orientation, marker.scale
    numbers = np.array([at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w, scale.x, scale.y, scale.z])
    if not np.isfinite(numbers).all():
        raise InputError(f"pose and scale are {numbers.tolist()}", element=marker_name(marker))
    norm = np.linalg.norm(numbers[3:7])
    quaternion = numbers[3:7] / norm if norm > 0.0 else np.array([0.0, 0.0, 0.0, 1.0])
    return pin.XYZQUATToSE3(np.concatenate([numbers[:3], quaternion]))


def _unusable(marker: Marker, problem: str, remedy: str) -> InputError:
    return InputError(problem, element=marker_name(marker), remedy=remedy)


def marker_shape(marker: Marker) -> Shape:
    """Return the shape of a marker.

    Raises:
        InputError: a type that isn't a solid shape, or a mesh that isn't there.
    """
    scale = np.array([marker.scale.x, marker.scale.y, marker.scale.z])
    if marker.type == Marker.CUBE:
        return Box(scale)
    if marker.type == Marker.SPHERE:
        return Sphere(0.5 * float(scale[0])) if np.ptp(scale) == 0.0 else Ellipsoid(0.5 * scale)
    if marker.type == Marker.CYLINDER and scale[0] == scale[1]:
        return Cylinder(0.5 * float(scale[0]), float(scale[2]))
    if marker.type == Marker.MESH_RESOURCE:
        path = resolve_mesh_path(marker.mesh_resource, Path.cwd(), partial(_unusable, marker))
        if path is None:
            problem = f"mesh_resource {marker.mesh_resource!r} not found"
            raise _unusable(marker, problem, "Give a package:// or file:// address of an existing mesh")
        return Mesh(path, scale)
    problem = f"type {marker.type} with scale {scale.tolist()} is no solid shape"
    raise _unusable(marker, problem, "Give CUBE, SPHERE, a round CYLINDER, or MESH_RESOURCE")


def take_obstacles(
    message: MarkerArray, obstacles: MutableMapping[str, tuple[Shape, pin.SE3]], world: str
) -> list[str]:
    """Add, move and remove obstacles as markers say; why, where one can't be used.

    Args:
        message: markers, with the actions ADD, DELETE and DELETEALL.
        obstacles: shapes and placements in the world by name, ``namespace/id``; changed.
        world: name of the world frame, in which markers have to be.
    """
    problems = []
    for marker in message.markers:
        name = f"{marker.ns}/{marker.id}"
        if marker.action == Marker.DELETEALL:
            for known in [known for known in obstacles if not marker.ns or known.startswith(f"{marker.ns}/")]:
                del obstacles[known]
        elif marker.action == Marker.DELETE:
            obstacles.pop(name, None)
        elif marker.header.frame_id not in ("", world):
            problems.append(f"{marker_name(marker)} is in frame '{marker.header.frame_id}': give it in '{world}'")
        else:
            try:
                with requested_reading(name):
                    obstacles[name] = marker_shape(marker), marker_placement(marker)
            except InputError as error:
                problems.append(str(error))
    return problems
