# SPDX-License-Identifier: Apache-2.0
r"""Primal-dual interior-point method on the Coulomb cones, for problems on which sweeps and Newton's method get stuck.

With De Saxcé's term :math:`s_i = \|v_{t,i}\|` held, the contact problem is a convex programme on second-order cones:
:math:`K_\mu \ni f \perp W f + v_{free} + \mu s n \in K_\mu^*`. Each iteration is one step of Mehrotra's
predictor-corrector with Nesterov-Todd scaling on that programme, after which s is taken anew. Its linear
systems, the Delassus operator plus a positive definite block per contact, are regular however redundant the
contacts, and heavy bodies on light ones hardly cost it more iterations. The steps (:class:`ConePath`) are shared with
:func:`humanoid_sim.contact.body_newton.body_interior`, whose linear systems are others. Sources: V. Acary, F. Cadoux,
C. Lemaréchal, J. Malick, ZAMM 91 (2011) for the convex programme; L. Vandenberghe, "The CVXOPT linear and quadratic
cone program solvers" (2010) for the scaling.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, counted, uncounted
from humanoid_sim.contact.cone import contact_residuals, copy_vector

_BOUNDARY = 0.995
"""Share of the way to the cone's boundary that a step may go."""
_TIE = 0.1
"""Share of the power that the change of De Saxcé's term amounts to, below which complementarity isn't pressed."""


@counted()
def nesterov_todd(x: np.ndarray, y: np.ndarray, scaling: np.ndarray, root: np.ndarray) -> None:
    r"""Nesterov-Todd scaling of two points inside the second-order cone of dimension 3.

    Args:
        x: shape (3,).
        y: shape (3,).
        scaling: receives the symmetric positive definite :math:`\Theta` with :math:`\Theta x = y`, shape (3, 3).
        root: receives its symmetric square root, shape (3, 3).
    """
    t_x, t_y = math.sqrt(x[1] * x[1] + x[2] * x[2]), math.sqrt(y[1] * y[1] + y[2] * y[2])
    size_x = math.sqrt(max((x[0] - t_x) * (x[0] + t_x), 1e-300))
    size_y = math.sqrt(max((y[0] - t_y) * (y[0] + t_y), 1e-300))
    dot = (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) / (size_x * size_y)
    gamma = math.sqrt(0.5 * (1.0 + dot))
    half_x, half_y = 0.5 / (gamma * size_x), 0.5 / (gamma * size_y)
    w_0, w_1, w_2 = half_y * y[0] + half_x * x[0], half_y * y[1] - half_x * x[1], half_y * y[2] - half_x * x[2]
    square = size_y / size_x
    beta = math.sqrt(square)
    half = 1.0 / math.sqrt(2.0 * (w_0 + 1.0))
    w, u = (w_0, w_1, w_2), ((w_0 + 1.0) * half, w_1 * half, w_2 * half)
    for r in range(3):
        for c in range(3):
            scaling[r, c] = square * 2.0 * w[r] * w[c]
            root[r, c] = beta * 2.0 * u[r] * u[c]
        sign = 1.0 if r == 0 else -1.0
        scaling[r, r] -= sign * square
        root[r, r] -= sign * beta


@uncounted()
def _longest_step(x_0: float, x_1: float, x_2: float, d_0: float, d_1: float, d_2: float) -> float:
    """Largest step along d that keeps x in the second-order cone; infinity where there is no end."""
    a = d_0 * d_0 - d_1 * d_1 - d_2 * d_2
    b = x_0 * d_0 - x_1 * d_1 - x_2 * d_2
    tangent = math.sqrt(x_1 * x_1 + x_2 * x_2)
    c = (x_0 - tangent) * (x_0 + tangent)
    discriminant = b * b - a * c
    # roots of a t^2 + 2 b t + c without cancellation; all are computed: which one counts is nothing to foretell
    q = -(b + math.copysign(math.sqrt(abs(discriminant)), b))
    first, second, third = q / a, c / q, -x_0 / d_0
    meets = discriminant >= 0.0
    step = first if meets & (q * a > 0.0) else np.inf
    step = min(step, second if meets & (c * q > 0.0) else np.inf)
    return min(step, third if d_0 < 0.0 else np.inf)


@uncounted()
def _jordan_divide(x: np.ndarray, r: np.ndarray, out: np.ndarray) -> None:
    """Solve x o out = r in the Jordan algebra of the second-order cone."""
    tangent = math.hypot(x[1], x[2])
    determinant = (x[0] - tangent) * (x[0] + tangent)
    dot = x[1] * r[1] + x[2] * r[2]
    out[0] = (x[0] * r[0] - dot) / determinant
    for c in range(1, 3):
        out[c] = (r[c] - out[0] * x[c]) / x[0]


class ConePath(NamedTuple):
    """Where an interior-point method is, in variables in which every cone is the standard one.

    Attributes:
        P: forces times this are x, shape (3m,); zero for the tangents of contacts without friction.
        x: scaled forces, shape (3m,).
        y: scaled velocities, De Saxcé's term included, shape (3m,).
        scaling: of Nesterov and Todd, shape (m, 3, 3).
        root: its square root, shape (m, 3, 3).
        middle: what both become by it, shape (3m,).
        defect: y minus what x gives, shape (3m,).
        target: where a step leads, shape (3m,).
        rhs: of a step's system, shape (3m,).
        dx: step of x, shape (3m,).
        dy: step of y, shape (3m,).
    """

    P: NDArray[np.float64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    scaling: NDArray[np.float64]
    root: NDArray[np.float64]
    middle: NDArray[np.float64]
    defect: NDArray[np.float64]
    target: NDArray[np.float64]
    rhs: NDArray[np.float64]
    dx: NDArray[np.float64]
    dy: NDArray[np.float64]


@uncounted()
def scale_contact(block: np.ndarray, mu: float, P: np.ndarray) -> None:
    """Write the scale of a contact's forces, shape (3,), that makes its own block of the operator, (3, 3), about 1."""
    mean = block[0, 0] if not mu > 0.0 else (block[0, 0] / mu**2 + block[1, 1] + block[2, 2]) / 3.0
    P[0] = (mu if mu > 0.0 else 1.0) * math.sqrt(mean)
    P[1] = P[2] = math.sqrt(mean) if mu > 0.0 else 0.0


@counted()
def start_path(P: np.ndarray, size: float) -> ConePath:
    """Return the path that begins on the cones' axes at a size, in variables scaled by P, shape (3m,)."""
    n = P.size
    m = n // 3
    x, y = np.zeros(n), np.zeros(n)
    x[::3] = size
    y[::3] = size
    return ConePath(
        P, x, y, np.zeros((m, 3, 3)), np.zeros((m, 3, 3)), np.zeros(n), np.empty(n), np.zeros(n), np.empty(n),
        np.zeros(n), np.zeros(n),
    )  # fmt: skip


@uncounted()
def scale_cones(path: ConePath) -> float:
    """Write the scalings where the path is, and return the mean complementarity of a contact."""
    P, x, y, scaling, root, middle = path.P, path.x, path.y, path.scaling, path.root, path.middle
    gap = 0.0
    for i in range(P.size // 3):
        k = 3 * i
        if P[k + 1] > 0.0:
            nesterov_todd(x[k : k + 3], y[k : k + 3], scaling[i], root[i])
        else:
            scaling[i, 0, 0] = y[k] / x[k]
            scaling[i, 1, 1] = scaling[i, 2, 2] = 1.0
            root[i, 0, 0] = math.sqrt(scaling[i, 0, 0])
            root[i, 1, 1] = root[i, 2, 2] = 1.0
        for r in range(3):
            middle[k + r] = root[i, r, 0] * x[k] + root[i, r, 1] * x[k + 1] + root[i, r, 2] * x[k + 2]
            gap += x[k + r] * y[k + r]
    return gap / (P.size // 3)


@uncounted()
def add_de_saxce(path: ConePath, share: float) -> float:
    """Complete the defects by a share of De Saxcé's term, and return the power that is still wrong."""
    P, x, y, defect = path.P, path.x, path.y, path.defect
    power = 0.0
    for k in range(0, P.size, 3):
        if P[k + 1] > 0.0:
            defect[k] -= share * math.sqrt(y[k + 1] * y[k + 1] + y[k + 2] * y[k + 2])
        else:
            defect[k + 1] = defect[k + 2] = 0.0
        for r in range(3):
            power += x[k] * abs(defect[k + r])
    return power


@counted()
def aim(path: ConePath, stage: int, complementarity: float) -> None:
    """Write target and right side of a step: of the predictor (stage 0), or of the corrector after it (stage 1).

    Args:
        path: the path.
        stage: which.
        complementarity: of the corrector's point on the central path.
    """
    P, root, middle, dx, target = path.P, path.root, path.middle, path.dx, path.target
    part, other = np.empty(3), np.empty(3)
    for i in range(P.size // 3):
        k = 3 * i
        centre = middle[k : k + 3]
        if stage == 0:  # middle \ (-middle o middle)
            for r in range(3):
                target[k + r] = -centre[r]
        else:
            # -middle o middle + complementarity e - (root^-1 dy) o (root dx), with root^-1 dy = target - root dx
            for r in range(3):
                part[r] = root[i, r, 0] * dx[k] + root[i, r, 1] * dx[k + 1] + root[i, r, 2] * dx[k + 2]
            for r in range(3):
                other[r] = target[k + r] - part[r]
            if P[k + 1] > 0.0:
                first = part[0] * other[0] + part[1] * other[1] + part[2] * other[2]
                second = part[0] * other[1] + other[0] * part[1]
                third = part[0] * other[2] + other[0] * part[2]
                part[0] = complementarity - first
                part[1] = -second
                part[2] = -third
                _jordan_divide(centre, part, other)
                for r in range(3):
                    target[k + r] = other[r] - centre[r]
            else:
                target[k] = (complementarity - part[0] * other[0]) / centre[0] - centre[0]
        for r in range(3):
            path.rhs[k + r] = path.defect[k + r] + (
                root[i, r, 0] * target[k] + root[i, r, 1] * target[k + 1] + root[i, r, 2] * target[k + 2]
            )


@uncounted()
def complete_step(path: ConePath) -> float:
    """Write the step of y that belongs to that of x, and return how far both may go within the cones."""
    x, y, dx, dy, root, scaling, target = path.x, path.y, path.dx, path.dy, path.root, path.scaling, path.target
    alpha = 1.0 / _BOUNDARY
    for i in range(path.P.size // 3):
        k = 3 * i
        for r in range(3):  # dy = root target - scaling dx
            value = 0.0
            for c in range(3):
                value += root[i, r, c] * target[k + c] - scaling[i, r, c] * dx[k + c]
            dy[k + r] = value
        alpha = min(alpha, _longest_step(x[k], x[k + 1], x[k + 2], dx[k], dx[k + 1], dx[k + 2]))
        alpha = min(alpha, _longest_step(y[k], y[k + 1], y[k + 2], dy[k], dy[k + 1], dy[k + 2]))
    return alpha * _BOUNDARY


@uncounted()
def centring(alpha: float, power: float, gap: float, contacts: int) -> float:
    """Return the centring of the corrector after a predictor that may go as far as alpha."""
    # No nearer to the boundary than the term of De Saxcé is known: it has to settle meanwhile.
    return min(1.0, max((1.0 - alpha) ** 3, 1e-4, _TIE * power / (gap * contacts)))


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

    Arguments and answer are those of :func:`~humanoid_sim.contact.nsgs.nsgs`, with linear systems in place of sweeps.
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
