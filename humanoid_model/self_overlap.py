# SPDX-License-Identifier: Apache-2.0
"""How deep a robot's collision shapes are in each other, by the shapes themselves and not by volumes around them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from humanoid_model.description import Shape
from humanoid_model.robot import Robot

#: Share of its hull that a convex mesh fills.
_CONVEX = 0.999
#: Surfaces of meshes that cross count as so deep at least, as a thin shell has no inside to be deep in [m].
CROSSED = 2e-3
#: Points of a mesh that depth is measured at are no farther from each other than this [m].
_SPACING = 0.01
#: Joints between two links that may be one housing, and postures of them that tell.
_HOUSED, _SAMPLES = 3, 200
#: Part of a turn about a point that a solid's surface fills as seen from inside; from outside it is nothing.
_INSIDE = 0.5
#: Thickness that flat meshes get on both sides [m].
_FLAT = 1e-5
#: Depths below this are rounding [m].
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Overlap:
    """Two shapes of a robot that are in each other.

    Attributes:
        first: name of one shape, ``link/number``.
        second: name of the other.
        depth: shortest way to get them apart [m]; with a mesh that isn't convex, that of the deepest point of one to
            the surface of the other, and at least 2 mm where surfaces cross.
        allowed: what it is in the robot's own postures [m].
    """

    first: str
    second: str
    depth: float
    allowed: float

    def __str__(self) -> str:
        return f"{self.first} is {self.depth:.4g} m in {self.second}"


class SelfOverlap:
    """Shapes of one robot that may not be in each other.

    Left out are shapes that one body carries, that are next to each other along the robot (joint limits keep those
    apart), of links whose collision the robot's file disables, and those of one housing: up to three joints apart, and
    in each other in whatever position of these joints.

    Attributes:
        names: of the shapes, in the order of the robot's collision model.
        pairs: of shapes, by index.
        housings: pairs left out since they are in each other whatever the joints do.
        allowed: by pair, how deep its shapes are in each other in the robot's own postures, where that is at all [m].
    """

    def __init__(self, robot: Robot) -> None:
        """Find the pairs, and what the robot's own postures say of them.

        Args:
            robot: whose shapes they are.
        """
        self._robot, self._geometry = robot, robot.collision_model
        self._data, self._placed = robot.model.createData(), self._geometry.createData()
        objects = list(self._geometry.geometryObjects)
        self.names = tuple(item.name for item in objects)
        frames = [item.parentFrame for item in objects]
        self._links = [robot.model.frames[frame].name if frame < robot.model.nframes else "" for frame in frames]
        numbers: Counter[str] = Counter()
        self._solids = []
        for item, link in zip(objects, self._links, strict=True):
            self._solids.append(_Solid(item.geometry, robot.description.links[link].collisions[numbers[link]].shape))
            numbers[link] += 1
        near: list[tuple[int, int]] = []
        self.pairs: list[tuple[int, int]] = []
        for pair, joints in self._candidates():
            (near if joints <= _HOUSED else self.pairs).append(pair)
        self.housings = self._housings(near)
        self.pairs = sorted({*self.pairs, *near} - self.housings)
        self.allowed: dict[tuple[int, int], float] = {}
        for q in own_postures(robot).values():
            for pair, depth in self._depths(q, self.pairs):
                self.allowed[pair] = max(self.allowed.get(pair, 0.0), depth)

    def overlaps(self, q: NDArray[np.float64], tolerance: float = 0.0, *, measured: bool = False) -> list[Overlap]:
        """Return the shapes that are deeper in each other than in the robot's own postures.

        Args:
            q: (nq,) configuration.
            tolerance: by which they may be deeper [m].
            measured: whether to measure how deep meshes are that aren't convex, which takes up to a second; without it
                their depth is 2 mm wherever that tells too much from what is allowed.
        """
        rough = [] if measured or tolerance >= CROSSED else [pair for pair in self.pairs if pair not in self.allowed]
        exact = list(self.allowed) if rough else self.pairs
        found = [*self._depths(q, rough, rough=True), *self._depths(q, exact)]
        return [
            Overlap(self.names[i], self.names[j], depth, self.allowed.get((i, j), 0.0))
            for (i, j), depth in found
            if depth > self.allowed.get((i, j), 0.0) + tolerance
        ]

    def _candidates(self) -> Iterator[tuple[tuple[int, int], int]]:
        """Pairs of shapes that aren't next to each other, and how many joints are between them."""
        robot, objects = self._robot, list(self._geometry.geometryObjects)
        parents, shaped = robot.model.parents, {item.parentJoint for item in objects}
        links = self._links
        disabled = {frozenset(pair) for pair in robot.disabled_collisions}

        def inward(joint: int) -> int:
            """Return the next joint towards the base that moves a shape."""
            parent = int(parents[joint])
            return parent if parent in shaped or parent == 0 else inward(parent)

        def chain(joint: int) -> set[int]:
            return {joint} if joint == 0 else {joint} | chain(int(parents[joint]))

        for i, j in itertools.combinations(range(len(objects)), 2):
            a, b = objects[i].parentJoint, objects[j].parentJoint
            if a == b or inward(a) == b or inward(b) == a or frozenset((links[i], links[j])) in disabled:
                continue
            yield (i, j), len(chain(a) ^ chain(b))

    def _housings(self, pairs: list[tuple[int, int]]) -> set[tuple[int, int]]:
        """Return those of some pairs that are in each other in every posture."""
        model, limits = self._robot.model, self._robot.limits
        q = self._robot.default_posture
        free = np.isfinite(limits.lower) & np.isfinite(limits.upper)
        left, random = set(pairs), np.random.default_rng(0)
        for _ in range(_SAMPLES):
            q[free] = random.uniform(limits.lower[free], limits.upper[free])
            left &= {pair for pair, _ in self._depths(pin.normalize(model, q), sorted(left), rough=True)}
        return left

    def _depths(
        self, q: NDArray[np.float64], pairs: list[tuple[int, int]], rough: bool = False
    ) -> Iterator[tuple[tuple[int, int], float]]:
        """Those of some pairs that are in each other, and how deep [m]; roughly, crossed meshes by the least."""
        if not pairs:
            return
        pin.updateGeometryPlacements(self._robot.model, self._data, self._geometry, self._placed, q)
        placed = [(M.rotation, M.translation) for M in self._placed.oMg]
        middles = np.array([R @ solid.middle + p for solid, (R, p) in zip(self._solids, placed, strict=True)])
        radii = np.array([solid.radius for solid in self._solids])
        asked = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        gaps = np.linalg.norm(middles[asked[:, 0]] - middles[asked[:, 1]], axis=1) - radii[asked].sum(axis=1)
        for index in np.flatnonzero(gaps < 0.0):
            i, j = pairs[index]
            depth = _depth(self._solids[i], placed[i], self._solids[j], placed[j], rough)
            if depth > _ROUNDING:
                yield (i, j), depth


_KNOWN: WeakKeyDictionary[Robot, SelfOverlap] = WeakKeyDictionary()


def self_overlap(robot: Robot) -> SelfOverlap:
    """Return the shapes of a robot that may not be in each other, found once for each robot."""
    if robot not in _KNOWN:
        _KNOWN[robot] = SelfOverlap(robot)
    return _KNOWN[robot]


def own_postures(robot: Robot) -> Mapping[str, NDArray[np.float64]]:
    """Return the postures that a robot's file gives, by name; ``zero`` where it gives none."""
    given = {name: q for name, q in robot.postures.items() if name != "zero"}
    return given or dict(robot.postures)


_Placement = tuple[NDArray[np.float64], NDArray[np.float64]]


class _Solid:
    """A collision shape, what is convex about it, and points of its surface.

    Attributes:
        shape: the shape itself, a convex mesh as a convex body.
        hull: the shape if it is convex, else its hull.
        convex: whether it is.
        middle: (3,) of a ball around it [m].
        radius: of that ball [m].
        sample: (1, 3) some point of it [m].
    """

    def __init__(self, geometry: coal.CollisionGeometry, described: Shape) -> None:
        self._described = described
        self.shape = self.hull = geometry
        self.convex = True
        if isinstance(geometry, coal.BVHModelBase):
            vertices = np.array(geometry.vertices(), dtype=float).reshape(-1, 3)
            rows = [geometry.tri_indices(k) for k in range(geometry.num_tris)]
            self._corners = vertices[np.array([[row[0], row[1], row[2]] for row in rows], dtype=np.int64)]
            self.convex = _fills_hull(self._corners)
            self.hull = _hull(vertices)
            self.shape = self.hull if self.convex else geometry
        self.hull.computeLocalAABB()
        self.middle, self.radius = np.array(self.hull.aabb_center), float(self.hull.aabb_radius)
        self.sample = self.middle[None] if self.convex else self._corners[0, :1]

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """(n, 3) of the surface, a centimetre apart at most [m]."""
        import trimesh  # slow to import, and most robots' shapes are convex

        from humanoid_model.shape_triangles import triangles

        drawn = triangles(self._described)
        spread, _ = trimesh.remesh.subdivide_to_size(drawn.vertices, drawn.faces, _SPACING, max_iter=20)
        _, first = np.unique(np.floor(spread / _SPACING), axis=0, return_index=True)
        return np.asarray(spread[first])

    def deepest_of(self, points: NDArray[np.float64]) -> float:
        """Return how deep the deepest of points (n, 3) is inside [m]; 0 where all are outside."""
        ball, still = coal.Sphere(0.0), coal.Transform3s.Identity()
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        away = np.empty(len(points))
        for k, point in enumerate(points):
            result.clear()
            away[k] = coal.distance(self.shape, still, ball, coal.Transform3s(np.eye(3), point), request, result)
        if self.convex:
            return max(-float(away.min(initial=0.0)), 0.0)
        return next((float(away[k]) for k in np.argsort(-away) if self._encloses(points[k])), 0.0)

    def _encloses(self, point: NDArray[np.float64]) -> bool:
        """Whether a mesh winds around a point (A. Jacobson et al., "Robust inside-outside segmentation", 2013)."""
        a, b, c = np.moveaxis(self._corners - point, 1, 0)
        la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        dots = [np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a))]
        angles = np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
        return bool(abs(angles.sum()) / (2.0 * np.pi) > _INSIDE)


def _depth(one: _Solid, at: _Placement, other: _Solid, there: _Placement, rough: bool) -> float:
    """Return how deep two placed solids are in each other [m]; 0 or less where they aren't."""
    places = coal.Transform3s(*at), coal.Transform3s(*there)
    request, gap = coal.DistanceRequest(), coal.DistanceResult()
    hulls = -float(coal.distance(one.hull, places[0], other.hull, places[1], request, gap))
    if hulls <= _ROUNDING or (one.convex and other.convex):
        return hulls
    result = coal.CollisionResult()
    crossed = bool(coal.collide(one.shape, places[0], other.shape, places[1], coal.CollisionRequest(), result))
    deepest = CROSSED if crossed else 0.0
    if crossed and rough:
        return min(deepest, hulls)
    for inner, its, outer, own in ((one, at, other, there), (other, there, one, at)):
        # Without a crossing all of a solid is inside or none.
        points = ((inner.points if crossed else inner.sample) @ its[0].T + its[1] - own[1]) @ own[0]
        near = points[np.linalg.norm(points - outer.middle, axis=1) < outer.radius]
        deepest = max(deepest, outer.deepest_of(near) if len(near) else 0.0)
    return min(deepest, hulls)


def _fills_hull(corners: NDArray[np.float64]) -> bool:
    """Return whether triangles (n, 3, 3) are the surface of a convex body, whichever way they are turned."""
    a, b, c = np.moveaxis(corners, 1, 0)
    volume = abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6.0
    try:
        return volume >= _CONVEX * float(ConvexHull(corners.reshape(-1, 3)).volume)
    except QhullError:  # flat
        return False


def _hull(points: NDArray[np.float64]) -> coal.ConvexBase:
    """Return the convex hull of points (n, 3), of flat ones with a thickness: coal would crash."""
    away = points - points.mean(axis=0)
    squares, directions = np.linalg.eigh(away.T @ away / len(points))
    for square, direction in zip(squares, directions.T, strict=True):
        if square <= _FLAT**2:
            points = np.vstack([points + _FLAT * direction, points - _FLAT * direction])
    corners = coal.StdVec_Vec3s()
    corners.extend(list(points))
    return coal.ConvexBase.convexHull(corners, True, "Qt")
