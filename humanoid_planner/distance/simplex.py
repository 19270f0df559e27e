# SPDX-License-Identifier: Apache-2.0
"""Point of a simplex nearest to the origin (C. Ericson, Real-Time Collision Detection, 2005, section 5.1)."""

from __future__ import annotations

import numpy as np

from humanoid_model.closest_point import triangle_weights
from humanoid_planner.distance.kernel import kernel


@kernel
def _triangle(simplex: np.ndarray, i: int, j: int, k: int, nearest: np.ndarray) -> tuple[float, int]:
    """Nearest point of a triangle, its squared distance, and which of the corners (bits 1, 2, 4) it lies between."""
    ab0, ab1, ab2 = simplex[j, 0] - simplex[i, 0], simplex[j, 1] - simplex[i, 1], simplex[j, 2] - simplex[i, 2]
    ac0, ac1, ac2 = simplex[k, 0] - simplex[i, 0], simplex[k, 1] - simplex[i, 1], simplex[k, 2] - simplex[i, 2]
    d1 = -(ab0 * simplex[i, 0] + ab1 * simplex[i, 1] + ab2 * simplex[i, 2])
    d2 = -(ac0 * simplex[i, 0] + ac1 * simplex[i, 1] + ac2 * simplex[i, 2])
    d3 = -(ab0 * simplex[j, 0] + ab1 * simplex[j, 1] + ab2 * simplex[j, 2])
    d4 = -(ac0 * simplex[j, 0] + ac1 * simplex[j, 1] + ac2 * simplex[j, 2])
    d5 = -(ab0 * simplex[k, 0] + ab1 * simplex[k, 1] + ab2 * simplex[k, 2])
    d6 = -(ac0 * simplex[k, 0] + ac1 * simplex[k, 1] + ac2 * simplex[k, 2])
    _, s, t, corners = triangle_weights(d1, d2, d3, d4, d5, d6)
    nearest[0] = simplex[i, 0] + s * ab0 + t * ac0
    nearest[1] = simplex[i, 1] + s * ab1 + t * ac1
    nearest[2] = simplex[i, 2] + s * ab2 + t * ac2
    return nearest[0] * nearest[0] + nearest[1] * nearest[1] + nearest[2] * nearest[2], corners


@kernel
def reduce_simplex(simplex: np.ndarray, count: int) -> int:
    """Keep the corners between which the point nearest to the origin lies.

    Args:
        simplex: corners in the first ``count`` rows, with a number of the caller's in column 3; those kept move up.
            Row 4 receives the point; row 5 is scratch. Shape (6, 4).
        count: number of corners, 1 to 4.

    Returns:
        Number of corners kept; 4 when the origin is inside.
    """
    nearest, scratch = simplex[4], simplex[5]
    if count == 1:
        for k in range(3):
            nearest[k] = simplex[0, k]
        return 1
    if count == 2:
        e0, e1, e2 = simplex[1, 0] - simplex[0, 0], simplex[1, 1] - simplex[0, 1], simplex[1, 2] - simplex[0, 2]
        square = e0 * e0 + e1 * e1 + e2 * e2
        along = -(e0 * simplex[0, 0] + e1 * simplex[0, 1] + e2 * simplex[0, 2])
        if along <= 0.0 or along >= square:
            for k in range(4):
                simplex[0, k] = simplex[0 if along <= 0.0 else 1, k]
                nearest[k] = simplex[0, k]
            return 1
        along /= square
        nearest[0] = simplex[0, 0] + along * e0
        nearest[1] = simplex[0, 1] + along * e1
        nearest[2] = simplex[0, 2] + along * e2
        return 2
    first, second, third, corners = 0, 1, 2, 0
    if count == 3:
        corners = _triangle(simplex, 0, 1, 2, nearest)[1]
    else:
        least = np.inf
        outside = False
        for face in range(4):
            i, j, k, other = 0, 1, 2, 3
            if face == 1:
                j, k, other = 2, 3, 1
            elif face == 2:
                j, k, other = 3, 1, 2
            elif face == 3:
                i, j, k, other = 1, 3, 2, 0
            a0, a1, a2 = simplex[j, 0] - simplex[i, 0], simplex[j, 1] - simplex[i, 1], simplex[j, 2] - simplex[i, 2]
            b0, b1, b2 = simplex[k, 0] - simplex[i, 0], simplex[k, 1] - simplex[i, 1], simplex[k, 2] - simplex[i, 2]
            m0, m1, m2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            origin_side = -(m0 * simplex[i, 0] + m1 * simplex[i, 1] + m2 * simplex[i, 2])
            other_side = (
                m0 * (simplex[other, 0] - simplex[i, 0])
                + m1 * (simplex[other, 1] - simplex[i, 1])
                + m2 * (simplex[other, 2] - simplex[i, 2])
            )
            if origin_side * other_side > 0.0:
                continue
            outside = True
            square, between = _triangle(simplex, i, j, k, scratch)
            if square < least:
                least = square
                first, second, third, corners = i, j, k, between
                for axis in range(3):
                    nearest[axis] = scratch[axis]
        if not outside:
            for axis in range(3):
                nearest[axis] = 0.0
            return 4
    kept = 0
    rows = (first, second, third)
    # Rows move up only, first to last, after sorting: none is overwritten before it is read.
    for row in range(4):
        for place in range(3):
            if rows[place] == row and corners & (1 << place):
                for column in range(4):
                    simplex[kept, column] = simplex[row, column]
                kept += 1
    return kept


@kernel
def corner_weights(simplex: np.ndarray, count: int) -> tuple[float, float, float]:
    """Weights of up to three corners whose sum is the point nearest to the origin, after :func:`reduce_simplex`."""
    if count == 1:
        return 1.0, 0.0, 0.0
    a0, a1, a2 = simplex[1, 0] - simplex[0, 0], simplex[1, 1] - simplex[0, 1], simplex[1, 2] - simplex[0, 2]
    aa = a0 * a0 + a1 * a1 + a2 * a2
    ax = -(a0 * simplex[0, 0] + a1 * simplex[0, 1] + a2 * simplex[0, 2])
    if count == 2:
        return 1.0 - ax / aa, ax / aa, 0.0
    b0, b1, b2 = simplex[2, 0] - simplex[0, 0], simplex[2, 1] - simplex[0, 1], simplex[2, 2] - simplex[0, 2]
    bb = b0 * b0 + b1 * b1 + b2 * b2
    bx = -(b0 * simplex[0, 0] + b1 * simplex[0, 1] + b2 * simplex[0, 2])
    ab = a0 * b0 + a1 * b1 + a2 * b2
    determinant = aa * bb - ab * ab
    s, t = (bb * ax - ab * bx) / determinant, (aa * bx - ab * ax) / determinant
    return 1.0 - s - t, s, t
