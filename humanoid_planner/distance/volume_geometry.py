# SPDX-License-Identifier: Apache-2.0
"""coal geometries of volumes, for sampling: convex meshes with corners on the boundary."""

from __future__ import annotations

import coal
import numpy as np
from scipy.spatial import ConvexHull

from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_mesh import volume_mesh

_RESOLUTION = 0.5
"""Angle between normals at neighbouring corners [rad]: the mesh is then up to 6 % of r inside the volume."""


def volume_geometry(volume: SphereTorusVolume) -> coal.CollisionGeometry:
    """Convex coal geometry in the volume's frame, inside the volume by at most 6 % of its small radius.

    Args:
        volume: the volume.
    """
    return convex_geometry(volume_mesh(volume, _RESOLUTION)[0])


def convex_geometry(points: np.ndarray) -> coal.CollisionGeometry:
    """Convex hull of points (n, 3) that aren't in a plane, as a coal geometry."""
    hull = ConvexHull(points)
    used = np.sort(hull.vertices)
    place = np.full(len(points), -1)
    place[used] = np.arange(len(used))
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0.0
    simplices = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    vertices = coal.StdVec_Vec3s()
    for vertex in points[used]:
        vertices.append(vertex)
    triangles = coal.StdVec_Triangle()
    for a, b, c in place[simplices]:
        triangles.append(coal.Triangle(int(a), int(b), int(c)))
    return coal.Convex(vertices, triangles)
