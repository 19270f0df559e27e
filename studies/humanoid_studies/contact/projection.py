# SPDX-License-Identifier: Apache-2.0
"""Gauss-Seidel with the projection of De Saxcé and Feng at each contact (PROJECTION, specification 000 §10)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_sim.contact.cone import add_contact_force, contact_residuals, natural_map, project_on_cone

_WATCH = 20
"""Sweeps after which the residual must have fallen, else the steps are shortened."""


@njit(cache=True, error_model="numpy")
def projection(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    r"""One step :math:`f \leftarrow P_{K_\mu}(f - \rho(v + \mu\|v_t\| n))` per contact and sweep, newest forces first.

    The step :math:`\rho` is the inverse of a bound on the largest eigenvalue of the diagonal block. Cheap sweeps
    without any local solve, but many of them where the block's normal and tangential inertias differ. Source: G. de
    Saxcé, Z.-Q. Feng, "The bipotential method", Mathl. Comput. Modelling 28 (1998).

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
    steps = np.empty(m)
    for i in range(m):
        bound = 0.0
        for r in range(3 * i, 3 * i + 3):
            bound = max(bound, abs(W[r, 3 * i]) + abs(W[r, 3 * i + 1]) + abs(W[r, 3 * i + 2]))
        steps[i] = 1.0 / bound
    watched = residuals[0]
    sweep = 0
    while sweep < max_iterations:
        sweep += 1
        for i in range(m):
            k = 3 * i
            f_0, f_1, f_2 = f[k], f[k + 1], f[k + 2]
            rho = steps[i]
            slip = math.sqrt(v[k + 1] * v[k + 1] + v[k + 2] * v[k + 2])
            f[k], f[k + 1], f[k + 2] = project_on_cone(
                f_0 - rho * (v[k] + mu[i] * slip), f_1 - rho * v[k + 1], f_2 - rho * v[k + 2], mu[i]
            )
            add_contact_force(W, k, f[k] - f_0, f[k + 1] - f_1, f[k + 2] - f_2, v)
        residual = natural_map(W, v_free, mu, f, v)
        if residual <= tolerance:
            contact_residuals(W, v_free, mu, f, v, residuals)  # velocities anew, free of accumulated rounding
            if residuals[0] <= tolerance:
                return sweep
        if sweep % _WATCH == 0:
            if residual > watched:
                for i in range(m):
                    steps[i] *= 0.7
            watched = residual
    contact_residuals(W, v_free, mu, f, v, residuals)
    return sweep
