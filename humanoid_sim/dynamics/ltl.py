# SPDX-License-Identifier: Apache-2.0
"""Factorisation :math:`H = L^T D L` of a joint-space inertia that keeps the zeros of the tree.

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, §6.5. Column k of L holds only the ancestors of
coordinate k, so that a vector supported by one branch stays on it: that is what makes the
Delassus operator of a few contacts cheap on a large robot.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def factorize(H: np.ndarray, dof_parent: np.ndarray) -> None:
    """Factorise in place.

    Args:
        H: symmetric positive definite matrix of which only entries ``[k, j]`` with j an ancestor of k (or k itself)
            are read; overwritten with D on the diagonal and the unit lower-triangular L below it, shape (nv, nv).
        dof_parent: parent coordinate of each coordinate, -1 at a root, shape (nv,).
    """
    for k in range(dof_parent.size - 1, -1, -1):
        d = H[k, k]
        i = dof_parent[k]
        while i >= 0:
            a = H[k, i] / d
            j = i
            while j >= 0:
                H[i, j] -= a * H[k, j]
                j = dof_parent[j]
            H[k, i] = a
            i = dof_parent[i]


@njit(cache=True)
def solve(factor: np.ndarray, dof_parent: np.ndarray, x: np.ndarray) -> None:
    """Overwrite ``x`` with :math:`H^{-1} x`.

    Args:
        factor: output of :func:`factorize`, shape (nv, nv).
        dof_parent: parent coordinates, shape (nv,).
        x: right-hand side and solution, shape (nv,).
    """
    n = dof_parent.size
    for k in range(n - 1, -1, -1):
        s = x[k]
        if s != 0.0:
            j = dof_parent[k]
            while j >= 0:
                x[j] -= factor[k, j] * s
                j = dof_parent[j]
    for k in range(n):
        s = x[k] / factor[k, k]
        j = dof_parent[k]
        while j >= 0:
            s -= factor[k, j] * x[j]
            j = dof_parent[j]
        x[k] = s
