# SPDX-License-Identifier: Apache-2.0
"""Distances of a robot's volumes to an obstacle that is moved between searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.placed_volume import PlacedVolume


class MovingObstacle:
    """A volume that isn't part of the robot, at a place that can be changed; a :class:`PairDistances`.

    Attributes:
        volumes: of the robot, then the obstacle, which is a part of the world as far as derivatives are concerned.
        pairs: (m, 2) each of the robot's volumes with the obstacle.
        clearance: smallest distance to the robot [m].
        placement: of the obstacle's frame in the world.
        values: (m,) signed distances [m].
        points_a: (m, 3) witness points on the robot, world frame [m].
        points_b: (m, 3) witness points on the obstacle.
        normals: (m, 3) unit normals from the obstacle to the robot.
        slopes: (m,) ones: the values are distances.
    """

    def __init__(self, obstacle: PlacedVolume, volumes: Sequence[PlacedVolume], clearance: float = 0.0) -> None:
        """Take the obstacle, in a frame of its own, and the robot's volumes that have to keep away from it."""
        self.clearance = clearance
        count = len(volumes)
        self.volumes: Sequence[PlacedVolume] = (*volumes, replace(obstacle, body=0))
        self.pairs = np.array([(index, count) for index in range(count)], dtype=np.int64)
        self.placement = pin.SE3.Identity()
        # For the distances it is a body beyond those of the robot, so that it can be placed like them.
        self._body = max(volume.body for volume in volumes) + 1
        self._distances = DistancePairs([*volumes, replace(obstacle, body=self._body)], self.pairs)
        self.values: NDArray[np.float64] = np.zeros(count)
        self.points_a: NDArray[np.float64] = np.zeros((count, 3))
        self.points_b: NDArray[np.float64] = np.zeros((count, 3))
        self.normals: NDArray[np.float64] = np.zeros((count, 3))
        self.slopes = self._distances.slopes

    def evaluate(self, rotations: NDArray[np.float64], origins: NDArray[np.float64]) -> None:
        """Compute distances at the robot's body placements (nb, 3, 3), (nb, 3)."""
        count = self._body
        self._distances.evaluate(
            np.concatenate([rotations[:count], self.placement.rotation[None]]),
            np.concatenate([origins[:count], self.placement.translation[None]]),
        )
        distances = self._distances
        self.values, self.normals = distances.values, distances.normals
        self.points_a, self.points_b = distances.points_a, distances.points_b
