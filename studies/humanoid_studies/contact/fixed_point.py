# SPDX-License-Identifier: Apache-2.0
"""Fixed point on the friction bounds with Tresca problems inside (FIXEDPOINT, specification 000 §10)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_sim.contact.cone import add_contact_force, contact_residuals

_INNER_SWEEPS = 100
_SECULAR_ITERATIONS = 50


@njit(cache=True, error_model="numpy")
def force_in_disc(
    A_11: float, A_12: float, A_22: float, b_1: float, b_2: float, radius: float
) -> tuple[float, float]:
    r"""Minimise :math:`\tfrac12 x^T A x + b^T x` over the disc :math:`\|x\| \le r`, A positive definite, shape (2, 2).

    Outside the disc the minimiser solves :math:`(A + \lambda I) x = -b`, with :math:`\lambda > 0` from
    :math:`\|x\| = r` by Newton's method on :math:`1/r - 1/\|x\|`, which converges from below without
    overshooting.
    """
    if radius <= 0.0:
        return 0.0, 0.0
    shift = 0.0
    x_1 = x_2 = 0.0
    for iteration in range(_SECULAR_ITERATIONS):
        a_11 = A_11 + shift
        a_22 = A_22 + shift
        determinant = a_11 * a_22 - A_12 * A_12
        x_1 = (A_12 * b_2 - a_22 * b_1) / determinant
        x_2 = (A_12 * b_1 - a_11 * b_2) / determinant
        norm = math.sqrt(x_1 * x_1 + x_2 * x_2)
        if norm <= radius * (1.0 + 1e-15) and iteration == 0:
            return x_1, x_2
        if norm <= radius * (1.0 + 1e-15):
            break
        # x^T (A + shift)^-1 x: derivative of the norm
        curvature = (a_22 * x_1 * x_1 - 2.0 * A_12 * x_1 * x_2 + a_11 * x_2 * x_2) / determinant
        shift += norm * norm / curvature * (norm - radius) / radius
    norm = math.sqrt(x_1 * x_1 + x_2 * x_2)
    return x_1 * radius / norm, x_2 * radius / norm


@njit(cache=True, error_model="numpy")
def fixed_point(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    r"""Outer loop on the bounds :math:`s_i = \mu_i f_{n,i}`, inner problems with these bounds held (Tresca friction).

    A Tresca problem is a convex quadratic programme on cylinders; Gauss-Seidel on its normal forces and tangential
    discs solves it, as far as the outer residual deserves. Haslinger's fixed point.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces, overwritten with the solution, shape (3m,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of inner sweeps in all.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of inner sweeps done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    m = mu.size
    contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:
        return 0
    bounds = np.empty(m)
    sweep = 0
    while sweep < max_iterations:
        for i in range(m):
            bounds[i] = mu[i] * max(f[3 * i], 0.0)
        wanted = max(0.1 * residuals[0], 0.1 * tolerance)
        for inner in range(_INNER_SWEEPS):
            if sweep == max_iterations:
                break
            sweep += 1
            change = 0.0
            scale = 0.0
            for i in range(m):
                k = 3 * i
                f_0, f_1, f_2 = f[k], f[k + 1], f[k + 2]
                f[k] = max(0.0, f_0 - v[k] / W[k, k])
                d_0 = f[k] - f_0
                f[k + 1], f[k + 2] = force_in_disc(
                    W[k + 1, k + 1],
                    W[k + 1, k + 2],
                    W[k + 2, k + 2],
                    v[k + 1] + W[k + 1, k] * d_0 - W[k + 1, k + 1] * f_1 - W[k + 1, k + 2] * f_2,
                    v[k + 2] + W[k + 2, k] * d_0 - W[k + 2, k + 1] * f_1 - W[k + 2, k + 2] * f_2,
                    bounds[i],
                )
                d_1, d_2 = f[k + 1] - f_1, f[k + 2] - f_2
                add_contact_force(W, k, d_0, d_1, d_2, v)
                change = max(change, abs(d_0), abs(d_1), abs(d_2))
                scale = max(scale, f[k], abs(f[k + 1]), abs(f[k + 2]))
            if inner > 0 and change <= wanted * scale:
                break
        contact_residuals(W, v_free, mu, f, v, residuals)
        if residuals[0] <= tolerance:
            break
    return sweep
