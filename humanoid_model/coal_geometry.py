# SPDX-License-Identifier: Apache-2.0
"""coal collision geometries of the shapes of a description."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import coal
import numpy as np

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, HeightField, Mesh, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.height_field import grid_triangles
from humanoid_model.input_file import require_file
from humanoid_model.mesh_bounds import check_mesh_size
from humanoid_model.wrl import read_wrl

FORMATS = "STL, OBJ, DAE, glTF, VRML, NFF or DXF"
"""Mesh files that can be read."""


def coal_geometry(shape: Shape) -> coal.CollisionGeometry:
    """Return the coal geometry of a shape, in the shape's own frame.

    Raises:
        InputError: a mesh file can't be read, or becomes too much.
    """
    if isinstance(shape, Box):
        return coal.Box(*(float(edge) for edge in shape.size))
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*(float(radius) for radius in shape.radii))
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, HeightField):
        return _triangles(*grid_triangles(shape.size, shape.heights))
    return _mesh(shape)


def imported_triangles(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read points (n, 3) and triangles (k, 3) of a mesh file by coal's importer, which knows many formats.

    Raises:
        InputError: the file is missing or can't be read.
    """
    model = _loaded(path, np.ones(3))
    points = np.array(model.vertices(), float)
    if path.suffix.lower() == ".dxf":  # the importer lays what stands on its back: z is up in these files
        points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
    rows = (model.tri_indices(i) for i in range(model.num_tris))
    return points, np.array([[int(row[0]), int(row[1]), int(row[2])] for row in rows], int).reshape(-1, 3)


def _mesh(mesh: Mesh) -> coal.CollisionGeometry:
    if mesh.path.suffix.lower() == ".wrl":
        geometry = read_wrl(mesh.path)
        return _triangles(geometry.points * mesh.scale, geometry.triangles)
    if mesh.path.suffix.lower() == ".dxf":
        points, triangles = imported_triangles(mesh.path)
        return _triangles(points * mesh.scale, triangles)
    return _loaded(mesh.path, np.asarray(mesh.scale, dtype=float))


def _loaded(path: Path, scale: np.ndarray) -> Any:
    require_file(path, remedy=f"Give a triangle mesh in {FORMATS}")
    check_mesh_size(path)
    return _imported(path, tuple(scale.tolist()), path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _imported(path: Path, scale: tuple[float, ...], changed: int) -> Any:
    """Return the geometry of a file as it was last changed; most robots' links are drawn as they collide."""
    try:
        return coal.MeshLoader().load(str(path), np.array(scale))
    except Exception as problem:  # the loader raises bare RuntimeError or ValueError by format
        reason = " ".join(str(problem).split())
        raise InputError(
            f"mesh can't be loaded: {reason}",
            source=path,
            remedy=f"Give a triangle mesh in {FORMATS}",
        ) from None


def _triangles(points: np.ndarray, triangles: np.ndarray) -> coal.CollisionGeometry:
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(points))
    model.addVertices(np.ascontiguousarray(points))
    model.addTriangles(np.ascontiguousarray(triangles))
    model.endModel()
    return model
