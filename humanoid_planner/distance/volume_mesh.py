# SPDX-License-Identifier: Apache-2.0
"""Meshes of sphere-torus-patch volumes: triangles to look at, and coal's convex meshes for sampling."""

from __future__ import annotations

import math

import coal
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume


def volume_mesh(
    volume: SphereTorusVolume, resolution: float = 0.2
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Convex hull of points spread over all patches of a volume's boundary.

    Args:
        volume: the volume.
        resolution: angle between normals at neighbouring points, about [rad].

    Returns:
        Corners, which lie on the boundary, (n, 3) [m]; triangles, outward (m, 3).
    """
    points = np.vstack([patch(volume, resolution) for patch in (_on_small_spheres, _on_tori, _on_faces)])
    hull = ConvexHull(points)
    triangles = hull.simplices.copy()
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    used, renumbered = np.unique(triangles, return_inverse=True)
    return points[used], renumbered.reshape(-1, 3)


def _on_small_spheres(volume: SphereTorusVolume, resolution: float) -> NDArray[np.float64]:
    directions = _spread(resolution)
    along = directions @ volume.tori.axes.T
    limit = volume.tori.lengths / (2.0 * (volume.R - volume.r))
    parts = []
    for vertex, centre in enumerate(volume.vertices):
        sign = np.where(volume.edges[:, 0] == vertex, 1.0, -1.0)
        incident = (volume.edges == vertex).any(axis=1)
        inside = (along * sign <= -limit)[:, incident].all(axis=1)
        parts.append(centre + volume.r * directions[inside])
    return np.vstack(parts)


def _on_tori(volume: SphereTorusVolume, resolution: float) -> NDArray[np.float64]:
    parts = [np.zeros((0, 3))]
    for edge, (a, b) in enumerate(volume.edges):
        steps = math.ceil(float(volume.tori.sweeps[edge]) / resolution) + 1
        centres = volume.tori.centres_at(edge, np.linspace(0.0, volume.tori.sweeps[edge], steps))
        length = float(volume.tori.lengths[edge])
        shares = np.linspace(0.0, 1.0, math.ceil(length / (volume.R - volume.r) / resolution) + 2)
        for share in shares:
            normals = (1.0 - share) * volume.vertices[a] + share * volume.vertices[b] - centres
            normals /= np.linalg.norm(normals, axis=1)[:, None]
            parts.append(centres + volume.R * normals)
    return np.vstack(parts)


def _on_faces(volume: SphereTorusVolume, resolution: float) -> NDArray[np.float64]:
    parts = [np.zeros((0, 3))]
    for face, centre in zip(volume.faces, volume.centres, strict=True):
        corners = volume.vertices[face]
        longest = float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).max())
        steps = math.ceil(longest / (volume.R - volume.r) / resolution) + 2
        weights = np.array([[i, j, steps - i - j] for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
        normals = weights @ corners - centre
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        parts.append(centre + volume.R * normals)
    return np.vstack(parts)


def _spread(resolution: float) -> NDArray[np.float64]:
    """Return the unit vectors spread evenly over the sphere, on a spiral, shape (n, 3)."""
    count = max(32, math.ceil(4.0 * math.pi / resolution**2))
    place = np.arange(count) + 0.5
    z = 1.0 - 2.0 * place / count
    turn = math.pi * (1.0 + math.sqrt(5.0)) * place
    across = np.sqrt(1.0 - z**2)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


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
