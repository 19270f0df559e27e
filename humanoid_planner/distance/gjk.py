# SPDX-License-Identifier: Apache-2.0
"""GJK: on the polyhedra of two volumes, and on their cores, where it ends as soon as a walk from it arrives.

E. G. Gilbert, D. W. Johnson, S. S. Keerthi, "A fast procedure for computing the distance between complex objects",
1988. Between polyhedra it ends at the distance after a few support points, which are vertices. It approaches the
distance of curved bodies without reaching it; but it soon has the right features under its normal, and from them the
walk gives the exact answer.

A core is what is left of a volume when a ball of its small radius r is taken off all around; the search in penetration
sees cores, too: two volumes that penetrate lightly have cores apart. The point of a simplex nearest to the origin is
after C. Ericson, Real-Time Collision Detection, 2005, section 5.1.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.closest_point import triangle_weights
from humanoid_planner.distance.features import locate_world, walk
from humanoid_planner.distance.frames import (
    Frames,
    Vector,
    difference,
    kernel,
    opposite,
    to_body,
    to_world,
    vector,
    vector_of,
)
from humanoid_planner.distance.volume_table import EDGE, FACE, VERTEX, Pair, VolumeTable, Workspace

_SMALLEST = 1e-200


@kernel
def core_support(table: VolumeTable, volume: int, row: int, u: Vector) -> Vector:
    """Farthest point of a volume without its small radius along a unit direction, all in the volume's frame.

    Args:
        table: of the volumes.
        volume: its index.
        row: feature that has the direction among its normals.
        u: the direction.
    """
    features = table.features
    p0, p1, p2 = vector(features, row, 0)
    kind = table.links[row, 0]
    if kind == VERTEX:
        return p0, p1, p2
    u0, u1, u2 = u
    along, axial = table.radii[volume, 2], 0.0
    if kind == EDGE:  # the centre of the big sphere is on the circle, across the axis from the direction
        s = u0 * features[row, 3] + u1 * features[row, 4] + u2 * features[row, 5]
        scale = features[row, 7] / math.sqrt(max(1.0 - s * s, _SMALLEST))
        along, axial = along - scale, scale * s
    p0, p1, p2 = p0 + along * u0, p1 + along * u1, p2 + along * u2
    if kind == EDGE:
        p0, p1, p2 = p0 + axial * features[row, 3], p1 + axial * features[row, 4], p2 + axial * features[row, 5]
    return p0, p1, p2


@kernel
def core_difference(table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, n: Vector) -> Vector:
    """Point of the difference of two volumes without their small radii that is least far along n, in the world.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: feature of the first volume under -n.
        row_b: feature of the second volume under n.
        n: unit vector in the world.
    """
    a, b = pair.body_a, pair.body_b
    p = core_support(table, pair.volume_a, row_a, to_body(frames, a, opposite(n)))
    q = core_support(table, pair.volume_b, row_b, to_body(frames, b, n))
    return difference(frames, a, b, p, q)


@kernel
def core_radius(table: VolumeTable, volume: int, row: int) -> float:
    """Radius of the surface of a volume's core at a feature [m]: R - r, or none at the centre of a small sphere."""
    return 0.0 if table.links[row, 0] == VERTEX else table.radii[volume, 2]


@kernel
def boundary_point(
    table: VolumeTable,
    frames: Frames,
    volume: int,
    body: int,
    row: int,
    sign: float,
    n: np.ndarray,
    point: np.ndarray,
) -> None:
    """Point of a volume's boundary where ``sign * n`` is the outward normal, in the world.

    Args:
        table: of the volumes.
        frames: of the bodies.
        volume: its index.
        body: that moves it.
        row: feature that has the direction among its normals.
        sign: 1.0 or -1.0.
        n: unit vector in the world, shape (3,).
        point: receives the point, shape (3,).
    """
    origins = frames.origins
    u = to_body(frames, body, (sign * n[0], sign * n[1], sign * n[2]))
    p0, p1, p2 = to_world(frames, body, core_support(table, volume, row, u))
    r = sign * table.radii[volume, 0]
    point[0] = origins[body, 0] + p0 + r * n[0]
    point[1] = origins[body, 1] + p1 + r * n[1]
    point[2] = origins[body, 2] + p2 + r * n[2]


@kernel
def _triangle(simplex: np.ndarray, i: int, j: int, k: int, nearest: np.ndarray) -> tuple[float, int]:
    """Nearest point of a triangle, its squared distance, and which of the corners (bits 1, 2, 4) it lies between."""
    ab0, ab1, ab2 = simplex[j, 0] - simplex[i, 0], simplex[j, 1] - simplex[i, 1], simplex[j, 2] - simplex[i, 2]
    ac0, ac1, ac2 = simplex[k, 0] - simplex[i, 0], simplex[k, 1] - simplex[i, 1], simplex[k, 2] - simplex[i, 2]
    d1 = -(ab0 * simplex[i, 0] + ab1 * simplex[i, 1] + ab2 * simplex[i, 2])
    d2 = -(ac0 * simplex[i, 0] + ac1 * simplex[i, 1] + ac2 * simplex[i, 2])
    d3 = -(ab0 * simplex[j, 0] + ab1 * simplex[j, 1] + ab2 * simplex[j, 2])
    d4 = -(ac0 * simplex[j, 0] + ac1 * simplex[j, 1] + ac2 * simplex[j, 2])
    d5 = -(ab0 * simplex[k, 0] + ab1 * simplex[k, 1] + ab2 * simplex[k, 2])
    d6 = -(ac0 * simplex[k, 0] + ac1 * simplex[k, 1] + ac2 * simplex[k, 2])
    _, s, t, corners = triangle_weights(d1, d2, d3, d4, d5, d6)
    nearest[0] = simplex[i, 0] + s * ab0 + t * ac0
    nearest[1] = simplex[i, 1] + s * ab1 + t * ac1
    nearest[2] = simplex[i, 2] + s * ab2 + t * ac2
    return nearest[0] * nearest[0] + nearest[1] * nearest[1] + nearest[2] * nearest[2], corners


@kernel
def reduce_simplex(simplex: np.ndarray, count: int) -> int:
    """Keep the corners between which the point nearest to the origin lies.

    Args:
        simplex: corners in the first ``count`` rows, with a number of the caller's in column 3; those kept move up.
            Row 4 receives the point; row 5 is scratch. Shape (6, 4).
        count: number of corners, 1 to 4.

    Returns:
        Number of corners kept; 4 when the origin is inside.
    """
    nearest, scratch = simplex[4], simplex[5]
    if count == 1:
        for k in range(3):
            nearest[k] = simplex[0, k]
        return 1
    if count == 2:
        e0, e1, e2 = simplex[1, 0] - simplex[0, 0], simplex[1, 1] - simplex[0, 1], simplex[1, 2] - simplex[0, 2]
        square = e0 * e0 + e1 * e1 + e2 * e2
        along = -(e0 * simplex[0, 0] + e1 * simplex[0, 1] + e2 * simplex[0, 2])
        if along <= 0.0 or along >= square:
            for k in range(4):
                simplex[0, k] = simplex[0 if along <= 0.0 else 1, k]
                nearest[k] = simplex[0, k]
            return 1
        along /= square
        nearest[0] = simplex[0, 0] + along * e0
        nearest[1] = simplex[0, 1] + along * e1
        nearest[2] = simplex[0, 2] + along * e2
        return 2
    first, second, third, corners = 0, 1, 2, 0
    if count == 3:
        corners = _triangle(simplex, 0, 1, 2, nearest)[1]
    else:
        least = np.inf
        outside = False
        for face in range(4):
            i, j, k, other = 0, 1, 2, 3
            if face == 1:
                j, k, other = 2, 3, 1
            elif face == 2:
                j, k, other = 3, 1, 2
            elif face == 3:
                i, j, k, other = 1, 3, 2, 0
            a0, a1, a2 = simplex[j, 0] - simplex[i, 0], simplex[j, 1] - simplex[i, 1], simplex[j, 2] - simplex[i, 2]
            b0, b1, b2 = simplex[k, 0] - simplex[i, 0], simplex[k, 1] - simplex[i, 1], simplex[k, 2] - simplex[i, 2]
            m0, m1, m2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            origin_side = -(m0 * simplex[i, 0] + m1 * simplex[i, 1] + m2 * simplex[i, 2])
            other_side = (
                m0 * (simplex[other, 0] - simplex[i, 0])
                + m1 * (simplex[other, 1] - simplex[i, 1])
                + m2 * (simplex[other, 2] - simplex[i, 2])
            )
            if origin_side * other_side > 0.0:
                continue
            outside = True
            square, between = _triangle(simplex, i, j, k, scratch)
            if square < least:
                least = square
                first, second, third, corners = i, j, k, between
                for axis in range(3):
                    nearest[axis] = scratch[axis]
        if not outside:
            for axis in range(3):
                nearest[axis] = 0.0
            return 4
    kept = 0
    rows = (first, second, third)
    # Rows move up only, first to last, after sorting: none is overwritten before it is read.
    for row in range(4):
        for place in range(3):
            if rows[place] == row and corners & (1 << place):
                for column in range(4):
                    simplex[kept, column] = simplex[row, column]
                kept += 1
    return kept


@kernel
def corner_weights(simplex: np.ndarray, count: int) -> tuple[float, float, float]:
    """Weights of up to three corners whose sum is the point nearest to the origin, after :func:`reduce_simplex`."""
    if count == 1:
        return 1.0, 0.0, 0.0
    a0, a1, a2 = simplex[1, 0] - simplex[0, 0], simplex[1, 1] - simplex[0, 1], simplex[1, 2] - simplex[0, 2]
    aa = a0 * a0 + a1 * a1 + a2 * a2
    ax = -(a0 * simplex[0, 0] + a1 * simplex[0, 1] + a2 * simplex[0, 2])
    if count == 2:
        return 1.0 - ax / aa, ax / aa, 0.0
    b0, b1, b2 = simplex[2, 0] - simplex[0, 0], simplex[2, 1] - simplex[0, 1], simplex[2, 2] - simplex[0, 2]
    bb = b0 * b0 + b1 * b1 + b2 * b2
    bx = -(b0 * simplex[0, 0] + b1 * simplex[0, 1] + b2 * simplex[0, 2])
    ab = a0 * b0 + a1 * b1 + a2 * b2
    determinant = aa * bb - ab * ab
    s, t = (bb * ax - ab * bx) / determinant, (aa * bx - ab * ax) / determinant
    return 1.0 - s - t, s, t


ARRIVED = 0
OVERLAP = 1
STALLED = 2

_TOUCHING = 1e-9
"""Bodies nearer to each other than this [m] count as overlapping: the normal between them would be round-off."""
_RELATIVE = 1e-12
"""Distances that still grow by less than this part are final."""
_PAIRS = 2
"""Pairs of features of each walk: a walk that arrives from farther would have arrived a support point later."""
_BOTH = 1 << 26
"""Two rows are one number of a simplex' corner: the first times this, plus the second; exact in a float."""
_FEW = 40
"""Of so many vertices, looking at all is faster than climbing along edges."""


@kernel
def support_vertex(table: VolumeTable, volume: int, row: int, u: Vector) -> int:
    """Return the vertex of a volume farthest along a direction in its frame.

    Args:
        table: of the volumes.
        volume: its index.
        row: vertex to start from where there are many.
        u: direction.

    Returns:
        Row of the vertex among the features.
    """
    u0, u1, u2 = u
    first, last = table.corner_range[volume, 0], table.corner_range[volume, 1]
    corners = table.corners
    if last - first <= _FEW:
        best, most = first, -np.inf
        for k in range(first, last):
            along = u0 * corners[k, 0] + u1 * corners[k, 1] + u2 * corners[k, 2]
            if along > most:
                most = along
                best = k
        return table.first[volume, 0] + best - first
    spokes, links = table.spokes, table.links
    while True:
        most, steepest = 1e-12, -1
        for k in range(links[row, 1], links[row, 1] + links[row, 2]):
            slope = u0 * spokes[k, 0] + u1 * spokes[k, 1] + u2 * spokes[k, 2]
            if slope > most:
                most = slope
                steepest = k
        if steepest < 0:
            return row
        row = table.spoke_links[steepest, 1]


@kernel
def _vertex_of(table: VolumeTable, row: int) -> int:
    """Return a vertex of a feature."""
    if table.links[row, 0] == FACE:
        row = table.links[row, 1]
    if table.links[row, 0] == EDGE:
        row = table.links[row, 1]
    return row


@kernel
def hull_gjk(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, work: Workspace
) -> tuple[float, int, int]:
    """Return the distance of the polyhedra of two volumes.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: any feature of the first volume.
        row_b: any feature of the second volume.
        work: ``n`` is the unit vector to start from, and receives the one across the gap, from b to a in the world;
            ``witnesses`` receives the points of the polyhedra that the distance is taken between, each in its body's
            frame.

    Returns:
        Distance [m], 0 if they overlap; vertices under the normal.
    """
    simplex, n = work.simplex, work.n
    a, b = pair.body_a, pair.body_b
    row_a, row_b = _vertex_of(table, row_a), _vertex_of(table, row_b)
    features = table.features
    count = 0
    distance = np.inf
    for _ in range(100):
        across = vector_of(n)
        row_a = support_vertex(table, pair.volume_a, row_a, to_body(frames, a, opposite(across)))
        row_b = support_vertex(table, pair.volume_b, row_b, to_body(frames, b, across))
        d0, d1, d2 = difference(frames, a, b, vector(features, row_a, 0), vector(features, row_b, 0))
        if count > 0 and distance - (d0 * n[0] + d1 * n[1] + d2 * n[2]) <= _RELATIVE * distance:
            break
        simplex[count, 0], simplex[count, 1], simplex[count, 2] = d0, d1, d2
        simplex[count, 3] = row_a * _BOTH + row_b
        count = reduce_simplex(simplex, count + 1)
        reached = math.sqrt(simplex[4, 0] ** 2 + simplex[4, 1] ** 2 + simplex[4, 2] ** 2)
        if count == 4 or reached < _TOUCHING:
            return 0.0, row_a, row_b
        if not reached < distance:  # the rest is round-off
            break
        distance = reached
        for k in range(3):
            n[k] = simplex[4, k] / distance
    weights = corner_weights(simplex, count)
    witnesses = work.witnesses
    for k in range(3):
        witnesses[0, k], witnesses[1, k] = 0.0, 0.0
    for corner in range(count):
        both = int(simplex[corner, 3])
        for k in range(3):
            witnesses[0, k] += weights[corner] * features[both // _BOTH, k]
            witnesses[1, k] += weights[corner] * features[both % _BOTH, k]
    return distance, row_a, row_b


@kernel
def core_gjk(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, work: Workspace
) -> tuple[float, int, int, int]:
    """Return the pair of features and normal of two volumes whose cores are apart.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: any feature of the first volume.
        row_b: any feature of the second volume.
        work: ``n`` is the unit vector to start from, and receives the normal, from b to a in the world.

    Returns:
        Distance of centres and circles, if it arrived; the two features; ARRIVED, OVERLAP (the cores do), or STALLED.
    """
    simplex, n = work.simplex, work.n
    count = 0
    tried_a, tried_b = -1, -1
    distance = np.inf
    for _ in range(100):
        across = vector_of(n)
        row_a = locate_world(table, frames, pair.volume_a, pair.body_a, row_a, opposite(across))
        row_b = locate_world(table, frames, pair.volume_b, pair.body_b, row_b, across)
        if row_a != tried_a or row_b != tried_b:
            tried_a, tried_b = row_a, row_b
            length, m, end_a, end_b, arrived = walk(table, frames, pair, row_a, row_b, across, _PAIRS, -1.0)
            if arrived:
                n[0], n[1], n[2] = m
                return length, end_a, end_b, ARRIVED
        simplex[count, 0], simplex[count, 1], simplex[count, 2] = core_difference(
            table, frames, pair, row_a, row_b, across
        )
        count = reduce_simplex(simplex, count + 1)
        reached = math.sqrt(simplex[4, 0] ** 2 + simplex[4, 1] ** 2 + simplex[4, 2] ** 2)
        if count == 4 or reached < _TOUCHING:
            return 0.0, row_a, row_b, OVERLAP
        if not reached < distance:
            break
        distance = reached
        for k in range(3):
            n[k] = simplex[4, k] / distance
    return 0.0, row_a, row_b, STALLED
