# SPDX-License-Identifier: Apache-2.0
"""Contact polygon of a shape on a face of another one."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MAX_POINTS = 8
"""A pair of shapes gives at most so many contact points."""

FACE_CONTACT = 0.9999
"""Cosine between the contact normal and a face's normal from which on the face itself is in contact."""


@njit(cache=True)
def face_towards(normals: np.ndarray, R: np.ndarray, direction: np.ndarray) -> tuple[int, float]:
    """Face that looks most into a direction.

    Args:
        normals: outward normals in the shape's frame, shape (n, 3), n >= 1.
        R: rotation from the shape's frame to the world, shape (3, 3).
        direction: unit vector in the world, shape (3,).

    Returns:
        The face and the cosine of the angle between its normal and the direction.
    """
    local = np.empty(3)
    for r in range(3):
        local[r] = R[0, r] * direction[0] + R[1, r] * direction[1] + R[2, r] * direction[2]
    best = 0
    largest = -2.0
    for i in range(normals.shape[0]):
        cosine = normals[i, 0] * local[0] + normals[i, 1] * local[1] + normals[i, 2] * local[2]
        if cosine > largest:
            largest = cosine
            best = i
    return best, largest


@njit(cache=True)
def _to_world(R: np.ndarray, p: np.ndarray, points: np.ndarray) -> np.ndarray:
    moved = np.empty(points.shape)
    for i in range(points.shape[0]):
        for r in range(3):
            moved[i, r] = p[r] + R[r, 0] * points[i, 0] + R[r, 1] * points[i, 1] + R[r, 2] * points[i, 2]
    return moved


@njit(cache=True)
def _depth(point: np.ndarray, start: np.ndarray, end: np.ndarray, normal: np.ndarray) -> float:
    """How far a point is inside the plane through one side of a face, times the length of the side."""
    e_0, e_1, e_2 = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    d_0, d_1, d_2 = point[0] - start[0], point[1] - start[1], point[2] - start[2]
    return (
        d_0 * (normal[1] * e_2 - normal[2] * e_1)
        + d_1 * (normal[2] * e_0 - normal[0] * e_2)
        + d_2 * (normal[0] * e_1 - normal[1] * e_0)
    )


@njit(cache=True)
def clip_polygon(polygon: np.ndarray, face: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Part of a polygon that lies over a face (Sutherland and Hodgman's clipping by the face's sides).

    Args:
        polygon: vertices, shape (k, 3).
        face: vertices of a convex face, counter-clockwise around ``normal``, shape (l, 3).
        normal: unit normal of the face, shape (3,).

    Returns:
        Vertices of the clipped polygon, shape (j, 3), possibly none.
    """
    room = polygon.shape[0] + face.shape[0] + 1
    points = np.empty((room, 3))
    kept = np.empty((room, 3))
    count = polygon.shape[0]
    points[:count] = polygon
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
                size += 1
            if (depth > 0.0 and after_depth < 0.0) or (depth < 0.0 and after_depth > 0.0):
                share = depth / (depth - after_depth)
                for r in range(3):
                    kept[size, r] = points[i, r] + share * (after[r] - points[i, r])
                size += 1
        points, kept = kept, points
        count = size
        if count == 0:
            break
    return points[:count]


@njit(cache=True)
def round_points(
    centres: np.ndarray,
    radii: np.ndarray,
    axes: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    face: np.ndarray,
    normal: np.ndarray,
) -> np.ndarray:
    """Lowest points of a round shape above a face, those beyond the face's sides left out.

    Args:
        centres: centres of balls and rims in the shape's frame [m], shape (n, 3).
        radii: their radii [m], shape (n,).
        axes: axes of rims, zero for balls, shape (n, 3).
        R: rotation from the shape's frame to the world, shape (3, 3).
        p: origin of the shape's frame in the world [m], shape (3,).
        face: vertices of the face in the world, counter-clockwise around ``normal``, shape (l, 3).
        normal: unit normal of the face, shape (3,).

    Returns:
        The points in the world [m], shape (j, 3).
    """
    world = _to_world(R, p, centres)
    candidates = np.empty((4 * centres.shape[0], 3))
    count = 0
    for i in range(centres.shape[0]):
        axis = R @ axes[i]
        if axes[i, 0] == 0.0 and axes[i, 1] == 0.0 and axes[i, 2] == 0.0:
            for r in range(3):
                candidates[count, r] = world[i, r] - radii[i] * normal[r]
            count += 1
            continue
        along = axis[0] * normal[0] + axis[1] * normal[1] + axis[2] * normal[2]
        down = along * axis - normal
        length = math.sqrt(down[0] ** 2 + down[1] ** 2 + down[2] ** 2)
        if length < 1e-6:  # the rim lies flat: a direction in its plane that the shape keeps
            down = R[:, 0].copy()
            if abs(down[0] * axis[0] + down[1] * axis[1] + down[2] * axis[2]) > 0.9:
                down = R[:, 1].copy()
            along = down[0] * axis[0] + down[1] * axis[1] + down[2] * axis[2]
            down = down - along * axis
            length = math.sqrt(down[0] ** 2 + down[1] ** 2 + down[2] ** 2)
        down = down / length
        side = np.array(
            [
                axis[1] * down[2] - axis[2] * down[1],
                axis[2] * down[0] - axis[0] * down[2],
                axis[0] * down[1] - axis[1] * down[0],
            ]
        )
        for r in range(3):
            candidates[count, r] = world[i, r] + radii[i] * down[r]
            candidates[count + 1, r] = world[i, r] + radii[i] * side[r]
            candidates[count + 2, r] = world[i, r] - radii[i] * side[r]
            candidates[count + 3, r] = world[i, r] - radii[i] * down[r]
        count += 4
    inside = 0
    for i in range(count):
        over = True
        for s in range(face.shape[0]):
            if _depth(candidates[i], face[s], face[(s + 1) % face.shape[0]], normal) < 0.0:
                over = False
        if over:
            candidates[inside] = candidates[i]
            inside += 1
    return candidates[:inside]


@njit(cache=True)
def face_contact(
    normals_a: np.ndarray,
    corners_a: np.ndarray,
    starts_a: np.ndarray,
    centres_a: np.ndarray,
    radii_a: np.ndarray,
    axes_a: np.ndarray,
    R_a: np.ndarray,
    p_a: np.ndarray,
    normals_b: np.ndarray,
    corners_b: np.ndarray,
    starts_b: np.ndarray,
    R_b: np.ndarray,
    p_b: np.ndarray,
    normal: np.ndarray,
    margin: float,
    positions: np.ndarray,
    gaps: np.ndarray,
) -> int:
    """Contact of shape a on a face of shape b whose normal is the contact normal.

    Args:
        normals_a: faces of a, see :class:`~humanoid_sim.detection.polytope.Polytope`; none for a round shape.
        corners_a: same.
        starts_a: same.
        centres_a: balls and rims of a round shape a, see :func:`round_points`.
        radii_a: same.
        axes_a: same.
        R_a: rotation from a's frame to the world, shape (3, 3).
        p_a: origin of a's frame in the world [m], shape (3,).
        normals_b: faces of b.
        corners_b: same.
        starts_b: same.
        R_b: rotation from b's frame to the world.
        p_b: origin of b's frame in the world.
        normal: contact normal from b into a; overwritten with the face's own normal, shape (3,).
        margin: points up to this far from the face are kept [m].
        positions: receives points midway between the shapes [m], shape (MAX_POINTS, 3).
        gaps: receives their distances along the normal [m], shape (MAX_POINTS,).

    Returns:
        The number of points; 0 where no face of b has that normal or nothing of a is over it.
    """
    if normals_b.shape[0] == 0:
        return 0
    i, cosine = face_towards(normals_b, R_b, normal)
    if cosine < FACE_CONTACT:
        return 0
    face = _to_world(R_b, p_b, corners_b[starts_b[i] : starts_b[i + 1]])
    face_normal = R_b @ normals_b[i]
    if normals_a.shape[0] > 0:
        j, _ = face_towards(normals_a, R_a, -face_normal)
        facing = _to_world(R_a, p_a, corners_a[starts_a[j] : starts_a[j + 1]])
        points = clip_polygon(facing, face, face_normal)
    else:
        points = round_points(centres_a, radii_a, axes_a, R_a, p_a, face, face_normal)
    near = 0
    heights = np.empty(points.shape[0])
    for k in range(points.shape[0]):
        height = 0.0
        for r in range(3):
            height += (points[k, r] - face[0, r]) * face_normal[r]
        if height <= margin:
            points[near] = points[k]
            heights[near] = height
            near += 1
    if near == 0:
        return 0
    normal[:] = face_normal
    count = 0
    if near <= MAX_POINTS:
        for k in range(near):
            gaps[k] = heights[k]
            positions[k] = points[k] - 0.5 * heights[k] * face_normal
        return near
    # Those farthest out in as many directions of the face carry the same wrenches as all of them.
    u = face[1] - face[0]
    u = u / math.sqrt(u[0] ** 2 + u[1] ** 2 + u[2] ** 2)
    w = np.array(
        [
            face_normal[1] * u[2] - face_normal[2] * u[1],
            face_normal[2] * u[0] - face_normal[0] * u[2],
            face_normal[0] * u[1] - face_normal[1] * u[0],
        ]
    )
    taken = np.zeros(near, dtype=np.bool_)
    for step in range(MAX_POINTS):
        angle = 2.0 * math.pi * step / MAX_POINTS
        best = 0
        farthest = -np.inf
        for k in range(near):
            reach = 0.0
            for r in range(3):
                reach += points[k, r] * (math.cos(angle) * u[r] + math.sin(angle) * w[r])
            if reach > farthest:
                farthest = reach
                best = k
        taken[best] = True
    for k in range(near):
        if taken[k]:
            gaps[count] = heights[k]
            positions[count] = points[k] - 0.5 * heights[k] * face_normal
            count += 1
    return count
