# SPDX-License-Identifier: Apache-2.0
"""GJK: on the polyhedra of two volumes, and on their cores, where it ends as soon as a walk from it arrives.

E. G. Gilbert, D. W. Johnson, S. S. Keerthi, "A fast procedure for computing the distance between complex objects",
1988. Between polyhedra it ends at the distance after a few support points, which are vertices. It approaches the
distance of curved bodies without reaching it; but it soon has the right features under its normal, and from them the
walk gives the exact answer.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_planner.distance.core_support import core_difference
from humanoid_planner.distance.feature_walk import locate_world, walk
from humanoid_planner.distance.frame_change import Frames, Vector, difference, opposite, to_body, vector, vector_of
from humanoid_planner.distance.kernel import kernel
from humanoid_planner.distance.simplex import corner_weights, reduce_simplex
from humanoid_planner.distance.volume_table import EDGE, FACE, Pair, VolumeTable
from humanoid_planner.distance.workspace import Workspace

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
