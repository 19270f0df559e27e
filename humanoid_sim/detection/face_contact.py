# SPDX-License-Identifier: Apache-2.0
"""Contact polygon of a shape on a face of another one."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted, uncounted
from humanoid_sim.detection.patch_reduction import ONE_POINT, keep_corners, reduce_patch
from humanoid_sim.detection.shape_table import (
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    SPHERE,
    PatchPoints,
    Pose,
    ShapeTable,
    support,
)

MAX_POINTS = 8
"""A pair of convex shapes gives at most so many contact points."""

FACE_CONTACT = 0.9999
"""Cosine between the contact normal and a face's normal from which on the face itself is in contact."""

VERTICES = 1 << 20
"""Features below this number are vertices of a polytope."""

LYING = 0.5
"""Cosine between a cylinder's axis and a face's normal below which it lies there on its side, else it stands."""

END_CORNERS = 16
"""A cylinder's end that another cylinder stands on is a polygon of so many corners on its rim."""


@uncounted()
def face_towards(table: ShapeTable, s: int, R: np.ndarray, direction: np.ndarray) -> tuple[int, float]:
    """Return the face of a shape that looks most into a direction.

    Args:
        table: the shapes.
        s: a shape with faces.
        R: rotation from the shape's frame to the world, shape (3, 3).
        direction: unit vector in the world, shape (3,).

    Returns:
        The row of the face in the table and the cosine of the angle between its normal and the direction.
    """
    x = R[0, 0] * direction[0] + R[1, 0] * direction[1] + R[2, 0] * direction[2]
    y = R[0, 1] * direction[0] + R[1, 1] * direction[1] + R[2, 1] * direction[2]
    z = R[0, 2] * direction[0] + R[1, 2] * direction[1] + R[2, 2] * direction[2]
    normals = table.face_normals
    best = table.face_start[s]
    largest = -2.0
    for i in range(table.face_start[s], table.face_start[s + 1]):
        cosine = normals[i, 0] * x + normals[i, 1] * y + normals[i, 2] * z
        if cosine > largest:
            largest = cosine
            best = i
    return best, largest


@counted()
def face_polygon(table: ShapeTable, s: int, face: int, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return corners of a face of a shape in the world [m], shape (k, 3)."""
    start = table.corner_start[face]
    polygon = np.empty((table.corner_start[face + 1] - start, 3))
    for i in range(polygon.shape[0]):
        v = table.vertices[table.vertex_start[s] + table.corners[start + i]]
        for r in range(3):
            polygon[i, r] = p[r] + R[r, 0] * v[0] + R[r, 1] * v[1] + R[r, 2] * v[2]
    return polygon


@uncounted()
def _depth(point: np.ndarray, start: np.ndarray, end: np.ndarray, normal: np.ndarray) -> float:
    """Return how far a point is inside the plane through one side of a face, times the length of the side."""
    e_0, e_1, e_2 = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    d_0, d_1, d_2 = point[0] - start[0], point[1] - start[1], point[2] - start[2]
    return (
        d_0 * (normal[1] * e_2 - normal[2] * e_1)
        + d_1 * (normal[2] * e_0 - normal[0] * e_2)
        + d_2 * (normal[0] * e_1 - normal[1] * e_0)
    )


@counted()
def clip_polygon(
    polygon: np.ndarray, labels: np.ndarray, face: np.ndarray, normal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of a polygon that lies over a face (Sutherland and Hodgman's clipping by the face's sides).

    Args:
        polygon: vertices, shape (k, 3).
        labels: number of each vertex, below ``VERTICES``, shape (k,).
        face: vertices of a convex face, counter-clockwise around ``normal``, shape (l, 3).
        normal: unit normal of the face, shape (3,).

    Returns:
        Vertices of the clipped polygon, shape (j, 3), possibly none, and the feature that each of them is: a vertex of
        the polygon by its label, else a number of the two sides that cross there.
    """
    room = polygon.shape[0] + face.shape[0] + 1
    points = np.empty((room, 3))
    kept = np.empty((room, 3))
    features = np.empty((3, room), dtype=np.int64)  # of each point; of the side that leaves it; work
    sides = np.empty(room, dtype=np.int64)
    count = polygon.shape[0]
    points[:count] = polygon
    features[0, :count] = labels
    features[1, :count] = labels
    for side in range(face.shape[0]):
        start = face[side]
        end = face[(side + 1) % face.shape[0]]
        size = 0
        for i in range(count):
            after = points[(i + 1) % count]
            depth = _depth(points[i], start, end, normal)
            after_depth = _depth(after, start, end, normal)
            if depth >= 0.0:
                kept[size] = points[i]
                features[2, size] = features[0, i]
                sides[size] = features[1, i]
                size += 1
            if (depth > 0.0 and after_depth < 0.0) or (depth < 0.0 and after_depth > 0.0):
                share = depth / (depth - after_depth)
                for r in range(3):
                    kept[size, r] = points[i, r] + share * (after[r] - points[i, r])
                features[2, size] = VERTICES * (1 + side) + features[1, i]
                sides[size] = VERTICES // 2 + side if depth > 0.0 else features[1, i]
                size += 1
        points, kept = kept, points
        count = size
        features[0, :count] = features[2, :count]
        features[1, :count] = sides[:count]
        if count == 0:
            break
    return points[:count], features[0, :count]


@uncounted()
def _name_of_vertex(point: np.ndarray, number: int, polygon: np.ndarray, labels: np.ndarray) -> int:
    """Return the label of the vertex where two sides cross, so that rounding doesn't give it another; else its number.

    Faces whose corners lie on each other would name them by the vertex in one step and by the sides in the next.
    """
    for i in range(labels.size):
        away = 0.0
        for r in range(3):
            away += (point[r] - polygon[i, r]) ** 2
        if away <= ONE_POINT * ONE_POINT:
            return int(labels[i])
    return number


@counted()
def _end_polygon(table: ShapeTable, s: int, R: np.ndarray, p: np.ndarray, side: float) -> np.ndarray:
    """Return corners on the rim of a cylinder's end in the world [m], counter-clockwise from outside.

    Args:
        table: the shapes.
        s: a cylinder.
        R: rotation from its frame to the world, shape (3, 3).
        p: its origin in the world [m], shape (3,).
        side: 1 for the end along its z axis, -1 for the other one.
    """
    polygon = np.empty((END_CORNERS, 3))
    for k in range(END_CORNERS):
        angle = side * 2.0 * math.pi * k / END_CORNERS
        x, y = table.radius[s] * math.cos(angle), table.radius[s] * math.sin(angle)
        for r in range(3):
            polygon[k, r] = p[r] + R[r, 0] * x + R[r, 1] * y + side * table.half_length[s] * R[r, 2]
    return polygon


@counted()
def _add_end_points(
    table: ShapeTable,
    s: int,
    R: np.ndarray,
    p: np.ndarray,
    face: np.ndarray,
    normal: np.ndarray,
    points: np.ndarray,
    features: np.ndarray,
    count: int,
) -> int:
    """Add where a face ends under the lower end of a cylinder: the face's corners there, and its sides at the rim.

    Args:
        table: the shapes.
        s: a cylinder.
        R: rotation from its frame to the world, shape (3, 3).
        p: its origin in the world [m], shape (3,).
        face: vertices of the face in the world, shape (l, 3).
        normal: unit normal of the face, shape (3,).
        points: those of the end itself; receives more, shape (n, 3).
        features: their numbers, likewise.
        count: how many there are.

    Returns:
        The number of points with those that were added; none is nearer than ``ONE_POINT`` to another one.
    """
    size, radius, axis = face.shape[0], table.radius[s], R[:, 2]
    along = axis[0] * normal[0] + axis[1] * normal[1] + axis[2] * normal[2]
    half = -table.half_length[s] if along > 0.0 else table.half_length[s]
    corners = np.empty((size, 3))  # of the face on the plane of the end, seen from its centre
    for k in range(size):
        height = 0.0
        for r in range(3):
            height += (p[r] + half * axis[r] - face[k, r]) * axis[r]
        for r in range(3):
            corners[k, r] = face[k, r] + height / along * normal[r] - p[r] - half * axis[r]
    shares = np.empty(3)
    for k in range(size):
        a = b = c = 0.0
        for r in range(3):
            side = corners[(k + 1) % size, r] - corners[k, r]
            a, b, c = a + side * side, b + side * corners[k, r], c + corners[k, r] ** 2
        shares[0] = 0.0 if c <= (radius + ONE_POINT) ** 2 else -1.0
        root = b * b - a * (c - radius * radius)
        shares[1] = (-b - math.sqrt(root)) / a if root > 0.0 else -1.0
        shares[2] = (-b + math.sqrt(root)) / a if root > 0.0 else -1.0
        for j in range(3):
            if not 0.0 <= shares[j] < 1.0:
                continue
            new = True
            for r in range(3):
                side = corners[(k + 1) % size, r] - corners[k, r]
                points[count, r] = corners[k, r] + shares[j] * side + p[r] + half * axis[r]
            for i in range(count):
                away = 0.0
                for r in range(3):
                    away += (points[i, r] - points[count, r]) ** 2
                new = new and away > ONE_POINT * ONE_POINT
            if new:
                features[count] = VERTICES + 8 + 3 * k + j
                count += 1
    return count


@uncounted()
def _add_line_ends(
    line: np.ndarray, face: np.ndarray, normal: np.ndarray, points: np.ndarray, features: np.ndarray, count: int
) -> int:
    """Add where the lowest line of a lying shape goes beyond a face's sides: it bears on the face's edge there.

    Args:
        line: its ends in the world, shape (2, 3).
        face: vertices of the face in the world, counter-clockwise around ``normal``, shape (l, 3).
        normal: unit normal of the face, shape (3,).
        points: those of the shape itself; receives at most two more, shape (n, 3).
        features: their numbers, likewise.
        count: how many there are.

    Returns:
        The number of points with those that were added.
    """
    low, high, low_side, high_side = 0.0, 1.0, -1, -1
    for k in range(face.shape[0]):
        after = face[(k + 1) % face.shape[0]]
        first, last = _depth(line[0], face[k], after, normal), _depth(line[1], face[k], after, normal)
        if first < 0.0 and last < 0.0:
            return count
        if first < 0.0 and first / (first - last) > low:
            low, low_side = first / (first - last), k
        if last < 0.0 and first / (first - last) < high:
            high, high_side = first / (first - last), k
    if low >= high:
        return count
    for end in range(2):
        share, side = (high, high_side) if end == 1 else (low, low_side)
        if side < 0:
            continue
        for r in range(3):
            points[count, r] = line[0, r] + share * (line[1, r] - line[0, r])
        features[count] = VERTICES + 8 + 3 * side + end
        count += 1
    return count


@counted()
def round_points(
    table: ShapeTable, s: int, R: np.ndarray, p: np.ndarray, face: np.ndarray, normal: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest points of a round shape above a face; where it goes beyond the face's sides, those there.

    Args:
        table: the shapes.
        s: a sphere, capsule, cylinder or ellipsoid.
        R: rotation from the shape's frame to the world, shape (3, 3).
        p: origin of the shape's frame in the world [m], shape (3,).
        face: vertices of the face in the world, counter-clockwise around ``normal``, shape (l, 3).
        normal: unit normal of the face, shape (3,).

    Returns:
        The points in the world [m], shape (j, 3), and a number for each.
    """
    candidates = np.empty((9 + 3 * face.shape[0], 3))
    line = np.empty((2, 3))
    lies = False
    radius = table.radius[s]
    count = 0
    axis = R[:, 2]
    if table.kind[s] == SPHERE:
        for r in range(3):
            candidates[0, r] = p[r] - radius * normal[r]
        count = 1
    elif table.kind[s] == CAPSULE:
        for end in range(2):
            along = (2 * end - 1) * table.half_length[s]
            for r in range(3):
                candidates[end, r] = p[r] + along * axis[r] - radius * normal[r]
                line[end, r] = candidates[end, r]
        count = 2
        lies = True
    elif table.kind[s] == ELLIPSOID:
        x, y, z = support(
            table,
            s,
            -(R[0, 0] * normal[0] + R[1, 0] * normal[1] + R[2, 0] * normal[2]),
            -(R[0, 1] * normal[0] + R[1, 1] * normal[1] + R[2, 1] * normal[2]),
            -(R[0, 2] * normal[0] + R[1, 2] * normal[1] + R[2, 2] * normal[2]),
        )
        for r in range(3):
            candidates[0, r] = p[r] + R[r, 0] * x + R[r, 1] * y + R[r, 2] * z - radius * normal[r]
        count = 1
    elif table.kind[s] == CYLINDER:
        along = axis[0] * normal[0] + axis[1] * normal[1] + axis[2] * normal[2]
        lies = abs(along) < LYING
        down = along * axis - normal
        length = math.sqrt(down[0] ** 2 + down[1] ** 2 + down[2] ** 2)
        if length < 1e-6:  # the rims lie flat: a direction in their plane that the shape keeps
            down = R[:, 0].copy()
            length = 1.0
        down = down / length
        side = np.array(
            [
                axis[1] * down[2] - axis[2] * down[1],
                axis[2] * down[0] - axis[0] * down[2],
                axis[0] * down[1] - axis[1] * down[0],
            ]
        )
        for end in range(2):
            along = (2 * end - 1) * table.half_length[s]
            for r in range(3):
                centre = p[r] + along * axis[r]
                candidates[count, r] = line[end, r] = centre + radius * down[r]
                candidates[count + 1, r] = centre + radius * side[r]
                candidates[count + 2, r] = centre - radius * side[r]
                candidates[count + 3, r] = centre - radius * down[r]
            count += 4
    features = np.empty(candidates.shape[0], dtype=np.int64)
    inside = 0
    for i in range(count):
        over = True
        for k in range(face.shape[0]):
            if _depth(candidates[i], face[k], face[(k + 1) % face.shape[0]], normal) < 0.0:
                over = False
        if over:
            candidates[inside] = candidates[i]
            features[inside] = VERTICES + i
            inside += 1
    if lies:
        inside = _add_line_ends(line, face, normal, candidates, features, inside)
    elif table.kind[s] == CYLINDER:
        inside = _add_end_points(table, s, R, p, face, normal, candidates, features, inside)
    return candidates[:inside], features[:inside]


@apart(error_model="numpy")
def face_contact(
    table: ShapeTable,
    a: int,
    b: int,
    pose_a: Pose,
    pose_b: Pose,
    normal: np.ndarray,
    margin: float,
    patch: PatchPoints,
) -> int:
    """Return the contact of shape a on a face of shape b whose normal is the contact normal.

    Args:
        table: the shapes.
        a: shape that touches the face.
        b: shape that has the face; beside a cylinder, an end of a cylinder is one.
        pose_a: of a in the world.
        pose_b: of b in the world.
        normal: contact normal from b into a; overwritten with the face's own normal, shape (3,).
        margin: points up to this far from the face are kept [m].
        patch: receives at most ``MAX_POINTS`` points; features below ``VERTICES`` are vertices of a.

    Returns:
        The number of points; 0 where no face of b has that normal or nothing of a is over it.
    """
    R_a, p_a, R_b, p_b = pose_a.R, pose_a.p, pose_b.R, pose_b.p
    positions, gaps, features = patch.positions, patch.gaps, patch.features
    face_normal = np.empty(3)
    if table.face_start[b + 1] > table.face_start[b]:
        i, cosine = face_towards(table, b, R_b, normal)
        if cosine < FACE_CONTACT:
            return 0
        face = face_polygon(table, b, i, R_b, p_b)
        for r in range(3):
            face_normal[r] = (
                R_b[r, 0] * table.face_normals[i, 0]
                + R_b[r, 1] * table.face_normals[i, 1]
                + R_b[r, 2] * table.face_normals[i, 2]
            )
    elif table.kind[a] == CYLINDER and table.kind[b] == CYLINDER:  # under other shapes an end is taken for a
        cosine = R_b[0, 2] * normal[0] + R_b[1, 2] * normal[1] + R_b[2, 2] * normal[2]
        if abs(cosine) < FACE_CONTACT:
            return 0
        side = 1.0 if cosine > 0.0 else -1.0
        face = _end_polygon(table, b, R_b, p_b, side)
        for r in range(3):
            face_normal[r] = side * R_b[r, 2]
    else:
        return 0
    if table.face_start[a + 1] > table.face_start[a]:
        j, _ = face_towards(table, a, R_a, -face_normal)
        facing = face_polygon(table, a, j, R_a, p_a)
        labels = table.corners[table.corner_start[j] : table.corner_start[j + 1]]
        points, numbers = clip_polygon(facing, labels, face, face_normal)
        total = points.shape[0]
        corners = np.empty(points.shape[0], dtype=np.int64)
        total = keep_corners(points, total, corners)
        for k in range(total):
            numbers[k] = numbers[corners[k]]
            for r in range(3):
                points[k, r] = points[corners[k], r]
            if numbers[k] >= VERTICES:
                numbers[k] = _name_of_vertex(points[k], numbers[k], facing, labels)
    else:
        points, numbers = round_points(table, a, R_a, p_a, face, face_normal)
        total = points.shape[0]
    near = 0
    heights = np.empty(total)
    for k in range(total):
        height = 0.0
        for r in range(3):
            height += (points[k, r] - face[0, r]) * face_normal[r]
        if height <= margin:
            points[near] = points[k]
            numbers[near] = numbers[k]
            heights[near] = height
            near += 1
    if near == 0:
        return 0
    normal[:] = face_normal
    kept = np.arange(MAX_POINTS)
    count = near
    if near > MAX_POINTS:
        count = reduce_patch(points[:near], heights[:near], normal, MAX_POINTS, kept)
    for k in range(count):
        gaps[k] = heights[kept[k]]
        features[k] = numbers[kept[k]]
        for r in range(3):
            positions[k, r] = points[kept[k], r] - 0.5 * gaps[k] * normal[r]
    return count
