# SPDX-License-Identifier: Apache-2.0
"""The big sphere over a face: radius R, touching three small spheres of radius r from outside."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def big_sphere_centre(p1: np.ndarray, p2: np.ndarray, p3: np.ndarray, radius: float, centre: np.ndarray) -> bool:
    """Return the centre of the sphere through three points, below the face that they make ((4.8), (4.9)).

    The equations start at an end of the shortest edge: the differences of near points are exact.

    Args:
        p1: first vertex, shape (3,); the three are counter-clockwise seen from outside.
        p2: second vertex.
        p3: third vertex.
        radius: of the sphere, R - r [m].
        centre: written, shape (3,).

    Returns:
        False when the points are on a line, or too far from each other for that radius.
    """
    d12 = (p2[0] - p1[0]) ** 2 + (p2[1] - p1[1]) ** 2 + (p2[2] - p1[2]) ** 2
    d23 = (p3[0] - p2[0]) ** 2 + (p3[1] - p2[1]) ** 2 + (p3[2] - p2[2]) ** 2
    d31 = (p1[0] - p3[0]) ** 2 + (p1[1] - p3[1]) ** 2 + (p1[2] - p3[2]) ** 2
    if d23 < d12 and d23 <= d31:
        p1, p2, p3 = p2, p3, p1
    elif d31 < d12:
        p1, p2, p3 = p3, p1, p2
    u0, u1, u2 = p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]
    v0, v1, v2 = p3[0] - p1[0], p3[1] - p1[1], p3[2] - p1[2]
    w0, w1, w2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    uu = u0 * u0 + u1 * u1 + u2 * u2
    vv = v0 * v0 + v1 * v1 + v2 * v2
    uv = u0 * v0 + u1 * v1 + u2 * v2
    ww = w0 * w0 + w1 * w1 + w2 * w2
    if ww <= 1e-30 * uu * vv:
        return False
    alpha = (uu * vv - uv * vv) / (2.0 * ww)
    beta = (uu * vv - uv * uu) / (2.0 * ww)
    rest = radius * radius - (alpha * alpha * uu + beta * beta * vv + 2.0 * alpha * beta * uv)
    if rest < 0.0:
        return False
    gamma = -math.sqrt(rest / ww)
    centre[0] = p1[0] + alpha * u0 + beta * v0 + gamma * w0
    centre[1] = p1[1] + alpha * u1 + beta * v1 + gamma * w1
    centre[2] = p1[2] + alpha * u2 + beta * v2 + gamma * w2
    return True


def big_sphere(triangle: NDArray[np.float64], r: float, R: float) -> NDArray[np.float64] | None:
    """Return the centre of a face's big sphere, shape (3,); None when there is no such sphere.

    Args:
        triangle: vertices counter-clockwise seen from outside, shape (3, 3) [m].
        r: radius of the small spheres [m].
        R: radius of the big sphere [m].
    """
    centre = np.empty(3)
    corners = np.ascontiguousarray(triangle, dtype=np.float64)
    return centre if big_sphere_centre(corners[0], corners[1], corners[2], R - r, centre) else None
