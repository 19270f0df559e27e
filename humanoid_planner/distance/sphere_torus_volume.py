# SPDX-License-Identifier: Apache-2.0
"""Sphere-torus-patch bounding volume: strictly convex, with a smooth boundary, around a set of points."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError, cKDTree

from humanoid_model.archive import BROKEN_ARCHIVE, read_archive, write_archive
from humanoid_model.checks import check_positive
from humanoid_model.errors import InputError
from humanoid_model.input_file import require_file
from humanoid_model.value_equality import ValueEquality
from humanoid_planner.distance.gift_wrapping import wrap
from humanoid_planner.distance.torus_patches import TorusPatches
from humanoid_planner.distance.volume_topology import VolumeTopology

if TYPE_CHECKING:
    pass

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
