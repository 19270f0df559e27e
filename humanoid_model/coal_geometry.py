# SPDX-License-Identifier: Apache-2.0
"""coal collision geometries of the shapes of a description."""

from __future__ import annotations

import coal
import numpy as np

from humanoid_model.description import Box, Capsule, Cylinder, HalfSpace, HeightField, Mesh, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.height_field import grid_triangles
from humanoid_model.input_file import require_file
from humanoid_model.wrl import read_wrl


def coal_geometry(shape: Shape) -> coal.CollisionGeometry:
    """Return the coal geometry of a shape, in the shape's own frame.

    Raises:
        InputError: a mesh file can't be read.
    """
    if isinstance(shape, Box):
        return coal.Box(*(float(edge) for edge in shape.size))
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, HeightField):
        return _triangles(*grid_triangles(shape.size, shape.heights))
    return _mesh(shape)


def _mesh(mesh: Mesh) -> coal.CollisionGeometry:
    if mesh.path.suffix.lower() == ".wrl":
        geometry = read_wrl(mesh.path)
        return _triangles(geometry.points * mesh.scale, geometry.triangles)
    require_file(mesh.path, remedy="Give a triangle mesh in STL, OBJ, DAE or VRML")
    try:
        return coal.MeshLoader().load(str(mesh.path), np.asarray(mesh.scale, dtype=float))
    except Exception as problem:  # the loader raises bare RuntimeError or ValueError by format
        reason = " ".join(str(problem).split())
        raise InputError(
            f"mesh can't be loaded: {reason}",
            source=mesh.path,
            remedy="Give a triangle mesh in STL, OBJ, DAE or VRML",
        ) from None


def _triangles(points: np.ndarray, triangles: np.ndarray) -> coal.CollisionGeometry:
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(points))
    model.addVertices(np.ascontiguousarray(points))
    model.addTriangles(np.ascontiguousarray(triangles))
    model.endModel()
    return model
