# SPDX-License-Identifier: Apache-2.0
"""Distance of two convex shapes after Gilbert, Johnson and Keerthi (1988)."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.closest_point import triangle_weights
from humanoid_model.compiling import uncounted
from humanoid_sim.detection.pair_records import Nearest, Pose, Simplex
from humanoid_sim.detection.shape_table import ShapeTable
from humanoid_sim.detection.support import difference_support

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
