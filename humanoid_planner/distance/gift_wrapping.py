# SPDX-License-Identifier: Apache-2.0
"""Gift wrapping of a point cloud with a rolling sphere (specification 001 section 5.5, Algorithms 12 and 13).

With the spheres that it needs: the big one of radius R over a face, which touches three small ones of radius r from
outside, and the smallest one that holds a set of points.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from humanoid_model.errors import InputError


@njit(cache=True)
def big_sphere_centre(p1: np.ndarray, p2: np.ndarray, p3: np.ndarray, radius: float, centre: np.ndarray) -> bool:
    """Return the centre of the sphere through three points, below the face that they make ((4.8), (4.9)).

    The equations start at an end of the shortest edge: the differences of near points are exact.

    Args:
        p1: first vertex, shape (3,); the three are counter-clockwise seen from outside.
        p2: second vertex.
        p3: third vertex.
        radius: of the sphere, R - r [m].
        centre: written, shape (3,).

    Returns:
        False when the points are on a line, or too far from each other for that radius.
    """
    d12 = (p2[0] - p1[0]) ** 2 + (p2[1] - p1[1]) ** 2 + (p2[2] - p1[2]) ** 2
    d23 = (p3[0] - p2[0]) ** 2 + (p3[1] - p2[1]) ** 2 + (p3[2] - p2[2]) ** 2
    d31 = (p1[0] - p3[0]) ** 2 + (p1[1] - p3[1]) ** 2 + (p1[2] - p3[2]) ** 2
    if d23 < d12 and d23 <= d31:
        p1, p2, p3 = p2, p3, p1
    elif d31 < d12:
        p1, p2, p3 = p3, p1, p2
    u0, u1, u2 = p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]
    v0, v1, v2 = p3[0] - p1[0], p3[1] - p1[1], p3[2] - p1[2]
    w0, w1, w2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    uu = u0 * u0 + u1 * u1 + u2 * u2
    vv = v0 * v0 + v1 * v1 + v2 * v2
    uv = u0 * v0 + u1 * v1 + u2 * v2
    ww = w0 * w0 + w1 * w1 + w2 * w2
    if ww <= 1e-30 * uu * vv:
        return False
    alpha = (uu * vv - uv * vv) / (2.0 * ww)
    beta = (uu * vv - uv * uu) / (2.0 * ww)
    rest = radius * radius - (alpha * alpha * uu + beta * beta * vv + 2.0 * alpha * beta * uv)
    if rest < 0.0:
        return False
    gamma = -math.sqrt(rest / ww)
    centre[0] = p1[0] + alpha * u0 + beta * v0 + gamma * w0
    centre[1] = p1[1] + alpha * u1 + beta * v1 + gamma * w1
    centre[2] = p1[2] + alpha * u2 + beta * v2 + gamma * w2
    return True


_ROUND_OFF = 1e-12
"""Relative excess of a distance that counts as none."""


def enclosing_ball(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Centre and radius of the smallest ball that holds all points.

    The farthest point enters the set of points on the boundary until none is outside: the radius grows each time,
    therefore it ends (B. Gärtner, "Fast and robust smallest enclosing balls", ESA 1999, in three dimensions).

    Args:
        points: shape (n, 3), n at least 1 [m].
    """
    support = points[:1]
    while True:
        centre, radius = _ball_of_few(support)
        distances = np.linalg.norm(points - centre, axis=1)
        farthest = int(np.argmax(distances))
        if distances[farthest] <= radius * (1.0 + _ROUND_OFF):
            return centre, float(distances[farthest])
        entering = points[farthest]
        following, grown = support, radius
        best = np.inf
        for size in range(min(len(support), 3) + 1):
            for chosen in itertools.combinations(range(len(support)), size):
                candidate = np.vstack([support[list(chosen)], entering])
                ball = _circumscribed(candidate)
                if ball is None or ball[1] >= best:
                    continue
                if np.linalg.norm(support - ball[0], axis=1).max() <= ball[1] * (1.0 + _ROUND_OFF):
                    following, best = candidate, ball[1]
        grown = best
        if not grown > radius:  # the rest is round-off
            return centre, float(distances[farthest])
        support = following


def _ball_of_few(support: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    ball = _circumscribed(support)
    assert ball is not None  # a support set has been one before
    return ball


def _circumscribed(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
    """Smallest ball with all of up to four points on its boundary; None when they are affinely dependent."""
    edges = points[1:] - points[0]
    gram = edges @ edges.T
    if len(edges):
        scale = np.sqrt(np.diag(gram))
        if scale.min() == 0.0 or np.linalg.cond(gram / np.outer(scale, scale)) > 1e14:
            return None
        centre = points[0] + np.linalg.solve(gram, 0.5 * np.diag(gram)) @ edges
    else:
        centre = points[0]
    return centre, float(np.linalg.norm(points[0] - centre))


_TIE = 1e-12
"""Rotations that differ by less [rad] reach one sphere."""
_SAME_SPHERE = 1e-11
"""Centres nearer than this fraction of the radius are one: of co-spherical points, found from different triangles."""
_SAME_PLACE = 1e-6
"""Centres nearer than this fraction of the radius are the same place on an edge's circle, which two arcs may share."""
_OUTSIDE = 1e-10
"""How far a point may be outside a big sphere [m], by round-off in thin triangles."""


@dataclass(frozen=True)
class WrappedFaces:
    """Closed triangulated surface over which a sphere that holds all points can roll.

    Attributes:
        vertices: indices of the points that the sphere touches, shape (nv,).
        faces: of ``vertices``, counter-clockwise seen from outside, shape (nf, 3).
        centres: of the sphere that touches each face, shape (nf, 3) [m].
        across: half-edge ``3 face + k`` on the other side of edge k of each face, shape (nf, 3).
    """

    vertices: NDArray[np.int64]
    faces: NDArray[np.int64]
    centres: NDArray[np.float64]
    across: NDArray[np.int64]


@njit(cache=True)
def _first_to_leave(
    points: np.ndarray,
    pivot: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    radius: float,
    power: float,
    first: int,
    second: int,
) -> tuple[int, float]:
    """Return which point leaves a sphere first while its centre goes round a circle, and after what angle.

    The centre is ``pivot + radius (cos(angle) one + sin(angle) other)``, a point p is inside as long as
    ``(p - pivot) . (centre - pivot) >= (|p - pivot|^2 - power) / 2``: on an interval of angles around the direction of
    p. The interval holds angle 0 up to round-off, so that its end is unambiguous also for a point on the sphere. Of
    points that leave together the one farthest from the axis is taken: its triangle is the fattest.

    Args:
        points: shape (n, 3).
        pivot: centre of the circle, shape (3,).
        one: unit vector from the pivot to where the centre starts.
        other: unit vector from the pivot to where the centre is after a quarter.
        radius: of the circle.
        power: squared radius of the sphere minus squared radius of the circle.
        first: point to leave out.
        second: another point to leave out.

    Returns:
        Index of the point, -1 when none ever leaves, and the angle [rad].
    """
    best = math.inf
    chosen = -1
    for turn in range(2):
        limit = best + _TIE
        farthest = -1.0
        for i in range(points.shape[0]):
            if i in (first, second):
                continue
            d0, d1, d2 = points[i, 0] - pivot[0], points[i, 1] - pivot[1], points[i, 2] - pivot[2]
            x = d0 * one[0] + d1 * one[1] + d2 * one[2]
            y = d0 * other[0] + d1 * other[1] + d2 * other[2]
            across = math.hypot(x, y)
            height = (d0 * d0 + d1 * d1 + d2 * d2 - power) / (2.0 * radius)
            if height <= -across:
                continue
            angle = math.atan2(y, x) + math.acos(min(height / across, 1.0))
            if turn == 0:
                best = min(best, angle)
            elif angle <= limit and across > farthest:
                farthest = across
                chosen = i
    return chosen, best


@njit(cache=True)
def _roll(points: np.ndarray, a: int, b: int, centre: np.ndarray, radius: float) -> tuple[int, float]:
    """Roll a sphere over an edge a to b, away from what is on its left; what it touches next, after what angle."""
    pivot, one, other, axis = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    length = 0.0
    for k in range(3):
        pivot[k] = 0.5 * (points[a, k] + points[b, k])
        axis[k] = points[b, k] - points[a, k]
        length += axis[k] * axis[k]
    length = math.sqrt(length)
    along = 0.0
    for k in range(3):
        axis[k] /= length
        one[k] = centre[k] - pivot[k]
        along += one[k] * axis[k]
    norm = 0.0
    for k in range(3):
        one[k] -= along * axis[k]
        norm += one[k] * one[k]
    norm = math.sqrt(norm)
    for k in range(3):
        one[k] /= norm
    other[0] = axis[1] * one[2] - axis[2] * one[1]
    other[1] = axis[2] * one[0] - axis[0] * one[2]
    other[2] = axis[0] * one[1] - axis[1] * one[0]
    power = 0.25 * length * length
    return _first_to_leave(points, pivot, one, other, math.sqrt(radius * radius - power), power, a, b)


def wrap(points: NDArray[np.float64], radius: float) -> WrappedFaces:
    """Return the faces of the volume over a point cloud: triangles whose sphere holds all points.

    The first face is found by moving the sphere until it touches one, two, three points instead of by trying all
    triples; then the edge over which the sphere turns least is the next to be crossed. That finishes the polygon of
    co-spherical points before leaving it, so that no face overlaps another whatever triangles make up the polygon.
    Points that the sphere never touches are skipped, also vertices of the convex hull.

    Args:
        points: all different, shape (n, 3) [m]; with one point, or two that the sphere touches, there is no face.
        radius: of the sphere [m], the R - r of the volume.

    Raises:
        InputError: the sphere is too small for the points, or the points are too degenerate to be wrapped.
    """
    middle, smallest = enclosing_ball(points)
    if not radius > smallest * (1.0 + 1e-9):
        raise InputError(
            f"big spheres are too small: R - r is {radius:.6g} m, the smallest ball around the points has radius "
            f"{smallest:.6g} m",
            element="R",
            remedy=f"R must exceed r + {smallest:.6g} m, and is best many times as large",
        )
    first = _first_contacts(points, middle, radius)
    if len(first) < 3:
        return WrappedFaces(
            np.array(first, dtype=np.int64), np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros((0, 3), np.int64)
        )
    surface = _Surface(points, radius)
    surface.add(*first)
    while (crossed := surface.next_edge()) >= 0:
        surface.cross(crossed)
    return surface.result()


def _first_contacts(points: NDArray[np.float64], middle: NDArray[np.float64], radius: float) -> list[int]:
    """Points that a sphere touches which is moved until it touches three; fewer when there aren't three to touch."""
    if len(points) == 1:
        return [0]
    away = np.array([0.36, 0.48, 0.8])
    to_middle = points - middle
    along = to_middle @ away
    # The centre middle + t away leaves the ball around a point at the larger root of |t away - d| = radius.
    a = int(np.argmin(along + np.sqrt(radius**2 - np.einsum("ij,ij->i", to_middle, to_middle) + along**2)))
    reach = along[a] + math.sqrt(radius**2 - to_middle[a] @ to_middle[a] + along[a] ** 2)
    one = (middle + reach * away - points[a]) / radius
    one /= np.linalg.norm(one)
    other = np.cross(one, np.eye(3)[np.argmin(np.abs(one))])
    other /= np.linalg.norm(other)
    b, angle = _first_to_leave(points, points[a], one, other, radius, 0.0, a, a)
    centre = points[a] + radius * (math.cos(angle) * one + math.sin(angle) * other)
    c, _ = _roll(points, a, b, centre, radius)
    return [b, a, c] if c >= 0 else [a, b]


class _Surface:
    """Faces found so far, and the half-edges ``3 face + k`` that wait for the face on their other side."""

    def __init__(self, points: NDArray[np.float64], radius: float) -> None:
        self._points = np.ascontiguousarray(points)
        self._radius = radius
        self._faces: list[tuple[int, int, int]] = []
        self._centres: list[NDArray[np.float64]] = []
        self._twin: list[int] = []
        self._target: dict[int, int] = {}  # of each waiting half-edge
        self._reached: dict[int, NDArray[np.float64]] = {}
        self._waiting: dict[tuple[int, int], list[int]] = {}  # half-edges from a to b
        self._queue: list[tuple[float, int]] = []

    def _sphere(self, a: int, b: int, c: int) -> NDArray[np.float64]:
        centre = np.empty(3)
        points = self._points
        if not big_sphere_centre(points[a], points[b], points[c], self._radius, centre):
            raise _degenerate("three that the sphere touches are almost on a line")
        return centre

    def add(self, a: int, b: int, c: int, crossed: int = -1) -> None:
        """Add a face, whose edge a to b is on the other side of the half-edge crossed, if any."""
        face = len(self._faces)
        if face >= 2 * len(self._points):  # 2 n - 4 triangles close a surface with n vertices
            raise _degenerate("faces overlap")
        self._faces.append((a, b, c))
        self._centres.append(self._sphere(a, b, c))
        self._twin += [-1, -1, -1]
        if crossed >= 0:
            self._join(3 * face, crossed)
        for k, (start, end) in enumerate(((a, b), (b, c), (c, a))):
            half_edge = 3 * face + k
            if self._twin[half_edge] >= 0:
                continue
            other = self._match(start, end, self._centres[face])
            if other >= 0:
                self._join(half_edge, other)
            else:
                self._wait(half_edge, start, end)

    def _match(self, start: int, end: int, centre: NDArray[np.float64]) -> int:
        """Return the waiting half-edge from end to start whose sphere comes to ``centre``; -1 when there is none."""
        best, nearest = -1, _SAME_PLACE * self._radius
        for half_edge in self._waiting.get((end, start), ()):
            distance = float(np.linalg.norm(self._reached[half_edge] - centre))
            if distance <= nearest:
                best, nearest = half_edge, distance
        return best

    def _wait(self, half_edge: int, start: int, end: int) -> None:
        target, angle = _roll(self._points, start, end, self._centres[half_edge // 3], self._radius)
        self._target[half_edge] = target
        self._reached[half_edge] = self._sphere(end, start, target)
        self._waiting.setdefault((start, end), []).append(half_edge)
        heapq.heappush(self._queue, (angle, half_edge))

    def _join(self, one: int, other: int) -> None:
        self._twin[one], self._twin[other] = other, one
        a, b = self._ends(other)
        self._waiting[a, b].remove(other)

    def _ends(self, half_edge: int) -> tuple[int, int]:
        face, k = divmod(half_edge, 3)
        return self._faces[face][k], self._faces[face][(k + 1) % 3]

    def next_edge(self) -> int:
        """Return the waiting half-edge over which the sphere turns least, -1 when the surface is closed."""
        while self._queue:
            _, half_edge = heapq.heappop(self._queue)
            if self._twin[half_edge] < 0:
                return half_edge
        return -1

    def cross(self, half_edge: int) -> None:
        """Add the face that the sphere comes to when it rolls over a waiting half-edge."""
        a, b = self._ends(half_edge)
        self.add(b, a, self._target[half_edge], half_edge)

    def result(self) -> WrappedFaces:
        """Return the closed surface.

        Raises:
            InputError: round-off has spoiled it.
        """
        faces = np.array(self._faces, dtype=np.int64)
        vertices, renumbered = np.unique(faces, return_inverse=True)
        if len(faces) != 2 * (len(vertices) - 2):
            raise _degenerate("the faces don't form a closed surface")
        across = np.array(self._twin, dtype=np.int64).reshape(-1, 3)
        centres = self._merged(np.array(self._centres), faces, across)
        # |p - c|^2 - |a - c|^2, written without the large squares.
        points = self._points
        squares = np.einsum("ij,ij->i", points, points)
        corner = faces[:, 0]
        mixed = centres @ points.T - np.einsum("ij,ij->i", centres, points[corner])[:, None]
        outside = squares[None, :] - squares[corner, None] - 2.0 * mixed
        if outside.max() > 2.0 * self._radius * _OUTSIDE:
            raise _degenerate("a point is outside a big sphere")
        return WrappedFaces(vertices.astype(np.int64), renumbered.reshape(-1, 3).astype(np.int64), centres, across)

    def _merged(
        self, centres: NDArray[np.float64], faces: NDArray[np.int64], across: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Centres with those of neighbouring faces on one sphere made equal: that of the largest of these faces."""
        corners = self._points[faces]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        owner = np.full(len(faces), -1)
        for face in np.argsort(-areas, kind="stable"):
            if owner[face] >= 0:
                continue
            owner[face] = face
            found = [face]
            for member in found:
                for neighbour in across[member] // 3:
                    if owner[neighbour] < 0 and (
                        np.linalg.norm(centres[neighbour] - centres[face]) <= _SAME_SPHERE * self._radius
                    ):
                        owner[neighbour] = face
                        found.append(neighbour)
        return centres[owner]


def _degenerate(why: str) -> InputError:
    return InputError(
        f"points can't be wrapped: {why}",
        element="points",
        remedy="Move or leave out points that are almost on a line or almost equal",
    )
