# SPDX-License-Identifier: Apache-2.0
"""Sphere-torus-patch bounding volume: strictly convex, with a smooth boundary, around a set of points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.value_equality import ValueEquality


@dataclass(frozen=True, eq=False)
class SphereTorusVolume(ValueEquality):
    """Intersection of all balls of radius R that hold a ball of radius r around each of a set of points.

    Its boundary is made of patches of small spheres (radius r, one per vertex), of big spheres (radius R, one per
    face) and of tori (tube radius R, one per edge), joined without kink (specification 001 section 5.3). All in the
    volume's own frame, metres. One vertex: a ball. Two: a spindle, with one edge and no face. Vertices in a plane:
    faces on both sides. Two edges may join the same two vertices.

    Attributes:
        r: small radius: how far the boundary stays from the vertices [m].
        R: big radius: the larger, the flatter the faces [m].
        vertices: centres of the small spheres, shape (nv, 3).
        faces: vertices of each face, counter-clockwise seen from outside, shape (nf, 3).
        centres: centres of the big spheres, shape (nf, 3). Faces that share one sphere have equal centres.
        edges: vertex a and vertex b, shape (ne, 2).
        edge_faces: face that runs a to b, and face that runs b to a, shape (ne, 2); -1 without faces.
        face_edges: edge k of a face joins its vertices k and k + 1 (modulo 3), shape (nf, 3).
        vertex_offsets: first entry of each vertex in ``vertex_edges``, and their number, shape (nv + 1,).
        vertex_edges: edges around each vertex, counter-clockwise seen from outside, shape (2 ne,).
    """

    r: float
    R: float
    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    centres: NDArray[np.float64]
    edges: NDArray[np.int64]
    edge_faces: NDArray[np.int64]
    face_edges: NDArray[np.int64]
    vertex_offsets: NDArray[np.int64]
    vertex_edges: NDArray[np.int64]
