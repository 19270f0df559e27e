# SPDX-License-Identifier: Apache-2.0
"""Pairs left to Python: those of the methods boolean, penetration and continuous, and all pairs by coal.

The method continuous finds the first time of contact of two moving shapes by conservative advancement (Mirtich
1996).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.apart import load_called
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Sphere
from humanoid_sim.detection.backends import BACKENDS, CoalDistance, MeshPair, distinct_points, mesh_intersection
from humanoid_sim.detection.convex_pair import contact_patch, convex_distance
from humanoid_sim.detection.face_contact import FACE_CONTACT, MAX_POINTS, VERTICES
from humanoid_sim.detection.mesh_contact import MESH_POINTS, mesh_contact
from humanoid_sim.detection.patch_reduction import reduce_patch
from humanoid_sim.detection.shape_table import MeshPoints, Nearest, PatchPoints, Pose, ShapeTable, shape_table
from humanoid_sim.detection.solids import Polytope, SolidShape, TriangleMesh

_SECTIONS = 32
"""A circle is approximated by so many sides."""


def surface_mesh(solid: SolidShape) -> TriangleMesh:
    """Return the surface of a solid: exact of a box, hull or mesh, approximate of a round one."""
    if isinstance(solid, TriangleMesh):
        return solid
    if isinstance(solid, (Box, Polytope)):
        polytope = Polytope.of_box(solid) if isinstance(solid, Box) else solid
        corners = []
        for start, stop in zip(polytope.starts[:-1], polytope.starts[1:], strict=True):
            ring = polytope.corner_vertices[start:stop].tolist()
            corners += [(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)]
        return TriangleMesh.of_triangles(polytope.vertices, np.array(corners, dtype=np.int64).reshape(-1, 3))
    import trimesh  # slow to import, and simulations that touch no meshes do without

    if isinstance(solid, Sphere):
        mesh = trimesh.creation.icosphere(subdivisions=3, radius=solid.radius)
    elif isinstance(solid, Cylinder):
        mesh = trimesh.creation.cylinder(solid.radius, solid.length, sections=_SECTIONS)
    elif isinstance(solid, Ellipsoid):
        mesh = trimesh.creation.icosphere(subdivisions=3)
        mesh.apply_scale(solid.radii)
    else:
        assert isinstance(solid, Capsule)
        mesh = trimesh.creation.capsule(solid.length, solid.radius, count=(_SECTIONS // 2, _SECTIONS))
        mesh.apply_translation(-mesh.bounds.mean(axis=0))  # trimesh lays it from z = 0 up
    return TriangleMesh.of_triangles(np.asarray(mesh.vertices), np.asarray(mesh.faces, dtype=np.int64))


_MAX_ITERATIONS = 200


@dataclass(frozen=True)
class ShapeMotion:
    """Where a shape is and how it moves: it spins about a point that moves straight on.

    Attributes:
        R: rotation to the world, shape (3, 3).
        p: origin in the world [m], shape (3,).
        centre: the point, in the world; that of the shape's bounding box [m], shape (3,).
        velocity: of the point [m/s], shape (3,).
        spin: angular velocity in the world [rad/s], shape (3,).
    """

    R: NDArray[np.float64]
    p: NDArray[np.float64]
    centre: NDArray[np.float64]
    velocity: NDArray[np.float64]
    spin: NDArray[np.float64]

    def __post_init__(self) -> None:
        # Pinocchio's matrices go by columns: kernels would be compiled once more for each such argument.
        object.__setattr__(self, "R", np.ascontiguousarray(self.R))

    def after(self, time: float) -> ShapeMotion:
        """Return the same motion some time later [s]."""
        turn = pin.exp3(time * self.spin)
        centre = self.centre + time * self.velocity
        return ShapeMotion(
            turn @ self.R, centre + turn @ (self.p - self.centre), centre, self.velocity, self.spin
        )


def time_of_contact(
    distance: Callable[[ShapeMotion, ShapeMotion, float], tuple[float, NDArray[np.float64]]],
    first: ShapeMotion,
    second: ShapeMotion,
    radii: tuple[float, float],
    horizon: float,
    tolerance: float,
) -> float:
    """First time at which two moving shapes touch.

    With the shapes apart by d along n, no point of them can cross before d over the fastest approach along n.

    Args:
        distance: signed distance of the shapes at two places up to a cutoff, and the unit normal from the second one
            into the first; infinite beyond the cutoff.
        first: body a.
        second: body b.
        radii: how far each shape reaches from its centre [m].
        horizon: times beyond it are not looked for [s].
        tolerance: distance at which the shapes touch [m].

    Returns:
        The time, 0 where they touch from the start, infinity where they don't touch up to the horizon [s].
    """
    turn = sum(radius * float(np.linalg.norm(m.spin)) for radius, m in zip(radii, (first, second), strict=True))
    relative = first.velocity - second.velocity
    speed = float(np.linalg.norm(relative)) + turn
    time = 0.0
    for _ in range(_MAX_ITERATIONS):
        cutoff = speed * (horizon - time) + tolerance
        gap, normal = distance(first.after(time), second.after(time), cutoff)
        if gap == math.inf:
            return math.inf
        if gap <= tolerance:
            return time
        closing = turn - float(normal @ relative)
        if closing <= 0.0 or time + gap / closing > horizon:
            return math.inf
        time += gap / closing
    return time


POINTS = MAX_POINTS
"""A pair gives at most so many points by the methods of this module."""
TIME_TOLERANCE = 1e-9
"""Moving shapes this near touch [m]."""


@dataclass(frozen=True)
class PairContact:
    """Contact points of a pair of solids.

    Attributes:
        normal: unit, from the second solid into the first, in the world, shape (3,).
        positions: in the world [m], shape (k, 3).
        gaps: signed distances along the normal [m], shape (k,).
        features: numbers that stay the same while the same parts touch, shape (k,).
    """

    normal: NDArray[np.float64]
    positions: NDArray[np.float64]
    gaps: NDArray[np.float64]
    features: NDArray[np.int64]


class SpecialPair:
    """Two solids and the queries that the compiled step leaves to the caller."""

    def __init__(self, first: SolidShape, second: SolidShape, backend: str = BACKENDS[0]) -> None:
        """Prepare the queries.

        Args:
            first: body a.
            second: body b.
            backend: one of :data:`~humanoid_sim.detection.backends.BACKENDS`; coal for convex solids only.
        """
        assert backend in BACKENDS
        self.table: ShapeTable = shape_table([first, second])
        self._solids = first, second
        self._with_mesh = isinstance(first, TriangleMesh) or isinstance(second, TriangleMesh)
        assert not (self._with_mesh and backend == "coal")
        self._coal = CoalDistance(first, second) if backend == "coal" else None
        self._backend = backend
        self._meshes: MeshPair | None = None

    def distance(
        self, first: ShapeMotion, second: ShapeMotion, cutoff: float
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Signed distance [m], infinite beyond the cutoff; normal from second into first; nearest points."""
        normal, on_first, on_second = np.zeros(3), np.zeros(3), np.zeros(3)
        if self._coal is not None:
            gap = self._coal(first.R, first.p, second.R, second.p, cutoff, normal, on_first, on_second)
            return gap, normal, on_first, on_second
        if not self._with_mesh:
            poses = Pose(first.R, first.p), Pose(second.R, second.p)
            gap = convex_distance(self.table, 0, 1, *poses, cutoff, Nearest(normal, on_first, on_second))
            return gap, normal, on_first, on_second
        contact = self._mesh_contact(first, second, cutoff)
        if contact is None:
            return np.inf, normal, on_first, on_second
        normals, points, gaps, _ = contact
        least = int(gaps.argmin())
        half = 0.5 * gaps[least] * normals[least]
        return float(gaps[least]), normals[least], points[least] + half, points[least] - half

    def _mesh_contact(
        self, first: ShapeMotion, second: ShapeMotion, margin: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]] | None:
        """Return normals, positions, gaps and features; None where nothing is within the margin."""
        points = MeshPoints.of_size(MESH_POINTS)
        poses = Pose(first.R, first.p), Pose(second.R, second.p)
        count = mesh_contact(self.table, 0, 1, *poses, margin, points)
        positions, normals, gaps, features = (array[:count] for array in points)
        return (normals, positions, gaps, features) if count else None

    def overlap(self, first: ShapeMotion, second: ShapeMotion) -> bool:
        """Return whether the solids overlap or touch."""
        return self.distance(first, second, 0.0)[0] <= 0.0

    def patch(self, first: ShapeMotion, second: ShapeMotion, margin: float) -> PairContact | None:
        """Points where the solids touch or nearly touch, as by the default method but with one normal."""
        gap, normal, on_first, on_second = self.distance(first, second, margin)
        if gap == np.inf:
            return None
        if self._with_mesh:
            contact = self._mesh_contact(first, second, margin)
            assert contact is not None  # the distance is that of one of its points
            normals, positions, gaps, features = contact
            same = np.flatnonzero(normals @ normal > FACE_CONTACT)[:POINTS]
            return PairContact(normal, positions[same], gaps[same], features[same])
        found = PatchPoints.of_size(POINTS)
        poses = Pose(first.R, first.p), Pose(second.R, second.p)
        count = contact_patch(self.table, 0, 1, *poses, gap, margin, Nearest(normal, on_first, on_second), found)
        return PairContact(normal, found.positions[:count], found.gaps[:count], found.features[:count])

    def nearest(self, first: ShapeMotion, second: ShapeMotion, margin: float) -> PairContact | None:
        """Return the one point between the nearest or deepest points; None where the solids are farther apart."""
        gap, normal, on_first, on_second = self.distance(first, second, margin)
        if gap == np.inf:
            return None
        feature = np.array([4 * VERTICES * VERTICES])
        return PairContact(normal, 0.5 * (on_first + on_second)[None], np.array([gap]), feature)

    def penetration(self, first: ShapeMotion, second: ShapeMotion) -> PairContact | None:
        """Points where the surfaces intersect, with the depth of the solids in each other.

        The triangles of the two surfaces are intersected (Möller 1997) and the points filtered; nothing touches before
        surfaces cross. The gap of all points is minus the depth: the least motion along the normal that
        separates the solids.
        """
        gap, normal, _, _ = self.distance(first, second, 0.0)
        if not gap <= 0.0:
            return None
        if self._meshes is None:
            self._meshes = MeshPair(surface_mesh(self._solids[0]), surface_mesh(self._solids[1]), self._backend)
        _, segments = self._meshes.intersections(
            pin.SE3(first.R, first.p), pin.SE3(second.R, second.p)
        )
        if len(segments) == 0:
            return None
        points = distinct_points(segments, normal, POINTS)
        return PairContact(normal, points, np.full(len(points), gap), np.arange(len(points)))

    def time_of_contact(self, first: ShapeMotion, second: ShapeMotion, horizon: float) -> float:
        """First time at which the solids touch, infinity where they don't up to the horizon [s]."""
        radii = np.linalg.norm(self.table.half[:2], axis=1)
        return time_of_contact(
            lambda a, b, cutoff: self.distance(a, b, cutoff)[:2],
            first, second, (float(radii[0]), float(radii[1])), horizon, TIME_TOLERANCE,
        )  # fmt: skip

    def swept(
        self, first: ShapeMotion, second: ShapeMotion, time: float, margin: float
    ) -> PairContact | None:
        """Contact points at the first time of contact, each with the gap that its two material points have now."""
        later = first.after(time), second.after(time)
        contact = self.patch(*later, margin)
        if contact is None:
            return None
        half = 0.5 * contact.gaps[:, None] * contact.normal
        sides = []
        for now, then, points in zip(
            (first, second), later, (contact.positions + half, contact.positions - half), strict=True
        ):
            sides.append((points - then.p) @ then.R @ now.R.T + now.p)
        gaps = (sides[0] - sides[1]) @ contact.normal
        return PairContact(contact.normal, 0.5 * (sides[0] + sides[1]), gaps, contact.features)


def warm_up_pairs(backend: str = BACKENDS[0]) -> None:
    """Compile or load what pairs need: they are asked about two boxes in each other, also as meshes.

    Args:
        backend: one of :data:`~humanoid_sim.detection.backends.BACKENDS`.
    """
    box, rest = Box(np.ones(3)), np.zeros(3)
    first, second = (ShapeMotion(np.eye(3), place, place, rest, rest) for place in (rest, np.full(3, 0.6)))
    for solid in (box, surface_mesh(box)) if backend == "compiled" else (box,):
        pair = SpecialPair(solid, box, backend)
        pair.patch(first, second, 0.0)
        pair.penetration(first, second)
    load_called([convex_distance, contact_patch, mesh_contact, mesh_intersection, reduce_patch])


def first_contact_time(
    first: SolidShape,
    poses_first: tuple[pin.SE3, pin.SE3],
    second: SolidShape,
    poses_second: tuple[pin.SE3, pin.SE3],
) -> float:
    """Return the share of the way between two poses at which two solids first touch.

    Each solid moves at a constant speed and spin from one pose to the other, the centre of its bounding box straight.

    Args:
        first: body a.
        poses_first: its placement in the world at the start and at the end.
        second: body b.
        poses_second: the same of b.

    Returns:
        The share in 0..1, 0 where they touch at the start, infinity where they never do.
    """
    pair = SpecialPair(first, second)
    motions = []
    for s, (start, end) in enumerate((poses_first, poses_second)):
        centre = pair.table.centre[s]
        spin = np.array(pin.log3(end.rotation @ start.rotation.T))
        there = start.act(centre)
        motions.append(ShapeMotion(start.rotation, start.translation, there, end.act(centre) - there, spin))
    return pair.time_of_contact(motions[0], motions[1], 1.0)
