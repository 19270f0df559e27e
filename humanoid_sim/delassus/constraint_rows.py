# SPDX-License-Identifier: Apache-2.0
"""Rows of a constraint Jacobian, each one a wrench on two bodies or the effort of one coordinate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ConstraintRows(NamedTuple):
    r"""Directions in which constraints act on a tree.

    A row is the relative twist of two bodies projected on a unit wrench, :math:`w\cdot(\varphi_a - \varphi_b)`, or the
    velocity of one coordinate. A contact has one such row per direction of its frame: with the point x and the
    direction d the wrench is :math:`(d;\ x\times d)` (specification 000 §11.1, :math:`X_c^T e_y`).

    Attributes:
        wrenches: unit wrenches at the world origin, force first; of a row that is an effort the first entry is its
            sign, 1 or -1, shape (rows, 6).
        joint_a: joint of the body on which the wrench acts, 0 for the world, shape (rows,).
        joint_b: joint of the body on which the opposite wrench acts, shape (rows,).
        dofs: velocity coordinate of a row that is an effort, -1 for a wrench, shape (rows,).
    """

    wrenches: NDArray[np.float64]
    joint_a: NDArray[np.int64]
    joint_b: NDArray[np.int64]
    dofs: NDArray[np.int64]

    @classmethod
    def of_size(cls, rows: int) -> ConstraintRows:
        """Room for so many rows."""
        return cls(
            np.zeros((rows, 6)),
            np.zeros(rows, dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
            np.full(rows, -1, dtype=np.int64),
        )
