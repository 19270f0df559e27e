# SPDX-License-Identifier: Apache-2.0
"""Shapes as flat arrays that compiled code reads: all of a world, their places, pairs, and farthest points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Sphere
from humanoid_sim.detection.solids import Polytope, SolidShape, TriangleMesh


class Pose(NamedTuple):
    """Where a shape is: from its frame to the world, or to another shape's frame.

    Attributes:
        R: rotation, shape (3, 3).
        p: origin [m], shape (3,).
    """

    R: np.ndarray
    p: np.ndarray


class Nearest(NamedTuple):
    """The nearest or deepest points of two shapes.

    Attributes:
        normal: from b into a, unit where they touch, shape (3,).
        on_a: point of a [m], shape (3,).
        on_b: point of b [m], shape (3,).
    """

    normal: np.ndarray
    on_a: np.ndarray
    on_b: np.ndarray


class Simplex(NamedTuple):
    """Points of the difference of two cores, with the points of both that they are the differences of.

    Attributes:
        w_a: points of a [m], shape (4, 3).
        w_b: points of b [m], shape (4, 3).
        w: their differences [m], shape (4, 3).
    """

    w_a: np.ndarray
    w_b: np.ndarray
    w: np.ndarray


class PatchPoints(NamedTuple):
    """Contact points of two convex shapes, all with one normal.

    Attributes:
        positions: midway between the shapes [m], shape (points, 3).
        gaps: signed distances along the normal [m], shape (points,).
        features: a number for each that stays the same while the same parts touch, shape (points,).
    """

    positions: np.ndarray
    gaps: np.ndarray
    features: np.ndarray

    @classmethod
    def of_size(cls, points: int) -> PatchPoints:
        """Room for so many."""
        return cls(np.zeros((points, 3)), np.zeros(points), np.zeros(points, dtype=np.int64))


class MeshPoints(NamedTuple):
    """Contact points of two shapes, each with its normal.

    Attributes:
        positions: midway between the shapes [m], shape (points, 3).
        normals: unit, from b into a, shape (points, 3).
        gaps: signed distances along the normals [m], shape (points,).
        features: a number for each that stays the same while the same parts touch, shape (points,).
    """

    positions: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    features: np.ndarray

    @classmethod
    def of_size(cls, points: int) -> MeshPoints:
        """Room for so many."""
        return cls(np.zeros((points, 3)), np.zeros((points, 3)), np.zeros(points), np.zeros(points, dtype=np.int64))


class JointMotion(NamedTuple):
    """Where the joint frames are and how they move.

    Attributes:
        R: rotations to the world, shape (njoints, 3, 3).
        p: origins in the world [m], shape (njoints, 3).
        twists: world twists at the world origin, linear part first, shape (njoints, 6).
    """

    R: np.ndarray
    p: np.ndarray
    twists: np.ndarray


class AttachedShapes(NamedTuple):
    """Shapes on joints.

    Attributes:
        joint: joint that moves each shape, shape (n,).
        rotation: from the shape's frame to the joint frame, shape (n, 3, 3).
        origin: of the shape's frame in the joint frame [m], shape (n, 3).
    """

    joint: np.ndarray
    rotation: np.ndarray
    origin: np.ndarray


class PlacedShapes(NamedTuple):
    """Shapes in the world.

    Attributes:
        rotations: from the shapes' frames, shape (n, 3, 3).
        origins: of the shapes' frames [m], shape (n, 3).
        travels: how far each shape can move in two steps [m], shape (n,).
        boxes: around both: lower and upper corners along the world's axes [m], shape (n, 6).
    """

    rotations: np.ndarray
    origins: np.ndarray
    travels: np.ndarray
    boxes: np.ndarray

    @classmethod
    def of_size(cls, n: int) -> PlacedShapes:
        """Room for so many shapes."""
        return cls(np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 6)))


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


_CLIMB_FROM = 24
"""A hull with more vertices is climbed from neighbour to neighbour instead of looked through."""


@uncounted()
def core_radius(table: ShapeTable, s: int) -> float:
    """Thickness around the core of a shape: a sphere's core is a point, a capsule's its axis [m].

    A smooth convex body is a core with a ball of its least radius of curvature rolled around it (Schneider, Convex
    Bodies, 3.2): an ellipsoid too is known with its thickness, and penetrates without losing its curvature.
    """
    if table.kind[s] == SPHERE or table.kind[s] == CAPSULE or table.kind[s] == ELLIPSOID:
        return float(table.radius[s])
    return 0.0


@uncounted()
def support(table: ShapeTable, s: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Farthest point of a shape's core along (x, y, z), all in the shape's frame [m]."""
    kind = table.kind[s]
    if kind == BOX:
        half = table.half[s]
        return math.copysign(half[0], x), math.copysign(half[1], y), math.copysign(half[2], z)
    if kind == SPHERE:
        return 0.0, 0.0, 0.0
    if kind == CAPSULE:
        return 0.0, 0.0, math.copysign(table.half_length[s], z)
    if kind == CYLINDER:
        across = math.sqrt(x * x + y * y)
        end = math.copysign(table.half_length[s], z)
        if across == 0.0:
            return 0.0, 0.0, end
        return table.radius[s] * x / across, table.radius[s] * y / across, end
    if kind == ELLIPSOID:
        half, radius = table.half[s], table.radius[s]
        length = math.sqrt(x * x + y * y + z * z)
        if length == 0.0:
            return half[0] - radius, 0.0, 0.0
        x, y, z = x / length, y / length, z / length
        u, v, w = half[0] * x, half[1] * y, half[2] * z
        reach = math.sqrt(u * u + v * v + w * w)
        return half[0] * u / reach - radius * x, half[1] * v / reach - radius * y, half[2] * w / reach - radius * z
    first = table.vertex_start[s]
    count = table.vertex_start[s + 1] - first
    vertices = table.vertices
    if count <= _CLIMB_FROM:
        best = first
        reach = -np.inf
        for i in range(first, first + count):
            along = vertices[i, 0] * x + vertices[i, 1] * y + vertices[i, 2] * z
            if along > reach:
                reach = along
                best = i
        return vertices[best, 0], vertices[best, 1], vertices[best, 2]
    # on a convex polytope a vertex without a better neighbour is the best of all
    axis = 0
    size = abs(x)
    value = x
    if abs(y) > size:
        axis, size, value = 1, abs(y), y
    if abs(z) > size:
        axis, value = 2, z
    best = first + table.extreme[s, 2 * axis + (1 if value > 0.0 else 0)]
    reach = vertices[best, 0] * x + vertices[best, 1] * y + vertices[best, 2] * z
    climbing = True
    while climbing:
        climbing = False
        here = best
        for k in range(table.neighbour_start[here], table.neighbour_start[here + 1]):
            i = first + table.neighbours[k]
            along = vertices[i, 0] * x + vertices[i, 1] * y + vertices[i, 2] * z
            if along > reach:
                reach = along
                best = i
                climbing = True
    return vertices[best, 0], vertices[best, 1], vertices[best, 2]


@uncounted()
def difference_support(
    table: ShapeTable,
    a: int,
    b: int,
    pose: Pose,
    x: float,
    y: float,
    z: float,
    on_a: np.ndarray,
    on_b: np.ndarray,
    w: np.ndarray,
) -> float:
    """Farthest point of the difference a - b of two cores along a direction, in a's frame.

    Args:
        table: the shapes.
        a: first shape.
        b: second shape.
        pose: from b's frame to a's.
        x: direction in a's frame.
        y: same.
        z: same.
        on_a: receives the point of a [m], shape (3,).
        on_b: receives the point of b [m], shape (3,).
        w: receives their difference [m], shape (3,).

    Returns:
        How far the difference reaches along the direction.
    """
    R, t = pose.R, pose.p
    on_a[0], on_a[1], on_a[2] = support(table, a, x, y, z)
    u, v, s = support(
        table,
        b,
        -(R[0, 0] * x + R[1, 0] * y + R[2, 0] * z),
        -(R[0, 1] * x + R[1, 1] * y + R[2, 1] * z),
        -(R[0, 2] * x + R[1, 2] * y + R[2, 2] * z),
    )
    for r in range(3):
        on_b[r] = t[r] + R[r, 0] * u + R[r, 1] * v + R[r, 2] * s
        w[r] = on_a[r] - on_b[r]
    return w[0] * x + w[1] * y + w[2] * z
