# SPDX-License-Identifier: Apache-2.0
"""Convex polytopes as flat arrays of faces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
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
        normals: outward unit normal of each face, shape (nfaces, 3).
        corners: corners of all faces one face after the other, each counter-clockwise seen from outside [m], shape
            (ncorners, 3).
        starts: first corner of each face, and the number of corners at the end, shape (nfaces + 1,).
    """

    normals: NDArray[np.float64]
    corners: NDArray[np.float64]
    starts: NDArray[np.int64]

    @classmethod
    def none(cls) -> Polytope:
        """No face at all: what a round shape has."""
        return cls(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(1, dtype=np.int64))

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
        starts = np.cumsum([0, *(len(face) for face in faces)])
        return cls(np.array(normals), np.vstack(faces), starts.astype(np.int64))
