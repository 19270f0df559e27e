# SPDX-License-Identifier: Apache-2.0
"""Support polygon: where the centre of mass may be above level contacts (specification 001 section 4.9)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.contact import Contact
from humanoid_model.convex_polygon import convex_hull
from humanoid_model.errors import InputError

_SAME = 1e-9
"""Points nearer to each other than this, or nearer to a line, count as the same or as on it, m."""

_Edge = tuple[float, float, float]
"""Outward unit normal and offset of an edge."""


def _half_planes(corners: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outward unit normals and offsets of a hull's edges; of a segment its sides and ends, of a point four."""
    if len(corners) == 1:
        normals = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
        return normals, normals @ corners[0]
    if len(corners) == 2:
        along = (corners[1] - corners[0]) / math.dist(corners[0], corners[1])
        across = np.array([along[1], -along[0]])
        normals = np.array([across, along, -across, -along])
        return normals, np.array(
            [across @ corners[0], along @ corners[1], -across @ corners[0], -along @ corners[0]]
        )
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.column_stack([edges[:, 1], -edges[:, 0]])  # edge x (0, 0, 1): outward, (3.63) and E-07
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return normals, np.einsum("ij,ij->i", normals, corners)


def _clip(
    corners: NDArray[np.float64], normals: NDArray[np.float64], offsets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return part of a convex polygon inside half-planes, (0, 2) when there is none: Sutherland and Hodgman 1974."""
    for normal, offset in zip(normals, offsets, strict=True):
        heights = corners @ normal - offset
        kept: list[NDArray[np.float64]] = []
        for i, corner in enumerate(corners):
            following = (i + 1) % len(corners)
            if heights[i] <= _SAME:
                kept.append(corner)
            if (heights[i] - _SAME) * (heights[following] - _SAME) < 0.0 and abs(heights[i] - heights[following]) > 0.0:
                share = heights[i] / (heights[i] - heights[following])
                kept.append(corner + min(max(share, 0.0), 1.0) * (corners[following] - corner))
        if not kept:
            return np.zeros((0, 2))
        corners = np.array(kept)
    return convex_hull(corners, _SAME)


def clip_convex(polygon_a: ArrayLike, polygon_b: ArrayLike) -> NDArray[np.float64]:
    """Return the intersection of two convex polygons, each of which may be a segment or a point.

    Args:
        polygon_a: (k, 2) corners.
        polygon_b: (l, 2) corners.

    Returns:
        (h, 2) corners, counter-clockwise; (0, 2) when the two have nothing in common.
    """
    return _clip(convex_hull(polygon_a, _SAME), *_half_planes(convex_hull(polygon_b, _SAME)))


def shrink_convex(polygon: ArrayLike, margin: float) -> NDArray[np.float64]:
    """Return the points of a convex polygon that are at least ``margin`` [m] inside; (0, 2) when there are none.

    Raises:
        InputError: the margin is negative.
    """
    if not margin >= 0.0:
        raise InputError(f"{margin:g} m", element="margin", remedy="Give a margin of 0 or more")
    corners = convex_hull(polygon, _SAME)
    if margin == 0.0:
        return corners
    if len(corners) < 3:
        return np.zeros((0, 2))
    normals, offsets = _half_planes(corners)
    return _clip(corners, normals, offsets - margin)


def contact_area(contact: Contact, margin: float = 0.0, patch: ArrayLike | None = None) -> NDArray[np.float64]:
    """Where the patch of a contact touches the surface: the patch clipped by the surface's outline (section 4.9).

    Args:
        contact: the contact.
        margin: the patch is shrunk by so much first, m.
        patch: (k, 2) convex outline in the patch frame to be used instead of the location's.

    Returns:
        (h, 2) corners in x and y of the surface, counter-clockwise, m.

    Raises:
        InputError: the margin leaves nothing of the patch, or the patch doesn't touch the surface.
    """
    outline = shrink_convex(contact.touching if patch is None else patch, margin)
    where = f"contact of '{contact.location.name}' with '{contact.surface.name}'"
    if len(outline) == 0:
        raise InputError(
            f"a margin of {margin:g} m leaves nothing of the patch", element=where, remedy="Give a smaller margin"
        )
    turn = pin.utils.rotate("z", contact.theta)[:2, :2]
    placed = outline @ turn.T + [contact.x, contact.y]
    if contact.surface.polygon is None:
        return placed
    area = clip_convex(placed, contact.surface.polygon)
    if len(area) == 0:
        raise InputError(
            f"at x = {contact.x:g} m, y = {contact.y:g} m the patch is beside the surface",
            element=where,
            remedy="Place it on the surface",
        )
    return area


@dataclass(frozen=True, eq=False)
class SupportPolygon:
    """Convex hull of contact points, seen from above.

    With all points at one height the centre of mass is in equilibrium if and only if it projects into the hull; with
    points at several heights on level surfaces the same test is conservative, given enough friction
    (specification 001 section 4.9).

    Attributes:
        vertices: (h, 2) corners, counter-clockwise, m; two of them are a segment, one is a point.
        normals: (n, 2) outward unit normals of half-planes; of the edges, or of a segment's two sides and ends
            or four of a point.
        offsets: (n,) m; the polygon is where ``normals @ p <= offsets``.
    """

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    offsets: NDArray[np.float64]

    @classmethod
    def of_points(cls, points: ArrayLike) -> SupportPolygon:
        """Return the hull of the projections of points.

        Args:
            points: (k, 3) or (k, 2), m. The centres of two sliding feet give the segment between them
                (section 3.6.2.2 of the thesis).

        Raises:
            InputError: there is no point, or it has another number of coordinates, or isn't finite.
        """
        places = np.atleast_2d(np.asarray(points, dtype=float))
        if places.ndim != 2 or places.shape[1] not in (2, 3) or places.size == 0:
            raise InputError(
                f"shape {np.shape(points)}", element="points", remedy="Give an array of shape (k, 2) or (k, 3), k > 0"
            )
        vertices = convex_hull(places[:, :2], _SAME)
        return cls(vertices, *_half_planes(vertices))

    def margin(self, point: ArrayLike) -> float:
        """Distance from a point to the boundary, m; negative outside. No point is inside a segment or a point.

        Args:
            point: (2,) or (3,).
        """
        p = np.asarray(point, dtype=float)[:2]
        slack = float(np.min(self.offsets - self.normals @ p))
        if slack >= 0.0:
            return slack
        starts, ends = self.vertices, np.roll(self.vertices, -1, axis=0)
        edges = ends - starts
        squares = np.maximum(np.einsum("ij,ij->i", edges, edges), 1e-300)
        shares = np.clip(np.einsum("ij,ij->i", p - starts, edges) / squares, 0.0, 1.0)
        return -float(np.linalg.norm(starts + shares[:, None] * edges - p, axis=1).min())

    def contains(self, point: ArrayLike, tolerance: float = _SAME) -> bool:
        """Return whether a point (2,) or (3,) is inside, or at most ``tolerance`` [m] outside."""
        return self.margin(point) >= -tolerance

    def shrunk(self, margin: float) -> SupportPolygon:
        """Return the polygon of points at least ``margin`` [m] inside.

        Raises:
            InputError: there are none, or the margin is negative.
        """
        vertices = shrink_convex(self.vertices, margin)
        if len(vertices) == 0:
            raise InputError(
                f"a margin of {margin:g} m leaves nothing of the support polygon",
                element="margin",
                remedy=f"Give at most {self.largest_circle()[1]:.4g} m",
            )
        return SupportPolygon(vertices, *_half_planes(vertices))

    def largest_circle(self) -> tuple[NDArray[np.float64], float]:
        """Return the largest inscribed circle; where several are as large, as in a rectangle, the one in their middle.

        Returns:
            Centre (2,) and radius, m.
        """
        if len(self.vertices) < 3:
            return self.vertices.mean(axis=0), 0.0
        origin = self.vertices.mean(axis=0)
        offsets = self.offsets - self.normals @ origin
        edges = [(x, y, offset) for (x, y), offset in zip(self.normals.tolist(), offsets.tolist(), strict=True)]
        # Moving all edges inwards, the one that vanishes first leaves the others as they are; three end in a point.
        while len(edges) > 3:
            ends = zip(edges[-1:] + edges[:-1], edges, edges[1:] + edges[:1], strict=True)
            radii = [_circle_between(*three)[1] for three in ends]
            del edges[radii.index(min(radii))]
        place, radius = _circle_between(*edges)
        scale = float(np.abs(self.vertices - origin).max())
        centres = _clip(self.vertices, self.normals, self.offsets - radius + 1e-9 * scale)
        return centres.mean(axis=0) if len(centres) else origin + place, radius


def _circle_between(a: _Edge, b: _Edge, c: _Edge) -> tuple[tuple[float, float], float]:
    """Centre and radius of the circle that touches three edges n . p = offset from inside."""
    ux, uy, u = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, v = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    turn = ux * vy - uy * vx
    x, y = (u * vy - v * uy) / turn, (ux * v - vx * u) / turn
    return (x, y), a[2] - a[0] * x - a[1] * y
