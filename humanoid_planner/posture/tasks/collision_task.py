# SPDX-License-Identifier: Apache-2.0
"""Bodies kept clear of each other: distances above margins, and smooth functions of compound joints' positions.

Specification 001 sections 4.7 and 4.8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from humanoid_model.self_overlap import SelfOverlap
from humanoid_planner.distance.compound_limit import CompoundLimit
from humanoid_planner.distance.placed_volumes import PlacedVolume
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.geometric_rows import pair_distance_jacobian
from humanoid_planner.posture.tasks.state import PostureState
from humanoid_planner.posture.tasks.task import Task


class PairDistances(Protocol):
    """Distances of pairs of bodies; :class:`humanoid_planner.distance.distance_pairs.DistancePairs` is one.

    Attributes:
        volumes: volumes in the frames of their bodies.
        pairs: (m, 2) indices of volumes.
        values: (m,) signed distances [m].
        points_a: (m, 3) witness points on the first volumes, world frame [m].
        points_b: (m, 3) on the second ones.
        normals: (m, 3) unit normals from the second to the first.
        slopes: (m,) derivatives of the values by the distances, 1 where values are distances.
    """

    @property
    def volumes(self) -> Sequence[PlacedVolume]:
        """Volumes."""

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Pairs."""

    @property
    def values(self) -> NDArray[np.float64]:
        """Distances."""

    @property
    def points_a(self) -> NDArray[np.float64]:
        """Witness points on the first volumes."""

    @property
    def points_b(self) -> NDArray[np.float64]:
        """Witness points on the second ones."""

    @property
    def normals(self) -> NDArray[np.float64]:
        """Normals."""

    @property
    def slopes(self) -> NDArray[np.float64]:
        """Slopes."""

    def evaluate(self, rotations: NDArray[np.float64], origins: NDArray[np.float64]) -> None:
        """Compute distances at body placements (nb, 3, 3), (nb, 3)."""


class CollisionTask(Task):
    """Pairs of bodies at least a margin apart: (3.2), (3.3), (3.47).

    Attributes:
        distances: of the pairs.
        itself: the robot's true shapes, looked at where a search ends, as volumes that are in each other in its own
            postures keep no distance; None where nothing may be in each other anyway.
        evaluations: how many distances have been computed.
        gradients: how many of their gradients.
    """

    def __init__(
        self, distances: PairDistances, margins: NDArray[np.float64], itself: SelfOverlap | None = None
    ) -> None:
        """Take the pairs.

        Args:
            distances: of the pairs.
            margins: (m,) smallest distances [m]; negative ones allow an overlap.
            itself: see the attributes.
        """
        count = len(distances.pairs)
        super().__init__("collisions", margins, np.full(count, math.inf), unit="m")
        self.distances, self.itself = distances, itself
        bodies = np.array([volume.body for volume in distances.volumes], dtype=np.int64)
        pairs = np.asarray(distances.pairs, dtype=np.int64).reshape(-1, 2)
        self._bodies = bodies[pairs]
        self._version = -1
        self.evaluations = 0
        self.gradients = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        names = [volume.name for volume in self.distances.volumes]
        return tuple(f"collision {names[a]} {names[b]}" for a, b in self.distances.pairs)

    def _update(self, state: PostureState) -> None:
        if self._version != state.version:
            kinematics = state.kinematics
            kinematics.place_bodies()
            self.distances.evaluate(kinematics.rotations, kinematics.origins)
            self.evaluations += self.size
            self._version = state.version

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) signed distances [m]."""
        self._update(state)
        return self.distances.values

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) their derivatives."""
        self._update(state)
        self.gradients += self.size
        kinematics = state.kinematics
        J = np.zeros((self.size, state.size))
        normals = self.distances.slopes[:, None] * self.distances.normals
        points_a, points_b = self.distances.points_a, self.distances.points_b
        pair_distance_jacobian(
            self._bodies, points_a, points_b, normals, kinematics.tree, kinematics.placements, J
        )
        return J


class CompoundTask(Task):
    """Functions of the positions of compound joints at 0 or below, where the links around them don't collide.

    Also the way to give limits of the general form b(q) <= 0 to a compound joint.
    """

    def __init__(self, kinematics: RobotKinematics, limits: Sequence[CompoundLimit]) -> None:
        """Take the functions."""
        count = len(limits)
        super().__init__("compound joints", np.full(count, -np.inf), np.zeros(count))
        self._limits = tuple(limits)
        names = list(kinematics.variables.coordinate_names)
        # Coordinates count from body 1; a joint that mimics another follows its variable.
        self._bodies = [np.array([names.index(joint) + 1 for joint in limit.joint.joints]) for limit in limits]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"collision at {'+'.join(limit.joint.joints)}" for limit in self._limits)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) values of the functions."""
        return np.array([limit.value(self._positions(state, row)) for row, limit in enumerate(self._limits)])

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivatives."""
        joints = state.kinematics.tree.joints
        J = np.zeros((self.size, state.size))
        for row, limit in enumerate(self._limits):
            bodies = self._bodies[row]
            gradient = limit.gradient(self._positions(state, row)) * joints["factor"][bodies]
            np.add.at(J[row], joints["idx_q"][bodies], gradient)
        return J

    def _positions(self, state: PostureState, row: int) -> NDArray[np.float64]:
        joints = state.kinematics.tree.joints[self._bodies[row]]
        return np.asarray(joints["factor"] * state.x[joints["idx_q"]] + joints["offset"])
