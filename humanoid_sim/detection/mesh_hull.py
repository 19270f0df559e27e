# SPDX-License-Identifier: Apache-2.0
"""Hulls of meshes, kept on disk as all that is made of a mesh file: reading and hulling a robot's takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.content_store import cache_folder, stored_arrays
from humanoid_model.description import HeightField, Mesh
from humanoid_model.errors import InputError

Arrays = Mapping[str, NDArray[Any]]


def store_folder() -> Path:
    """Return the folder of hulls and convex parts."""
    return cache_folder("hulls")


def stored_of_mesh(mesh: Mesh, source: str, make: Callable[[], Arrays]) -> Arrays:
    """Return what is made of a mesh, from disk if it was made of a file of the same content and scale before.

    Args:
        mesh: the mesh.
        source: file of the code that makes it: other code makes it anew.
        make: makes it; where the file can't be read, it says so.
    """
    try:
        content = mesh.path.read_bytes()
    except OSError:
        return make()
    name = f"{mesh.path.suffix.lower()} {mesh.scale.tolist()} ".encode()
    return stored_arrays(Path(source).read_bytes() + name + content, make, store_folder())


def hull_vertices(mesh: Mesh | HeightField) -> NDArray[np.float64]:
    """Return vertices of the convex hull of a mesh [m], shape (k, 3); all vertices where the mesh is flat.

    Raises:
        InputError: the mesh file can't be read.
    """
    if isinstance(mesh, HeightField):
        return _extreme_points(mesh)
    changed = mesh.path.stat().st_mtime_ns if mesh.path.exists() else 0
    return _mesh_hull(mesh.path, tuple(mesh.scale.tolist()), changed)


@lru_cache(maxsize=256)
def _mesh_hull(path: Path, scale: tuple[float, float, float], changed: int) -> NDArray[np.float64]:
    """Return the vertices of the hull of a mesh file as it was last changed."""
    mesh = Mesh(path, np.array(scale))
    return stored_of_mesh(mesh, __file__, lambda: {"vertices": _extreme_points(mesh)})["vertices"]


def _extreme_points(mesh: Mesh | HeightField) -> NDArray[np.float64]:
    from scipy.spatial import ConvexHull, QhullError  # slow to import, and most hulls come from disk

    vertices = np.array(coal_geometry(mesh).vertices())
    if len(vertices) == 0:
        raise InputError(
            "mesh has no points",
            source=mesh.path if isinstance(mesh, Mesh) else None,
            remedy="Give a mesh with triangles",
        )
    try:
        return vertices[ConvexHull(vertices).vertices]
    except QhullError:
        return np.unique(vertices, axis=0)
