# SPDX-License-Identifier: Apache-2.0
"""Convex hulls of points in a plane, convex pieces of outlines, and how far inside a point is."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError

RESOLUTION = 1e-9
"""Points nearer than this, relative to the largest coordinate, are one."""


def convex_hull(points: ArrayLike, resolution: float | None = None) -> NDArray[np.float64]:
    """Return corners of the convex hull of points in a plane, by Andrew's monotone chain.

    Args:
        points: shape (n, 2).
        resolution: points nearer to each other, or to an edge, count as the same or as on it, about [m]; None takes
            ``RESOLUTION`` of the largest coordinate.

    Returns:
        Counter-clockwise corners without those on an edge, shape (k, 2): none for no point, one for points that
        coincide, two for points on a line.

    Raises:
        InputError: wrong shape, or a value that is not finite.
    """
    array = np.array(points, dtype=float).reshape(-1, 2) if np.size(points) == 0 else np.array(points, dtype=float)
    if array.ndim != 2 or array.shape[1] != 2 or not np.all(np.isfinite(array)):
        raise InputError(
            f"points have the shape {array.shape}" if array.ndim != 2 or array.shape[1] != 2 else "not finite",
            element="points",
            remedy="Give rows of two finite numbers",
        )
    if len(array) == 0:
        return array
    # On a grid of whole numbers turns are exact, and points that differ by rounding, as corners of patches that share
    # an edge, are one.
    cell = RESOLUTION * float(np.abs(array).max()) if resolution is None else resolution
    cells = np.zeros(array.shape) if cell == 0.0 else np.round(array / cell)
    places: dict[tuple[int, int], int] = {}
    for index, (x, y) in enumerate(cells.tolist()):
        places.setdefault((int(x), int(y)), index)
    grid = sorted(places)  # by x, then y
    first = np.array([places[point] for point in grid])
    if len(grid) < 3:
        return array[first]
    corners: list[int] = []
    for order in (range(len(grid)), range(len(grid) - 1, -1, -1)):
        chain: list[int] = []
        for i in order:
            while len(chain) >= 2 and _turn(grid[chain[-2]], grid[chain[-1]], grid[i]) <= 0:
                chain.pop()
            chain.append(i)
        corners += chain[:-1]
    # What the grid bends off an edge by a cell is on that edge.
    extent = max(int(np.ptp(grid, axis=0).max()), 1)
    kept = [
        i
        for before, i, after in zip(corners[-1:] + corners[:-1], corners, corners[1:] + corners[:1], strict=True)
        if _turn(grid[before], grid[i], grid[after]) > 4 * extent
    ]
    return array[first[kept if len(kept) >= 3 else [0, len(grid) - 1]]]


def polygon_margin(polygon: ArrayLike, point: ArrayLike) -> float:
    """Return the distance of a point from the edge of a convex polygon, positive inside, negative outside.

    Args:
        polygon: counter-clockwise corners, shape (k, 2), as :func:`convex_hull` returns them.
        point: shape (2,).

    Returns:
        m; minus infinity without corners. Nothing is inside a point or a line.
    """
    corners, p = np.array(polygon, dtype=float).reshape(-1, 2), np.array(point, dtype=float)
    if len(corners) == 0:
        return -np.inf
    starts, ends = corners, np.roll(corners, -1, axis=0)
    edges = ends - starts
    squares = np.maximum((edges**2).sum(axis=1), 1e-300)
    along = np.clip(((p - starts) * edges).sum(axis=1) / squares, 0.0, 1.0)
    distance = float(np.linalg.norm(p - starts - along[:, None] * edges, axis=1).min())
    if len(corners) < 3:
        return -distance
    inside = all(_turn(a, b, p) >= 0.0 for a, b in zip(starts, ends, strict=True))
    return distance if inside else -distance


def nearest_point(polygon: ArrayLike, point: ArrayLike) -> NDArray[np.float64]:
    """Return the point itself if a convex polygon holds it, otherwise the polygon's point that is nearest to it.

    Args:
        polygon: counter-clockwise corners, shape (k, 2), three at least.
        point: shape (2,).
    """
    corners, p = np.array(polygon, dtype=float), np.array(point, dtype=float)
    if polygon_margin(corners, p) >= 0.0:
        return p
    edges = np.roll(corners, -1, axis=0) - corners
    along = np.clip(((p - corners) * edges).sum(axis=1) / (edges**2).sum(axis=1), 0.0, 1.0)
    feet = corners + along[:, None] * edges
    return np.asarray(feet[np.argmin(np.linalg.norm(feet - p, axis=1))])


def convex_pieces(outline: ArrayLike) -> list[NDArray[np.float64]]:
    """Cut the inside of an outline into convex polygons, one more than it has inner corners at most.

    At each inner corner the edge that comes to it is drawn on, to where it meets the outline.

    Args:
        outline: (k, 2) counter-clockwise corners; edges don't cross.

    Returns:
        (n, 2) counter-clockwise corners each.
    """
    corners = np.array(outline, dtype=float)
    lengths = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    # An angle of 1e-9 rad, as the readers take a straight edge for one.
    turns = [
        _turn(corners[i - 2], corners[i - 1], corners[i]) / (lengths[i - 2] * lengths[i - 1])
        for i in range(len(corners))
    ]
    if min(turns) > -RESOLUTION:
        return [corners]
    # The inner corner comes first.
    corners = np.roll(corners, 1 - int(np.argmin(turns)), axis=0)
    start, along = corners[0], corners[0] - corners[-1]
    meets = []
    for k in range(1, len(corners) - 1):
        edge, away = corners[k + 1] - corners[k], corners[k] - start
        across = along[0] * edge[1] - along[1] * edge[0]
        if across:
            t = (away[0] * edge[1] - away[1] * edge[0]) / across
            share = (away[0] * along[1] - away[1] * along[0]) / across
            if t > RESOLUTION and -RESOLUTION < share < 1 + RESOLUTION:
                meets.append((t, k))
    t, k = min(meets)
    end = start + t * along
    pieces = np.vstack([corners[: k + 1], end]), np.vstack([end, corners[k + 1 :]])
    return [part for piece in pieces for part in convex_pieces(_apart(piece))]


def edges_cross(outline: ArrayLike) -> bool:
    """Return whether edges of an outline, (k, 2) corners, cross each other."""
    edges = list(itertools.pairwise([*np.asarray(outline, dtype=float), np.asarray(outline, dtype=float)[0]]))
    return any(
        _turn(a, b, c) * _turn(a, b, d) < 0 > _turn(c, d, a) * _turn(c, d, b)
        for (a, b), (c, d) in itertools.combinations(edges, 2)
    )


def _apart(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corners without those that are the same as the next one."""
    gaps = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    return corners[gaps > RESOLUTION * max(float(np.abs(corners).max()), 1.0)]


def polygon_area(polygon: ArrayLike) -> float:
    """Area [m^2] of a polygon of counter-clockwise corners, shape (k, 2)."""
    corners = np.array(polygon, dtype=float).reshape(-1, 2)
    following = np.roll(corners, -1, axis=0)
    return 0.5 * float((corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0]).sum())


def _turn(a: Any, b: Any, c: Any) -> Any:
    """Twice the area of the triangle a, b, c, as exact as its numbers: positive where it turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
