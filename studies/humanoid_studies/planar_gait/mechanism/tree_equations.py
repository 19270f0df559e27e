# SPDX-License-Identifier: Apache-2.0
"""Equations of motion of a planar tree, one text for numbers and for expressions (specification 003 section 2.3).

What they are made of comes from the back ends, each in the way that is quick there: :class:`.PlanarTree` has complex
arrays over leading axes and LAPACK, :class:`.CasadiTree` entries that aren't zero and the factorisation written out.

With N_kj = Im(E_kj e^{i (q_j - q_k)}), N = -N^T, every derivative of the mass matrix is a product with one matrix:

    v^T M_{,k} v / 2 = v_k (N v)_k            sum_k v_k M_{,k} = diag(v) N - N diag(v)
"""

from __future__ import annotations

import abc
from typing import Any

Quantity = Any
"""A number, vector or matrix of a back end: arrays, or expressions. Python has no type of what can be multiplied."""


class TreeEquations(abc.ABC):
    """Equations (I.10) to (I.14) of a tree in terms of M, N, V and its gradient; vectors may have leading axes."""

    @abc.abstractmethod
    def mass_matrix(self, q: Quantity) -> Quantity:
        """(..., n, n) M(q), equation (I.32) [kg m²]; its diagonal is constant."""

    @abc.abstractmethod
    def turning_matrix(self, q: Quantity) -> Quantity:
        """(..., n, n) N_kj = Im(E_kj e^{i (phi_j - phi_k)}), antisymmetric: derivative of M_kj by the angle q_k."""

    @abc.abstractmethod
    def potential(self, q: Quantity) -> Quantity:
        """(...) potential energy of gravity, zero at Y = 0 [J]."""

    @abc.abstractmethod
    def potential_gradient(self, q: Quantity) -> Quantity:
        """(..., n) V_{,j} = g Re(nu_j e^{i phi_j}) [N m]."""

    @abc.abstractmethod
    def solve(self, q: Quantity, right: Quantity) -> Quantity:
        """(..., n) M(q)^-1 times a vector."""

    @abc.abstractmethod
    def _times(self, matrix: Quantity, vector: Quantity) -> Quantity:
        """(..., n) product of a matrix and a vector."""

    @abc.abstractmethod
    def _dot(self, first: Quantity, second: Quantity) -> Quantity:
        """(...) inner product."""

    @abc.abstractmethod
    def _angles(self, vector: Quantity) -> Quantity:
        """(..., n) a vector with 0 for translations."""

    @abc.abstractmethod
    def _commutator(self, diagonal: Quantity, matrix: Quantity) -> Quantity:
        """(..., n, n) diag(d) N - N diag(d)."""

    def momentum(self, q: Quantity, v: Quantity) -> Quantity:
        """(..., n) p = M v, equation (I.10)."""
        return self._times(self.mass_matrix(q), v)

    def velocity(self, q: Quantity, p: Quantity) -> Quantity:
        """(..., n) v = M^-1 p, equation (I.13)."""
        return self.solve(q, p)

    def hamiltonian(self, q: Quantity, p: Quantity) -> Quantity:
        """(...) p^T M^-1 p / 2 + V, equation (I.11) [J]."""
        return 0.5 * self._dot(p, self.velocity(q, p)) + self.potential(q)

    def momentum_rate(self, q: Quantity, v: Quantity) -> Quantity:
        """(..., n) v^T M_{,k} v / 2 - V_{,k}: the rate of the momenta without efforts, equation (I.14b)."""
        return self._angles(v * self._times(self.turning_matrix(q), v)) - self.potential_gradient(q)

    def free_rates(self, q: Quantity, p: Quantity) -> tuple[Quantity, Quantity]:
        """(..., n) each: q' = M^-1 p and p' of Hamilton's equations without efforts, equation (I.14)."""
        v = self.velocity(q, p)
        return v, self.momentum_rate(q, v)

    def mass_rate(self, q: Quantity, v: Quantity) -> Quantity:
        """(..., n, n) time derivative of M along velocities v: diag(v) N - N diag(v) on the angles."""
        return self._commutator(self._angles(v), self.turning_matrix(q))

    def acceleration(self, q: Quantity, v: Quantity, momentum_rate: Quantity) -> Quantity:
        """(..., n) v' = M^-1 (p' - M' v) for a given total rate of the momenta."""
        return self.solve(q, momentum_rate - self._times(self.mass_rate(q, v), v))
