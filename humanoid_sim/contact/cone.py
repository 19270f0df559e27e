# SPDX-License-Identifier: Apache-2.0
r"""Coulomb cone, projections onto it and the residuals of a frictional contact problem.

Contact vectors are ordered (n, t1, t2). The cone of a contact is
:math:`K_\mu = \{f : \|f_t\| \le \mu f_n\}`.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import uncounted

APPROACH_SHARE = 1e-5
_ROUNDING = 1e-10
"""Share of the velocity that a force gives its contact by which sums of such velocities may be off."""


@uncounted()
def project_on_cone(f_n: float, f_t1: float, f_t2: float, mu: float) -> tuple[float, float, float]:
    """Euclidean projection of one contact vector onto its Coulomb cone (specification 000 §10)."""
    norm_t = math.sqrt(f_t1 * f_t1 + f_t2 * f_t2)
    if mu * norm_t <= -f_n:  # first: without friction and tangents the next condition holds for any pull
        return 0.0, 0.0, 0.0
    if norm_t <= mu * f_n:
        return f_n, f_t1, f_t2
    n = (f_n + mu * norm_t) / (1.0 + mu * mu)
    scale = mu * n / norm_t
    return n, scale * f_t1, scale * f_t2


@uncounted()
def block_inverse(A: np.ndarray, out: np.ndarray) -> None:
    """Compute the inverse of a symmetric positive definite diagonal block, shape (3, 3), into ``out``."""
    c_0 = A[1, 1] * A[2, 2] - A[1, 2] * A[1, 2]
    c_1 = A[1, 2] * A[0, 2] - A[0, 1] * A[2, 2]
    c_2 = A[0, 1] * A[1, 2] - A[1, 1] * A[0, 2]
    inverse = 1.0 / (A[0, 0] * c_0 + A[0, 1] * c_1 + A[0, 2] * c_2)
    out[0, 0] = inverse * c_0
    out[0, 1] = out[1, 0] = inverse * c_1
    out[0, 2] = out[2, 0] = inverse * c_2
    out[1, 1] = inverse * (A[0, 0] * A[2, 2] - A[0, 2] * A[0, 2])
    out[1, 2] = out[2, 1] = inverse * (A[0, 1] * A[0, 2] - A[0, 0] * A[1, 2])
    out[2, 2] = inverse * (A[0, 0] * A[1, 1] - A[0, 1] * A[0, 1])


@uncounted()
def copy_vector(source: np.ndarray, target: np.ndarray) -> None:
    """Copy, shapes (n,).

    For ``target[:] = source`` numba compiles the wording of its error, strings and all: as long as a whole solver.
    """
    for i in range(source.size):
        target[i] = source[i]


@uncounted()
def contact_velocity(W: np.ndarray, v_free: np.ndarray, f: np.ndarray, v: np.ndarray) -> None:
    """Contact velocities :math:`W f + v_{free}`, shape (3m,), into ``v``."""
    n = v_free.size
    for c in range(n):
        v[c] = v_free[c]
    for r in range(n):  # W is symmetric: adding its rows lets the inner loop run on contiguous memory
        if f[r] != 0.0:
            for c in range(n):
                v[c] += W[r, c] * f[r]


@uncounted()
def add_contact_force(W: np.ndarray, k: int, d_n: float, d_t1: float, d_t2: float, v: np.ndarray) -> None:
    """Keep the velocities up with a change (d_n, d_t1, d_t2) of the force whose first row is ``k``."""
    if d_n != 0.0 or d_t1 != 0.0 or d_t2 != 0.0:
        for c in range(v.size):
            v[c] += W[k, c] * d_n + W[k + 1, c] * d_t1 + W[k + 2, c] * d_t2


@uncounted()
def natural_map(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray
) -> float:
    r"""Relative residual of the natural map, zero exactly at the solutions of the Signorini-Coulomb problem.

    The natural map of a contact is :math:`f - P_{K_\mu}(f - \rho (v + \mu\|v_t\| n))` (De Saxcé and Feng), with
    :math:`\rho = 3 / \mathrm{tr}\,W_{ii}` so that it is a force.

    Args:
        W: Delassus operator, of which the diagonal is read, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: forces, shape (3m,).
        v: their velocities, shape (3m,).

    Returns:
        The largest residual relative to the largest force, or to the largest force that would stop the free
        motion of a contact, so that a problem whose answer is (nearly) zero isn't judged by rounding errors. At
        least ``APPROACH_SHARE`` times the approach that is left relative to the fastest free motion: where no forces
        can stop a motion, they grow without bounds along self-stresses, beside which the first measure fades. Infinity
        where a force or velocity is not finite.
    """
    largest = 0.0
    total = 0.0
    approach = 0.0
    fastest = 0.0
    scale = 0.0
    for i in range(mu.size):
        k = 3 * i
        slip = math.sqrt(v[k + 1] ** 2 + v[k + 2] ** 2)
        rho = 3.0 / (W[k, k] + W[k + 1, k + 1] + W[k + 2, k + 2])
        p_n, p_1, p_2 = project_on_cone(
            f[k] - rho * (v[k] + mu[i] * slip),
            f[k + 1] - rho * v[k + 1],
            f[k + 2] - rho * v[k + 2],
            mu[i],
        )
        square = (f[k] - p_n) ** 2 + (f[k + 1] - p_1) ** 2 + (f[k + 2] - p_2) ** 2
        total += square
        largest = max(largest, square)
        free = v_free[k] ** 2 + v_free[k + 1] ** 2 + v_free[k + 2] ** 2
        scale = max(scale, f[k] ** 2 + f[k + 1] ** 2 + f[k + 2] ** 2, rho * rho * free)
        approach = max(approach, -v[k] - _ROUNDING * W[k, k] * f[k])
        fastest = max(fastest, free)
    if not math.isfinite(total):
        return np.inf
    if scale == 0.0:
        return 0.0
    residual = math.sqrt(largest / scale)
    return max(residual, APPROACH_SHARE * approach / math.sqrt(fastest)) if fastest > 0.0 else residual


@uncounted()
def contact_residuals(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    r"""Compute residuals of ``f`` as a solution of ``v = W f + v_free`` with Coulomb friction.

    Args:
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: contact forces or impulses, shape (3m,).
        v: receives the contact velocities, shape (3m,).
        out: receives (:func:`natural_map`, complementarity :math:`\max |f_n v_n|`, cone violation,
            maximum-dissipation gap :math:`\max(\mu f_n\|v_t\| + f_t\cdot v_t)`, approach velocity
            :math:`\max(-v_n)^+`), shape (5,).
    """
    contact_velocity(W, v_free, f, v)
    velocity_residuals(W, v_free, mu, f, v, out)


@uncounted()
def velocity_residuals(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    """Compute the residuals of :func:`contact_residuals` from forces and their velocities."""
    out[:] = 0.0
    out[0] = natural_map(W, v_free, mu, f, v)
    for i in range(mu.size):
        k = 3 * i
        slip = math.sqrt(v[k + 1] ** 2 + v[k + 2] ** 2)
        out[1] = max(out[1], abs(f[k] * v[k]))
        out[2] = max(out[2], math.sqrt(f[k + 1] ** 2 + f[k + 2] ** 2) - mu[i] * f[k], -f[k])
        out[3] = max(out[3], abs(mu[i] * f[k] * slip + f[k + 1] * v[k + 1] + f[k + 2] * v[k + 2]))
        out[4] = max(out[4], -v[k])
