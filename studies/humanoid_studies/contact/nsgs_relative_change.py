# SPDX-License-Identifier: Apache-2.0
r"""The thesis' Algorithm 1 with its own stopping criterion, the relative change of the forces (equation 3.34).

To compare with: where convergence is slow the change is small far from the solution. The status that the user sees
is still that of the residual.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_sim.contact.cone import contact_residuals
from humanoid_sim.contact.nsgs import inverse_3x3, optimal_steps, solve_one_contact


@njit(cache=True, error_model="numpy")
def nsgs_relative_change(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    r"""Sweeps until :math:`\sum_i \|f_i^{k+1} - f_i^k\| / \|f_i^{k+1}\| < \epsilon`, without open contacts.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces, overwritten with the last iterate, shape (3m,).
        tolerance: bound on the sum of relative changes in a sweep, the thesis' :math:`\epsilon`.
        max_iterations: bound on the number of sweeps.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`~humanoid_sim.contact.cone.contact_residuals`, shape (5,).

    Returns:
        Number of sweeps done, at least one. The criterion says nothing about ``residuals[0]``.
    """
    m = mu.size
    inverses, steps = np.empty((m, 3, 3)), np.empty((m, 2))
    for i in range(m):
        block = W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        inverse_3x3(block, inverses[i])
        steps[i, 0], steps[i, 1] = optimal_steps(block)
    v_loc, before = np.empty(3), np.empty(3)
    sweep = 0
    while sweep < max_iterations:
        sweep += 1
        change = 0.0
        for i in range(m):
            k = 3 * i
            f_i = f[k : k + 3]
            for r in range(3):
                before[r] = f_i[r]
                local = v_free[k + r]
                for c in range(3 * m):
                    local += W[k + r, c] * f[c]
                for c in range(3):
                    local -= W[k + r, k + c] * f_i[c]
                v_loc[r] = local
            solve_one_contact(
                W[k : k + 3, k : k + 3], inverses[i], steps[i, 0], steps[i, 1], v_loc, mu[i], f_i
            )
            size = math.sqrt(f_i[0] ** 2 + f_i[1] ** 2 + f_i[2] ** 2)
            if size > 0.0:
                d_0, d_1, d_2 = f_i[0] - before[0], f_i[1] - before[1], f_i[2] - before[2]
                change += math.sqrt(d_0 * d_0 + d_1 * d_1 + d_2 * d_2) / size
        if change < tolerance:
            break
    contact_residuals(W, v_free, mu, f, v, residuals)
    return sweep
