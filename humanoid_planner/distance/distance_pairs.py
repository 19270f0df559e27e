# SPDX-License-Identifier: Apache-2.0
"""Signed distances of many pairs of volumes carried by bodies, again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.distance.half_space import HalfSpace
from humanoid_planner.distance.narrow_phase import half_space_distances, volume_distances
from humanoid_planner.distance.placed_volume import PlacedVolume
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_table import volume_table
from humanoid_planner.distance.workspace import workspace


class DistancePairs:
    """Signed distances of pairs of volumes, continuously differentiable in the placements of the bodies.

    A distance is negative in penetration: minus the length of the smallest translation that separates the two. Its
    derivative is ``normal . (velocity of point_a as fixed to body a - velocity of point_b as fixed to body b)``
    (thesis equation (3.56) with erratum E-33); the normal comes from the surfaces and is valid at
    contact too. It is continuous as long as the volumes without their small radii don't overlap; deeper, it is finite
    and a step along the normal separates.

    Each evaluation starts from the features of the last one, which changes how long it takes, not what it says. One
    instance serves one thread at a time.

    Attributes:
        volumes: the volumes.
        pairs: indices of first and second volume, shape (m, 2).
        cutoff: pairs whose bounding balls are farther apart than this get the balls' distance [m], which is less than
            the volumes', and its derivative. Half-spaces are always exact.
        values: signed distances, shape (m,) [m].
        points_a: points of the first volumes that the distances are taken from, world frame, shape (m, 3) [m].
        points_b: of the second volumes, shape (m, 3) [m].
        normals: unit outward normals of the second volumes, that is from b to a, world frame, shape (m, 3).
    """

    def __init__(self, volumes: Sequence[PlacedVolume], pairs: ArrayLike, cutoff: float = np.inf) -> None:
        """Takes the volumes and the pairs.

        Raises:
            InputError: a pair has an index out of range, or two half-spaces; or the cutoff is not positive.
        """
        self.volumes = tuple(volumes)
        self.pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        self.cutoff = float(cutoff)
        if not self.cutoff > 0.0:
            raise InputError(f"is {cutoff}", element="cutoff", remedy="Give a positive length in metres, or infinity")
        self._refuse_impossible_pairs()
        is_flat = np.array([isinstance(placed.volume, HalfSpace) for placed in self.volumes], dtype=bool)
        place = np.where(is_flat, np.cumsum(is_flat), np.cumsum(~is_flat)) - 1

        bodies = np.array([placed.body for placed in self.volumes], dtype=np.int64)
        self._bodies, self._half_space_bodies = bodies[~is_flat], bodies[is_flat]
        self._needed_bodies = int(bodies.max(initial=-1)) + 1
        bare = [placed.volume for placed in self.volumes]
        self._table = volume_table([volume for volume in bare if isinstance(volume, SphereTorusVolume)])
        flat = [[*volume.normal, volume.offset] for volume in bare if isinstance(volume, HalfSpace)]
        self._half_spaces = np.array(flat, dtype=np.float64).reshape(-1, 4)
        first, second = self.pairs.T
        with_half_space = is_flat[first] | is_flat[second]
        self._places = np.flatnonzero(~with_half_space)
        self._pairs = np.ascontiguousarray(place[self.pairs[self._places]])
        self._half_space_places = np.flatnonzero(with_half_space)
        order = is_flat[first[with_half_space]].astype(np.int64)
        chosen = place[self.pairs[self._half_space_places]]
        rows = np.arange(len(chosen))
        self._half_space_pairs = np.column_stack([chosen[rows, order], chosen[rows, 1 - order], order])

        count = len(self.pairs)
        self.values = np.zeros(count)
        self.normals = np.zeros((count, 3))
        self._points = np.zeros((count, 2, 3))
        self.points_a, self.points_b = self._points[:, 0], self._points[:, 1]
        self._rows = np.full((count, 2), -1, dtype=np.int64)
        self._work = workspace()

    def _refuse_impossible_pairs(self) -> None:
        for row, (a, b) in enumerate(self.pairs):
            if not (0 <= a < len(self.volumes) and 0 <= b < len(self.volumes)):
                raise InputError(
                    f"is ({a}, {b})",
                    element=f"pair {row}",
                    remedy=f"Give indices of the {len(self.volumes)} volumes, from 0",
                )
            if isinstance(self.volumes[a].volume, HalfSpace) and isinstance(self.volumes[b].volume, HalfSpace):
                raise InputError(
                    f"has two half-spaces, {self.volumes[a].name} and {self.volumes[b].name}",
                    element=f"pair {row}",
                    remedy="They are unbounded and have no distance: leave the pair out",
                )

    def forget(self) -> None:
        """Starts the next evaluation from nothing, as the first one."""
        self._rows[:] = -1

    def evaluate(self, rotations: NDArray[np.float64], origins: NDArray[np.float64]) -> None:
        """Computes values, points and normals.

        Args:
            rotations: of the bodies in the world, shape (nb, 3, 3).
            origins: of the bodies in the world, shape (nb, 3) [m].

        Raises:
            InputError: there are fewer placements than bodies, or they aren't finite.
        """
        rotations = np.ascontiguousarray(rotations, dtype=np.float64)
        origins = np.ascontiguousarray(origins, dtype=np.float64)
        if rotations.shape[1:] != (3, 3) or origins.shape[1:] != (3,) or len(rotations) != len(origins):
            raise InputError(
                f"have shapes {rotations.shape} and {origins.shape}",
                element="rotations and origins",
                remedy="Give (nb, 3, 3) and (nb, 3)",
            )
        if len(rotations) < self._needed_bodies:
            raise InputError(
                f"are {len(rotations)}",
                element="placements of bodies",
                remedy=f"The volumes are on bodies 0 to {self._needed_bodies - 1}",
            )
        if not (np.isfinite(rotations).all() and np.isfinite(origins).all()):
            raise InputError("aren't finite", element="placements of bodies", remedy="Give finite numbers")
        volume_distances(
            self._table, self._bodies, self._pairs, self._places, rotations, origins, self.cutoff,
            self._rows, self.normals, self._points, self.values, self._work,
        )  # fmt: skip
        half_space_distances(
            self._table, self._bodies, self._half_spaces, self._half_space_bodies, self._half_space_pairs,
            self._half_space_places, rotations, origins, self._rows, self.normals, self._points, self.values,
        )  # fmt: skip
