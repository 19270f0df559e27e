# SPDX-License-Identifier: Apache-2.0
"""The point of a triangle closest to another point."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def triangle_weights(
    d1: float, d2: float, d3: float, d4: float, d5: float, d6: float
) -> tuple[float, float, float, int]:
    """Return where on a triangle the point closest to ``x`` lies (Ericson, Real-Time Collision Detection, §5.1.5).

    The weights come from areas, so that triangles whose plane contains the origin are as good as others; thesis
    equation (4.25) divides by zero there.

    Args:
        d1: (b - a)·(x - a) [m^2].
        d2: (c - a)·(x - a).
        d3: (b - a)·(x - b).
        d4: (c - a)·(x - b).
        d5: (b - a)·(x - c).
        d6: (c - a)·(x - c).

    Returns:
        Weights of a, b and c, 0 or more, sum 1; the corners that it lies between, as bits 1, 2 and 4. The weights of
        the others are exactly 0.
    """
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0, 1
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0, 2
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0, 4
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        return 1.0 - v, v, 0.0, 3
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        return 1.0 - w, 0.0, w, 5
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - w, w, 6
    area = va + vb + vc
    v, w = vb / area, vc / area
    return 1.0 - v - w, v, w, 7


@njit(cache=True, error_model="numpy")
def closest_on_triangle(a: np.ndarray, b: np.ndarray, c: np.ndarray, x: np.ndarray, weights: np.ndarray) -> float:
    """Return the point of a triangle closest to ``x``, by :func:`triangle_weights`.

    Args:
        a: corner [m], shape (3,).
        b: corner, shape (3,).
        c: corner, shape (3,).
        x: any point, shape (3,).
        weights: receives the barycentric weights of the closest point, 0 or more, sum 1, shape (3,).

    Returns:
        Squared distance [m^2].
    """
    d1 = d2 = d3 = d4 = d5 = d6 = 0.0
    for r in range(3):
        ab = b[r] - a[r]
        ac = c[r] - a[r]
        d1 += ab * (x[r] - a[r])
        d2 += ac * (x[r] - a[r])
        d3 += ab * (x[r] - b[r])
        d4 += ac * (x[r] - b[r])
        d5 += ab * (x[r] - c[r])
        d6 += ac * (x[r] - c[r])
    weights[0], weights[1], weights[2], _ = triangle_weights(d1, d2, d3, d4, d5, d6)
    distance = 0.0
    for r in range(3):
        distance += (x[r] - weights[0] * a[r] - weights[1] * b[r] - weights[2] * c[r]) ** 2
    return distance
