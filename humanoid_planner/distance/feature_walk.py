# SPDX-License-Identifier: Apache-2.0
"""A walk over pairs of features of two volumes to the pair that their distance is taken between.

A pair is right when the normal that suits it (:mod:`humanoid_planner.distance.primitive_distance`, each feature
continued beyond its borders) is, for both, among the normals of the feature: the volumes then touch parallel planes
with opposite normals, as the optimality condition of specification 001 section 5.2 has it. The features under a normal
that isn't are the next pair to try. Near the answer this takes one or two pairs; from anywhere it may not arrive, and
says so.
"""

from __future__ import annotations

import numpy as np

from humanoid_planner.distance.frame_change import difference, to_body, to_world
from humanoid_planner.distance.kernel import kernel
from humanoid_planner.distance.normal_regions import locate
from humanoid_planner.distance.primitive_distance import sphere_sphere, sphere_torus, torus_torus
from humanoid_planner.distance.volume_table import EDGE, VolumeTable


@kernel
def solve_pair(
    table: VolumeTable,
    rotations: np.ndarray,
    origins: np.ndarray,
    a: int,
    b: int,
    row_a: int,
    row_b: int,
    n0: float,
    n1: float,
    n2: float,
) -> tuple[float, float, float, float, bool]:
    """Normal that suits two features, each continued beyond its borders.

    Args:
        table: of the volumes.
        rotations: of the bodies in the world, shape (nb, 3, 3).
        origins: of the bodies in the world, shape (nb, 3).
        a: body of the first volume.
        b: body of the second volume.
        row_a: feature of the first volume.
        row_b: feature of the second volume.
        n0: unit vector to start from where there is no closed form, from b to a in the world, first coordinate.
        n1: second coordinate.
        n2: third coordinate.

    Returns:
        Distance of centres and circles; unit vector from b to a; whether there is such a normal.
    """
    features, links = table.features, table.links
    d0, d1, d2 = difference(
        rotations, origins, a, b,
        features[row_a, 0], features[row_a, 1], features[row_a, 2],
        features[row_b, 0], features[row_b, 1], features[row_b, 2],
    )  # fmt: skip
    if links[row_a, 0] != EDGE:
        if links[row_b, 0] != EDGE:
            return sphere_sphere(d0, d1, d2)
        row, body = row_b, b
    else:
        row, body = row_a, a
    e0, e1, e2 = to_world(rotations, body, features[row, 3], features[row, 4], features[row, 5])
    if links[row_a, 0] != EDGE or links[row_b, 0] != EDGE:
        return sphere_torus(d0, d1, d2, e0, e1, e2, features[row, 7])
    f0, f1, f2 = to_world(rotations, b, features[row_b, 3], features[row_b, 4], features[row_b, 5])
    return torus_torus(d0, d1, d2, e0, e1, e2, features[row, 7], f0, f1, f2, features[row_b, 7], n0, n1, n2)


@kernel
def locate_world(
    table: VolumeTable,
    rotations: np.ndarray,
    volume: int,
    body: int,
    row: int,
    n0: float,
    n1: float,
    n2: float,
) -> int:
    """:func:`locate` with a direction in the world; ``body`` moves ``volume``."""
    u0, u1, u2 = to_body(rotations, body, n0, n1, n2)
    return locate(table, u0, u1, u2, row, table.first[volume, 0], table.first[volume, 1])


@kernel
def walk(
    table: VolumeTable,
    rotations: np.ndarray,
    origins: np.ndarray,
    volume_a: int,
    volume_b: int,
    a: int,
    b: int,
    row_a: int,
    row_b: int,
    n0: float,
    n1: float,
    n2: float,
    most: int,
    least_cosine: float,
) -> tuple[float, float, float, float, int, int, bool]:
    """From a pair of features to the next until the normal of the pair is one of both.

    Args:
        table: of the volumes.
        rotations: of the bodies in the world, shape (nb, 3, 3).
        origins: of the bodies in the world, shape (nb, 3).
        volume_a: first volume.
        volume_b: second volume.
        a: its body.
        b: its body.
        row_a: feature of the first volume to start from.
        row_b: feature of the second volume to start from.
        n0: unit vector to start from, from b to a in the world, first coordinate.
        n1: second coordinate.
        n2: third coordinate.
        most: pairs to try.
        least_cosine: of the angle between one normal and the next; a walk that turns farther has lost its way.

    Returns:
        Distance of centres and circles; unit vector; the two features; whether the normal is one of both.
    """
    length = 0.0
    for _ in range(most):
        length, m0, m1, m2, found = solve_pair(table, rotations, origins, a, b, row_a, row_b, n0, n1, n2)
        if not found or m0 * n0 + m1 * n1 + m2 * n2 < least_cosine:
            break
        n0, n1, n2 = m0, m1, m2
        next_a = locate_world(table, rotations, volume_a, a, row_a, -n0, -n1, -n2)
        next_b = locate_world(table, rotations, volume_b, b, row_b, n0, n1, n2)
        if next_a == row_a and next_b == row_b:
            return length, n0, n1, n2, row_a, row_b, True
        row_a, row_b = next_a, next_b
    return length, n0, n1, n2, row_a, row_b, False
