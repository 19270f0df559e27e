# SPDX-License-Identifier: Apache-2.0
"""Shapes near a pointer, as half-spaces that it must not leave (specification 000 §15.3, F113 and F114)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import coal
import numba
import numpy as np
from numpy.typing import NDArray

from humanoid_model.closest_point import closest_on_triangle
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import HalfSpace, HeightField, Mesh

if TYPE_CHECKING:
    from humanoid_sim.world.world import World

MAX_TRIANGLES = 64
"""Triangles of one mesh that are looked at in one move of the pointer."""
_PROBE = 1e-4
"""Radius of the ball that stands for a point [m]; coal's signed distances need one."""


@dataclass(frozen=True)
class Planes:
    """Half-spaces n . y >= c for the centre y of a ball, one or more per shape that is near.

    Attributes:
        normals: unit, out of the shapes, in the world, shape (k, 3).
        offsets: c [m], shape (k,).
        points: nearest points of the shapes, in the world [m], shape (k, 3).
        bodies: index of each shape's body in the world's list, shape (k,).
        complete_within: all shapes that a ball can reach within this distance [m] are among them.
        triangles: number of mesh triangles among them.
    """

    normals: NDArray[np.float64]
    offsets: NDArray[np.float64]
    points: NDArray[np.float64]
    bodies: NDArray[np.int64]
    complete_within: float
    triangles: int


class _Solid:
    """A shape of a body, ready for queries."""

    def __init__(self, body: int, joint: int, R: NDArray[np.float64], p: NDArray[np.float64], shape: object) -> None:
        self.body, self.joint, self.R, self.p = body, joint, R, p
        self.half_space = isinstance(shape, HalfSpace)
        self.geometry = coal_geometry(shape)  # type: ignore[arg-type]
        self.triangles: NDArray[np.float64] | None = None
        self.hull = self.geometry
        self.centre, self.radius = np.zeros(3), np.inf
        if self.half_space:
            return
        if isinstance(shape, (Mesh, HeightField)):
            mesh = self.geometry
            corners = np.array([[mesh.tri_indices(i)[k] for k in range(3)] for i in range(mesh.num_tris)])
            self.triangles = np.ascontiguousarray(np.array(mesh.vertices(), dtype=float)[corners])
        if isinstance(shape, Mesh):
            hull = coal_geometry(shape)
            hull.buildConvexHull(True, "Qt")
            self.hull = hull.convex
        self.geometry.computeLocalAABB()
        self.centre = np.array(self.geometry.aabb_center).reshape(3)
        self.radius = float(self.geometry.aabb_radius)


class NearbyShapes:
    """All shapes of a world, asked for those near a point."""

    def __init__(self, world: World) -> None:
        """Prepare every shape of every body of a world.

        Raises:
            InputError: a mesh can't be read.
        """
        self._solids = [
            _Solid(
                i,
                body.joint,
                body.placement_joint_body.rotation @ placement.rotation,
                body.placement_joint_body.act(placement.translation),
                shape,
            )
            for i, body in enumerate(world.bodies)
            for shape, placement in body.shapes
        ]
        self._joints = np.array([solid.joint for solid in self._solids], dtype=np.int64)
        self._centres = np.array([solid.R @ solid.centre + solid.p for solid in self._solids]).reshape(-1, 3)
        self._radii = np.array([solid.radius for solid in self._solids])
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._R: NDArray[np.float64] = np.zeros((0, 3, 3))
        self._p: NDArray[np.float64] = np.zeros((0, 3))

    def update(self, R: NDArray[np.float64], p: NDArray[np.float64]) -> None:
        """Follow the bodies to where they are now.

        Args:
            R: rotations of the world's joint frames, shape (njoints, 3, 3).
            p: their origins [m], shape (njoints, 3).
        """
        self._R, self._p = R.copy(), p.copy()

    def _near(self, position: NDArray[np.float64], reach: float) -> list[int]:
        """Shapes whose bounding ball is within reach of a point."""
        R, p = self._R[self._joints], self._p[self._joints]
        centres = np.einsum("kij,kj->ki", R, self._centres) + p
        far = np.linalg.norm(centres - position, axis=1) - self._radii > reach
        return [int(k) for k in np.flatnonzero(~far)]

    def _placement(self, solid: _Solid) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        R = self._R[solid.joint]
        return R @ solid.R, R @ solid.p + self._p[solid.joint]

    def nearest_body(self, position: NDArray[np.float64], reach: float, mobile: list[bool]) -> int | None:
        """Return the body that a point is deepest in, or nearest to; None if none is within reach.

        Args:
            position: of the point in the world [m], shape (3,).
            reach: largest distance from a surface [m].
            mobile: of each body, whether it may be chosen.

        Returns:
            Its index in the world's list. Meshes count with their convex hulls.
        """
        best, found = reach, None
        for k in self._near(position, reach):
            solid = self._solids[k]
            if mobile[solid.body]:
                gap, _, _ = self._distance(solid, solid.hull, position, _PROBE)
                if gap + _PROBE <= best:
                    best, found = gap + _PROBE, solid.body
        return found

    def planes(self, position: NDArray[np.float64], radius: float, reach: float) -> Planes:
        """Half-spaces that keep a ball out of every shape that it can reach.

        A plane through the nearest point of a convex set, across the line from there, has the set on one side: a centre
        that stays a radius away on the other side never enters it, however far it moves. A mesh is the set of its
        triangles, the nearest :data:`MAX_TRIANGLES` at most; ``complete_within`` then bounds the move.

        Args:
            position: of the centre in the world [m], shape (3,).
            radius: of the ball [m].
            reach: how far the centre may want to move [m].
        """
        normals, offsets, points, bodies = [], [], [], []
        complete, triangles = np.inf, 0
        for k in self._near(position, reach + radius):
            solid = self._solids[k]
            if solid.triangles is None:
                gap, normal, point = self._distance(solid, solid.geometry, position, radius)
                if gap <= reach:
                    normals.append(normal)
                    offsets.append(float(normal @ position) - gap)
                    points.append(point)
                    bodies.append(solid.body)
                continue
            R, p = self._placement(solid)
            ids, free = self._triangles(solid, R, p, position, radius, reach)
            complete = min(complete, free)
            triangles += len(ids)
            local = R.T @ (position - p)
            n, c = np.empty((len(ids), 3)), np.empty((len(ids), 3))
            triangle_planes(solid.triangles[ids], local, radius, n, c)
            for normal, point in zip(n @ R.T, c @ R.T + p, strict=True):
                normals.append(normal)
                offsets.append(float(normal @ point) + radius)
                points.append(point)
                bodies.append(solid.body)
        return Planes(
            np.array(normals).reshape(-1, 3),
            np.array(offsets),
            np.array(points).reshape(-1, 3),
            np.array(bodies, dtype=np.int64),
            complete,
            triangles,
        )

    def _distance(
        self, solid: _Solid, geometry: coal.CollisionGeometry, position: NDArray[np.float64], radius: float
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Signed distance of a ball from a convex shape [m], normal out of the shape, its nearest point [m]."""
        R, p = self._placement(solid)
        if solid.half_space:
            normal = R[:, 2].copy()
            height = float(normal @ (position - p))
            return height - radius, normal, position - height * normal
        result = coal.DistanceResult()
        gap = coal.distance(
            geometry,
            coal.Transform3s(R, p),
            coal.Sphere(radius),
            coal.Transform3s(np.eye(3), position),
            self._request,
            result,
        )
        return gap, np.array(result.normal).reshape(3), np.array(result.getNearestPoint1()).reshape(3)

    def _triangles(
        self,
        solid: _Solid,
        R: NDArray[np.float64],
        p: NDArray[np.float64],
        position: NDArray[np.float64],
        radius: float,
        reach: float,
    ) -> tuple[NDArray[np.int64], float]:
        """Triangles of a mesh that a ball can reach, and how far it may move so that they are all that it meets [m]."""
        request = coal.CollisionRequest()
        request.num_max_contacts = MAX_TRIANGLES + 1
        free = reach + 0.1 * radius
        while True:
            result = coal.CollisionResult()
            coal.collide(
                solid.geometry,
                coal.Transform3s(R, p),
                coal.Sphere(radius + free),
                coal.Transform3s(np.eye(3), position),
                request,
                result,
            )
            count = result.numContacts()
            ids = np.unique([result.getContact(i).b1 for i in range(count)]).astype(np.int64)
            if len(ids) <= MAX_TRIANGLES or free < 1e-9:
                return ids[:MAX_TRIANGLES], free
            free *= 0.5


@numba.njit(cache=True, error_model="numpy")
def triangle_planes(
    triangles: NDArray[np.float64],
    centre: NDArray[np.float64],
    radius: float,
    normals: NDArray[np.float64],
    points: NDArray[np.float64],
) -> None:
    """Compute a plane between a ball and each triangle.

    That of the triangle itself where the ball is clear of it, so that neighbours in one plane don't hold the ball back
    at their common side; else the one across the line from the nearest point to the centre.

    Args:
        triangles: corners [m], shape (k, 3, 3).
        centre: of the ball [m], shape (3,).
        radius: of the ball [m].
        normals: out: unit, towards the ball, shape (k, 3).
        points: out: nearest points of the triangles [m], shape (k, 3).
    """
    weights = np.empty(3)
    for k in range(triangles.shape[0]):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        closest_on_triangle(a, b, c, centre, weights)
        points[k] = weights[0] * a + weights[1] * b + weights[2] * c
        n = np.cross(b - a, c - a)
        area = np.sqrt(n @ n)
        height = 0.0
        if area > 0.0:
            n = n / area
            height = n @ (centre - a)
            if height < 0.0:
                n, height = -n, -height
        if area > 0.0 and height >= radius * (1.0 - 1e-9):
            normals[k] = n
            continue
        away = centre - points[k]
        distance = np.sqrt(away @ away)
        if distance > 0.0:
            normals[k] = away / distance
        else:
            normals[k] = n
