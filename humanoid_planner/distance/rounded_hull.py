# SPDX-License-Identifier: Apache-2.0
"""Points and a radius whose rounded convex hull encloses a shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from humanoid_model.errors import InputError
from humanoid_model.value_equality import ValueEquality
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program

_EXCESS = 0.002
"""How far a polygon around a circle may stick out of it [m]."""


@dataclass(frozen=True, eq=False)
class RoundedHull(ValueEquality):
    """All points no farther than a radius from the convex hull of points.

    A sphere-torus-patch volume around the points with the small radius ``radius + r`` encloses it with margin r.

    Attributes:
        points: shape (n, 3), n at least 1 [m].
        radius: 0 or more [m].
        name: of the shapes that it encloses, empty where they have none.
    """

    points: NDArray[np.float64]
    radius: float
    name: str = ""

    def moved(self, placement: pin.SE3) -> RoundedHull:
        """Return the same hull in the frame in which its own frame has a placement."""
        return RoundedHull(self.points @ placement.rotation.T + placement.translation, self.radius, self.name)

    def called(self, name: str) -> RoundedHull:
        """Return the same hull with a name."""
        return RoundedHull(self.points, self.radius, name)

    @cached_property
    def outline(self) -> NDArray[np.float64]:
        """Points (k, 3) whose convex hull is the rounded hull, up to 2 % of the radius, from inside."""
        if self.radius == 0.0:
            return self.points
        return (self._corners[:, None] + self.radius * geodesic_directions(2)).reshape(-1, 3)

    @cached_property
    def _corners(self) -> NDArray[np.float64]:
        """Those of the points that are corners of their hull; all of points that are flat."""
        try:
            return np.asarray(self.points[np.sort(ConvexHull(self.points).vertices)])
        except QhullError:
            return self.points

    def contains(self, other: RoundedHull) -> bool:
        """Return whether another rounded hull is inside, up to a thousandth of a millimetre."""
        own, its = self.outline, other.outline
        slack = 1e-6 + 0.02 * max(self.radius, other.radius)
        if (its.min(axis=0) < own.min(axis=0) - slack).any() or (its.max(axis=0) > own.max(axis=0) + slack).any():
            return False
        if other.radius > self.radius + 1e-9:
            return False
        away = max(_distance_to_hull(point, self.points) for point in other.points)
        return away + other.radius <= self.radius + 1e-6

    def distance(self, point: NDArray[np.float64]) -> float:
        """Return the distance of a point (3,) to the rounded hull [m], 0 inside."""
        return max(_distance_to_hull(point, self.points) - self.radius, 0.0)

    @classmethod
    def around(cls, hulls: Sequence[RoundedHull]) -> RoundedHull:
        """One rounded hull around several: with the smallest radius, larger balls replaced by polyhedra around them.

        Such a polyhedron sticks out of its ball by less than 8 % of the difference of the radii.
        """
        radius = min(hull.radius for hull in hulls)
        points = []
        for hull in hulls:
            more = hull.radius - radius
            around_ball = more / _inner_radius(1) * geodesic_directions(1) if more > 0.0 else np.zeros((1, 3))
            points.append((hull.points[:, None] + around_ball).reshape(-1, 3))
        return cls(np.vstack(points), radius, "+".join(hull.name for hull in hulls if hull.name))

    def contains_points(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which of points (k, 3) are inside, up to 2 % of the radius, shape (k,)."""
        if self._outer is None:  # flat: it has no inside
            return np.zeros(len(points), dtype=bool)
        equations = self._outer.equations
        return np.asarray((points @ equations[:, :3].T + equations[:, 3]).max(axis=1) <= 1e-9)

    @cached_property
    def _outer(self) -> ConvexHull | None:
        """Hull of the outline; None where that is flat."""
        try:
            return ConvexHull(self.outline)
        except QhullError:
            return None

    @property
    def volume(self) -> float:
        """Volume of the outline's hull [m^3]."""
        return 0.0 if self._outer is None else float(self._outer.volume)

    @cached_property
    def least_volume(self) -> float:
        """Volume of the points' hull and of a layer of the radius on its faces, edges and corners left out [m^3]."""
        try:
            core = ConvexHull(self.points)
        except QhullError:
            return 0.0
        return float(core.volume + core.area * self.radius)


def rounded_hull(geometry: coal.CollisionGeometry) -> RoundedHull:
    """Return the rounded hull around a coal geometry, in the geometry's frame.

    Boxes, spheres and capsules are met exactly. A circle of radius a becomes a regular polygon around it with n sides,
    the least even n with which the corners stick out by no more than 2 mm: a (1 / cos(pi / n) - 1). An ellipsoid
    becomes an image of a geodesic polyhedron around the unit sphere, whose corners stick out by 2 % of the half-axes.
    Meshes become their convex hull.

    Raises:
        InputError: a half-space, or a geometry without points.
    """
    if isinstance(geometry, coal.Box):
        corners = np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])
        return RoundedHull(corners * np.asarray(geometry.halfSide), 0.0)
    if isinstance(geometry, coal.Sphere):
        return RoundedHull(np.zeros((1, 3)), float(geometry.radius))
    if isinstance(geometry, coal.Capsule):
        reach = float(geometry.halfLength)
        return RoundedHull(np.array([[0.0, 0.0, -reach], [0.0, 0.0, reach]]), float(geometry.radius))
    if isinstance(geometry, coal.Cylinder):
        ring, up = _polygon_around(float(geometry.radius)), np.array([0.0, 0.0, float(geometry.halfLength)])
        return RoundedHull(np.vstack([ring - up, ring + up]), 0.0)
    if isinstance(geometry, coal.Cone):
        ring, up = _polygon_around(float(geometry.radius)), np.array([0.0, 0.0, float(geometry.halfLength)])
        return RoundedHull(np.vstack([ring - up, up]), 0.0)
    if isinstance(geometry, coal.Ellipsoid):
        return RoundedHull(geodesic_directions(2) / _inner_radius(2) * np.asarray(geometry.radii), 0.0)
    vertices = mesh_triangles(geometry)[0]
    return RoundedHull(vertices, 0.0)


def mesh_triangles(geometry: coal.CollisionGeometry) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices (n, 3) and triangles (m, 3) of a coal mesh.

    Raises:
        InputError: the geometry is no mesh, or an empty one.
    """
    if not isinstance(geometry, (coal.BVHModelBase, coal.ConvexBase)):
        raise InputError(
            f"a {type(geometry).__name__} can't be covered by a volume",
            element="geometry",
            remedy="Give a box, sphere, capsule, cylinder, cone, ellipsoid or mesh",
        )
    points = geometry.vertices() if isinstance(geometry, coal.BVHModelBase) else geometry.points()
    vertices = np.array(points, dtype=np.float64).reshape(-1, 3)
    if not len(vertices):
        raise InputError("a mesh has no vertices", element="geometry", remedy="Give a mesh with triangles")
    if isinstance(geometry, coal.ConvexBase):
        return vertices, np.asarray(ConvexHull(vertices).simplices, dtype=np.int64)
    triangles = [geometry.tri_indices(i) for i in range(geometry.num_tris)]
    return vertices, np.array([[t[0], t[1], t[2]] for t in triangles], dtype=np.int64).reshape(-1, 3)


def _polygon_around(radius: float) -> NDArray[np.float64]:
    """Corners (n, 3), z = 0, of a regular polygon whose sides touch a circle."""
    sides = max(6, 2 * math.ceil(0.5 * math.pi / math.acos(radius / (radius + _EXCESS))))
    angles = 2.0 * math.pi * (np.arange(sides) + 0.5) / sides
    corner = radius / math.cos(math.pi / sides)
    return np.column_stack([corner * np.cos(angles), corner * np.sin(angles), np.zeros(sides)])


@cache
def geodesic_directions(subdivisions: int) -> NDArray[np.float64]:
    """Corners (n, 3) of an icosahedron whose triangles are divided in four again and again, on the unit sphere."""
    ratio = 0.5 * (1.0 + math.sqrt(5.0))
    corners = np.array([c for a in (-1.0, 1.0) for b in (-ratio, ratio) for c in ([0, a, b], [a, b, 0], [b, 0, a])])
    for _ in range(subdivisions):
        triangles = ConvexHull(corners).simplices
        sides = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        pairs = np.unique(np.sort(sides), axis=0)
        corners = np.vstack([corners, corners[pairs].mean(axis=1)])
        corners /= np.linalg.norm(corners, axis=1)[:, None]
    corners /= np.linalg.norm(corners, axis=1)[:, None]
    corners.setflags(write=False)
    return corners


@cache
def _inner_radius(subdivisions: int) -> float:
    """Return radius of the largest ball inside that polyhedron."""
    return float(-ConvexHull(geodesic_directions(subdivisions)).equations[:, 3].max())


def _distance_to_hull(point: NDArray[np.float64], points: NDArray[np.float64]) -> float:
    """Return the distance of a point to the convex hull of points, 0 inside.

    The plane that separates them by the widest margin: the shortest normal n with n . (p_i - point) >= 1 for all points
    has the reciprocal of the distance for its length, and there is none for a point inside. (Non-negative least squares
    over the points' weights would be the same problem, but scipy 1.15's ``nnls`` is off in two of a hundred of them.)
    """
    relative = points - point
    size = float(np.linalg.norm(relative, axis=1).max())
    if size == 0.0:
        return 0.0
    none = np.full(len(points), np.inf)
    free = np.full(3, np.inf)
    program = QuadraticProgram(np.eye(3), np.zeros(3), relative / size, np.ones(len(points)), none, -free, free)
    normal = solve_quadratic_program(program)
    return 0.0 if normal is None else size / float(np.linalg.norm(normal.x))
