# SPDX-License-Identifier: Apache-2.0
"""Coulomb cone, projections onto it and the residuals of a frictional contact problem.

Contact vectors are ordered (n, t1, t2). The cone of a contact is
:math:`K_\\mu = \\{f : \\|f_t\\| \\le \\mu f_n\\}`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def project_on_cone(f_n: float, f_t1: float, f_t2: float, mu: float) -> tuple[float, float, float]:
    """Euclidean projection of one contact vector onto its Coulomb cone (specification 000 §10)."""
    norm_t = math.hypot(f_t1, f_t2)
    if norm_t <= mu * f_n:
        return f_n, f_t1, f_t2
    if mu * norm_t <= -f_n:
        return 0.0, 0.0, 0.0
    n = (f_n + mu * norm_t) / (1.0 + mu * mu)
    scale = mu * n / norm_t
    return n, scale * f_t1, scale * f_t2


@njit(cache=True)
def contact_residuals(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Residuals of ``f`` as a solution of ``v = W f + v_free`` with Coulomb friction.

    Args:
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: contact forces or impulses, shape (3m,).
        v: receives the contact velocities ``W f + v_free``, shape (3m,).
        out: receives (natural map relative to the largest force, complementarity
            :math:`\\max |f_n v_n|`, cone violation, maximum-dissipation gap
            :math:`\\max(\\mu f_n\\|v_t\\| + f_t\\cdot v_t)`, approach velocity
            :math:`\\max(-v_n)^+`), shape (5,).

    The natural map is :math:`f - P_{K_\\mu}(f - \\rho (v + \\mu\\|v_t\\| n))` of De Saxcé and Feng,
    zero exactly at the solutions of the Signorini-Coulomb problem, with
    :math:`\\rho = 3 / \\mathrm{tr}\\,W_{ii}` so that it is a force.
    """
    m = mu.size
    natural = 0.0
    largest = 0.0
    complementarity = 0.0
    cone = 0.0
    dissipation = 0.0
    approach = 0.0
    for r in range(3 * m):
        s = v_free[r]
        for c in range(3 * m):
            s += W[r, c] * f[c]
        v[r] = s
    for i in range(m):
        k = 3 * i
        f_n, f_1, f_2 = f[k], f[k + 1], f[k + 2]
        v_n, v_1, v_2 = v[k], v[k + 1], v[k + 2]
        slip = math.hypot(v_1, v_2)
        rho = 3.0 / (W[k, k] + W[k + 1, k + 1] + W[k + 2, k + 2])
        p_n, p_1, p_2 = project_on_cone(
            f_n - rho * (v_n + mu[i] * slip), f_1 - rho * v_1, f_2 - rho * v_2, mu[i]
        )
        r_i = math.sqrt((f_n - p_n) ** 2 + (f_1 - p_1) ** 2 + (f_2 - p_2) ** 2)
        natural = max(natural, r_i)
        # The scale is the force that would stop the free motion, so that a problem whose answer is
        # (nearly) zero force is not judged by rounding errors.
        free = math.sqrt(v_free[k] ** 2 + v_free[k + 1] ** 2 + v_free[k + 2] ** 2)
        largest = max(largest, math.sqrt(f_n * f_n + f_1 * f_1 + f_2 * f_2), rho * free)
        complementarity = max(complementarity, abs(f_n * v_n))
        cone = max(cone, math.hypot(f_1, f_2) - mu[i] * f_n, -f_n)
        dissipation = max(dissipation, abs(mu[i] * f_n * slip + f_1 * v_1 + f_2 * v_2))
        approach = max(approach, -v_n)
    out[0] = natural / largest if largest > 0.0 else 0.0
    out[1] = complementarity
    out[2] = cone
    out[3] = dissipation
    out[4] = approach
