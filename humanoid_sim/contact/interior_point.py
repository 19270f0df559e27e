# SPDX-License-Identifier: Apache-2.0
r"""Primal-dual interior-point method on the Coulomb cones, for problems on which sweeps and Newton's method get stuck.

With De Saxcé's term :math:`s_i = \|v_{t,i}\|` held, the contact problem is a convex programme on second-order cones:
:math:`K_\mu \ni f \perp W f + v_{free} + \mu s n \in K_\mu^*`. Each iteration is one step of Mehrotra's
predictor-corrector with Nesterov-Todd scaling on that programme, after which s is taken anew. Its linear
systems, the Delassus operator plus a positive definite block per contact, are regular however redundant the
contacts, and heavy bodies on light ones hardly cost it more iterations. Sources: V. Acary, F. Cadoux, C. Lemaréchal, J.
Malick, ZAMM 91 (2011) for the convex programme; L. Vandenberghe, "The CVXOPT linear and quadratic cone program
solvers" (2010) for the scaling.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.tree.articulated_body import FAST
from humanoid_sim.contact.cone import contact_residuals, copy_vector
from humanoid_sim.contact.cone_path import (
    add_de_saxce,
    aim,
    centring,
    complete_step,
    scale_cones,
    scale_contact,
    start_path,
)

_STALL = 40
"""Iterations without a better residual after which the method ends: rounding leaves no more to gain."""
_MIN_PIVOT = 1e-14
"""Relative to the diagonal; smaller ones are rounding, of forces that only shift along self-stresses."""


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
def _factor(K: np.ndarray, n: int) -> None:
    """Cholesky factor of a positive definite matrix in its lower triangle, in place."""
    for c in range(n):
        row_c = K[c]
        value = row_c[c]
        smallest = _MIN_PIVOT * value
        for j in range(c):
            value -= row_c[j] * row_c[j]
        if not value > smallest:
            value = 1e100  # that unknown stays as it is
        pivot = math.sqrt(value)
        row_c[c] = pivot
        inverse = 1.0 / pivot
        r = c + 1
        while r + 3 < n:  # four rows at once: each number of row c is read once for all of them
            row_0, row_1, row_2, row_3 = K[r], K[r + 1], K[r + 2], K[r + 3]
            dot_0, dot_1, dot_2, dot_3 = row_0[c], row_1[c], row_2[c], row_3[c]
            for j in range(c):
                dot_0 -= row_0[j] * row_c[j]
                dot_1 -= row_1[j] * row_c[j]
                dot_2 -= row_2[j] * row_c[j]
                dot_3 -= row_3[j] * row_c[j]
            row_0[c], row_1[c], row_2[c], row_3[c] = dot_0 * inverse, dot_1 * inverse, dot_2 * inverse, dot_3 * inverse
            r += 4
        while r < n:
            row_r = K[r]
            dot = row_r[c]
            for j in range(c):
                dot -= row_r[j] * row_c[j]
            row_r[c] = dot * inverse
            r += 1


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
def _substitute(L: np.ndarray, n: int, b: np.ndarray) -> None:
    """Solve L L^T x = b in place."""
    for r in range(n):
        value = b[r]
        for j in range(r):
            value -= L[r, j] * b[j]
        b[r] = value / L[r, r]
    for r in range(n - 1, -1, -1):
        b[r] /= L[r, r]
        for j in range(r):
            b[j] -= L[r, j] * b[r]


@apart(error_model="numpy")
def interior_point(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """Interior-point iterations from the cones' axes; the initial forces are only kept if nothing better is found.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: forces, overwritten with the best ones found, shape (3m,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of linear systems factorised.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of iterations done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    m = mu.size
    n = 3 * m
    contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:
        return 0
    best = f.copy()
    best_residual = residuals[0]

    # Variables in which every cone is the standard one and every block of the operator about 1:
    # x = P f, y = P^-1 (v + mu s n), P = diag(mu, 1, 1) / d. Without friction only the first of the three remains.
    P = np.empty(n)
    for k in range(0, n, 3):
        scale_contact(W[k : k + 3, k : k + 3], mu[k // 3], P[k : k + 3])
    H = np.empty((n, n))
    q = np.empty(n)
    size = 0.0
    for r in range(n):
        inverse_r = 1.0 / P[r] if P[r] > 0.0 else 0.0
        q[r] = v_free[r] * inverse_r
        size = max(size, abs(q[r]))
        for c in range(n):
            H[r, c] = W[r, c] * inverse_r / P[c] if P[c] > 0.0 else 0.0
    path = start_path(P, size)
    x, y, dx, dy = path.x, path.y, path.dx, path.dy
    K = np.empty((n, n))
    iteration = 0
    stalled = 0
    while iteration < max_iterations and stalled < _STALL:
        iteration += 1
        gap = scale_cones(path)
        for r in range(n):
            value = y[r] - q[r]
            for c in range(n):
                value -= H[r, c] * x[c]
                K[r, c] = H[r, c]
            path.defect[r] = value
        power = add_de_saxce(path, 1.0)
        for i in range(m):
            for r in range(3):
                for c in range(3):
                    K[3 * i + r, 3 * i + c] += path.scaling[i, r, c]
        _factor(K, n)
        sigma, alpha = 0.0, 0.0
        for stage in range(2):  # predictor towards the boundary, corrector towards the central path
            aim(path, stage, sigma * gap)
            copy_vector(path.rhs, dx)
            _substitute(K, n, dx)
            alpha = complete_step(path)
            if stage == 0:
                sigma = centring(alpha, power, gap, m)
        for r in range(n):
            x[r] += alpha * dx[r]
            y[r] += alpha * dy[r]
        if not math.isfinite(alpha):
            break
        for r in range(n):
            f[r] = x[r] / P[r] if P[r] > 0.0 else 0.0
        contact_residuals(W, v_free, mu, f, v, residuals)
        stalled += 1
        if residuals[0] < best_residual:
            if residuals[0] < 0.9 * best_residual:
                stalled = 0
            best_residual = residuals[0]
            copy_vector(f, best)
        if residuals[0] <= tolerance:
            break
    copy_vector(best, f)
    contact_residuals(W, v_free, mu, f, v, residuals)
    return iteration
