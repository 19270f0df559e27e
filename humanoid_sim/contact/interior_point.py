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
from numba import njit

from humanoid_model.apart import apart
from humanoid_sim.contact.cone import contact_residuals, copy_vector
from humanoid_sim.dynamics.articulated_body import FAST

BOUNDARY = 0.995
"""Share of the way to the cone's boundary that a step may go."""
TIE = 0.1
"""Share of the power that the change of De Saxcé's term amounts to, below which complementarity isn't pressed."""
_STALL = 40
"""Iterations without a better residual after which the method ends: rounding leaves no more to gain."""
_MIN_PIVOT = 1e-14
"""Relative to the diagonal; smaller ones are rounding, of forces that only shift along self-stresses."""


@njit(cache=True, error_model="numpy")
def nesterov_todd(x: np.ndarray, y: np.ndarray, scaling: np.ndarray, root: np.ndarray) -> None:
    r"""Nesterov-Todd scaling of two points inside the second-order cone of dimension 3.

    Args:
        x: shape (3,).
        y: shape (3,).
        scaling: receives the symmetric positive definite :math:`\Theta` with :math:`\Theta x = y`, shape (3, 3).
        root: receives its symmetric square root, shape (3, 3).
    """
    size_x = math.sqrt(max((x[0] - math.hypot(x[1], x[2])) * (x[0] + math.hypot(x[1], x[2])), 1e-300))
    size_y = math.sqrt(max((y[0] - math.hypot(y[1], y[2])) * (y[0] + math.hypot(y[1], y[2])), 1e-300))
    dot = (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) / (size_x * size_y)
    gamma = math.sqrt(0.5 * (1.0 + dot))
    w = np.empty(3)
    w[0] = 0.5 / gamma * (y[0] / size_y + x[0] / size_x)
    w[1] = 0.5 / gamma * (y[1] / size_y - x[1] / size_x)
    w[2] = 0.5 / gamma * (y[2] / size_y - x[2] / size_x)
    square = size_y / size_x
    beta = math.sqrt(square)
    half = 1.0 / math.sqrt(2.0 * (w[0] + 1.0))
    u_0, u_1, u_2 = (w[0] + 1.0) * half, w[1] * half, w[2] * half
    u = (u_0, u_1, u_2)
    for r in range(3):
        for c in range(3):
            scaling[r, c] = square * 2.0 * w[r] * w[c]
            root[r, c] = beta * 2.0 * u[r] * u[c]
        sign = 1.0 if r == 0 else -1.0
        scaling[r, r] -= sign * square
        root[r, r] -= sign * beta


@njit(cache=True, error_model="numpy")
def longest_step(x: np.ndarray, d: np.ndarray) -> float:
    """Largest step along d that keeps x in the second-order cone; infinity where there is no end."""
    a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2]
    b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2]
    c = (x[0] - math.hypot(x[1], x[2])) * (x[0] + math.hypot(x[1], x[2]))
    step = np.inf
    discriminant = b * b - a * c
    if discriminant >= 0.0:
        # roots of a t^2 + 2 b t + c without cancellation
        q = -(b + math.copysign(math.sqrt(discriminant), b))
        if a != 0.0 and q / a > 0.0:
            step = q / a
        if q != 0.0 and c / q > 0.0:
            step = min(step, c / q)
    if d[0] < 0.0:
        step = min(step, -x[0] / d[0])
    return step


@apart(error_model="numpy", fastmath=FAST)
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


@apart(error_model="numpy", fastmath=FAST)
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


@njit(cache=True, error_model="numpy")
def jordan_divide(x: np.ndarray, r: np.ndarray, out: np.ndarray) -> None:
    """Solve x o out = r in the Jordan algebra of the second-order cone."""
    determinant = (x[0] - math.hypot(x[1], x[2])) * (x[0] + math.hypot(x[1], x[2]))
    dot = x[1] * r[1] + x[2] * r[2]
    out[0] = (x[0] * r[0] - dot) / determinant
    for c in range(1, 3):
        out[c] = (r[c] - out[0] * x[c]) / x[0]


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
    for i in range(m):
        k = 3 * i
        frictional = mu[i] > 0.0
        block = W[k, k] if not frictional else (W[k, k] / mu[i] ** 2 + W[k + 1, k + 1] + W[k + 2, k + 2]) / 3.0
        d = math.sqrt(block)
        P[k] = (mu[i] if frictional else 1.0) * d
        P[k + 1] = P[k + 2] = d if frictional else 0.0
    H = np.empty((n, n))
    q = np.empty(n)
    size = 0.0
    for r in range(n):
        inverse_r = 1.0 / P[r] if P[r] > 0.0 else 0.0
        q[r] = v_free[r] * inverse_r
        size = max(size, abs(q[r]))
        for c in range(n):
            H[r, c] = W[r, c] * inverse_r / P[c] if P[c] > 0.0 else 0.0
    x = np.zeros(n)
    y = np.zeros(n)
    x[::3] = size
    y[::3] = size

    scaling = np.zeros((m, 3, 3))
    root = np.zeros((m, 3, 3))
    K = np.empty((n, n))
    rhs = np.empty(n)
    lam = np.zeros(n)
    dx = np.zeros(n)
    dy = np.zeros(n)
    defect = np.empty(n)
    target = np.zeros(n)
    part = np.empty(3)
    other = np.empty(3)
    iteration = 0
    stalled = 0
    while iteration < max_iterations and stalled < _STALL:
        iteration += 1
        gap = 0.0
        for i in range(m):
            k = 3 * i
            if P[k + 1] > 0.0:
                nesterov_todd(x[k : k + 3], y[k : k + 3], scaling[i], root[i])
            else:
                scaling[i, 0, 0] = y[k] / x[k]
                scaling[i, 1, 1] = scaling[i, 2, 2] = 1.0
                root[i, 0, 0] = math.sqrt(scaling[i, 0, 0])
                root[i, 1, 1] = root[i, 2, 2] = 1.0
            for r in range(3):
                lam[k + r] = root[i, r, 0] * x[k] + root[i, r, 1] * x[k + 1] + root[i, r, 2] * x[k + 2]
                gap += x[k + r] * y[k + r]
        gap /= m
        for r in range(n):
            value = y[r] - q[r]
            for c in range(n):
                value -= H[r, c] * x[c]
                K[r, c] = H[r, c]
            defect[r] = value
        power = 0.0
        for i in range(m):
            k = 3 * i
            if P[k + 1] > 0.0:
                defect[k] -= math.hypot(y[k + 1], y[k + 2])  # De Saxcé's term
            else:
                defect[k + 1] = defect[k + 2] = 0.0
            for r in range(3):
                power += x[k] * abs(defect[k + r])
                for c in range(3):
                    K[k + r, k + c] += scaling[i, r, c]
        _factor(K, n)
        sigma = 0.0
        for stage in range(2):  # predictor towards the boundary, corrector towards the central path
            for i in range(m):
                k = 3 * i
                centre = lam[k : k + 3]
                if stage == 0:  # lam \ (-lam o lam)
                    for r in range(3):
                        target[k + r] = -centre[r]
                else:
                    # -lam o lam + sigma gap e - (root^-1 dy) o (root dx), with root^-1 dy = target - root dx
                    for r in range(3):
                        part[r] = root[i, r, 0] * dx[k] + root[i, r, 1] * dx[k + 1] + root[i, r, 2] * dx[k + 2]
                    for r in range(3):
                        other[r] = target[k + r] - part[r]
                    if P[k + 1] > 0.0:
                        first = part[0] * other[0] + part[1] * other[1] + part[2] * other[2]
                        second = part[0] * other[1] + other[0] * part[1]
                        third = part[0] * other[2] + other[0] * part[2]
                        part[0] = sigma * gap - first
                        part[1] = -second
                        part[2] = -third
                        jordan_divide(centre, part, other)
                        for r in range(3):
                            target[k + r] = other[r] - centre[r]
                    else:
                        target[k] = (sigma * gap - part[0] * other[0]) / centre[0] - centre[0]
                for r in range(3):
                    rhs[k + r] = defect[k + r] + (
                        root[i, r, 0] * target[k] + root[i, r, 1] * target[k + 1] + root[i, r, 2] * target[k + 2]
                    )
            for r in range(n):
                dx[r] = rhs[r]
            _substitute(K, n, dx)
            alpha = 1.0 / BOUNDARY
            for i in range(m):
                k = 3 * i
                for r in range(3):  # dy = root target - scaling dx
                    dy[k + r] = 0.0
                    for c in range(3):
                        dy[k + r] += root[i, r, c] * target[k + c] - scaling[i, r, c] * dx[k + c]
                alpha = min(alpha, longest_step(x[k : k + 3], dx[k : k + 3]))
                alpha = min(alpha, longest_step(y[k : k + 3], dy[k : k + 3]))
            alpha *= BOUNDARY
            if stage == 0:
                # No nearer to the boundary than the term of De Saxcé is known: it has to settle meanwhile.
                sigma = min(1.0, max((1.0 - alpha) ** 3, 1e-4, TIE * power / (gap * m)))
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
