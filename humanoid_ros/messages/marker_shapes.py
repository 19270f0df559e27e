# SPDX-License-Identifier: Apache-2.0
"""Markers of visualization_msgs as shapes of the library, with their placements."""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import partial
from pathlib import Path

import numpy as np
import pinocchio as pin
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.description import Box, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.mesh_path import resolve_mesh_path
from humanoid_ros.node.requested_files import requested_reading


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
