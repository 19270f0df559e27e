# SPDX-License-Identifier: Apache-2.0
"""Contact points of two convex shapes, compiled; two boxes by the theorem of separating axes (Gottschalk 1996)."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted
from humanoid_sim.detection.face_contact import VERTICES, face_contact
from humanoid_sim.detection.gjk_epa import APART, FAR, TOUCHING, core_distance, core_penetration
from humanoid_sim.detection.shape_table import (
    BOX,
    CAPSULE,
    Nearest,
    PatchPoints,
    Pose,
    ShapeTable,
    Simplex,
    core_radius,
)

_PARALLEL = 1e-6
"""Edges whose directions' sine is below this have no axis of their own: a face's is the same."""
_FACES_FIRST = 1e-9
"""A pair of edges separates better than a face only by more than this part of the size."""


@apart(error_model="numpy", _nrt=False)
def box_separation(
    half_a: np.ndarray,
    half_b: np.ndarray,
    R: np.ndarray,
    t: np.ndarray,
    normal: np.ndarray,
    on_a: np.ndarray,
    on_b: np.ndarray,
) -> float:
    """Largest separation of two boxes along the 15 axes that decide, in a's frame.

    Args:
        half_a: half edge lengths of a [m], shape (3,).
        half_b: half edge lengths of b [m], shape (3,).
        R: rotation from b's frame to a's, shape (3, 3).
        t: centre of b in a's frame [m], shape (3,).
        normal: receives the axis of that separation, unit, from b into a, shape (3,).
        on_a: receives the deepest point of a, shape (3,).
        on_b: receives the deepest point of b, shape (3,).

    Returns:
        Minus the depth where the boxes overlap; a lower bound of the distance where they don't [m].
    """
    best = -np.inf
    kind = 0
    for i in range(3):
        reach = half_a[i]
        for j in range(3):
            reach += abs(R[i, j]) * half_b[j]
        separation = abs(t[i]) - reach
        if separation > best:
            best = separation
            kind = i
    for j in range(3):
        along = 0.0
        reach = half_b[j]
        for i in range(3):
            along += R[i, j] * t[i]
            reach += abs(R[i, j]) * half_a[i]
        separation = abs(along) - reach
        if separation > best:
            best = separation
            kind = 3 + j
    scale = max(half_a[0], half_a[1], half_a[2], half_b[0], half_b[1], half_b[2])
    best += _FACES_FIRST * scale
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            square = R[i1, j] * R[i1, j] + R[i2, j] * R[i2, j]
            if square < _PARALLEL * _PARALLEL:
                continue
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            # the axis is e_i x R_j, its products with R's columns are entries of R
            along = R[i1, j] * t[i2] - R[i2, j] * t[i1]
            reach = (
                half_a[i1] * abs(R[i2, j])
                + half_a[i2] * abs(R[i1, j])
                + half_b[j1] * abs(R[i, j2])
                + half_b[j2] * abs(R[i, j1])
            )
            separation = (abs(along) - reach) / math.sqrt(square)
            if separation > best:
                best = separation
                kind = 6 + 3 * i + j
    if kind < 6:
        best -= _FACES_FIRST * scale
    for r in range(3):
        normal[r] = 0.0
    if kind < 3:
        normal[kind] = 1.0
    elif kind < 6:
        for r in range(3):
            normal[r] = R[r, kind - 3]
    else:
        i = (kind - 6) // 3
        j = (kind - 6) % 3
        length = math.sqrt(R[(i + 1) % 3, j] ** 2 + R[(i + 2) % 3, j] ** 2)
        normal[(i + 1) % 3] = -R[(i + 2) % 3, j] / length
        normal[(i + 2) % 3] = R[(i + 1) % 3, j] / length
    if normal[0] * t[0] + normal[1] * t[1] + normal[2] * t[2] > 0.0:
        for r in range(3):
            normal[r] = -normal[r]
    for r in range(3):  # along what is parallel to the face, as near to the other's centre as possible
        on_a[r] = math.copysign(half_a[r], -normal[r])
        if abs(normal[r]) < _PARALLEL:
            on_a[r] = min(max(t[r], -half_a[r]), half_a[r])
        on_b[r] = t[r]
    for j in range(3):
        along = R[0, j] * normal[0] + R[1, j] * normal[1] + R[2, j] * normal[2]
        share = math.copysign(half_b[j], along)
        if abs(along) < _PARALLEL:
            centre = -(R[0, j] * t[0] + R[1, j] * t[1] + R[2, j] * t[2])
            share = min(max(centre, -half_b[j]), half_b[j])
        for r in range(3):
            on_b[r] += share * R[r, j]
    if kind < 3:
        for r in range(3):
            on_a[r] = on_b[r] + best * normal[r]
    elif kind < 6:
        for r in range(3):
            on_b[r] = on_a[r] - best * normal[r]
    else:  # where the two edges pass each other
        i = (kind - 6) // 3
        j = (kind - 6) % 3
        on_a_edge = 0.0
        on_b_edge = 0.0
        for r in range(3):
            on_a_edge += (on_b[r] - on_a[r]) * (1.0 if r == i else 0.0)
            on_b_edge += (on_b[r] - on_a[r]) * R[r, j]
        cosine = R[i, j]
        share = 1.0 - cosine * cosine
        along_a = (on_a_edge - cosine * on_b_edge) / share
        along_b = (cosine * on_a_edge - on_b_edge) / share
        on_a[i] += along_a
        for r in range(3):
            on_b[r] += along_b * R[r, j]
    return best


_PARALLEL_AXES = 1e-4
"""Capsules whose axes' sine is below this touch along a line, with a point at each end."""


@apart(error_model="numpy")
def convex_distance(
    table: ShapeTable,
    a: int,
    b: int,
    pose_a: Pose,
    pose_b: Pose,
    cutoff: float,
    nearest: Nearest,
) -> float:
    """Signed distance of two convex shapes, with the nearest or deepest points.

    Args:
        table: the shapes.
        a: first shape.
        b: second shape.
        pose_a: of a in the world.
        pose_b: of b in the world.
        cutoff: distance from which on the shapes count as far apart [m].
        nearest: receives the unit normal and the points, in the world.

    Returns:
        The distance, negative where they overlap, or infinity beyond the cutoff, when nothing else is written [m].
    """
    R_a, p_a, R_b, p_b = pose_a.R, pose_a.p, pose_b.R, pose_b.p
    R = np.empty((3, 3))
    t = np.empty(3)
    v = np.empty(3)
    for r in range(3):
        for c in range(3):
            R[r, c] = R_a[0, r] * R_b[0, c] + R_a[1, r] * R_b[1, c] + R_a[2, r] * R_b[2, c]
        t[r] = (
            R_a[0, r] * (p_b[0] - p_a[0]) + R_a[1, r] * (p_b[1] - p_a[1]) + R_a[2, r] * (p_b[2] - p_a[2])
        )
        v[r] = -t[r]
    if v[0] == 0.0 and v[1] == 0.0 and v[2] == 0.0:
        v[0] = 1.0
    simplex = Simplex(np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3)))
    x_a = np.empty(3)
    x_b = np.empty(3)
    n = np.empty(3)
    thick_a = core_radius(table, a)
    thick_b = core_radius(table, b)
    known = False
    distance = 0.0
    if table.kind[a] == BOX and table.kind[b] == BOX:
        distance = box_separation(table.half[a], table.half[b], R, t, n, x_a, x_b)
        if distance > cutoff:
            return np.inf
        known = distance <= TOUCHING * max(table.half[a].max(), table.half[b].max())
    outcome, size = APART, 0
    if not known:
        outcome, size = core_distance(
            table, a, b, Pose(R, t), cutoff + thick_a + thick_b, Nearest(v, x_a, x_b), simplex
        )
    if outcome == FAR:
        return np.inf
    if known:
        pass
    elif outcome == APART:
        distance = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        for r in range(3):
            n[r] = v[r] / distance
    else:
        distance = -core_penetration(table, a, b, Pose(R, t), size, simplex, Nearest(n, x_a, x_b))
    distance -= thick_a + thick_b
    if distance > cutoff:
        return np.inf
    for r in range(3):
        x_a[r] -= thick_a * n[r]
        x_b[r] += thick_b * n[r]
    normal, on_a, on_b = nearest.normal, nearest.on_a, nearest.on_b
    for r in range(3):
        normal[r] = R_a[r, 0] * n[0] + R_a[r, 1] * n[1] + R_a[r, 2] * n[2]
        on_a[r] = p_a[r] + R_a[r, 0] * x_a[0] + R_a[r, 1] * x_a[1] + R_a[r, 2] * x_a[2]
        on_b[r] = p_a[r] + R_a[r, 0] * x_b[0] + R_a[r, 1] * x_b[1] + R_a[r, 2] * x_b[2]
    return distance


@apart(error_model="numpy", _nrt=False)
def contact_patch(
    table: ShapeTable,
    a: int,
    b: int,
    pose_a: Pose,
    pose_b: Pose,
    distance: float,
    margin: float,
    nearest: Nearest,
    patch: PatchPoints,
) -> int:
    """Contact points of two convex shapes whose distance and normal are known.

    Where the normal is that of a face, the other shape's facing polygon, clipped by the face, replaces the one point of
    nearest approach, each of its corners with its own gap; at most ``MAX_POINTS`` of them stay.

    Args:
        table: the shapes.
        a: first shape.
        b: second shape.
        pose_a: of a in the world.
        pose_b: of b in the world.
        distance: signed distance [m].
        margin: points up to this far apart are kept [m].
        nearest: normal and points in the world; the normal is replaced by a face's own.
        patch: receives at most ``MAX_POINTS`` points; features below ``VERTICES`` are vertices of a, from there to
            twice of it those of b.

    Returns:
        The number of points, at least 1.
    """
    normal, on_a, on_b, features = nearest.normal, nearest.on_a, nearest.on_b, patch.features
    if table.kind[a] == CAPSULE and table.kind[b] == CAPSULE:
        count = _parallel_capsules(table, a, b, pose_a, pose_b, margin, normal, patch)
        if count > 0:
            return count
    count = face_contact(table, a, b, pose_a, pose_b, normal, margin, patch)
    if count > 0:
        for k in range(count):
            if features[k] >= VERTICES:
                features[k] += VERTICES * VERTICES
        return count
    for r in range(3):
        normal[r] = -normal[r]
    count = face_contact(table, b, a, pose_b, pose_a, normal, margin, patch)
    for r in range(3):
        normal[r] = -normal[r]
    if count > 0:
        for k in range(count):
            features[k] += VERTICES if features[k] < VERTICES else 2 * VERTICES * VERTICES
        return count
    for r in range(3):
        patch.positions[0, r] = 0.5 * (on_a[r] + on_b[r])
    patch.gaps[0] = distance
    features[0] = 3 * VERTICES * VERTICES
    return 1


@counted()
def _parallel_capsules(
    table: ShapeTable,
    a: int,
    b: int,
    pose_a: Pose,
    pose_b: Pose,
    margin: float,
    normal: np.ndarray,
    patch: PatchPoints,
) -> int:
    """Two points at the ends of the common line of capsules side by side, 0 where they don't lie so."""
    R_a, p_a, R_b, p_b = pose_a.R, pose_a.p, pose_b.R, pose_b.p
    positions, gaps, features = patch.positions, patch.gaps, patch.features
    cosine = 0.0
    offset = 0.0
    for r in range(3):
        cosine += R_a[r, 2] * R_b[r, 2]
        offset += R_a[r, 2] * (p_b[r] - p_a[r])
    if 1.0 - cosine * cosine > _PARALLEL_AXES * _PARALLEL_AXES:
        return 0
    low = max(-table.half_length[a], offset - table.half_length[b])
    high = min(table.half_length[a], offset + table.half_length[b])
    if high - low <= 1e-3 * table.radius[a]:
        return 0
    n = np.empty(3)
    count = 0
    for end in range(2):
        along = low if end == 0 else high
        other = (along - offset) / cosine
        length = 0.0
        for r in range(3):
            n[r] = p_a[r] + along * R_a[r, 2] - p_b[r] - other * R_b[r, 2]
            length += n[r] * n[r]
        length = math.sqrt(length)
        if length == 0.0:
            return 0
        gap = length - table.radius[a] - table.radius[b]
        if gap > margin:
            continue
        gaps[count] = gap
        features[count] = 3 * VERTICES * VERTICES + 1 + end
        for r in range(3):
            if count == 0:
                normal[r] = n[r] / length
            surface = p_b[r] + other * R_b[r, 2] + (table.radius[b] + 0.5 * gap) * n[r] / length
            positions[count, r] = surface
        count += 1
    return count
