# SPDX-License-Identifier: Apache-2.0
"""Distance and penetration depth of two convex shapes.

The distance is that of Gilbert, Johnson and Keerthi (1988), the depth by the expanding polytope of van den Bergen
(2001).
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.closest_point import triangle_weights
from humanoid_model.compiling import uncounted
from humanoid_sim.detection.shape_table import (
    CYLINDER,
    ELLIPSOID,
    Nearest,
    Pose,
    ShapeTable,
    Simplex,
    difference_support,
)

APART, FAR, OVERLAP = 0, 1, 2
"""Outcomes of :func:`core_distance`."""

_MAX_ITERATIONS = 64
_RELATIVE = 1e-12
"""The squared distance is known to this part of itself."""
TOUCHING = 1e-7
"""Cores nearer than this part of the shapes' size count as overlapping: the direction between them would be noise."""


@uncounted()
def _nearest_on_triangle(w: np.ndarray, i: int, j: int, k: int, weights: np.ndarray) -> float:
    """Weights of the point of triangle w[i], w[j], w[k] nearest the origin, and its square."""
    ab_0, ab_1, ab_2 = w[j, 0] - w[i, 0], w[j, 1] - w[i, 1], w[j, 2] - w[i, 2]
    ac_0, ac_1, ac_2 = w[k, 0] - w[i, 0], w[k, 1] - w[i, 1], w[k, 2] - w[i, 2]
    d1 = -(ab_0 * w[i, 0] + ab_1 * w[i, 1] + ab_2 * w[i, 2])
    d2 = -(ac_0 * w[i, 0] + ac_1 * w[i, 1] + ac_2 * w[i, 2])
    d3 = -(ab_0 * w[j, 0] + ab_1 * w[j, 1] + ab_2 * w[j, 2])
    d4 = -(ac_0 * w[j, 0] + ac_1 * w[j, 1] + ac_2 * w[j, 2])
    d5 = -(ab_0 * w[k, 0] + ab_1 * w[k, 1] + ab_2 * w[k, 2])
    d6 = -(ac_0 * w[k, 0] + ac_1 * w[k, 1] + ac_2 * w[k, 2])
    for r in range(4):
        weights[r] = 0.0
    weights[i], weights[j], weights[k], _ = triangle_weights(d1, d2, d3, d4, d5, d6)
    square = 0.0
    for r in range(3):
        v = weights[i] * w[i, r] + weights[j] * w[j, r] + weights[k] * w[k, r]
        square += v * v
    return square


@uncounted()
def _beyond(w: np.ndarray, i: int, j: int, k: int, other: int) -> bool:
    """Return whether the origin is not on the same side of triangle w[i], w[j], w[k] as the vertex ``other``."""
    ab_0, ab_1, ab_2 = w[j, 0] - w[i, 0], w[j, 1] - w[i, 1], w[j, 2] - w[i, 2]
    ac_0, ac_1, ac_2 = w[k, 0] - w[i, 0], w[k, 1] - w[i, 1], w[k, 2] - w[i, 2]
    n_0, n_1, n_2 = ab_1 * ac_2 - ab_2 * ac_1, ab_2 * ac_0 - ab_0 * ac_2, ab_0 * ac_1 - ab_1 * ac_0
    origin = -(n_0 * w[i, 0] + n_1 * w[i, 1] + n_2 * w[i, 2])
    side = n_0 * (w[other, 0] - w[i, 0]) + n_1 * (w[other, 1] - w[i, 1]) + n_2 * (w[other, 2] - w[i, 2])
    return origin * side <= 0.0


@uncounted()
def _nearest_on_simplex(w: np.ndarray, size: int, weights: np.ndarray, trial: np.ndarray) -> bool:
    """Return weights of the point of a simplex nearest the origin; whether a tetrahedron holds the origin."""
    for r in range(4):
        weights[r] = 0.0
    if size == 1:
        weights[0] = 1.0
        return False
    if size == 2:
        along = 0.0
        length = 0.0
        for r in range(3):
            d = w[1, r] - w[0, r]
            along -= d * w[0, r]
            length += d * d
        share = min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0
        weights[0], weights[1] = 1.0 - share, share
        return False
    if size == 3:
        _nearest_on_triangle(w, 0, 1, 2, weights)
        return False
    best = np.inf
    inside = True
    for face in range(4):
        i, j, k = (face + 1) % 4, (face + 2) % 4, (face + 3) % 4
        if _beyond(w, i, j, k, face):
            inside = False
            square = _nearest_on_triangle(w, i, j, k, trial)
            if square < best:
                best = square
                for r in range(4):
                    weights[r] = trial[r]
    return inside


@apart(error_model="numpy")
def core_distance(
    table: ShapeTable,
    a: int,
    b: int,
    pose: Pose,
    cutoff: float,
    nearest: Nearest,
    simplex: Simplex,
) -> tuple[int, int]:
    """Nearest points of the cores of two convex shapes, in a's frame.

    Args:
        table: the shapes.
        a: first shape.
        b: second shape.
        pose: from b's frame to a's.
        cutoff: shapes farther apart than this are not looked at closer [m].
        nearest: as its normal a direction to start with, not zero, which becomes the shortest vector from b to a [m];
            receives the nearest points.
        simplex: receives the last one.

    Returns:
        ``APART``, ``FAR`` (at least the cutoff) or ``OVERLAP`` (nothing but the simplex is written), and the number of
        vertices of the last simplex.
    """
    v, on_a, on_b = nearest.normal, nearest.on_a, nearest.on_b
    w_a, w_b, w = simplex.w_a, simplex.w_b, simplex.w
    weights = np.empty(4)
    trial = np.empty(4)
    size = 0
    square = np.inf
    largest = 0.0
    for _ in range(_MAX_ITERATIONS):
        reach = -difference_support(
            table, a, b, pose, -v[0], -v[1], -v[2], w_a[size], w_b[size], w[size]
        )
        if size > 0:
            if reach > 0.0 and reach * reach > square * cutoff * cutoff:
                return FAR, size
            if square - reach <= _RELATIVE * square:
                break
            again = False
            for i in range(size):
                if w[i, 0] == w[size, 0] and w[i, 1] == w[size, 1] and w[i, 2] == w[size, 2]:
                    again = True
            if again:
                break
        length = w[size, 0] ** 2 + w[size, 1] ** 2 + w[size, 2] ** 2
        largest = max(largest, length)
        size += 1
        apart = size > 1 and reach > 0.0 and reach * reach > TOUCHING * TOUCHING * largest * square
        if _nearest_on_simplex(w, size, weights, trial):
            if apart:  # all of the difference is on one side: a flat tetrahedron seems to hold the origin
                size -= 1
                break
            return OVERLAP, size
        kept = 0
        for i in range(size):
            if weights[i] > 0.0:
                weights[kept] = weights[i]
                for r in range(3):
                    w[kept, r] = w[i, r]
                    w_a[kept, r] = w_a[i, r]
                    w_b[kept, r] = w_b[i, r]
                kept += 1
        size = kept
        nearer = 0.0
        for r in range(3):
            x = 0.0
            for i in range(size):
                x += weights[i] * w[i, r]
            nearer += x * x
        if nearer >= square:  # rounding: the point known already is the better one
            break
        square = nearer
        for r in range(3):
            v[r] = 0.0
            on_a[r] = 0.0
            on_b[r] = 0.0
            for i in range(size):
                v[r] += weights[i] * w[i, r]
                on_a[r] += weights[i] * w_a[i, r]
                on_b[r] += weights[i] * w_b[i, r]
        if square <= TOUCHING * TOUCHING * largest:
            return OVERLAP, size
        if size == 4:  # rounding: the nearest point is inside all the same
            if apart:
                break
            return OVERLAP, size
    if math.sqrt(square) > cutoff:
        return FAR, size
    return APART, size


_MAX_VERTICES = 96
_MAX_FACES = 256
_EXACT = 1e-11
"""Polytopes: a face farther out by less than this part of the size is the outermost one."""
_ROUND = 1e-7
"""The same for cylinders and ellipsoids, whose surface is approached by ever smaller faces."""
_APART = 1e-5
"""Cores come here from no farther apart than this part of their size."""


@uncounted()
def _set_face(
    points: np.ndarray, faces: np.ndarray, normals: np.ndarray, offsets: np.ndarray, f: int, tiny: float, least: float
) -> bool:
    """Return the normal and offset of face f from its vertices; False where it has no area.

    The polytope holds the origin: a face that looks at it from farther away than ``least`` is a sliver whose normal is
    rounding, and is left out as one without area.
    """
    i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
    u_0, u_1, u_2 = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
    v_0, v_1, v_2 = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
    n_0, n_1, n_2 = u_1 * v_2 - u_2 * v_1, u_2 * v_0 - u_0 * v_2, u_0 * v_1 - u_1 * v_0
    length = math.sqrt(n_0 * n_0 + n_1 * n_1 + n_2 * n_2)
    if length <= tiny:
        normals[f, 0] = normals[f, 1] = normals[f, 2] = 0.0
        offsets[f] = np.inf
        return False
    normals[f, 0], normals[f, 1], normals[f, 2] = n_0 / length, n_1 / length, n_2 / length
    offsets[f] = normals[f, 0] * points[i, 0] + normals[f, 1] * points[i, 1] + normals[f, 2] * points[i, 2]
    if offsets[f] < least:
        normals[f, 0] = normals[f, 1] = normals[f, 2] = 0.0
        offsets[f] = np.inf
        return False
    return True


@uncounted()
def _perpendicular(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a unit vector perpendicular to a vector that is not zero."""
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        u, v, w = 0.0, z, -y
    elif abs(y) <= abs(z):
        u, v, w = -z, 0.0, x
    else:
        u, v, w = y, -x, 0.0
    length = math.sqrt(u * u + v * v + w * w)
    return u / length, v / length, w / length


@apart(error_model="numpy")
def core_penetration(
    table: ShapeTable,
    a: int,
    b: int,
    pose: Pose,
    size: int,
    simplex: Simplex,
    nearest: Nearest,
) -> float:
    """Smallest motion that separates two overlapping or touching cores, in a's frame.

    Cores that are apart by rounding or a hair get a negative depth, correct where a face looks at the other core.

    Args:
        table: the shapes.
        a: first shape.
        b: second shape.
        pose: from b's frame to a's.
        size: vertices of the simplex that :func:`core_distance` ended with.
        simplex: that simplex.
        nearest: receives the unit normal, along which a must move, and the point of each that is deepest in the other.

    Returns:
        The depth [m].
    """
    normal, on_a, on_b = nearest.normal, nearest.on_a, nearest.on_b
    points = np.empty((_MAX_VERTICES, 3))
    points_a = np.empty((_MAX_VERTICES, 3))
    points_b = np.empty((_MAX_VERTICES, 3))
    scale = 0.0
    for r in range(3):
        scale = max(scale, table.half[a, r], table.half[b, r])
    for i in range(size):
        points[i] = simplex.w[i]
        points_a[i] = simplex.w_a[i]
        points_b[i] = simplex.w_b[i]
    tolerance = _EXACT * scale
    tiny = 1e-14 * scale * scale
    least = -_APART * scale
    # The simplex grows to one with volume. Where it can't, the origin is on the boundary of a flat difference.
    count = size
    if count == 4 and abs(_volume(points)) <= 1e-12 * scale**3:
        count = 3
    if count == 1:
        for turn in range(6):
            sign = 1.0 if turn < 3 else -1.0
            x, y, z = sign * (turn % 3 == 0), sign * (turn % 3 == 1), sign * (turn % 3 == 2)
            reach = difference_support(table, a, b, pose, x, y, z, points_a[1], points_b[1], points[1])
            if reach - (x * points[0, 0] + y * points[0, 1] + z * points[0, 2]) > 1e-9 * scale:
                count = 2
                break
        if count == 1:
            return _boundary(1.0, 0.0, 0.0, 0.0, points_a[0], points_b[0], normal, on_a, on_b)
    if count == 2:
        e_0, e_1, e_2 = points[1, 0] - points[0, 0], points[1, 1] - points[0, 1], points[1, 2] - points[0, 2]
        x, y, z = _perpendicular(e_0, e_1, e_2)
        length = math.sqrt(e_0 * e_0 + e_1 * e_1 + e_2 * e_2)
        q_0, q_1, q_2 = (e_1 * z - e_2 * y) / length, (e_2 * x - e_0 * z) / length, (e_0 * y - e_1 * x) / length
        for turn in range(4):
            sign = 1.0 if turn < 2 else -1.0
            d_0, d_1, d_2 = sign * x, sign * y, sign * z
            if turn % 2 == 1:
                d_0, d_1, d_2 = sign * q_0, sign * q_1, sign * q_2
            reach = difference_support(table, a, b, pose, d_0, d_1, d_2, points_a[2], points_b[2], points[2])
            if reach - (d_0 * points[0, 0] + d_1 * points[0, 1] + d_2 * points[0, 2]) > 1e-9 * scale:
                count = 3
                break
        if count == 2:
            return _boundary(x, y, z, 0.0, points_a[0], points_b[0], normal, on_a, on_b)
    faces = np.empty((_MAX_FACES, 3), dtype=np.int64)
    normals = np.empty((_MAX_FACES, 3))
    offsets = np.empty(_MAX_FACES)
    if count == 3:
        faces[0, 0], faces[0, 1], faces[0, 2] = 0, 1, 2
        _set_face(points, faces, normals, offsets, 0, 0.0, -np.inf)
        x, y, z = normals[0, 0], normals[0, 1], normals[0, 2]
        plane = x * points[0, 0] + y * points[0, 1] + z * points[0, 2]
        up = difference_support(table, a, b, pose, x, y, z, points_a[3], points_b[3], points[3])
        down = difference_support(table, a, b, pose, -x, -y, -z, points_a[4], points_b[4], points[4])
        if up - plane <= tolerance:
            return _boundary(x, y, z, up, points_a[3], points_b[3], normal, on_a, on_b)
        if down + plane <= tolerance:
            return _boundary(-x, -y, -z, down, points_a[4], points_b[4], normal, on_a, on_b)
        count = 5
        face_count = 6
        for k in range(3):
            faces[2 * k, 0], faces[2 * k, 1], faces[2 * k, 2] = k, (k + 1) % 3, 3
            faces[2 * k + 1, 0], faces[2 * k + 1, 1], faces[2 * k + 1, 2] = (k + 1) % 3, k, 4
    else:
        face_count = 4
        turned = _volume(points) > 0.0
        for k in range(4):
            i, j, last = (k + 1) % 4, (k + 2) % 4, (k + 3) % 4
            if (k % 2 == 0) != turned:
                i, j = j, i
            faces[k, 0], faces[k, 1], faces[k, 2] = i, j, last
    for f in range(face_count):
        _set_face(points, faces, normals, offsets, f, tiny, least)
    if table.kind[a] in (CYLINDER, ELLIPSOID) or table.kind[b] in (CYLINDER, ELLIPSOID):
        tolerance = _ROUND * scale
    rim = np.empty((3 * _MAX_FACES, 2), dtype=np.int64)
    while True:
        best = 0
        for f in range(1, face_count):
            if offsets[f] < offsets[best]:
                best = f
        depth = offsets[best]
        i, j, k = faces[best, 0], faces[best, 1], faces[best, 2]
        for r in range(3):
            normal[r] = normals[best, r]
        if count == _MAX_VERTICES or depth == np.inf:
            break
        reach = difference_support(
            table, a, b, pose, normal[0], normal[1], normal[2], points_a[count], points_b[count], points[count]
        )
        if reach - depth <= tolerance:
            break
        # faces that the new point sees make way for a fan from the rim of the hole
        edges = 0
        kept = 0
        for f in range(face_count):
            above = -offsets[f]
            for r in range(3):
                above += normals[f, r] * points[count, r]
            if f != best and not above > 0.1 * tolerance:
                faces[kept] = faces[f]
                normals[kept] = normals[f]
                offsets[kept] = offsets[f]
                kept += 1
                continue
            for side in range(3):
                start, end = faces[f, side], faces[f, (side + 1) % 3]
                twin = -1
                for e in range(edges):
                    if rim[e, 0] == end and rim[e, 1] == start:
                        twin = e
                        break
                if twin >= 0:
                    edges -= 1
                    rim[twin] = rim[edges]
                else:
                    rim[edges, 0], rim[edges, 1] = start, end
                    edges += 1
        if kept + edges > _MAX_FACES or kept + edges == 0:
            break
        for e in range(edges):
            faces[kept + e, 0], faces[kept + e, 1], faces[kept + e, 2] = rim[e, 0], rim[e, 1], count
            _set_face(points, faces, normals, offsets, kept + e, tiny, least)
        face_count = kept + edges
        count += 1
    # the origin's projection on the face, in the coordinates of its corners
    weights = np.empty(3)
    total = 0.0
    for corner in range(3):
        p, q = (j, k) if corner == 0 else ((k, i) if corner == 1 else (i, j))
        u_0, u_1, u_2 = points[p, 0], points[p, 1], points[p, 2]
        s_0, s_1, s_2 = points[q, 0], points[q, 1], points[q, 2]
        weights[corner] = max(
            normal[0] * (u_1 * s_2 - u_2 * s_1)
            + normal[1] * (u_2 * s_0 - u_0 * s_2)
            + normal[2] * (u_0 * s_1 - u_1 * s_0),
            0.0,
        )
        total += weights[corner]
    if total <= 0.0:
        weights[:] = 1.0
        total = 3.0
    for r in range(3):
        on_a[r] = (weights[0] * points_a[i, r] + weights[1] * points_a[j, r] + weights[2] * points_a[k, r]) / total
        on_b[r] = (weights[0] * points_b[i, r] + weights[1] * points_b[j, r] + weights[2] * points_b[k, r]) / total
        normal[r] = -normal[r]
    return depth if depth < np.inf else 0.0


@uncounted()
def _boundary(
    x: float,
    y: float,
    z: float,
    depth: float,
    point_a: np.ndarray,
    point_b: np.ndarray,
    normal: np.ndarray,
    on_a: np.ndarray,
    on_b: np.ndarray,
) -> float:
    """Return the result where the origin is on the boundary of the difference, whose outward normal is (x, y, z)."""
    normal[0], normal[1], normal[2] = -x, -y, -z
    for r in range(3):
        on_a[r] = point_a[r]
        on_b[r] = point_b[r]
    return depth


@uncounted()
def _volume(points: np.ndarray) -> float:
    """Six times the signed volume of the tetrahedron of the first four points."""
    u_0, u_1, u_2 = points[1, 0] - points[0, 0], points[1, 1] - points[0, 1], points[1, 2] - points[0, 2]
    v_0, v_1, v_2 = points[2, 0] - points[0, 0], points[2, 1] - points[0, 1], points[2, 2] - points[0, 2]
    s_0, s_1, s_2 = points[3, 0] - points[0, 0], points[3, 1] - points[0, 1], points[3, 2] - points[0, 2]
    return s_0 * (u_1 * v_2 - u_2 * v_1) + s_1 * (u_2 * v_0 - u_0 * v_2) + s_2 * (u_0 * v_1 - u_1 * v_0)
