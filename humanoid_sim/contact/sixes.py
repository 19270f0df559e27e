# SPDX-License-Identifier: Apache-2.0
"""Rows of six numbers in registers: what bodies' blocks of 6 x 6 are multiplied by.

Through arrays the compiler has to fear that each number it writes is one that it reads next, and neither keeps them nor
treats several at once. Rows that are read whole before any is written take a third of the time.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import FAST

Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]


@uncounted()
def row_of(A: np.ndarray, r: int) -> Six:
    """Return row r of A, shape (any, 6)."""
    return A[r, 0], A[r, 1], A[r, 2], A[r, 3], A[r, 4], A[r, 5]


@uncounted()
def set_row(A: np.ndarray, r: int, row: Six) -> None:
    """Write row r of A, shape (any, 6)."""
    A[r, 0], A[r, 1], A[r, 2], A[r, 3], A[r, 4], A[r, 5] = row


@uncounted(fastmath=FAST)
def scale(a: float, x: Six) -> Six:
    """Return a x."""
    return a * x[0], a * x[1], a * x[2], a * x[3], a * x[4], a * x[5]


@uncounted(fastmath=FAST)
def weigh_three(a: float, x: Six, b: float, y: Six, c: float, z: Six) -> Six:
    """Return a x + b y + c z."""
    return (
        a * x[0] + b * y[0] + c * z[0],
        a * x[1] + b * y[1] + c * z[1],
        a * x[2] + b * y[2] + c * z[2],
        a * x[3] + b * y[3] + c * z[3],
        a * x[4] + b * y[4] + c * z[4],
        a * x[5] + b * y[5] + c * z[5],
    )


@uncounted(fastmath=FAST)
def add(x: Six, sign: float, y: Six) -> Six:
    """Return x + sign y."""
    return (
        x[0] + sign * y[0], x[1] + sign * y[1], x[2] + sign * y[2],
        x[3] + sign * y[3], x[4] + sign * y[4], x[5] + sign * y[5],
    )  # fmt: skip


@uncounted(fastmath=FAST)
def dot(x: Six, y: Six) -> float:
    """Return the sum of the products."""
    return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5])


@uncounted(fastmath=FAST)
def times(A: np.ndarray, x: Six) -> Six:
    """Return A x, shape (6, 6)."""
    return (
        dot(row_of(A, 0), x), dot(row_of(A, 1), x), dot(row_of(A, 2), x),
        dot(row_of(A, 3), x), dot(row_of(A, 4), x), dot(row_of(A, 5), x),
    )  # fmt: skip


@uncounted()
def rows_of(A: np.ndarray) -> tuple[Six, Six, Six, Six, Six, Six]:
    """Return all rows of A, shape (6, 6)."""
    return row_of(A, 0), row_of(A, 1), row_of(A, 2), row_of(A, 3), row_of(A, 4), row_of(A, 5)


@uncounted(fastmath=FAST)
def weigh_six(weights: Six, rows: tuple[Six, Six, Six, Six, Six, Six]) -> Six:
    """Return the sum of the rows times the weights."""
    first = weigh_three(weights[0], rows[0], weights[1], rows[1], weights[2], rows[2])
    return add(first, 1.0, weigh_three(weights[3], rows[3], weights[4], rows[4], weights[5], rows[5]))


@uncounted(fastmath=FAST)
def moved_twist(twist: Six, d: Three) -> Six:
    """Return a twist, velocity first, at a point that is away by d."""
    x, y, z = twist[3], twist[4], twist[5]
    v_x, v_y, v_z = y * d[2] - z * d[1], z * d[0] - x * d[2], x * d[1] - y * d[0]
    return twist[0] + v_x, twist[1] + v_y, twist[2] + v_z, x, y, z


@uncounted(fastmath=FAST)
def moved_wrench(wrench: Six, d: Three) -> Six:
    """Return a wrench, force first, about a point from which the old one is away by d."""
    x, y, z = wrench[0], wrench[1], wrench[2]
    n_x, n_y, n_z = d[1] * z - d[2] * y, d[2] * x - d[0] * z, d[0] * y - d[1] * x
    return x, y, z, wrench[3] + n_x, wrench[4] + n_y, wrench[5] + n_z
