# SPDX-License-Identifier: Apache-2.0
"""Signed distances of pairs of sphere-torus-patch volumes, and of volumes and half-spaces: value, points and normal.

The features of the last answer start a walk. Where it doesn't arrive, or there is none, a walk starts from the
features associated with the distance of the two polyhedra. Where that doesn't arrive either, as it may with a big
radius near the size of the volume, GJK on the cores goes on.

An answer with the cores apart is the only one: the gap across a direction is concave where it is positive. With
overlapping cores several pairs of features may satisfy the optimality condition, and the smallest separating
translation is searched for afresh, so that the distance is a function of the placements alone.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_planner.distance.features import associate, locate_world, walk
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
from humanoid_planner.distance.gjk import ARRIVED, OVERLAP, boundary_point, core_gjk, core_radius, hull_gjk
from humanoid_planner.distance.penetration import deepest
from humanoid_planner.distance.volume_table import Pair, PairList, PairResults, VolumeTable, Workspace

_PAIRS = 8
"""Pairs of features that a walk may try: of those that arrive within twice as many, hardly one takes more."""
_WARM_PAIRS = 3
"""Pairs of features from the last answer's: where a motion leads across many small features, GJK is faster."""
_WARM_COSINE = 0.98
"""Likewise where the normal of such a pair is off by more than 11 degrees."""
FADE = 0.2
"""Distances level off over this length beyond the cutoff [m]."""
_APART = 1e-9
"""Cores must be this far apart [m] for an answer to count as the only one."""


@kernel
def _first_row(table: VolumeTable, volume: int, u: Vector) -> int:
    """Return the feature of a volume roughly under a direction in its frame: that of the nearest of six directions."""
    u0, u1, u2 = u
    if abs(u0) >= abs(u1) and abs(u0) >= abs(u2):
        return table.starts[volume, 0 if u0 > 0.0 else 1]
    if abs(u1) >= abs(u2):
        return table.starts[volume, 2 if u1 > 0.0 else 3]
    return table.starts[volume, 4 if u2 > 0.0 else 5]


@kernel
def _between_middles(table: VolumeTable, frames: Frames, pair: Pair) -> Vector:
    """From the middle of the second volume's ball to that of the first's, in the world."""
    middle_a, middle_b = vector(table.balls, pair.volume_a, 0), vector(table.balls, pair.volume_b, 0)
    return difference(frames, pair.body_a, pair.body_b, middle_a, middle_b)


@kernel
def cold_start(table: VolumeTable, frames: Frames, pair: Pair, work: Workspace) -> tuple[int, int]:
    """Direction between the middles of two volumes, into ``work.n``, and features roughly under it.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        work: receives the unit vector, from b to a in the world.

    Returns:
        Feature of the first volume and of the second.
    """
    n0, n1, n2 = _between_middles(table, frames, pair)
    length = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    if length > 0.0:
        n0, n1, n2 = n0 / length, n1 / length, n2 / length
    else:  # concentric: any direction will do
        n2 = 1.0
    work.n[0], work.n[1], work.n[2] = n0, n1, n2
    row_a = _first_row(table, pair.volume_a, to_body(frames, pair.body_a, (-n0, -n1, -n2)))
    return row_a, _first_row(table, pair.volume_b, to_body(frames, pair.body_b, (n0, n1, n2)))


@kernel
def _search(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, work: Workspace
) -> tuple[float, int, int]:
    """Signed distance of the cores, the normal in ``work.n`` and the features, from any features and ``work.n``."""
    n = work.n
    status = ARRIVED
    distance, row_a, row_b = hull_gjk(table, frames, pair, row_a, row_b, work)
    if distance > 0.0:
        row_a, row_b = associate(table, frames, pair, row_a, row_b, work.witnesses)
        length, m, end_a, end_b, arrived = walk(table, frames, pair, row_a, row_b, vector_of(n), _PAIRS, -1.0)
        if arrived:
            n[0], n[1], n[2] = m
            row_a, row_b = end_a, end_b
        else:
            length, row_a, row_b, status = core_gjk(table, frames, pair, row_a, row_b, work)
        gap = length - core_radius(table, pair.volume_a, row_a) - core_radius(table, pair.volume_b, row_b)
        if status == ARRIVED and gap > _APART:
            return gap, row_a, row_b
    # Cores that overlap are no farther apart than nothing; where GJK doesn't say that they do, than the polyhedra.
    deepest(table, frames, pair, row_a, row_b, 0.0 if status == OVERLAP else distance, work)
    n[0], n[1], n[2] = work.best[1], work.best[2], work.best[3]
    return work.best[0], work.rows[2], work.rows[3]


@kernel
def volume_distance(
    table: VolumeTable,
    frames: Frames,
    pair: Pair,
    rows: np.ndarray,
    n: np.ndarray,
    points: np.ndarray,
    work: Workspace,
) -> float:
    """Signed distance of two volumes.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        rows: features to start from, -1 for none; receives those of the answer, shape (2,).
        n: normal of the last answer, if there was one; receives the unit outward normal of b, that is from b to a,
            in the world, shape (3,).
        points: receives the points of a and of b that the distance is taken between, in the world, shape (2, 3).
        work: workspace.

    Returns:
        Distance [m], negative in penetration: minus the length of the smallest separating translation.
    """
    volume_a, volume_b = pair.volume_a, pair.volume_b
    row_a, row_b = rows[0], rows[1]
    gap, arrived = 0.0, False
    if row_a >= 0:
        length, m, row_a, row_b, arrived = walk(
            table, frames, pair, row_a, row_b, vector_of(n), _WARM_PAIRS, _WARM_COSINE
        )
        if arrived:
            work.n[0], work.n[1], work.n[2] = m
            gap = length - core_radius(table, volume_a, row_a) - core_radius(table, volume_b, row_b)
    if not arrived:  # the motion was a large one: what was known is worth less than where the middles are
        row_a, row_b = cold_start(table, frames, pair, work)
    if not gap > _APART:
        gap, row_a, row_b = _search(table, frames, pair, row_a, row_b, work)
    rows[0], rows[1] = row_a, row_b
    n[0], n[1], n[2] = work.n[0], work.n[1], work.n[2]
    boundary_point(table, frames, volume_a, pair.body_a, row_a, -1.0, n, points[0])
    boundary_point(table, frames, volume_b, pair.body_b, row_b, 1.0, n, points[1])
    return gap - table.radii[volume_a, 0] - table.radii[volume_b, 0]


@kernel
def volume_distances(
    table: VolumeTable, pairs: PairList, frames: Frames, cutoff: float, results: PairResults, work: Workspace
) -> None:
    """Signed distances of pairs of volumes, which level off beyond a cutoff.

    Beyond it a value grows ever slower with the distance, up to ``cutoff + FADE / 2`` at the distance
    ``cutoff + FADE``, and stays there: farther volumes needn't be looked at, and the value has a continuous derivative.

    Args:
        table: of the volumes.
        pairs: of volumes, shape (k, 2).
        frames: of the bodies.
        cutoff: up to which values are distances [m]; pairs whose bounding balls are farther apart than it and FADE get
            the balls' points and normal.
        results: of the last evaluation; receives those of this one.
        work: workspace.
    """
    balls, origins = table.balls, frames.origins
    rows, normals, points, values, slopes = results
    for index in range(len(pairs.pairs)):
        volume_a, volume_b = pairs.pairs[index, 0], pairs.pairs[index, 1]
        a, b = pairs.bodies[volume_a], pairs.bodies[volume_b]
        pair = Pair(volume_a, volume_b, a, b)
        k = pairs.places[index]
        d0, d1, d2 = _between_middles(table, frames, pair)
        square = d0 * d0 + d1 * d1 + d2 * d2
        reach = balls[volume_a, 3] + balls[volume_b, 3]
        if square <= (cutoff + FADE + reach) ** 2:
            values[k] = volume_distance(table, frames, pair, rows[k], normals[k], points[k], work)
            slopes[k] = 1.0
            if values[k] > cutoff:
                slopes[k] = max(1.0 - (values[k] - cutoff) / FADE, 0.0)
                values[k] = cutoff + 0.5 * FADE * (1.0 - slopes[k] ** 2)
            continue
        apart = math.sqrt(square)
        normals[k, 0], normals[k, 1], normals[k, 2] = d0 / apart, d1 / apart, d2 / apart
        p0, p1, p2 = to_world(frames, a, vector(balls, volume_a, 0))
        q0, q1, q2 = to_world(frames, b, vector(balls, volume_b, 0))
        points[k, 0, 0], points[k, 0, 1], points[k, 0, 2] = p0, p1, p2
        points[k, 1, 0], points[k, 1, 1], points[k, 1, 2] = q0, q1, q2
        for i in range(3):
            points[k, 0, i] += origins[a, i] - balls[volume_a, 3] * normals[k, i]
            points[k, 1, i] += origins[b, i] + balls[volume_b, 3] * normals[k, i]
        rows[k, 0], rows[k, 1] = -1, -1
        slopes[k] = 0.0
        values[k] = cutoff + 0.5 * FADE


@kernel
def half_space_distances(
    table: VolumeTable,
    half_spaces: np.ndarray,
    half_space_bodies: np.ndarray,
    pairs: PairList,
    frames: Frames,
    results: PairResults,
) -> None:
    """Signed distances of volumes and half-spaces: of the volume's lowest point, at any depth.

    Args:
        table: of the volumes.
        half_spaces: unit outward normal and offset in the body's frame, shape (h, 4).
        half_space_bodies: that move each half-space, shape (h,).
        pairs: volume, half-space, and which of the two is the first of the pair (0 the volume, 1 the half-space),
            shape (k, 3).
        frames: of the bodies.
        results: of the last evaluation, the features in column 0; receives those of this one, but for the slopes.
    """
    origins = frames.origins
    rows, normals, points, values = results.rows, results.normals, results.points, results.values
    for index in range(len(pairs.pairs)):
        volume, half_space, order = pairs.pairs[index, 0], pairs.pairs[index, 1], pairs.pairs[index, 2]
        body, other = pairs.bodies[volume], half_space_bodies[half_space]
        k = pairs.places[index]
        n = to_world(frames, other, vector(half_spaces, half_space, 0))
        n0, n1, n2 = n
        row = rows[k, 0]
        if row < 0:
            row = _first_row(table, volume, to_body(frames, body, opposite(n)))
        row = locate_world(table, frames, volume, body, row, opposite(n))
        rows[k, 0] = row
        sign = 1.0 - 2.0 * order
        normals[k, 0], normals[k, 1], normals[k, 2] = sign * n0, sign * n1, sign * n2
        lowest = points[k, order]
        boundary_point(table, frames, volume, body, row, -sign, normals[k], lowest)
        value = (
            n0 * (lowest[0] - origins[other, 0])
            + n1 * (lowest[1] - origins[other, 1])
            + n2 * (lowest[2] - origins[other, 2])
            - half_spaces[half_space, 3]
        )
        points[k, 1 - order, 0] = lowest[0] - value * n0
        points[k, 1 - order, 1] = lowest[1] - value * n1
        points[k, 1 - order, 2] = lowest[2] - value * n2
        values[k] = value
