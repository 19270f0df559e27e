# SPDX-License-Identifier: Apache-2.0
"""A walk over pairs of features of two volumes to the pair that their distance is taken between.

A pair is right when the normal that suits it (:mod:`humanoid_planner.distance.primitive_distance`, each feature
continued beyond its borders) is, for both, among the normals of the feature: the volumes then touch parallel planes
with opposite normals, as the optimality condition of specification 001 section 5.2 has it. The features under a normal
that isn't are the next pair to try. Near the answer this takes one or two pairs; from anywhere it may not arrive, and
says so.
"""

from __future__ import annotations

from humanoid_planner.distance.frame_change import Frames, Vector, difference, opposite, to_body, to_world, vector
from humanoid_planner.distance.kernel import kernel
from humanoid_planner.distance.normal_regions import locate
from humanoid_planner.distance.primitive_distance import sphere_sphere, sphere_torus, torus_torus
from humanoid_planner.distance.volume_table import EDGE, Pair, VolumeTable


@kernel
def solve_pair(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, n: Vector
) -> tuple[float, Vector, bool]:
    """Return the normal that suits two features, each continued beyond its borders.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: feature of the first volume.
        row_b: feature of the second volume.
        n: unit vector to start from where there is no closed form, from b to a in the world.

    Returns:
        Distance of centres and circles; unit vector from b to a; whether there is such a normal.
    """
    features, links = table.features, table.links
    a, b = pair.body_a, pair.body_b
    d = difference(frames, a, b, vector(features, row_a, 0), vector(features, row_b, 0))
    if links[row_a, 0] != EDGE:
        if links[row_b, 0] != EDGE:
            return sphere_sphere(d)
        row, body = row_b, b
    else:
        row, body = row_a, a
    e = to_world(frames, body, vector(features, row, 3))
    if links[row_a, 0] != EDGE or links[row_b, 0] != EDGE:
        return sphere_torus(d, e, features[row, 7])
    f = to_world(frames, b, vector(features, row_b, 3))
    return torus_torus(d, e, features[row, 7], f, features[row_b, 7], n)


@kernel
def locate_world(table: VolumeTable, frames: Frames, volume: int, body: int, row: int, n: Vector) -> int:
    """:func:`locate` with a direction in the world; ``body`` moves ``volume``."""
    return locate(table, to_body(frames, body, n), row, table.first[volume, 0], table.first[volume, 1])


@kernel
def walk(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, n: Vector, most: int, min_cosine: float
) -> tuple[float, Vector, int, int, bool]:
    """From a pair of features to the next until the normal of the pair is one of both.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: feature of the first volume to start from.
        row_b: feature of the second volume to start from.
        n: unit vector to start from, from b to a in the world.
        most: pairs to try.
        min_cosine: of the angle between one normal and the next; a walk that turns farther has lost its way.

    Returns:
        Distance of centres and circles; unit vector; the two features; whether the normal is one of both.
    """
    length = 0.0
    for _ in range(most):
        length, m, found = solve_pair(table, frames, pair, row_a, row_b, n)
        if not found or m[0] * n[0] + m[1] * n[1] + m[2] * n[2] < min_cosine:
            break
        n = m
        next_a = locate_world(table, frames, pair.volume_a, pair.body_a, row_a, opposite(n))
        next_b = locate_world(table, frames, pair.volume_b, pair.body_b, row_b, n)
        if next_a == row_a and next_b == row_b:
            return length, n, row_a, row_b, True
        row_a, row_b = next_a, next_b
    return length, n, row_a, row_b, False
