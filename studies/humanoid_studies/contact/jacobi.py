# SPDX-License-Identifier: Apache-2.0
"""Block Jacobi on contacts with exact Coulomb cones (specification 000 §6.6, thesis equation 2.40)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_sim.contact.cone import block_inverse, contact_residuals, contact_velocity, natural_map
from humanoid_sim.contact.nsgs import optimal_steps, solve_one_contact

_POWER_ITERATIONS = 15
_WATCH = 10
"""Sweeps after which the residual must have fallen, else the relaxation is halved."""


@njit(cache=True, error_model="numpy")
def _largest_coupling(W: np.ndarray, inverses: np.ndarray) -> float:
    """Largest eigenvalue of the Delassus operator relative to its diagonal blocks, by power iteration."""
    n = W.shape[0]
    x = np.empty(n)
    y = np.empty(n)
    for r in range(n):
        x[r] = 1.0 + 0.1 * math.sin(1.0 + 7.0 * r)  # no eigenvector of a symmetric mechanism is orthogonal to it
    value = 1.0
    zero = np.zeros(n)
    for _ in range(_POWER_ITERATIONS):
        norm = 0.0
        for r in range(n):
            norm = max(norm, abs(x[r]))
        for r in range(n):
            x[r] /= norm
        contact_velocity(W, zero, x, y)
        value = 0.0
        for i in range(n // 3):
            for r in range(3):
                x[3 * i + r] = (
                    inverses[i, r, 0] * y[3 * i]
                    + inverses[i, r, 1] * y[3 * i + 1]
                    + inverses[i, r, 2] * y[3 * i + 2]
                )
                value = max(value, abs(x[3 * i + r]))
    return value


@njit(cache=True, error_model="numpy")
def jacobi(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    r"""Sweeps in which every contact is solved exactly with the old forces of the others.

    The plain iteration diverges unless the diagonal blocks dominate, which those of several contacts on one body never
    do: the new forces are therefore under-relaxed by :math:`\omega = 1/\lambda`, the largest eigenvalue of the
    Delassus operator relative to its blocks, with which it converges for any number of contacts; where
    friction spoils that, :math:`\omega` is halved until the residual falls.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces, overwritten with the solution, shape (3m,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of sweeps.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of sweeps done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    m = mu.size
    contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:
        return 0
    inverses = np.empty((m, 3, 3))
    for i in range(m):
        block_inverse(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3], inverses[i])
    omega = min(1.0, 1.0 / _largest_coupling(W, inverses))
    v_loc = np.empty(3)
    new = np.empty(3 * m)
    watched = residuals[0]
    sweep = 0
    while sweep < max_iterations:
        sweep += 1
        for i in range(m):
            k = 3 * i
            for r in range(3):
                v_loc[r] = (
                    v[k + r] - W[k + r, k] * f[k] - W[k + r, k + 1] * f[k + 1] - W[k + r, k + 2] * f[k + 2]
                )
                new[k + r] = f[k + r]
            block = W[k : k + 3, k : k + 3]
            rho_n, rho_t = optimal_steps(block)
            solve_one_contact(block, inverses[i], rho_n, rho_t, v_loc, mu[i], new[k : k + 3])
        for r in range(3 * m):
            f[r] += omega * (new[r] - f[r])
        contact_velocity(W, v_free, f, v)
        residual = natural_map(W, v_free, mu, f, v)
        if residual <= tolerance:
            break
        if sweep % _WATCH == 0:
            if residual > watched:
                omega *= 0.5
            watched = residual
    contact_residuals(W, v_free, mu, f, v, residuals)
    return sweep
