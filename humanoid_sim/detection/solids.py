# SPDX-License-Identifier: Apache-2.0
"""What a shape of a description collides as."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Shape, Sphere
from humanoid_model.height_field import grid_triangles
from humanoid_model.optional_library import optional_library
from humanoid_sim.detection.mesh_hull import stored_of_mesh
from humanoid_sim.detection.polytope import Polytope
from humanoid_sim.detection.triangle_mesh import TriangleMesh

DECOMPOSITION_CONCAVITY = 0.02
"""Convex parts leave hollows of a mesh at most so deep, as a part of the mesh's size (CoACD's threshold)."""


def solids_of(shape: Shape) -> list[SolidShape]:
    """Return the convex solids or the mesh that a shape collides as; no half-space.

    Raises:
        InputError: a mesh file can't be read, or holds no triangle, or CoACD isn't there to take it apart.
    """
    if isinstance(shape, HeightField):
        return [TriangleMesh.of_triangles(*grid_triangles(shape.size, shape.heights))]
    if isinstance(shape, Mesh):
        if shape.collision == "exact":
            return [TriangleMesh.of_mesh(shape)]
        if shape.collision == "convex_decomposition":
            return list(_convex_parts(shape.path, tuple(shape.scale.tolist()), shape.path.stat().st_mtime_ns))
        return [Polytope.of_shape(shape)]
    assert isinstance(shape, (Box, Sphere, Capsule, Cylinder, Ellipsoid))
    return [shape]


@lru_cache(maxsize=64)
def _convex_parts(path: Path, scale: tuple[float, float, float], changed: int) -> tuple[Polytope, ...]:
    """Convex parts of a mesh file as it was last changed; the decomposition takes seconds."""
    mesh = Mesh(path, np.array(scale))

    def decompose() -> dict[str, NDArray[Any]]:
        coacd = optional_library("coacd", "simulation", source=path, element="convex_decomposition")
        triangles = TriangleMesh.of_mesh(mesh).triangles
        points, corners = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
        coacd.set_log_level("error")
        parts = coacd.run_coacd(
            coacd.Mesh(points, corners.reshape(-1, 3)), threshold=DECOMPOSITION_CONCAVITY, seed=0
        )
        return {
            "vertices": np.vstack([vertices for vertices, _ in parts]),
            "ends": np.cumsum([len(vertices) for vertices, _ in parts]),
        }

    kept = stored_of_mesh(mesh, __file__, decompose)
    return tuple(Polytope.stored(part) for part in np.split(kept["vertices"], kept["ends"][:-1]))


SolidShape = Shape | Polytope | TriangleMesh
"""What a row of the table is made of: a primitive, a convex hull, or a mesh taken triangle by triangle."""
