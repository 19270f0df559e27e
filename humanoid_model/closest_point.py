# SPDX-License-Identifier: Apache-2.0
"""The point of a triangle closest to another point."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def closest_on_triangle(a: np.ndarray, b: np.ndarray, c: np.ndarray, x: np.ndarray, weights: np.ndarray) -> float:
    """Return the point of a triangle closest to ``x`` (Ericson, Real-Time Collision Detection, §5.1.5).

    The weights come from areas, so that triangles whose plane contains the origin are as good as others; thesis
    equation (4.25) divides by zero there.

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
    vc = d1 * d4 - d3 * d2
    vb = d5 * d2 - d1 * d6
    va = d3 * d6 - d5 * d4
    v = w = 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        pass
    elif d3 >= 0.0 and d4 <= d3:
        v = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        w = 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v = 1.0 - w
    else:
        area = va + vb + vc
        v = vb / area
        w = vc / area
    weights[0] = 1.0 - v - w
    weights[1] = v
    weights[2] = w
    distance = 0.0
    for r in range(3):
        distance += (x[r] - weights[0] * a[r] - v * b[r] - w * c[r]) ** 2
    return distance
