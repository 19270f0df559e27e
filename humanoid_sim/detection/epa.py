# SPDX-License-Identifier: Apache-2.0
"""Penetration depth of two convex shapes by the expanding polytope of van den Bergen (2001)."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.detection.pair_records import Nearest, Pose, Simplex
from humanoid_sim.detection.shape_table import CYLINDER, ELLIPSOID, ShapeTable
from humanoid_sim.detection.support import difference_support

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
        size: vertices of the simplex that :func:`~humanoid_sim.detection.gjk.core_distance` ended with.
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
