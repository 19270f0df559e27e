# SPDX-License-Identifier: Apache-2.0
"""Shapes as triangles, and the texture that a mesh may have: what the page and pictures draw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from humanoid_model.coal_geometry import FORMATS, check_mesh_size, imported_triangles
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, HeightField, Mesh, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.files import BOUNDS
from humanoid_model.height_field import grid_triangles
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
    elif path.suffix.lower() in (".dae", ".nff", ".dxf"):
        vertices, faces = imported_triangles(path)
    else:
        check_mesh_size(path)
        try:
            mesh: Any = trimesh.load(path, force="mesh")
        except Exception as error:  # each of trimesh's readers raises errors of its own
            raise InputError(
                f"mesh can't be read: {error}", source=path, remedy=f"Give a mesh in {FORMATS}"
            ) from error
        vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    if len(faces) == 0:
        raise InputError("mesh has no triangles", source=path, remedy="Export it again")
    if np.prod(shape.scale) < 0.0:  # a mirror image, whose faces would look inwards
        faces = faces[:, ::-1]
    return Triangles(vertices * shape.scale, faces)


def textured_mesh(shape: Shape | Triangles) -> trimesh.Trimesh | None:
    """Return a mesh with its texture; None for what has none, or one of too many pixels."""
    if not isinstance(shape, Mesh) or shape.path.suffix.lower() not in (".glb", ".gltf", ".obj"):
        return None
    try:
        check_mesh_size(shape.path)
        mesh: Any = trimesh.load(shape.path, force="mesh")
    except Exception:  # read_mesh says why
        return None
    material = getattr(getattr(mesh, "visual", None), "material", None)
    images = [getattr(material, name, None) for name in ("image", "baseColorTexture")]
    sizes = [image.width * image.height for image in images if image is not None]
    if mesh.visual.kind != "texture" or not sizes or max(sizes) > BOUNDS["pixels"]:
        return None
    mesh.apply_scale(shape.scale)
    return mesh


def triangles(shape: Shape | Triangles) -> Triangles:
    """Return a shape as triangles, in its own frame; a half-space as a square.

    Raises:
        InputError: A mesh can't be read, or the shape is of an unknown kind.
    """
    if isinstance(shape, Triangles):
        return shape
    if isinstance(shape, Mesh):
        return read_mesh(shape)
    if isinstance(shape, Box):
        mesh = trimesh.creation.box(np.asarray(shape.size, dtype=float))
    elif isinstance(shape, Sphere):
        mesh = trimesh.creation.icosphere(subdivisions=3, radius=float(shape.radius))
    elif isinstance(shape, Cylinder):
        mesh = trimesh.creation.cylinder(float(shape.radius), float(shape.length), sections=32)
    elif isinstance(shape, Capsule):
        mesh = trimesh.creation.capsule(float(shape.length), float(shape.radius), count=(16, 24))
        mesh.apply_translation(-mesh.bounds.mean(axis=0))  # trimesh lays it from z = 0 up
    elif isinstance(shape, Ellipsoid):
        mesh = trimesh.creation.icosphere(subdivisions=3)
        mesh.apply_scale(shape.radii)
    elif isinstance(shape, HalfSpace):
        corners = 0.5 * HALF_SPACE_SIDE * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        return Triangles(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    elif isinstance(shape, HeightField):
        return Triangles(*grid_triangles(shape.size, shape.heights))
    else:
        raise InputError(
            f"can't draw a {type(shape).__name__}",
            remedy="Use Box, Sphere, Cylinder, Capsule, Ellipsoid, HalfSpace, HeightField, Mesh or Triangles",
        )
    return Triangles(np.asarray(mesh.vertices), np.asarray(mesh.faces))


def bounds(shape: Shape | Triangles) -> np.ndarray:
    """Axis-aligned box around a shape, in the shape's own frame.

    Returns:
        (2, 3) lowest and highest corner [m].

    Raises:
        InputError: A mesh can't be read, or the shape is of an unknown kind.
    """
    vertices = triangles(shape).vertices
    return np.array([vertices.min(axis=0), vertices.max(axis=0)])
