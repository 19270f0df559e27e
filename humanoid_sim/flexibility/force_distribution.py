# SPDX-License-Identifier: Apache-2.0
"""A force at a point of a triangle, shared among its three nodes (specification 000 §18)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError


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


def barycentric_weights(triangles: ArrayLike, points: ArrayLike) -> NDArray[np.float64]:
    """Return weights of the points of triangles closest to given points.

    Args:
        triangles: corners [m], shape (m, 3, 3).
        points: shape (m, 3).

    Returns:
        Weights that sum to 1, shape (m, 3).

    Raises:
        InputError: wrong shapes, numbers that are not finite, a triangle without area.
    """
    corners, x = np.asarray(triangles, dtype=float), np.asarray(points, dtype=float)
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or x.shape != (len(corners), 3):
        raise InputError(
            f"triangles have shape {corners.shape}, points {x.shape}",
            element="triangles",
            remedy="Give (m, 3, 3) and (m, 3)",
        )
    if not (np.all(np.isfinite(corners)) and np.all(np.isfinite(x))):
        raise InputError("a coordinate is not finite", element="triangles", remedy="Give finite positions")
    edges = corners[:, [1, 2]] - corners[:, [0, 0]]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    flat = area <= 1e-12 * np.max(np.sum(edges**2, axis=2), axis=1, initial=0.0)
    if np.any(flat):
        raise InputError(
            f"triangle {int(np.argmax(flat))} has no area", element="triangles", remedy="Give three corners apart"
        )
    weights = np.empty((len(corners), 3))
    for triangle, point, row in zip(corners, x, weights, strict=True):
        closest_on_triangle(triangle[0], triangle[1], triangle[2], point, row)
    return weights


def distribution_matrix(nodes: NDArray[np.int64], weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    r"""Matrix P with :math:`u_p = P\,U` and :math:`F = P^T f_p` (thesis equations 4.27 to 4.29).

    Sum and moment of the forces are kept: each weight is that of the point between the nodes.

    Args:
        nodes: of the triangle of each contact point, shape (m, 3).
        weights: barycentric weights of each contact point, shape (m, 3).
        count: number of nodes in U.

    Returns:
        Shape (3m, 3 count).
    """
    P = np.zeros((len(nodes), 3, count, 3))
    for i, (triangle, row) in enumerate(zip(nodes, weights, strict=True)):
        for node, weight in zip(triangle, row, strict=True):
            P[i, :, node, :] += weight * np.eye(3)
    return P.reshape(3 * len(nodes), 3 * count)
