# SPDX-License-Identifier: Apache-2.0
"""Two-point boundary value problems with separated conditions, as all solvers here take them (section 2.25)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from humanoid_model.arrays import Reals


class BoundaryValueProblem(Protocol):
    """y' = Phi(y) on [0, 1], with conditions at 0 and at 1 that make up the dimension of y.

    Attributes:
        dimension: d of y.
        start_count: number of conditions at 0.
    """

    dimension: int
    start_count: int

    def rates(self, y: Reals) -> Reals:
        """(K, d) Phi at (K, d) points."""

    def rates_and_jacobian(self, y: Reals) -> tuple[Reals, Reals]:
        """(K, d) Phi and (K, d, d) its derivative."""

    def start(self, y: Reals) -> tuple[Reals, Reals]:
        """(start_count,) conditions at 0 for (d,) y, and their (start_count, d) derivative."""

    def end(self, y: Reals) -> tuple[Reals, Reals]:
        """(d - start_count,) conditions at 1, and their derivative."""


@dataclass(frozen=True, eq=False)
class BoundaryValueResult:
    """Outcome of the solver; the best iterate when it failed.

    Attributes:
        converged: whether residuals and conditions are within tolerances.
        message: why it stopped.
        mesh: (K,) nodes on [0, 1].
        y: (K, d) values.
        rates: (K, d) Phi there.
        residual: greatest relative residual.
        condition_residual: greatest violation of an end condition.
        newton_steps: in all.
        meshes: number of meshes tried.
        corrections: size of each Newton correction on the last mesh, relative.
    """

    converged: bool
    message: str
    mesh: Reals
    y: Reals
    rates: Reals
    residual: float
    condition_residual: float
    newton_steps: int
    meshes: int
    corrections: tuple[float, ...]

    def at(self, s: Reals) -> Reals:
        """(L, d) values of the piecewise cubic at s in [0, 1]."""
        return hermite(self.mesh, self.y, self.rates, s)


def hermite(mesh: Reals, y: Reals, rates: Reals, s: Reals) -> Reals:
    """(L, d) cubic Hermite interpolation."""
    interval = np.clip(np.searchsorted(mesh, s, side="right") - 1, 0, len(mesh) - 2)
    h = (mesh[interval + 1] - mesh[interval])[:, None]
    r = (s - mesh[interval])[:, None] / h
    return np.asarray(
        (1.0 + 2.0 * r) * (1.0 - r) ** 2 * y[interval]
        + r * (1.0 - r) ** 2 * h * rates[interval]
        + r**2 * (3.0 - 2.0 * r) * y[interval + 1]
        + r**2 * (r - 1.0) * h * rates[interval + 1]
    )
