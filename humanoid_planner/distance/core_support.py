# SPDX-License-Identifier: Apache-2.0
"""Support points of volumes without their small radius: what is left when a ball of radius r is taken off all around.

GJK and the search in penetration see these cores: two volumes that penetrate lightly have cores apart.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_planner.distance.frame_change import difference, to_body, to_world
from humanoid_planner.distance.kernel import kernel
from humanoid_planner.distance.volume_table import EDGE, VERTEX, VolumeTable

_SMALLEST = 1e-200


@kernel
def core_support(
    table: VolumeTable, volume: int, row: int, u0: float, u1: float, u2: float
) -> tuple[float, float, float]:
    """Farthest point of a volume without its small radius along a unit direction, all in the volume's frame.

    Args:
        table: of the volumes.
        volume: its index.
        row: feature that has the direction among its normals.
        u0: the direction, first coordinate.
        u1: second coordinate.
        u2: third coordinate.
    """
    features = table.features
    p0, p1, p2 = features[row, 0], features[row, 1], features[row, 2]
    kind = table.links[row, 0]
    if kind == VERTEX:
        return p0, p1, p2
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
def core_difference(
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
) -> tuple[float, float, float]:
    """Point of the difference of two volumes without their small radii that is least far along n, in the world.

    Args:
        table: of the volumes.
        rotations: of the bodies in the world, shape (nb, 3, 3).
        origins: of the bodies in the world, shape (nb, 3).
        volume_a: first volume.
        volume_b: second volume.
        a: its body.
        b: its body.
        row_a: feature of the first volume under -n.
        row_b: feature of the second volume under n.
        n0: unit vector in the world, first coordinate.
        n1: second coordinate.
        n2: third coordinate.
    """
    u0, u1, u2 = to_body(rotations, a, -n0, -n1, -n2)
    p0, p1, p2 = core_support(table, volume_a, row_a, u0, u1, u2)
    u0, u1, u2 = to_body(rotations, b, n0, n1, n2)
    q0, q1, q2 = core_support(table, volume_b, row_b, u0, u1, u2)
    return difference(rotations, origins, a, b, p0, p1, p2, q0, q1, q2)


@kernel
def core_radius(table: VolumeTable, volume: int, row: int) -> float:
    """Radius of the surface of a volume's core at a feature [m]: R - r, or none at the centre of a small sphere."""
    return 0.0 if table.links[row, 0] == VERTEX else table.radii[volume, 2]


@kernel
def boundary_point(
    table: VolumeTable,
    rotations: np.ndarray,
    origins: np.ndarray,
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
        rotations: of the bodies in the world, shape (nb, 3, 3).
        origins: of the bodies in the world, shape (nb, 3).
        volume: its index.
        body: that moves it.
        row: feature that has the direction among its normals.
        sign: 1.0 or -1.0.
        n: unit vector in the world, shape (3,).
        point: receives the point, shape (3,).
    """
    u0, u1, u2 = to_body(rotations, body, sign * n[0], sign * n[1], sign * n[2])
    p0, p1, p2 = core_support(table, volume, row, u0, u1, u2)
    p0, p1, p2 = to_world(rotations, body, p0, p1, p2)
    r = sign * table.radii[volume, 0]
    point[0] = origins[body, 0] + p0 + r * n[0]
    point[1] = origins[body, 1] + p1 + r * n[1]
    point[2] = origins[body, 2] + p2 + r * n[2]
