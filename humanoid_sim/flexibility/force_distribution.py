# SPDX-License-Identifier: Apache-2.0
"""A force at a point of a triangle, shared among its three nodes (specification 000 §18)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.closest_point import closest_on_triangle
from humanoid_model.errors import InputError


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
