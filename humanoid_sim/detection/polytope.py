# SPDX-License-Identifier: Apache-2.0
"""Convex polytopes as flat arrays of vertices, edges and faces."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.content_store import stored_arrays
from humanoid_model.description import Box, Mesh
from humanoid_sim.detection.mesh_hull import hull_vertices, store_folder

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull

_COPLANAR = 1e-6
"""Facets of a hull whose unit normals differ by less belong to one face."""
_FLAT = 1e-9
"""Points whose smallest extent is below this part of the largest one count as flat."""
_BOX_FACES = {
    (0.0, 0.0, -1.0): [6, 4, 0, 2],
    (0.0, -1.0, 0.0): [0, 4, 5, 1],
    (1.0, 0.0, 0.0): [4, 6, 7, 5],
    (-1.0, 0.0, 0.0): [0, 1, 3, 2],
    (0.0, 1.0, 0.0): [2, 3, 7, 6],
    (0.0, 0.0, 1.0): [3, 1, 5, 7],
}
"""Vertices of a box around each face, by its outward normal; of the vertices z comes first, x last."""


@dataclass(frozen=True)
class Polytope:
    """A convex polytope; a flat one has two faces back to back, a straight one none.

    Attributes:
        vertices: [m], shape (nvertices, 3).
        normals: outward unit normal of each face, shape (nfaces, 3).
        corner_vertices: vertices around all faces one face after the other, each counter-clockwise seen from outside,
            shape (ncorners,).
        starts: first corner of each face, and the number of corners at the end, shape (nfaces + 1,).
        neighbours: vertices joined by an edge to each vertex, one vertex after the other.
        neighbour_starts: first neighbour of each vertex, and their number at the end, shape (nvertices + 1,).
    """

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    corner_vertices: NDArray[np.int64]
    starts: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    neighbour_starts: NDArray[np.int64]

    @property
    def corners(self) -> NDArray[np.float64]:
        """Corners of all faces one face after the other [m], shape (ncorners, 3)."""
        return self.vertices[self.corner_vertices]

    @classmethod
    def none(cls) -> Polytope:
        """No vertex and no face: what a round shape has."""
        return cls.of_faces(np.zeros((0, 3)), np.zeros((0, 3)), [])

    @classmethod
    def triangle(cls) -> Polytope:
        """One triangle with its two faces."""
        corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        return cls.of_faces(corners, np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), [[0, 1, 2], [0, 2, 1]])

    @classmethod
    def of_box(cls, box: Box) -> Polytope:
        """Return the six faces of a box; boxes of one size share them."""
        return _box_polytope(*np.asarray(box.size, dtype=float).tolist())

    @classmethod
    def of_shape(cls, shape: Box | Mesh) -> Polytope:
        """Return faces of a box, or of the convex hull of a mesh.

        Raises:
            InputError: a mesh file can't be read.
        """
        return cls.of_box(shape) if isinstance(shape, Box) else cls.stored(hull_vertices(shape))

    @classmethod
    def stored(cls, points: NDArray[np.float64]) -> Polytope:
        """Return :meth:`of_points`, taken from disk if it was made of the same points before."""
        content = Path(__file__).read_bytes() + np.ascontiguousarray(points, dtype="<f8").tobytes()
        return cls(**stored_arrays(content, lambda: vars(cls.of_points(points)), store_folder()))

    @classmethod
    def of_points(cls, points: NDArray[np.float64]) -> Polytope:
        """Convex hull of some points, shape (k, 3), k >= 1; they may lie in a plane, on a line or in one place."""
        from scipy.spatial import ConvexHull, QhullError  # slow to import, and most hulls come from disk

        centred = points - points.mean(axis=0)
        _, extents, axes = np.linalg.svd(centred, full_matrices=False)
        rank = int((extents > _FLAT * max(float(extents[0]), 1e-300)).sum())
        if rank >= 3:
            try:
                return cls._of_hull(points, ConvexHull(points))
            except QhullError:
                rank = 2
        if rank == 2:
            plane = centred @ axes[:2].T
            ring = [int(i) for i in ConvexHull(plane).vertices]  # counter-clockwise
            normal = np.cross(axes[0], axes[1])
            order = list(range(len(ring)))
            return cls.of_faces(points[ring], np.array([normal, -normal]), [order, order[::-1]])
        if rank == 1:
            along = centred @ axes[0]
            ends = points[[int(along.argmin()), int(along.argmax())]]
            return cls(ends, np.zeros((0, 3)), _ints([]), _ints([0]), _ints([1, 0]), _ints([0, 1, 2]))
        return cls(points[:1].copy(), np.zeros((0, 3)), _ints([]), _ints([0]), _ints([]), _ints([0, 0]))

    @classmethod
    def _of_hull(cls, points: NDArray[np.float64], hull: ConvexHull) -> Polytope:
        vertices = points[hull.vertices]
        place = {int(old): new for new, old in enumerate(hull.vertices)}
        members: list[set[int]] = []
        normals: list[NDArray[np.float64]] = []
        taken = np.zeros(len(hull.simplices), dtype=bool)
        for seed in range(len(taken)):
            if taken[seed]:
                continue
            # triangles of one face lie side by side
            normal = hull.equations[seed, :3]
            taken[seed] = True
            found, waiting = [seed], [seed]
            while waiting:
                for near in hull.neighbors[waiting.pop()].tolist():
                    if not taken[near] and np.abs(hull.equations[near, :3] - normal).max() < _COPLANAR:
                        taken[near] = True
                        found.append(near)
                        waiting.append(near)
            normals.append(normal)
            members.append({place[i] for i in hull.simplices[found].ravel().tolist()})
        faces = []
        for normal, face in zip(normals, members, strict=True):
            ring = np.array(sorted(face))
            offsets = vertices[ring] - vertices[ring].mean(axis=0)
            u = offsets[0]
            w = np.cross(normal, u)
            faces.append([int(i) for i in ring[np.argsort(np.arctan2(offsets @ w, offsets @ u))]])
        return cls.of_faces(vertices, np.array(normals), faces)

    @classmethod
    def of_faces(
        cls, vertices: NDArray[np.float64], normals: NDArray[np.float64], faces: list[list[int]]
    ) -> Polytope:
        """Return a polytope by its faces, each the vertices around it, counter-clockwise from outside."""
        joined: list[set[int]] = [set() for _ in range(len(vertices))]
        for face in faces:
            for i, j in zip(face, [*face[1:], face[0]], strict=True):
                joined[i].add(j)
                joined[j].add(i)
        return cls(
            np.ascontiguousarray(vertices),
            np.ascontiguousarray(normals),
            _ints([i for face in faces for i in face]),
            np.cumsum([0, *(len(face) for face in faces)]).astype(np.int64),
            _ints([i for neighbours in joined for i in sorted(neighbours)]),
            np.cumsum([0, *(len(neighbours) for neighbours in joined)]).astype(np.int64),
        )


@lru_cache(maxsize=256)
def _box_polytope(x: float, y: float, z: float) -> Polytope:
    corners = np.array(list(itertools.product((-0.5 * x, 0.5 * x), (-0.5 * y, 0.5 * y), (-0.5 * z, 0.5 * z))))
    return Polytope.of_faces(corners, np.array(list(_BOX_FACES)), list(_BOX_FACES.values()))


def _ints(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
