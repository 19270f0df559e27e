# SPDX-License-Identifier: Apache-2.0
"""Convex polytopes with their faces, and the contact polygon of two of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from humanoid_model.description import Box, Mesh
from humanoid_sim.detection.half_space import features_of, hull_vertices

_COPLANAR = 1e-6
"""Facets of a hull whose unit normals differ by less belong to one face."""


@dataclass(frozen=True)
class Polytope:
    """A convex polytope.

    Attributes:
        faces: vertices of each face, counter-clockwise seen from outside [m], each of shape (k, 3).
        normals: outward unit normal of each face, shape (nfaces, 3).
    """

    faces: tuple[NDArray[np.float64], ...]
    normals: NDArray[np.float64]

    @classmethod
    def of_shape(cls, shape: Box | Mesh) -> Polytope:
        """Faces of a box, or of the convex hull of a mesh.

        Raises:
            InputError: a mesh file can't be read.
            scipy.spatial.QhullError: the mesh is flat.
        """
        if isinstance(shape, Box):
            vertices = np.array([feature.centre for feature in features_of(shape)])
        else:
            vertices = hull_vertices(shape)
        hull = ConvexHull(vertices)
        members: list[set[int]] = []
        normals: list[NDArray[np.float64]] = []
        for simplex, equation in zip(hull.simplices, hull.equations, strict=True):
            for known, face in zip(normals, members, strict=True):
                if np.abs(known - equation[:3]).max() < _COPLANAR:
                    face.update(int(i) for i in simplex)
                    break
            else:
                normals.append(equation[:3])
                members.append({int(i) for i in simplex})
        faces = []
        for normal, face in zip(normals, members, strict=True):
            points = vertices[sorted(face)]
            centre = points.mean(axis=0)
            u = points[0] - centre
            w = np.cross(normal, u)
            angles = np.arctan2((points - centre) @ w, (points - centre) @ u)
            faces.append(points[np.argsort(angles)])
        return cls(tuple(faces), np.array(normals))

    def face_towards(
        self, placement: pin.SE3, direction: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Face that looks most into a direction.

        Args:
            placement: of the polytope in the world.
            direction: unit vector in the world, shape (3,).

        Returns:
            Cosine of the angle between the face's normal and the direction, the normal in the world, shape
            (3,), the face's vertices in the world, shape (k, 3).
        """
        cosines = self.normals @ (placement.rotation.T @ direction)
        best = int(np.argmax(cosines))
        vertices = self.faces[best] @ placement.rotation.T + placement.translation
        return float(cosines[best]), placement.rotation @ self.normals[best], vertices


def clip_polygon(
    polygon: NDArray[np.float64], face: NDArray[np.float64], normal: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Part of a polygon that lies over a face (Sutherland and Hodgman's clipping by the face's sides).

    Args:
        polygon: vertices, shape (k, 3).
        face: vertices of a convex face, counter-clockwise around ``normal``, shape (l, 3).
        normal: unit normal of the face, shape (3,).

    Returns:
        Vertices of the clipped polygon, shape (j, 3), possibly none.
    """
    points = polygon
    for start, end in zip(face, np.roll(face, -1, axis=0), strict=True):
        inward = np.cross(normal, end - start)
        depths = (points - start) @ inward
        kept = []
        for i, (point, depth) in enumerate(zip(points, depths, strict=True)):
            after, after_depth = points[(i + 1) % len(points)], depths[(i + 1) % len(points)]
            if depth >= 0.0:
                kept.append(point)
            if (depth > 0.0 > after_depth) or (depth < 0.0 < after_depth):
                kept.append(point + (after - point) * (depth / (depth - after_depth)))
        points = np.array(kept).reshape(-1, 3)
        if len(points) == 0:
            break
    return points
