# SPDX-License-Identifier: Apache-2.0
"""Support points of volumes without their small radius: what is left when a ball of radius r is taken off all around.

GJK and the search in penetration see these cores: two volumes that penetrate lightly have cores apart.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_planner.distance.frame_change import Frames, Vector, difference, opposite, to_body, to_world, vector
from humanoid_planner.distance.kernel import kernel
from humanoid_planner.distance.volume_table import EDGE, VERTEX, Pair, VolumeTable

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
