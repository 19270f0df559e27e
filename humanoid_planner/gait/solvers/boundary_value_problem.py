# SPDX-License-Identifier: Apache-2.0
"""Two-point boundary value problems with separated conditions, as all solvers here take them (section 2.25)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]


class BoundaryValueProblem(Protocol):
    """y' = Phi(y) on [0, 1], with conditions at 0 and at 1 that make up the dimension of y.

    Attributes:
        dimension: d of y.
        start_count: number of conditions at 0.
    """

    dimension: int
    start_count: int

    def rates(self, y: Real) -> Real:
        """(K, d) Phi at (K, d) points."""

    def rates_and_jacobian(self, y: Real) -> tuple[Real, Real]:
        """(K, d) Phi and (K, d, d) its derivative."""

    def start(self, y: Real) -> tuple[Real, Real]:
        """(start_count,) conditions at 0 for (d,) y, and their (start_count, d) derivative."""

    def end(self, y: Real) -> tuple[Real, Real]:
        """(d - start_count,) conditions at 1, and their derivative."""
