# SPDX-License-Identifier: Apache-2.0
"""Triangle meshes that collide triangle by triangle, with a tree of bounding boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Mesh
from humanoid_model.errors import InputError

LEAF = 4
"""A leaf of the tree holds at most so many triangles."""
_RIDGE = 1e-6
"""Sine from which on two neighbours form a ridge and not a plane."""


@dataclass(frozen=True)
class TriangleMesh:
    """A surface of triangles; the solid is on the inner side of their normals.

    Attributes:
        triangles: corners, counter-clockwise from outside, in the order of the tree's leaves [m], shape (n, 3, 3).
        normals: unit, zero for a triangle without area, shape (n, 3).
        edge_open: whether the side from corner i to i + 1 is a ridge or a border, so that contact normals may lean over
            it, shape (n, 3).
        node_box: lower and upper corner of each node of the tree [m], shape (nnodes, 6); node 0 is the root.
        node_child: the children of a node; -1 - first triangle and number of triangles of a leaf, shape (nnodes, 2).
        source_index: place of each triangle in the mesh that was given, shape (n,).
    """

    triangles: NDArray[np.float64]
    normals: NDArray[np.float64]
    edge_open: NDArray[np.bool_]
    node_box: NDArray[np.float64]
    node_child: NDArray[np.int64]
    source_index: NDArray[np.int64]

    @classmethod
    def of_mesh(cls, mesh: Mesh) -> TriangleMesh:
        """Return the triangles of a mesh file.

        Raises:
            InputError: the file can't be read or holds no triangle.
        """
        geometry = coal_geometry(mesh)
        corners = [[geometry.tri_indices(i)[k] for k in range(3)] for i in range(geometry.num_tris)]
        if not corners:
            raise InputError("mesh has no triangle", source=mesh.path, remedy="Give a mesh with triangles")
        return cls.of_triangles(np.asarray(geometry.vertices()), np.array(corners, dtype=np.int64))

    @classmethod
    def of_triangles(cls, points: NDArray[np.float64], corners: NDArray[np.int64]) -> TriangleMesh:
        """Return a mesh by its points [m], shape (k, 3), and the corners of its triangles, shape (n, 3).

        Raises:
            InputError: there is no triangle, or a coordinate is not finite.
        """
        if len(corners) == 0:
            raise InputError("mesh has no triangle", element="triangles", remedy="Give at least one")
        if not np.isfinite(points).all():
            raise InputError(
                "a coordinate of the mesh is not finite", element="points", remedy="Give finite numbers [m]"
            )
        triangles = np.asarray(points, dtype=float)[corners]
        cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        area = np.linalg.norm(cross, axis=1)
        normals = np.divide(cross, area[:, None], out=np.zeros_like(cross), where=area[:, None] > 0.0)
        edge_open = _open_sides(np.asarray(points), np.asarray(corners), triangles, normals)
        order, node_box, node_child = bounding_tree(triangles.min(axis=1), triangles.max(axis=1))
        return cls(
            np.ascontiguousarray(triangles[order]),
            np.ascontiguousarray(normals[order]),
            np.ascontiguousarray(edge_open[order]),
            node_box,
            node_child,
            order,
        )


def _open_sides(
    points: NDArray[np.float64],
    corners: NDArray[np.int64],
    triangles: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which sides are ridges or borders; equal points count as one."""
    _, place = np.unique(points, axis=0, return_inverse=True)
    corners = place.reshape(-1)[corners]
    edge_open = np.ones((len(corners), 3), dtype=bool)
    sides: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for f, corner in enumerate(corners.tolist()):
        for k in range(3):
            i, j = corner[k], corner[(k + 1) % 3]
            sides.setdefault((min(i, j), max(i, j)), []).append((f, k))
    for users in sides.values():
        if len(users) != 2 or users[0][0] == users[1][0]:
            continue
        for (f, k), (g, m) in (users, users[::-1]):
            across = triangles[g, (m + 2) % 3] - triangles[f, k]
            edge_open[f, k] = bool(across @ normals[f] < -_RIDGE * np.linalg.norm(across))
    return edge_open


def bounding_tree(
    lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Binary tree of axis-aligned boxes, halved at the median along the longest side.

    Args:
        lower: lower corners of the boxes of the items [m], shape (n, 3), n >= 1.
        upper: upper corners, shape (n, 3).

    Returns:
        Order of the items in the leaves, shape (n,); boxes of the nodes, shape (nnodes, 6); their children, or -1 -
        first item (by the new order) and the number of items of a leaf, shape (nnodes, 2).
    """
    order = np.arange(len(lower))
    centres = 0.5 * (lower + upper)
    boxes: list[NDArray[np.float64]] = []
    children: list[tuple[int, int]] = []
    waiting = [(0, len(lower), -1)]
    while waiting:
        start, stop, parent = waiting.pop()
        node = len(boxes)
        if parent >= 0:
            first, second = children[parent]
            children[parent] = (node, second) if first < 0 else (first, node)
        items = order[start:stop]
        boxes.append(np.concatenate([lower[items].min(axis=0), upper[items].max(axis=0)]))
        if stop - start <= LEAF:
            children.append((-1 - start, stop - start))
            continue
        axis = int(np.ptp(centres[items], axis=0).argmax())
        middle = (stop - start) // 2
        order[start:stop] = items[np.argpartition(centres[items, axis], middle)]
        children.append((-1, -1))
        waiting.append((start + middle, stop, node))
        waiting.append((start, start + middle, node))
    return order, np.array(boxes), np.array(children, dtype=np.int64)
