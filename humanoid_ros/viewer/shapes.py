# SPDX-License-Identifier: Apache-2.0
"""Shapes of a robot or scene as nodes of the page: each made once, then only moved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh
import viser

from humanoid_model.description import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Mesh,
    Shape,
    Sphere,
)
from humanoid_model.errors import InputError
from humanoid_model.value_equality import ValueEquality
from humanoid_model.wrl import read_wrl

HALF_SPACE_SIDE = 20.0
"""Side of the square drawn for a half-space, which has none [m]."""


@dataclass(frozen=True, eq=False)
class Triangles(ValueEquality):
    """A mesh given by its numbers.

    Attributes:
        vertices: (v, 3) points [m].
        faces: (f, 3) vertices of each triangle, counter-clockwise from outside.
    """

    vertices: np.ndarray
    faces: np.ndarray


def wxyz(placement: pin.SE3) -> np.ndarray:
    """Orientation of a placement as viser's quaternion (w, x, y, z)."""
    x, y, z, w = pin.SE3ToXYZQUAT(placement)[3:]
    return np.array([w, x, y, z])


def read_mesh(shape: Mesh) -> Triangles:
    """Read a mesh file and scale it.

    Raises:
        InputError: The file is missing, of a format that can't be read, or without triangles.
    """
    path = Path(shape.path)
    if not path.is_file():
        raise InputError("no such mesh file", source=path, remedy="Check the mesh's path")
    if path.suffix.lower() == ".wrl":
        geometry = read_wrl(path)
        vertices, faces = geometry.points, geometry.triangles
    else:
        try:
            mesh = trimesh.load(path, force="mesh")
        except Exception as error:  # each of trimesh's readers raises errors of its own
            raise InputError(
                f"mesh can't be read: {error}", source=path, remedy="Give an STL, OBJ or VRML file"
            ) from error
        vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    if len(faces) == 0:
        raise InputError("mesh has no triangles", source=path, remedy="Export it again")
    return Triangles(vertices * shape.scale, faces)


def bounds(shape: Shape | Triangles) -> np.ndarray:
    """Axis-aligned box around a shape, in the shape's own frame.

    Returns:
        (2, 3) lowest and highest corner [m]; a half-space counts as a point.

    Raises:
        InputError: A mesh can't be read.
    """
    if isinstance(shape, Mesh):
        shape = read_mesh(shape)
    if isinstance(shape, Triangles):
        return np.array([shape.vertices.min(axis=0), shape.vertices.max(axis=0)])
    if isinstance(shape, Box):
        half = 0.5 * np.asarray(shape.size, dtype=float)
    elif isinstance(shape, Sphere):
        half = np.full(3, shape.radius)
    elif isinstance(shape, Cylinder):
        half = np.array([shape.radius, shape.radius, 0.5 * shape.length])
    elif isinstance(shape, Capsule):
        half = np.array([shape.radius, shape.radius, 0.5 * shape.length + shape.radius])
    else:
        half = np.zeros(3)
    return np.array([-half, half])


def add_shape(
    scene: viser.SceneApi,
    name: str,
    shape: Shape | Triangles,
    placement: pin.SE3,
    colour: tuple[float, float, float, float],
) -> viser.SceneNodeHandle:
    """Draw one shape.

    Args:
        scene: Scene of the page or of one of its clients.
        name: Path of the node, e.g. "/robots/hrp2/WAIST/0".
        shape: A shape of a robot description or of a scene; sizes in metres.
        placement: Placement of the shape in its parent node.
        colour: Red, green, blue and opacity, each in [0, 1].

    Returns:
        The node, which the caller moves or removes.

    Raises:
        InputError: A mesh can't be read, or the shape is of an unknown kind.
    """
    red, green, blue, opacity = (float(c) for c in colour)
    common: dict[str, Any] = {
        "color": (red, green, blue),
        "opacity": None if opacity >= 1.0 else opacity,
        "position": placement.translation,
        "wxyz": wxyz(placement),
    }
    if isinstance(shape, Box):
        return scene.add_box(name, dimensions=tuple(shape.size), **common)
    if isinstance(shape, Sphere):
        return scene.add_icosphere(name, radius=float(shape.radius), **common)
    if isinstance(shape, Cylinder):
        return scene.add_cylinder(
            name, radius=float(shape.radius), height=float(shape.length), **common
        )
    if isinstance(shape, Capsule):
        mesh = trimesh.creation.capsule(
            height=float(shape.length), radius=float(shape.radius), count=(16, 24)
        )
        # trimesh lays the cylinder from z = 0 up; ours is centred.
        vertices = mesh.vertices - mesh.bounds.mean(axis=0)
        return scene.add_mesh_simple(name, vertices, mesh.faces, **common)
    if isinstance(shape, Mesh):
        shape = read_mesh(shape)
    if isinstance(shape, Triangles):
        return scene.add_mesh_simple(
            name, shape.vertices, shape.faces, flat_shading=True, side="double", **common
        )
    if isinstance(shape, HalfSpace):
        side = 0.5 * HALF_SPACE_SIDE
        vertices = np.array(
            [[-side, -side, 0], [side, -side, 0], [side, side, 0], [-side, side, 0]]
        )
        faces = np.array([[0, 1, 2], [0, 2, 3]])
        return scene.add_mesh_simple(name, vertices, faces, cast_shadow=False, **common)
    raise InputError(
        f"can't draw a {type(shape).__name__}",
        element=name,
        remedy="Use Box, Sphere, Cylinder, Capsule, HalfSpace or Mesh",
    )
