# SPDX-License-Identifier: Apache-2.0
"""Signed distance of two volumes, once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.half_space import HalfSpace
from humanoid_planner.distance.placed_volume import PlacedVolume
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume


@dataclass(frozen=True, eq=False)
class Distance:
    """Signed distance of two volumes a and b.

    Attributes:
        value: negative in penetration: minus the length of the smallest separating translation [m].
        points: on a and on b, world frame, shape (2, 3) [m].
        normal: unit outward normal of b at its point, that is from b to a, world frame, shape (3,).
        gradient: derivative with respect to the twist of a and of b: linear velocity of the origin of its frame, then
            angular velocity, world axes, shape (2, 6).
    """

    value: float
    points: NDArray[np.float64]
    normal: NDArray[np.float64]
    gradient: NDArray[np.float64]


def distance(
    volume_a: SphereTorusVolume | HalfSpace | RoundedHull,
    placement_world_a: pin.SE3,
    volume_b: SphereTorusVolume | HalfSpace | RoundedHull,
    placement_world_b: pin.SE3,
) -> Distance:
    """Signed distance of two volumes, with its gradient.

    It prepares the volumes each time; :class:`DistancePairs` does it once for many evaluations.

    Args:
        volume_a: first volume.
        placement_world_a: of its frame.
        volume_b: second volume.
        placement_world_b: of its frame.

    Raises:
        InputError: neither is strictly convex, or a placement isn't finite.
    """
    placed = [PlacedVolume("a", 0, volume_a), PlacedVolume("b", 1, volume_b)]
    pairs = DistancePairs(placed, [(0, 1)])
    origins = np.stack([placement_world_a.translation, placement_world_b.translation])
    pairs.evaluate(np.stack([placement_world_a.rotation, placement_world_b.rotation]), origins)
    points, normal = np.stack([pairs.points_a[0], pairs.points_b[0]]), pairs.normals[0]
    directions = np.stack([normal, -normal])
    return Distance(
        value=float(pairs.values[0]),
        points=points,
        normal=normal,
        gradient=np.hstack([directions, np.cross(points - origins, directions)]),
    )
