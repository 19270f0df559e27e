# SPDX-License-Identifier: Apache-2.0
"""Surfaces of solids as triangles."""

from __future__ import annotations

import numpy as np

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Sphere
from humanoid_sim.detection.polytope import Polytope
from humanoid_sim.detection.solids import SolidShape
from humanoid_sim.detection.triangle_mesh import TriangleMesh

_SECTIONS = 32
"""A circle is approximated by so many sides."""


def surface_mesh(solid: SolidShape) -> TriangleMesh:
    """Return the surface of a solid: exact of a box, hull or mesh, approximate of a round one."""
    if isinstance(solid, TriangleMesh):
        return solid
    if isinstance(solid, (Box, Polytope)):
        polytope = Polytope.of_box(solid) if isinstance(solid, Box) else solid
        corners = []
        for start, stop in zip(polytope.starts[:-1], polytope.starts[1:], strict=True):
            ring = polytope.corner_vertices[start:stop].tolist()
            corners += [(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)]
        return TriangleMesh.of_triangles(polytope.vertices, np.array(corners, dtype=np.int64).reshape(-1, 3))
    import trimesh  # slow to import, and simulations that touch no meshes do without

    if isinstance(solid, Sphere):
        mesh = trimesh.creation.icosphere(subdivisions=3, radius=solid.radius)
    elif isinstance(solid, Cylinder):
        mesh = trimesh.creation.cylinder(solid.radius, solid.length, sections=_SECTIONS)
    elif isinstance(solid, Ellipsoid):
        mesh = trimesh.creation.icosphere(subdivisions=3)
        mesh.apply_scale(solid.radii)
    else:
        assert isinstance(solid, Capsule)
        mesh = trimesh.creation.capsule(solid.length, solid.radius, count=(_SECTIONS // 2, _SECTIONS))
        mesh.apply_translation(-mesh.bounds.mean(axis=0))  # trimesh lays it from z = 0 up
    return TriangleMesh.of_triangles(np.asarray(mesh.vertices), np.asarray(mesh.faces, dtype=np.int64))
