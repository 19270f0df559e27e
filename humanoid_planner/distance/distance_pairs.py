# SPDX-License-Identifier: Apache-2.0
"""Signed distances of many pairs of volumes carried by bodies, again and again; and that of one pair, once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.distance.frames import Frames
from humanoid_planner.distance.narrow_phase import half_space_distances, volume_distances
from humanoid_planner.distance.one_sided import polyhedron_distances
from humanoid_planner.distance.placed_volumes import HalfSpace, PlacedVolume
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_table import PairList, PairResults, volume_table, workspace


class DistancePairs:
    """Signed distances of pairs of volumes, continuously differentiable in the placements of the bodies.

    One of a pair may be a half-space or a plain convex body (a rounded hull, of radius 0 or more).

    A distance is negative in penetration: minus the length of the smallest translation that separates the two. Its
    derivative is ``normal . (velocity of point_a as fixed to body a - velocity of point_b as fixed to body b)``
    (thesis equation (3.56) with erratum E-33), times the slope beyond the cutoff; the normal comes from the surfaces
    and is valid at contact too. It is continuous as long as the volumes without their small radii don't overlap;
    deeper, it is finite and a step along the normal separates.

    Each evaluation starts from the features of the last one, which changes how long it takes, not what it says. One
    instance serves one thread at a time.

    Attributes:
        volumes: the volumes.
        pairs: indices of first and second volume, shape (m, 2).
        cutoff: values of pairs of volumes are their distances up to this [m]; beyond it they level off within
            ``FADE``, and what is farther costs next to nothing. Half-spaces and plain polyhedra are always exact.
        values: signed distances, shape (m,) [m].
        slopes: derivatives of the values by the distances, shape (m,): 1 up to the cutoff, 0 where they have levelled
            off.
        points_a: points of the first volumes that the distances are taken from, world frame, shape (m, 3) [m].
        points_b: of the second volumes, shape (m, 3) [m].
        normals: unit outward normals of the second volumes, that is from b to a, world frame, shape (m, 3).
    """

    def __init__(self, volumes: Sequence[PlacedVolume], pairs: ArrayLike, cutoff: float = np.inf) -> None:
        """Take the volumes and the pairs.

        Raises:
            InputError: a pair has an index out of range, or no strictly convex volume; or the cutoff is not positive.
        """
        self.volumes = tuple(volumes)
        bare = [placed.volume for placed in self.volumes]
        self._is_flat = is_flat = np.array([isinstance(volume, HalfSpace) for volume in bare], dtype=bool)
        self._is_plain = np.array([isinstance(volume, RoundedHull) for volume in bare], dtype=bool)
        bodies = np.array([placed.body for placed in self.volumes], dtype=np.int64)
        self._moving, self._half_space_bodies = bodies[~is_flat], bodies[is_flat]
        self._needed_bodies = int(bodies.max(initial=-1)) + 1
        self._table = volume_table([volume for volume in bare if not isinstance(volume, HalfSpace)])
        flat = [[*volume.normal, volume.offset] for volume in bare if isinstance(volume, HalfSpace)]
        self._half_spaces = np.array(flat, dtype=np.float64).reshape(-1, 4)
        self._take(pairs, cutoff)

    def with_pairs(self, pairs: ArrayLike, cutoff: float = np.inf) -> DistancePairs:
        """Return distances of other pairs of the same volumes, which costs next to nothing.

        Args:
            pairs: indices of first and second volume, shape (m, 2).
            cutoff: see the class.

        Raises:
            InputError: as for a new one.
        """
        other = copy.copy(self)
        other._take(pairs, cutoff)
        return other

    def _take(self, pairs: ArrayLike, cutoff: float) -> None:
        self.pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        self.cutoff = float(cutoff)
        if not self.cutoff > 0.0:
            raise InputError(f"is {cutoff}", element="cutoff", remedy="Give a positive length in metres, or infinity")
        is_flat, is_plain, moving = self._is_flat, self._is_plain, self._moving
        self._refuse_impossible_pairs(is_flat | is_plain)
        place = np.where(is_flat, np.cumsum(is_flat), np.cumsum(~is_flat)) - 1
        touched = place[self.pairs]
        places = np.flatnonzero(~(is_flat | is_plain)[self.pairs].any(axis=1))
        self._round_pairs = PairList(np.ascontiguousarray(touched[places]), places, moving)
        self._half_space_pairs = PairList(*_with_one(is_flat[self.pairs], touched), moving)
        self._polyhedron_pairs = PairList(*_with_one(is_plain[self.pairs], touched), moving)

        count = len(self.pairs)
        self._results = PairResults(
            rows=np.full((count, 2), -1, dtype=np.int64),
            normals=np.zeros((count, 3)),
            points=np.zeros((count, 2, 3)),
            values=np.zeros(count),
            slopes=np.ones(count),
        )
        self.values, self.slopes, self.normals = self._results.values, self._results.slopes, self._results.normals
        self.points_a, self.points_b = self._results.points[:, 0], self._results.points[:, 1]
        self._polyhedron_rows = np.full((len(self._polyhedron_pairs.places), 5), -1, dtype=np.int64)
        self._work = workspace()

    def _refuse_impossible_pairs(self, not_round: NDArray[np.bool_]) -> None:
        beyond = np.flatnonzero(((self.pairs < 0) | (self.pairs >= len(self.volumes))).any(axis=1))
        if len(beyond):
            a, b = self.pairs[beyond[0]]
            raise InputError(
                f"is ({a}, {b})",
                element=f"pair {beyond[0]}",
                remedy=f"Give indices of the {len(self.volumes)} volumes, from 0",
            )
        kinked = np.flatnonzero(not_round[self.pairs].all(axis=1))
        if len(kinked):
            a, b = self.pairs[kinked[0]]
            raise InputError(
                f"is {self.volumes[a].name} and {self.volumes[b].name}, neither of them strictly convex",
                element=f"pair {kinked[0]}",
                remedy="At least one must be a SphereTorusVolume for the distance to be smooth",
            )

    def forget(self) -> None:
        """Start the next evaluation from nothing, as the first one."""
        self._results.rows[:] = -1
        self._polyhedron_rows[:] = -1

    def evaluate(self, rotations: NDArray[np.float64], origins: NDArray[np.float64]) -> None:
        """Compute values, points and normals.

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
        table, frames, results, work = self._table, Frames(rotations, origins), self._results, self._work
        if len(self._round_pairs.places):
            volume_distances(table, self._round_pairs, frames, self.cutoff, results, work)
        if len(self._half_space_pairs.places):
            half_space_distances(
                table, self._half_spaces, self._half_space_bodies, self._half_space_pairs, frames, results
            )
        if len(self._polyhedron_pairs.places):
            polyhedron_distances(table, self._polyhedron_pairs, frames, self._polyhedron_rows, results, work)


def _with_one(is_one: NDArray[np.bool_], pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of which one is of a kind: the other, the one, and 1 if that is first; and their places."""
    places = np.flatnonzero(is_one.any(axis=1))
    first = is_one[places, 0].astype(np.int64)
    rows = np.arange(len(places))
    return np.column_stack([pairs[places][rows, first], pairs[places][rows, 1 - first], first]), places


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
