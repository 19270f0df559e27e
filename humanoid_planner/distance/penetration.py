# SPDX-License-Identifier: Apache-2.0
"""Smallest translation that separates two volumes whose cores overlap.

The expanding polytope algorithm (G. van den Bergen 2001) on the difference of the cores: a polytope inside the
difference grows where its boundary is nearest to the origin. The nearest face bounds the depth from below, each support
point from above, and each walk from the features under a face's normal may lower that bound to an exact local
depth. Between the two bounds several penetrating pairs of features are told apart (specification 001 section 5.2).

The difference is inflated by a ball. That changes neither which direction is best nor, once the radius is taken off
again, the depth; it gives the flattest difference a volume and the origin a place inside.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_planner.distance.features import locate_world, walk
from humanoid_planner.distance.frames import Frames, kernel, opposite, vector_of
from humanoid_planner.distance.gjk import core_difference, core_radius
from humanoid_planner.distance.volume_table import MAX_FACES, MAX_POINTS, Pair, VolumeTable, Workspace

_GAP = 1e-8
"""Depths less than this apart [m] count as equal."""
_FLAT = 1e-12
"""Heights below this [m] are round-off."""
_PAIRS = 2
"""Pairs of features of the walk from a support point's."""
_HOPELESS = 0.05
"""Gaps less than the best by more than this part of the inflation start no walk."""


@kernel
def _add_face(points: np.ndarray, planes: np.ndarray, corners: np.ndarray, face: int, i: int, j: int, k: int) -> None:
    """Face through three corners; its plane has a unit outward normal and the offset; no area, no normal."""
    corners[face, 0], corners[face, 1], corners[face, 2] = i, j, k
    a0, a1, a2 = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
    b0, b1, b2 = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
    m0, m1, m2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    length = math.sqrt(m0 * m0 + m1 * m1 + m2 * m2)
    scale = 1.0 / length if length > 0.0 else 0.0
    planes[face, 0], planes[face, 1], planes[face, 2] = scale * m0, scale * m1, scale * m2
    planes[face, 3] = (
        planes[face, 0] * points[i, 0] + planes[face, 1] * points[i, 1] + planes[face, 2] * points[i, 2]
        if length > 0.0
        else np.inf
    )


@kernel
def _grow(points: np.ndarray, planes: np.ndarray, corners: np.ndarray, rim: np.ndarray, faces: int, point: int) -> int:
    """Replace the faces that see a new corner by faces from their outline to it; returns the number of faces."""
    edges = 0
    face = 0
    while face < faces:
        height = (
            planes[face, 0] * points[point, 0]
            + planes[face, 1] * points[point, 1]
            + planes[face, 2] * points[point, 2]
            - planes[face, 3]
        )
        if height <= _FLAT:
            face += 1
            continue
        for k in range(3):
            i, j = corners[face, k], corners[face, (k + 1) % 3]
            shared = False
            for edge in range(edges):  # an edge between two faces that go is seen from both
                if rim[edge, 0] == j and rim[edge, 1] == i:
                    edges -= 1
                    rim[edge, 0], rim[edge, 1] = rim[edges, 0], rim[edges, 1]
                    shared = True
                    break
            if not shared:
                rim[edges, 0], rim[edges, 1] = i, j
                edges += 1
        faces -= 1
        for k in range(3):
            corners[face, k] = corners[faces, k]
        for k in range(4):
            planes[face, k] = planes[faces, k]
    for edge in range(edges):
        if faces == MAX_FACES:
            break
        _add_face(points, planes, corners, faces, rim[edge, 0], rim[edge, 1], point)
        faces += 1
    return faces


@kernel
def _probe(
    table: VolumeTable, frames: Frames, pair: Pair, inflation: float, corner: int, work: Workspace
) -> None:
    """Support point of the inflated difference against ``work.n``, and what a walk from its features makes of it.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        inflation: radius of the ball [m].
        corner: of the polytope, receives the support point.
        work: ``best`` and ``rows`` are brought up to date.
    """
    n, best, rows, points = work.n, work.best, work.rows, work.points
    volume_a, volume_b, across = pair.volume_a, pair.volume_b, vector_of(n)
    row_a = locate_world(table, frames, volume_a, pair.body_a, rows[0], opposite(across))
    row_b = locate_world(table, frames, volume_b, pair.body_b, rows[1], across)
    rows[0], rows[1] = row_a, row_b
    p0, p1, p2 = core_difference(table, frames, pair, row_a, row_b, across)
    gap = p0 * n[0] + p1 * n[1] + p2 * n[2]
    points[corner, 0] = p0 - inflation * n[0]
    points[corner, 1] = p1 - inflation * n[1]
    points[corner, 2] = p2 - inflation * n[2]
    if gap > best[0] + _FLAT:
        best[0], best[1], best[2], best[3] = gap, n[0], n[1], n[2]
        rows[2], rows[3] = row_a, row_b
    if (row_a == rows[4] and row_b == rows[5]) or gap < best[0] - _HOPELESS * inflation:
        return
    rows[4], rows[5] = row_a, row_b
    length, m, row_a, row_b, arrived = walk(table, frames, pair, row_a, row_b, across, _PAIRS, -1.0)
    gap = length - core_radius(table, volume_a, row_a) - core_radius(table, volume_b, row_b)
    if arrived and gap > best[0]:
        best[0], best[1], best[2], best[3] = gap, m[0], m[1], m[2]
        rows[2], rows[3] = row_a, row_b


@kernel
def deepest(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, reach: float, work: Workspace
) -> int:
    """Return the normal across which the cores of two volumes are farthest apart, or least far in each other.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: any feature of the first volume.
        row_b: any feature of the second volume.
        reach: the cores are no farther apart than this [m].
        work: ``best`` receives the signed distance of the cores and the unit vector from b to a in the world; ``rows``,
            in 2 and 3, the two features under it.

    Returns:
        Number of support points; MAX_POINTS if the bounds didn't meet.
    """
    volume_a, volume_b = pair.volume_a, pair.volume_b
    points, planes, corners, n = work.points, work.planes, work.corners, work.n
    inflation = reach + 0.1 * max(table.balls[volume_a, 3], table.balls[volume_b, 3])
    work.best[0] = -np.inf
    work.rows[0], work.rows[1], work.rows[4], work.rows[5] = row_a, row_b, -1, -1

    # A first tetrahedron: both ways along x, the farther way across, the farther way out of the plane of the three.
    for corner in range(4):
        if corner < 2:
            n[0], n[1], n[2] = 1.0 - 2.0 * corner, 0.0, 0.0
        else:
            e0, e1, e2 = points[1, 0] - points[0, 0], points[1, 1] - points[0, 1], points[1, 2] - points[0, 2]
            if corner == 2:
                n[0], n[1], n[2] = (-e1, e0, 0.0) if abs(e0) + abs(e1) > abs(e2) else (0.0, -e2, e1)
            else:
                f0, f1, f2 = points[2, 0] - points[0, 0], points[2, 1] - points[0, 1], points[2, 2] - points[0, 2]
                n[0], n[1], n[2] = e1 * f2 - e2 * f1, e2 * f0 - e0 * f2, e0 * f1 - e1 * f0
            length = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
            for k in range(3):
                n[k] /= length
        _probe(table, frames, pair, inflation, corner, work)
        if corner >= 2:
            for k in range(3):
                n[k] = -n[k]
            _probe(table, frames, pair, inflation, corner + 1, work)
            one, other = 0.0, 0.0
            for k in range(3):
                one += n[k] * (points[0, k] - points[corner, k])
                other += n[k] * (points[0, k] - points[corner + 1, k])
            if abs(other) > abs(one):
                for k in range(3):
                    points[corner, k] = points[corner + 1, k]
    volume = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        volume += (points[3, k] - points[0, k]) * (
            (points[1, i] - points[0, i]) * (points[2, j] - points[0, j])
            - (points[1, j] - points[0, j]) * (points[2, i] - points[0, i])
        )
    i, j = (1, 2) if volume < 0.0 else (2, 1)
    _add_face(points, planes, corners, 0, 0, i, j)
    _add_face(points, planes, corners, 1, 3, j, i)
    _add_face(points, planes, corners, 2, 0, 3, i)
    _add_face(points, planes, corners, 3, 0, j, 3)
    count, faces = 4, 4

    while count < MAX_POINTS:
        nearest = 0
        for face in range(1, faces):
            if planes[face, 3] < planes[nearest, 3]:
                nearest = face
        if planes[nearest, 3] >= inflation - work.best[0] - _GAP:
            break
        for k in range(3):
            n[k] = -planes[nearest, k]
        _probe(table, frames, pair, inflation, count, work)
        height = 0.0
        for k in range(3):
            height -= n[k] * points[count, k]
        if height - planes[nearest, 3] < _GAP:
            break
        faces = _grow(points, planes, corners, work.rim, faces, count)
        count += 1
    # The best may be a support point's: its features under a normal that is right to some 1e-4 rad.
    best, rows = work.best, work.rows
    across = best[1], best[2], best[3]
    length, m, end_a, end_b, arrived = walk(table, frames, pair, rows[2], rows[3], across, 2 * _PAIRS, -1.0)
    gap = length - core_radius(table, volume_a, end_a) - core_radius(table, volume_b, end_b)
    if arrived and gap > best[0] - _GAP:
        best[0], best[1], best[2], best[3] = gap, m[0], m[1], m[2]
        rows[2], rows[3] = end_a, end_b
    return count
