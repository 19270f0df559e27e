# SPDX-License-Identifier: Apache-2.0
"""The few points of a contact patch that carry the same wrenches as all of it."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted, uncounted

_TIE = 1e-6
"""Corners whose triangles differ by less than this part of the larger one are equal: the later one goes."""

ONE_POINT = 1e-7
"""Corners nearer than this are one [m]."""

_LEVEL = 1e-9
"""Points whose heights differ by less are level [m]."""

_SIDE = 1e-9
"""Part of a triangle by which a point may be beside it."""

_TILT = 0.05
"""A body turns by less than this about its supports in a step [rad]: 50 rad/s at 1 ms."""

_TILTS = 4
"""Tilts that are tried, each a tenth of the next, that one the last: what touches is kept before what could."""


@counted()
def convex_ring(x: np.ndarray, y: np.ndarray, ring: np.ndarray) -> int:
    """Return corners of the convex hull of points of a plane, counter-clockwise (Andrew's monotone chain).

    Args:
        x: first coordinate [m], shape (n,).
        y: second coordinate [m], shape (n,).
        ring: receives the corners, shape (2n + 2,).

    Returns:
        The number of corners; points on the hull's sides and second copies of a corner are left out.
    """
    n = x.size
    if n <= 1:
        ring[:n] = 0
        return n
    order = np.argsort(x, kind="mergesort")
    width = max(x.max() - x.min(), y.max() - y.min())
    for i in range(1, n):  # equal x, but for rounding: by y
        j = i
        while j > 0 and x[order[j]] - x[order[j - 1]] <= 1e-9 * width and y[order[j]] < y[order[j - 1]]:
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    flat = 1e-10 * width * width
    size = 0
    base = 0
    for step in range(2 * n - 1):  # the lower chain there, the upper one back
        i = order[step] if step < n else order[2 * n - 2 - step]
        if step == n:
            base = size - 1
        while size >= base + 2:
            p, q = ring[size - 2], ring[size - 1]
            if (x[q] - x[p]) * (y[i] - y[p]) - (y[q] - y[p]) * (x[i] - x[p]) > flat:
                break
            size -= 1
        ring[size] = i
        size += 1
    size -= 1  # the last is the first again
    distinct = 0
    for k in range(size):
        i = ring[k]
        p = ring[distinct - 1] if distinct > 0 else i
        q = ring[0] if distinct > 0 else i
        near_last = abs(x[i] - x[p]) + abs(y[i] - y[p]) <= ONE_POINT
        near_first = abs(x[i] - x[q]) + abs(y[i] - y[q]) <= ONE_POINT
        if distinct == 0 or not (near_last or near_first):
            ring[distinct] = i
            distinct += 1
    return distinct


@uncounted()
def keep_extreme_corners(x: np.ndarray, y: np.ndarray, ring: np.ndarray, size: int, most: int) -> int:
    """Take corners out of a convex polygon, each time the one whose loss costs the least area.

    The wrenches that a patch transmits are the sums of those of its corners' friction cones: the nearer the polygon,
    the nearer the set of wrenches. Equal losses are decided by the order of the points and not by rounding, so that
    a body at rest keeps its contact points.

    Args:
        x: first coordinate of the points [m], shape (n,).
        y: second coordinate [m], shape (n,).
        ring: corners of the polygon in order, shortened in place.
        size: number of corners.
        most: number of corners that may stay, at least 3.

    Returns:
        The number of corners left.
    """
    while size > most:
        worst = -1
        least = np.inf
        for k in range(size):
            p, q, s = ring[(k + size - 1) % size], ring[k], ring[(k + 1) % size]
            area = abs((x[q] - x[p]) * (y[s] - y[p]) - (y[q] - y[p]) * (x[s] - x[p]))
            if area < least * (1.0 - _TIE) or (area <= least * (1.0 + _TIE) and q > ring[worst]):
                worst = k
                least = area
        for k in range(worst, size - 1):
            ring[k] = ring[k + 1]
        size -= 1
    return size


@counted()
def _plane_coordinates(positions: np.ndarray, normal: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Coordinates of points along a plane, from the first one [m]; x and y are zero before."""
    axis = 0
    for r in range(1, 3):
        if abs(normal[r]) < abs(normal[axis]):
            axis = r
    u = np.zeros(3)
    u[axis] = 1.0
    length = 0.0
    for r in range(3):
        u[r] -= normal[axis] * normal[r]
        length += u[r] * u[r]
    length = math.sqrt(length)
    w = np.empty(3)
    for r in range(3):
        u[r] /= length
    for r in range(3):
        w[r] = normal[(r + 1) % 3] * u[(r + 2) % 3] - normal[(r + 2) % 3] * u[(r + 1) % 3]
    for i in range(x.size):
        for r in range(3):
            x[i] += u[r] * (positions[i, r] - positions[0, r])
            y[i] += w[r] * (positions[i, r] - positions[0, r])


@uncounted()
def _outside(
    x: np.ndarray, y: np.ndarray, heights: np.ndarray, ring: np.ndarray, size: int, px: float, py: float
) -> tuple[float, float]:
    """Distance of a point from a polygon given by its corners, counter-clockwise, and the height where it is nearest.

    On a side the height is what its ends give; inside the distance is zero, the height infinite [m].
    """
    nearest, height = np.inf, 0.0
    inside = size > 2
    for k in range(size if size != 2 else 1):
        p, q = ring[k], ring[(k + 1) % size]
        dx, dy = x[q] - x[p], y[q] - y[p]
        square = dx * dx + dy * dy
        t = min(max(((px - x[p]) * dx + (py - y[p]) * dy) / square, 0.0), 1.0) if square > 0.0 else 0.0
        distance = math.hypot(px - x[p] - t * dx, py - y[p] - t * dy)
        if distance < nearest:
            nearest, height = distance, heights[p] + t * (heights[q] - heights[p])
        inside = inside and dx * (py - y[p]) - dy * (px - x[p]) > 0.0
    if inside and nearest > ONE_POINT:
        return 0.0, np.inf
    return nearest, height


@uncounted()
def _height_over(
    x: np.ndarray, y: np.ndarray, heights: np.ndarray, a: int, b: int, c: int, px: float, py: float
) -> float:
    """Height of the triangle of three corners over a point; infinite where it isn't over it [m]."""
    ux, uy, vx, vy, wx, wy = x[b] - x[a], y[b] - y[a], x[c] - x[a], y[c] - y[a], px - x[a], py - y[a]
    area = ux * vy - uy * vx
    if abs(area) <= ONE_POINT * (abs(ux) + abs(uy) + abs(vx) + abs(vy)):
        return np.inf
    s, t = (wx * vy - wy * vx) / area, (ux * wy - uy * wx) / area
    if s < -_SIDE or t < -_SIDE or s + t > 1.0 + _SIDE:
        return np.inf
    return heights[a] + s * (heights[b] - heights[a]) + t * (heights[c] - heights[a])


@uncounted()
def keep_corners(polygon: np.ndarray, size: int, kept: np.ndarray) -> int:
    """Leave out what lies between two corners of a convex polygon, or on one of them: it adds no wrench.

    Where edges of two faces run along each other they cross anywhere, at every step elsewhere: such points would keep a
    body from coming to rest.

    Args:
        polygon: points in order, the first ``size`` count [m], shape (n, 3).
        size: their number.
        kept: receives the indices of the corners, in order, shape (size,) or more.

    Returns:
        The number of corners.
    """
    count = 0
    for i in range(size):
        if size - i + count <= 2:  # never less than the two ends
            kept[count] = i
            count += 1
            continue
        p = polygon[kept[count - 1] if count > 0 else size - 1]
        s = polygon[i + 1 if i + 1 < size else kept[0]]
        along, length, away = 0.0, 0.0, 0.0
        for r in range(3):
            side = s[r] - p[r]
            along += side * (polygon[i, r] - p[r])
            length += side * side
        share = min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0
        for r in range(3):
            away += (polygon[i, r] - p[r] - share * (s[r] - p[r])) ** 2
        if away > ONE_POINT * ONE_POINT:
            kept[count] = i
            count += 1
    return count


@apart(error_model="numpy")
def supporting_points(
    positions: np.ndarray, heights: np.ndarray, normal: np.ndarray, most: int, kept: np.ndarray
) -> int:
    """Choose the few points of a body on which a plane can carry it in the coming step.

    The lowest point comes first; then, each time, the one that could get furthest below the plane while those chosen so
    far don't and the body turns by hardly anything; where none could, by ten times that, up to what it turns in a step
    at most. Of a flat face these are the corners of its hull; what lies so much higher that the step won't bring it
    down is left out, and so is what lies above the lower hull of the chosen ones, however they come down.

    Args:
        positions: points of the body near the plane [m], shape (n, 3).
        heights: theirs above the plane at the end of the step, if nothing stops them [m], shape (n,).
        normal: of the plane, unit, shape (3,).
        most: number of points that may stay.
        kept: receives the indices of the points kept, in growing order, shape (most,) or more.

    Returns:
        The number of points kept.
    """
    n = heights.size
    x = np.zeros(n)
    y = np.zeros(n)
    _plane_coordinates(positions, normal, x, y)
    lowest = 0
    for i in range(1, n):
        if heights[i] < heights[lowest] - _LEVEL or (heights[i] < heights[lowest] + _LEVEL and x[i] > x[lowest]):
            lowest = i  # of level points one at the rim
    left = np.empty(n, dtype=np.int64)
    away, over = np.empty(n), np.full(n, np.inf)  # from the lowest one; height of the chosen ones' hull
    count = 0
    for i in range(n):
        away[i] = math.hypot(x[i] - x[lowest], y[i] - y[lowest])
        if away[i] > ONE_POINT and _TILT * away[i] > heights[i] - heights[lowest]:
            left[count] = i
            count += 1
    corner_x, corner_y, corner_height = np.empty(most), np.empty(most), np.empty(most)
    ring = np.empty(2 * most + 2, dtype=np.int64)
    kept[0] = lowest
    size = 1
    corner_x[0], corner_y[0], corner_height[0] = x[lowest], y[lowest], heights[lowest]
    while size < most:
        corners = convex_ring(corner_x[:size], corner_y[:size], ring)
        worst, furthest, first_tilt = -1, 0.0, _TILTS
        candidates, count = count, 0
        for k in range(candidates):
            i = left[k]
            for a in range(size - 1):
                for b in range(a):
                    height = _height_over(corner_x, corner_y, corner_height, a, b, size - 1, x[i], y[i])
                    over[i] = min(over[i], height)
            distance, rim = _outside(corner_x, corner_y, corner_height, ring, corners, x[i], y[i])
            tilt, number, sinks = _TILT, _TILTS, 0.0
            while number > 0:
                height = min(heights[lowest] + tilt * away[i], over[i], rim + tilt * distance)
                if height - heights[i] <= _LEVEL:
                    break
                tilt, number, sinks = 0.1 * tilt, number - 1, height - heights[i]
            if number == _TILTS:
                continue  # for good: the hull only grows, downwards too
            left[count] = i
            count += 1
            if number < first_tilt or (number == first_tilt and sinks > furthest * (1.0 + _TIE)):
                worst, furthest, first_tilt = i, sinks, number
        if worst < 0:
            break
        kept[size] = worst
        corner_x[size], corner_y[size], corner_height[size] = x[worst], y[worst], heights[worst]
        size += 1
    kept[:size].sort()
    return size


@apart(error_model="numpy")
def reduce_patch(positions: np.ndarray, gaps: np.ndarray, normal: np.ndarray, most: int, kept: np.ndarray) -> int:
    """Choose the points of a patch of one normal that carry the same wrenches: corners of its hull.

    The deepest point stays even inside the hull, so that penetrations and arrivals are never overlooked.

    Args:
        positions: points of the patch [m], shape (n, 3).
        gaps: their gaps [m], shape (n,).
        normal: of the patch, unit, shape (3,).
        most: number of points that may stay, at least 4.
        kept: receives the indices of the points kept, in growing order, shape (most,) or more.

    Returns:
        The number of points kept.
    """
    n = gaps.size
    x = np.zeros(n)
    y = np.zeros(n)
    _plane_coordinates(positions, normal, x, y)
    deepest = 0
    for i in range(n):
        if gaps[i] < gaps[deepest] - 1e-9:
            deepest = i
    ring = np.empty(2 * n + 2, dtype=np.int64)
    size = convex_ring(x, y, ring)
    on_ring = False
    for k in range(size):
        if gaps[ring[k]] <= gaps[deepest] + 1e-9:
            on_ring = True
    size = keep_extreme_corners(x, y, ring, size, most if on_ring else most - 1)
    held = False
    for k in range(size):
        if gaps[ring[k]] <= gaps[deepest] + 1e-9:
            held = True
    if not held:
        if size == most:
            size = keep_extreme_corners(x, y, ring, size, most - 1)
        ring[size] = deepest
        size += 1
    chosen = np.sort(ring[:size])
    kept[:size] = chosen
    return size
