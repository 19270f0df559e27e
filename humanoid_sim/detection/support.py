# SPDX-License-Identifier: Apache-2.0
"""Farthest points of shapes along a direction, and of the difference of two shapes."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_sim.detection.pair_records import Pose
from humanoid_sim.detection.shape_table import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE, ShapeTable

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
