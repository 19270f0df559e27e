# SPDX-License-Identifier: Apache-2.0
"""Newton matrices of two-point boundary value problems in LAPACK's band storage."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from humanoid_model.arrays import Reals


class BandedNewton:
    """Start conditions, one block of rows for each interval between neighbouring nodes, end conditions.

    With separated conditions the matrix is banded, and LU with partial pivoting takes a time proportional to the nodes.

    Args:
        dimension: d of the values at a node.
        start_count: number of conditions at the start.
        nodes: K.
    """

    def __init__(self, dimension: int, start_count: int, nodes: int) -> None:
        d, first = dimension, start_count
        self._d, self._nodes = d, nodes
        self._lower = first + d - 1
        self._upper = max(2 * d - 1 - first, d - 1)
        self._store = np.zeros((2 * self._lower + self._upper + 1, nodes * d), order="F")
        top = self._lower + self._upper
        r, c = np.arange(d)[:, None], np.arange(2 * d)[None, :]
        self._rows = top + first + r - c
        self._columns = np.arange(nodes - 1)[:, None, None] * d + c[None]
        self._start_rows = top + np.arange(first)[:, None] - np.arange(d)[None, :]
        self._end_rows = top + first + np.arange(d - first)[:, None] - np.arange(d)[None, :]
        self._last = (nodes - 1) * d + np.arange(d)[None, :]

    def factorise(self, start: Reals, blocks: Reals, end: Reals) -> bool:
        """LU decomposition.

        Args:
            start: (start_count, d) derivative of the start conditions.
            blocks: (K - 1, d, 2d) derivatives of the equations of the intervals by both their nodes.
            end: (d - start_count, d) derivative of the end conditions.

        Returns:
            False where the matrix is singular or not finite.
        """
        ab = self._store
        ab[...] = 0.0
        ab[self._start_rows, np.arange(self._d)[None, :]] = start
        ab[self._rows[None], self._columns] = blocks
        ab[self._end_rows, self._last] = end
        self._lu, self._pivots, info = lapack.dgbtrf(ab, self._lower, self._upper, overwrite_ab=0)
        return bool(info == 0)

    def solve(self, residual: Reals) -> Reals:
        """(K, d) solution for a right-hand side (K d,)."""
        x, _ = lapack.dgbtrs(self._lu, self._lower, self._upper, residual, self._pivots)
        return np.asarray(x).reshape(self._nodes, self._d)
