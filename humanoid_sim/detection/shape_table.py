# SPDX-License-Identifier: Apache-2.0
"""All shapes of a world as flat arrays that compiled code reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Sphere
from humanoid_sim.detection.polytope import Polytope
from humanoid_sim.detection.solids import SolidShape
from humanoid_sim.detection.triangle_mesh import TriangleMesh

BOX, HULL, SPHERE, CAPSULE, CYLINDER, ELLIPSOID, MESH = range(7)


class ShapeTable(NamedTuple):
    """Shapes one after the other.

    Rows of vertices, faces and triangles belong to the shape whose range in ``*_start`` holds them. A mesh has beside
    its own row one for a single triangle, which takes the values of that triangle of the mesh which is looked at.

    Attributes:
        kind: ``BOX``, ``HULL``, ``SPHERE``, ``CAPSULE``, ``CYLINDER``, ``ELLIPSOID`` or ``MESH``, shape (n,).
        radius: of a sphere, capsule or cylinder, the least one of curvature of an ellipsoid [m], shape (n,).
        half: half edge lengths of the bounding box along the shape's axes [m], shape (n, 3).
        centre: of that box in the shape's frame [m], shape (n, 3).
        half_length: of the axis of a capsule (without caps) or cylinder [m], shape (n,).
        vertex_start: shape (n + 1,).
        vertices: of boxes, hulls and the single triangles [m], shape (nv, 3).
        neighbour_start: range of each vertex in ``neighbours``, shape (nv + 1,).
        neighbours: vertices joined to a vertex by an edge, counted within the shape.
        extreme: vertex that is farthest along -x, +x, -y, +y, -z, +z, counted within the shape, shape (n, 6).
        face_start: shape (n + 1,).
        face_normals: outward, unit, shape (nf, 3).
        corner_start: range of each face in ``corners``, shape (nf + 1,).
        corners: vertices around each face, counter-clockwise from outside, counted within the shape.
        single: row of the single triangle of a mesh, -1 for other shapes, shape (n,).
        mesh: row of the mesh in ``mesh_node`` and ``mesh_triangle``, -1 for other shapes, shape (n,).
        mesh_node: first node of each mesh in the tree's arrays, shape (nmeshes + 1,).
        mesh_triangle: first triangle of each mesh, shape (nmeshes + 1,).
        node_box: lower and upper corner of each node of the meshes' trees [m], shape (nnodes, 6).
        node_child: the two children of a node counted within the mesh, or -1 - first and the count of a leaf's
            triangles, shape (nnodes, 2).
        triangles: corners of the meshes' triangles [m], shape (nt, 3, 3).
        triangle_normals: unit, zero for a triangle without area, shape (nt, 3).
        edge_open: whether contact normals may lean over a side: a ridge or a border, shape (nt, 3).
    """

    kind: np.ndarray
    radius: np.ndarray
    half: np.ndarray
    centre: np.ndarray
    half_length: np.ndarray
    vertex_start: np.ndarray
    vertices: np.ndarray
    neighbour_start: np.ndarray
    neighbours: np.ndarray
    extreme: np.ndarray
    face_start: np.ndarray
    face_normals: np.ndarray
    corner_start: np.ndarray
    corners: np.ndarray
    single: np.ndarray
    mesh: np.ndarray
    mesh_node: np.ndarray
    mesh_triangle: np.ndarray
    node_box: np.ndarray
    node_child: np.ndarray
    triangles: np.ndarray
    triangle_normals: np.ndarray
    edge_open: np.ndarray


def shape_table(shapes: Sequence[SolidShape]) -> ShapeTable:
    """Return the table of some shapes, in their order; the single triangles of meshes follow.

    Args:
        shapes: primitives, polytopes and meshes; no half-space, which has no extent.
    """
    meshes = [shape for shape in shapes if isinstance(shape, TriangleMesh)]
    n = len(shapes) + len(meshes)
    kind = np.zeros(n, dtype=np.int64)
    radius, half_length = np.zeros(n), np.zeros(n)
    half, centre = np.zeros((n, 3)), np.zeros((n, 3))
    single, mesh = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    polytopes: list[Polytope] = []
    mesh_count = 0
    for i, shape in enumerate([*shapes, *meshes]):
        polytope = Polytope.none()
        if i >= len(shapes):
            kind[i], polytope = HULL, Polytope.triangle()
        elif isinstance(shape, Box):
            kind[i], polytope = BOX, Polytope.of_box(shape)
            half[i] = 0.5 * np.asarray(shape.size)
        elif isinstance(shape, Sphere):
            kind[i], radius[i], half[i] = SPHERE, shape.radius, shape.radius
        elif isinstance(shape, (Capsule, Cylinder)):
            cap = shape.radius if isinstance(shape, Capsule) else 0.0
            kind[i] = CAPSULE if isinstance(shape, Capsule) else CYLINDER
            radius[i], half_length[i] = shape.radius, 0.5 * shape.length
            half[i] = shape.radius, shape.radius, 0.5 * shape.length + cap
        elif isinstance(shape, Ellipsoid):
            kind[i], half[i] = ELLIPSOID, shape.radii
            radius[i] = shape.radii.min() ** 2 / shape.radii.max()
        elif isinstance(shape, Polytope):
            kind[i], polytope = HULL, shape
            lower, upper = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
            half[i], centre[i] = 0.5 * (upper - lower), 0.5 * (upper + lower)
        else:
            assert isinstance(shape, TriangleMesh)
            kind[i], mesh[i], single[i] = MESH, mesh_count, len(shapes) + mesh_count
            lower, upper = shape.node_box[0, :3], shape.node_box[0, 3:]
            half[i], centre[i] = 0.5 * (upper - lower), 0.5 * (upper + lower)
            mesh_count += 1
        polytopes.append(polytope)
    directions = np.repeat(np.eye(3), 2, axis=0) * np.array([-1.0, 1.0] * 3)[:, None]
    return ShapeTable(
        kind=kind,
        radius=radius,
        half=half,
        centre=centre,
        half_length=half_length,
        vertex_start=_starts([len(polytope.vertices) for polytope in polytopes]),
        vertices=_joined([polytope.vertices for polytope in polytopes], (3,)),
        neighbour_start=_starts(
            [size for polytope in polytopes for size in np.diff(polytope.neighbour_starts).tolist()]
        ),
        neighbours=_joined([polytope.neighbours for polytope in polytopes], (), np.int64),
        extreme=np.array(
            [
                (polytope.vertices @ directions.T).argmax(axis=0) if len(polytope.vertices) else np.zeros(6)
                for polytope in polytopes
            ],
            dtype=np.int64,
        ).reshape(-1, 6),
        face_start=_starts([len(polytope.normals) for polytope in polytopes]),
        face_normals=_joined([polytope.normals for polytope in polytopes], (3,)),
        corner_start=_starts([size for polytope in polytopes for size in np.diff(polytope.starts).tolist()]),
        corners=_joined([polytope.corner_vertices for polytope in polytopes], (), np.int64),
        single=single,
        mesh=mesh,
        mesh_node=_starts([len(shape.node_box) for shape in meshes]),
        mesh_triangle=_starts([len(shape.triangles) for shape in meshes]),
        node_box=_joined([shape.node_box for shape in meshes], (6,)),
        node_child=_joined([shape.node_child for shape in meshes], (2,), np.int64),
        triangles=_joined([shape.triangles for shape in meshes], (3, 3)),
        triangle_normals=_joined([shape.normals for shape in meshes], (3,)),
        edge_open=_joined([shape.edge_open for shape in meshes], (3,), np.bool_),
    )


def _starts(counts: Sequence[int]) -> np.ndarray:
    return np.cumsum([0, *counts]).astype(np.int64)


def _joined(parts: Sequence[np.ndarray], row: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
    filled: list[np.ndarray] = [np.asarray(part, dtype=dtype).reshape(-1, *row) for part in parts]
    return np.ascontiguousarray(np.concatenate([np.zeros((0, *row), dtype=dtype), *filled]))
