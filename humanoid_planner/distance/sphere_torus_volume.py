# SPDX-License-Identifier: Apache-2.0
"""Sphere-torus-patch bounding volume: strictly convex, with a smooth boundary, around a set of points.

Its boundary is small spheres around vertices, tori over edges and big spheres over faces.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError, cKDTree

from humanoid_model.archive import BROKEN_ARCHIVE, read_archive, write_archive
from humanoid_model.checks import check_positive
from humanoid_model.errors import InputError
from humanoid_model.files import require_file
from humanoid_model.value_equality import ValueEquality
from humanoid_planner.distance.gift_wrapping import wrap


@dataclass(frozen=True)
class VolumeTopology:
    """Edges of a closed triangulated surface.

    Attributes:
        edges: vertex a and vertex b of each edge, shape (ne, 2). Two edges may join the same vertices.
        edge_faces: face that runs a to b, and face that runs b to a, shape (ne, 2); -1 where there is none.
        face_edges: edge k of a face joins its vertices k and k + 1 (modulo 3), shape (nf, 3).
        vertex_offsets: first entry of each vertex in ``vertex_edges``, and their number, shape (nv + 1,).
        vertex_edges: edges around each vertex, counter-clockwise seen from outside, shape (2 ne,).
    """

    edges: NDArray[np.int64]
    edge_faces: NDArray[np.int64]
    face_edges: NDArray[np.int64]
    vertex_offsets: NDArray[np.int64]
    vertex_edges: NDArray[np.int64]

    @classmethod
    def of_points(cls, count: int) -> VolumeTopology:
        """Topology without faces: a single vertex, or two vertices and the edge between them."""
        edges = np.array([[0, 1]] if count == 2 else [], dtype=np.int64).reshape(-1, 2)
        return cls(
            edges=edges,
            edge_faces=np.full((len(edges), 2), -1, dtype=np.int64),
            face_edges=np.zeros((0, 3), dtype=np.int64),
            vertex_offsets=np.arange(count + 1, dtype=np.int64) if count == 2 else np.zeros(2, dtype=np.int64),
            vertex_edges=np.zeros(2 * len(edges), dtype=np.int64),
        )

    @classmethod
    def of_faces(
        cls, faces: NDArray[np.int64], across: NDArray[np.int64], vertex_count: int
    ) -> VolumeTopology:
        """Return the topology of faces of which it is known what lies across each edge.

        Neighbours are given, not found by end points: a thin volume may have two edges between two vertices.

        Args:
            faces: vertices of each face, counter-clockwise seen from outside, shape (nf, 3).
            across: half-edge ``3 face + k`` on the other side of half-edge k of each face, shape (nf, 3).
            vertex_count: number of vertices.

        Raises:
            ValueError: the surface isn't closed, or it isn't a single fan of faces around some vertex.
        """
        count = len(faces)
        starts = faces.reshape(-1)
        ends = np.roll(faces, -1, axis=1).reshape(-1)
        twin = across.reshape(-1)
        half_edges = np.arange(3 * count)
        if not (
            np.array_equal(twin[twin], half_edges)
            and np.array_equal(starts[twin], ends)
            and np.array_equal(ends[twin], starts)
        ):
            raise ValueError("the faces don't form a closed surface")
        first = half_edges[half_edges < twin]
        edge_of = np.empty(3 * count, dtype=np.int64)
        edge_of[first] = np.arange(len(first))
        edge_of[twin[first]] = np.arange(len(first))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=vertex_count))])
        around = np.empty(3 * count, dtype=np.int64)
        leaving = np.full(vertex_count, -1)
        leaving[starts[::-1]] = half_edges[::-1]  # the first half-edge that leaves each vertex
        for vertex in range(vertex_count):
            half_edge = leaving[vertex]
            for place in range(offsets[vertex], offsets[vertex + 1]):
                around[place] = edge_of[half_edge]
                # The face on the left of v -> x runs v -> x -> y -> v: the next edge is the twin of y -> v.
                half_edge = twin[half_edge - half_edge % 3 + (half_edge + 2) % 3]
                if half_edge == leaving[vertex] and place + 1 != offsets[vertex + 1]:
                    raise ValueError(f"the faces around vertex {vertex} aren't a single fan")
        return cls(
            edges=np.column_stack([starts[first], ends[first]]).astype(np.int64),
            edge_faces=np.column_stack([first // 3, twin[first] // 3]).astype(np.int64),
            face_edges=edge_of.reshape(-1, 3),
            vertex_offsets=offsets.astype(np.int64),
            vertex_edges=around,
        )


_ROUND_OFF = 1e-9
"""Arcs shorter than this [rad], or that miss a whole turn by less, are empty ones but for round-off."""


@dataclass(frozen=True)
class TorusPatches:
    """Circle arcs of the big sphere's centre while it rolls over each edge (Theorem 4.4.1 of specification 001).

    The centre at angle t is ``midpoint + radius (cos(t) start + sin(t) side)`` for t from 0, above the first face of
    the edge, to ``sweep``, above the second. The tube's radius is R. An edge between faces on one big sphere has an
    empty arc; the only edge of a volume with two vertices has the whole circle.

    Attributes:
        midpoints: centres of the circles, the edges' midpoints, shape (ne, 3) [m].
        axes: unit vectors along the edges, from vertex a to vertex b, shape (ne, 3).
        lengths: of the edges, shape (ne,) [m].
        radii: of the circles, sqrt((R - r)^2 - length^2 / 4), shape (ne,) [m].
        starts: unit vectors from the midpoint to the centre over the first face, shape (ne, 3).
        sides: unit vectors axis x start, shape (ne, 3).
        sweeps: angles of the arcs, shape (ne,) [rad].
    """

    midpoints: NDArray[np.float64]
    axes: NDArray[np.float64]
    lengths: NDArray[np.float64]
    radii: NDArray[np.float64]
    starts: NDArray[np.float64]
    sides: NDArray[np.float64]
    sweeps: NDArray[np.float64]

    @classmethod
    def of_edges(
        cls,
        vertices: NDArray[np.float64],
        edges: NDArray[np.int64],
        edge_faces: NDArray[np.int64],
        centres: NDArray[np.float64],
        radius: float,
    ) -> TorusPatches:
        """Return arcs of the edges of a volume.

        Args:
            vertices: shape (nv, 3).
            edges: shape (ne, 2).
            edge_faces: shape (ne, 2), -1 where there is no face.
            centres: of the big spheres, shape (nf, 3).
            radius: R - r.
        """
        first, second = vertices[edges[:, 0]], vertices[edges[:, 1]]
        midpoints, along = 0.5 * (first + second), second - first
        lengths = np.linalg.norm(along, axis=1)
        axes = along / lengths[:, None]
        if len(centres):
            from_middle = centres[edge_faces] - midpoints[:, None]
            one, other = from_middle[:, 0], from_middle[:, 1]
        else:  # a whole circle starts anywhere
            one = np.array([np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]) for axis in axes]).reshape(-1, 3)
            other = one
        starts = one - np.einsum("ij,ij->i", one, axes)[:, None] * axes
        starts /= np.linalg.norm(starts, axis=1)[:, None]
        sides = np.cross(axes, starts)
        sweeps = np.arctan2(np.einsum("ij,ij->i", other, sides), np.einsum("ij,ij->i", other, starts)) % (2 * math.pi)
        sweeps[(sweeps < _ROUND_OFF) | (sweeps > 2 * math.pi - _ROUND_OFF)] = 0.0
        if not len(centres):
            sweeps[:] = 2 * math.pi
        return cls(midpoints, axes, lengths, np.sqrt(radius**2 - 0.25 * lengths**2), starts, sides, sweeps)

    def centres_at(self, edge: int, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return centres of the tube over an edge at angles (k,) of its arc, shape (k, 3)."""
        turned = np.outer(np.cos(angles), self.starts[edge]) + np.outer(np.sin(angles), self.sides[edge])
        return np.asarray(self.midpoints[edge] + self.radii[edge] * turned)


_SAME_POINT = 1e-9
"""Points nearer to each other than this fraction of the extent are one."""
_FLAT = 1e-11
"""Heights below this fraction of the extent count as none when convexity is checked."""


@dataclass(frozen=True, eq=False)
class SphereTorusVolume(ValueEquality):
    """Intersection of all balls of radius R that hold a ball of radius r around each of a set of points.

    Its boundary is made of patches of small spheres (radius r, one per vertex), of big spheres (radius R, one per
    face) and of tori (tube radius R, one per edge), joined without kink (specification 001 section 5.3). All in the
    volume's own frame, metres. One vertex: a ball. Two: a spindle, with one edge and no face. Vertices in a plane:
    faces on both sides. Two edges may join the same two vertices.

    Attributes:
        r: small radius: how far the boundary stays from the vertices [m].
        R: big radius: the larger, the flatter the faces [m].
        vertices: centres of the small spheres, shape (nv, 3).
        faces: vertices of each face, counter-clockwise seen from outside, shape (nf, 3).
        centres: centres of the big spheres, shape (nf, 3). Faces that share one sphere have equal centres.
        edges: vertex a and vertex b, shape (ne, 2).
        edge_faces: face that runs a to b, and face that runs b to a, shape (ne, 2); -1 without faces.
        face_edges: edge k of a face joins its vertices k and k + 1 (modulo 3), shape (nf, 3).
        vertex_offsets: first entry of each vertex in ``vertex_edges``, and their number, shape (nv + 1,).
        vertex_edges: edges around each vertex, counter-clockwise seen from outside, shape (2 ne,).
    """

    r: float
    R: float
    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    centres: NDArray[np.float64]
    edges: NDArray[np.int64]
    edge_faces: NDArray[np.int64]
    face_edges: NDArray[np.int64]
    vertex_offsets: NDArray[np.int64]
    vertex_edges: NDArray[np.int64]

    @classmethod
    def from_points(cls, points: NDArray[np.float64], r: float, R: float) -> SphereTorusVolume:
        """Volume around points: those that the rolling sphere never touches are left out.

        Args:
            points: shape (n, 3), at least one, in any order; points nearer to each other than a billionth of their
                extent count as one [m].
            r: small radius, more than 0 [m].
            R: big radius; R - r must exceed the radius of the smallest ball around the points [m].

        Raises:
            InputError: no points, a value that isn't finite, a radius out of range, or points too degenerate.
        """
        cloud = _checked(points, r, R)
        # The sphere touches vertices of the convex hull only; round-off is least around the origin.
        middle = 0.5 * (cloud.min(axis=0) + cloud.max(axis=0))
        cloud = _distinct(hull_vertices(cloud - middle))
        wrapped = wrap(cloud, R - r)
        vertices = cloud[wrapped.vertices] + middle
        if len(wrapped.faces):
            topology = VolumeTopology.of_faces(wrapped.faces, wrapped.across, len(vertices))
        else:
            topology = VolumeTopology.of_points(len(vertices))
        return cls(
            r=float(r),
            R=float(R),
            vertices=vertices,
            faces=wrapped.faces,
            centres=wrapped.centres + middle,
            edges=topology.edges,
            edge_faces=topology.edge_faces,
            face_edges=topology.face_edges,
            vertex_offsets=topology.vertex_offsets,
            vertex_edges=topology.vertex_edges,
        )

    @cached_property
    def tori(self) -> TorusPatches:
        """The tori over the edges."""
        return TorusPatches.of_edges(self.vertices, self.edges, self.edge_faces, self.centres, self.R - self.r)

    @property
    def margin_bound(self) -> float:
        """No point of the boundary is farther than this from the polyhedron of the vertices [m] ((S.1))."""
        longest = float(self.tori.lengths.max(initial=0.0))
        return self.R - math.sqrt(max((self.R - self.r) ** 2 - longest**2 / 3.0, 0.0))

    @property
    def convex(self) -> bool:
        """Whether the polyhedron of the faces is convex; the volume itself always is.

        It isn't when points stick out by less than the big sphere bulges: the sphere then takes the other diagonal of
        four points, or the ends of an edge on either side of a point in between, so that the edge is there twice, with
        folded faces (Figure B.5 of the thesis). Such a volume is as exact as any other; only methods that walk on the
        polyhedron need a convex one.
        """
        if not len(self.faces):
            return True
        corners = self.vertices[self.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        extent = np.ptp(self.vertices, axis=0).max()
        first, second = self.edge_faces.T
        beyond = self.faces[second].sum(axis=1) - self.edges.sum(axis=1)  # third vertex of the second face
        heights = np.einsum("ij,ij->i", normals[first], self.vertices[beyond] - self.vertices[self.edges[:, 0]])
        return bool(heights.max() <= _FLAT * extent)

    def support(self, direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the point of the boundary whose outward normal is a direction: the farthest one that way.

        It is c + R u where c is the point of K, the places where the big sphere's centre can be, that is least far
        along u (specification 001 section 5.7, option C): over a vertex, on an edge's arc, or over a face.

        Args:
            direction: of any length but zero, shape (3,), or (k, 3) for many.

        Returns:
            Shape of ``direction`` [m].
        """
        directions = np.atleast_2d(np.asarray(direction, dtype=np.float64))
        units = directions / np.linalg.norm(directions, axis=1)[:, None]
        lowest, best = np.full(len(units), np.inf), np.empty((len(units), 3))
        for centres, allowed in (self._over_vertices(units), self._on_arcs(units), self._over_faces(units)):
            heights = np.where(allowed, np.einsum("ikj,ij->ik", centres, units), np.inf)
            if not heights.shape[1]:
                continue
            least = heights.argmin(axis=1)
            rows = np.arange(len(units))
            better = heights[rows, least] < lowest
            lowest[better] = heights[rows, least][better]
            best[better] = centres[rows, least][better]
        return (best + self.R * units).reshape(np.shape(direction))

    def _over_vertices(self, units: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Centres (k, nv, 3) of spheres that touch each vertex with each normal, and whether they hold all points."""
        radius = self.R - self.r
        along = units @ self.tori.axes.T
        limit = self.tori.lengths / (2.0 * radius)
        allowed = np.ones((len(units), len(self.vertices)), dtype=bool)
        for edge, (a, b) in enumerate(self.edges):
            allowed[:, a] &= along[:, edge] <= -limit[edge]
            allowed[:, b] &= along[:, edge] >= limit[edge]
        return self.vertices[None] - radius * units[:, None], allowed

    def _on_arcs(self, units: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Least far centre (k, ne, 3) of each edge's circle for each direction, and whether it is on the arc."""
        tori = self.tori
        x, y = -units @ tori.starts.T, -units @ tori.sides.T
        across = np.hypot(x, y)
        allowed = (np.arctan2(y, x) % (2 * math.pi) <= tori.sweeps) & (across > 0.0)
        scale = tori.radii / np.where(across > 0.0, across, 1.0)
        centres = tori.midpoints + (scale * x)[..., None] * tori.starts + (scale * y)[..., None] * tori.sides
        return centres, allowed

    def _over_faces(self, units: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        shape = (len(units), len(self.centres))
        return np.broadcast_to(self.centres, (*shape, 3)), np.ones(shape, dtype=bool)

    def save(self, path: str | Path) -> None:
        """Write the volume to a file (numpy's npz), whole or not at all.

        Raises:
            OSError: the file can't be written.
        """
        write_archive(path, **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> SphereTorusVolume:
        """Read a volume that :meth:`save` wrote.

        Raises:
            InputError: there is no such file, or it isn't one of a volume.
        """
        require_file(path, remedy="Build the volume again from its points and save it")
        try:
            file = read_archive(path)
            content: dict[str, Any] = {field.name: file[field.name] for field in dataclasses.fields(cls)}
            volume = cls(r=float(content.pop("r")), R=float(content.pop("R")), **content)
        except InputError:
            raise
        except BROKEN_ARCHIVE as problem:
            reason = " ".join(str(problem).split())
            raise InputError(
                f"isn't a stored sphere-torus-patch volume: {reason}",
                source=path,
                remedy="Build the volume again from its points and save it",
            ) from None
        return volume


def hull_vertices(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return vertices of the convex hull of points (n, 3); all points when they are flat or few."""
    if len(points) <= 8:
        return points
    try:
        return np.asarray(points[np.sort(ConvexHull(points).vertices)])
    except QhullError:
        return points


def _distinct(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points of which none is nearer to another than a billionth of their extent."""
    reach = _SAME_POINT * np.ptp(points, axis=0).max(initial=0.0)
    kept = np.ones(len(points), dtype=bool)
    for one, other in sorted(cKDTree(points).query_pairs(reach)):
        if kept[one]:
            kept[other] = False
    return points[kept]


def _checked(points: NDArray[np.float64], r: float, R: float) -> NDArray[np.float64]:
    cloud = np.asarray(points, dtype=np.float64)
    if cloud.ndim != 2 or cloud.shape[1] != 3 or not len(cloud):
        raise InputError(
            f"points have shape {cloud.shape}",
            element="points",
            remedy="Give one row of x, y, z in metres for each of at least one point",
        )
    if not np.isfinite(cloud).all():
        row = int(np.flatnonzero(~np.isfinite(cloud).all(axis=1))[0])
        raise InputError(
            f"point {row} is {cloud[row].tolist()}", element="points", remedy="Coordinates must be finite numbers"
        )
    for name, value in (("r", r), ("R", R)):
        check_positive(value, name, "length in metres")
    if r >= R:
        raise InputError(
            f"big radius {R} m doesn't exceed the small one, {r} m",
            element="R",
            remedy="Give an R of some metres: 20 m suits a humanoid",
        )
    return cloud
