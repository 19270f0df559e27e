# SPDX-License-Identifier: Apache-2.0
"""A point of a planar tree: its place, Jacobian and curvature as functions of the coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class PlanarPoint:
    """r(q) = origin + sum_j c_j e^{i q_j} (+ translations), with constant complex c_j (specification 003 section 2.3).

    A coordinate that is a translation along the constant direction i e^{i phase_j} adds i c_j e^{i phase_j} q_j.

    Attributes:
        origin: part that doesn't move [m].
        coefficients: (n,) complex c_j [m; 1 for translations].
        turning: (n,) whether coordinate j is an angle.
        phase: (n,) constant phase of the translations [rad].
    """

    origin: complex
    coefficients: Complex
    turning: NDArray[np.bool_]
    phase: Array

    def _moving(self, q: ArrayLike) -> Complex:
        """(..., n) c_j e^{i phi_j}."""
        angles = np.where(self.turning, np.asarray(q, dtype=float), self.phase)
        return np.asarray(self.coefficients * np.exp(1j * angles))

    def position(self, q: ArrayLike) -> Array:
        """(..., 2) place at coordinates (..., n) [m]."""
        moving = self._moving(q)
        terms = np.where(self.turning, moving, 1j * moving * np.asarray(q, dtype=float))
        place = self.origin + terms.sum(axis=-1)
        return np.stack([place.real, place.imag], axis=-1)

    def jacobian(self, q: ArrayLike) -> Array:
        """(..., 2, n) derivative of the place by the coordinates."""
        columns = 1j * self._moving(q)
        return np.stack([columns.real, columns.imag], axis=-2)

    def bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """(..., 2) acceleration at zero second derivatives of the coordinates: v^T H v [m/s²]."""
        terms = np.where(self.turning, -self._moving(q) * np.asarray(v, dtype=float) ** 2, 0.0)
        total = terms.sum(axis=-1)
        return np.stack([total.real, total.imag], axis=-1)

    def hessian(self, q: ArrayLike) -> Array:
        """(..., 2, n) diagonals of the two Hessians: absolute angles don't mix."""
        diagonal = np.where(self.turning, -self._moving(q), 0.0)
        return np.stack([diagonal.real, diagonal.imag], axis=-2)

    def minus(self, other: PlanarPoint) -> PlanarPoint:
        """Return the vector from another point of the same tree to this one; its ``position`` is that vector."""
        return PlanarPoint(self.origin - other.origin, self.coefficients - other.coefficients, self.turning, self.phase)
