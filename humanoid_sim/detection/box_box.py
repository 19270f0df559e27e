# SPDX-License-Identifier: Apache-2.0
"""Two boxes by the theorem of separating axes (Gottschalk 1996)."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart

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
