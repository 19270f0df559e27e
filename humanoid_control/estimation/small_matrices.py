# SPDX-License-Identifier: Apache-2.0
"""Products of 3 x 3 matrices in kernels, written where the caller wants them."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import uncounted


@uncounted()
def copy_matrix(A: np.ndarray, out: np.ndarray) -> None:
    """Write A into ``out``; 3 x 3."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, j]


@uncounted()
def multiply(A: np.ndarray, B: np.ndarray, factor: float, out: np.ndarray) -> None:
    """Write A B times a factor; 3 x 3, ``out`` is neither."""
    for i in range(3):
        for j in range(3):
            out[i, j] = factor * (A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j])


@uncounted()
def add_cross(a: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """Add [a]x B to ``out``; 3 x 3."""
    for j in range(3):
        out[0, j] += a[1] * B[2, j] - a[2] * B[1, j]
        out[1, j] += a[2] * B[0, j] - a[0] * B[2, j]
        out[2, j] += a[0] * B[1, j] - a[1] * B[0, j]
