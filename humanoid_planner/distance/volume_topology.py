# SPDX-License-Identifier: Apache-2.0
"""Which edges the faces of a closed triangulated surface share, and how they go around each vertex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class VolumeTopology:
    """Edges of a closed triangulated surface.

    Attributes:
        edges: vertex a and vertex b of each edge, shape (ne, 2). Two edges may join the same vertices.
        edge_faces: face that runs a to b, and face that runs b to a, shape (ne, 2); -1 where there is none.
        face_edges: edge k of a face joins its vertices k and k + 1 (modulo 3), shape (nf, 3).
        vertex_offsets: first entry of each vertex in ``vertex_edges``, and their number, shape (nv + 1,).
        vertex_edges: edges around each vertex, counter-clockwise seen from outside, shape (2 ne,).
    """

    edges: NDArray[np.int64]
    edge_faces: NDArray[np.int64]
    face_edges: NDArray[np.int64]
    vertex_offsets: NDArray[np.int64]
    vertex_edges: NDArray[np.int64]

    @classmethod
    def of_points(cls, count: int) -> VolumeTopology:
        """Topology without faces: a single vertex, or two vertices and the edge between them."""
        edges = np.array([[0, 1]] if count == 2 else [], dtype=np.int64).reshape(-1, 2)
        return cls(
            edges=edges,
            edge_faces=np.full((len(edges), 2), -1, dtype=np.int64),
            face_edges=np.zeros((0, 3), dtype=np.int64),
            vertex_offsets=np.arange(count + 1, dtype=np.int64) if count == 2 else np.zeros(2, dtype=np.int64),
            vertex_edges=np.zeros(2 * len(edges), dtype=np.int64),
        )

    @classmethod
    def of_faces(
        cls, faces: NDArray[np.int64], across: NDArray[np.int64], vertex_count: int
    ) -> VolumeTopology:
        """Return the topology of faces of which it is known what lies across each edge.

        Neighbours are given, not found by end points: a thin volume may have two edges between two vertices.

        Args:
            faces: vertices of each face, counter-clockwise seen from outside, shape (nf, 3).
            across: half-edge ``3 face + k`` on the other side of half-edge k of each face, shape (nf, 3).
            vertex_count: number of vertices.

        Raises:
            ValueError: the surface isn't closed, or it isn't a single fan of faces around some vertex.
        """
        count = len(faces)
        starts = faces.reshape(-1)
        ends = np.roll(faces, -1, axis=1).reshape(-1)
        twin = across.reshape(-1)
        half_edges = np.arange(3 * count)
        if not (
            np.array_equal(twin[twin], half_edges)
            and np.array_equal(starts[twin], ends)
            and np.array_equal(ends[twin], starts)
        ):
            raise ValueError("the faces don't form a closed surface")
        first = half_edges[half_edges < twin]
        edge_of = np.empty(3 * count, dtype=np.int64)
        edge_of[first] = np.arange(len(first))
        edge_of[twin[first]] = np.arange(len(first))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=vertex_count))])
        around = np.empty(3 * count, dtype=np.int64)
        leaving = np.full(vertex_count, -1)
        leaving[starts[::-1]] = half_edges[::-1]  # the first half-edge that leaves each vertex
        for vertex in range(vertex_count):
            half_edge = leaving[vertex]
            for place in range(offsets[vertex], offsets[vertex + 1]):
                around[place] = edge_of[half_edge]
                # The face on the left of v -> x runs v -> x -> y -> v: the next edge is the twin of y -> v.
                half_edge = twin[half_edge - half_edge % 3 + (half_edge + 2) % 3]
                if half_edge == leaving[vertex] and place + 1 != offsets[vertex + 1]:
                    raise ValueError(f"the faces around vertex {vertex} aren't a single fan")
        return cls(
            edges=np.column_stack([starts[first], ends[first]]).astype(np.int64),
            edge_faces=np.column_stack([first // 3, twin[first] // 3]).astype(np.int64),
            face_edges=edge_of.reshape(-1, 3),
            vertex_offsets=offsets.astype(np.int64),
            vertex_edges=around,
        )
