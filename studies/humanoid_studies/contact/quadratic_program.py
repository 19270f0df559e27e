# SPDX-License-Identifier: Apache-2.0
"""Contact problems as convex quadratic programmes, solved by a library (specification 000 §§6.4 and 6.5)."""

from __future__ import annotations

import math

import daqp
import numpy as np

from humanoid_model.arrays import Array
from humanoid_sim.contact.cone import contact_residuals
from humanoid_studies.contact.complementarity import FACETS

_PROXIMAL = 1e-5
"""Weight of the proximal term, for operators of less than full rank, relative to the diagonal."""
_SETTINGS = {"primal_tol": 1e-11, "dual_tol": 1e-12, "eps_prox": _PROXIMAL, "eta_prox": 1e-13, "iter_limit": 10000}


def _minimise(H: Array, g: Array, A: Array, upper: Array, lower: Array) -> Array | None:
    """Minimise x H x / 2 + g x; the first bounds are those of the variables, the others of A x. None on failure."""
    if np.abs(g).max(initial=0.0) == 0.0 and np.all(lower <= 0.0) and np.all(upper >= 0.0):
        return np.zeros_like(g)
    x, _, status, _ = daqp.solve(H, g, A, upper, lower, np.zeros(len(upper), np.intc), **_SETTINGS)
    return np.asarray(x) if status > 0 and np.all(np.isfinite(x)) else None


def qp_frictionless(
    W: Array,
    v_free: Array,
    mu: Array,
    f: Array,
    tolerance: float,
    max_iterations: int,
    v: Array,
    residuals: Array,
) -> int:
    r"""Signorini's problem as :math:`\min_{f_n \ge 0} \tfrac12 f_n^T W_{nn} f_n + v_n^T f_n` (thesis equation 2.38).

    Args:
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, which only the residuals see, shape (m,).
        f: receives the forces; left as it is where the library fails, shape (3m,).
        tolerance: not needed.
        max_iterations: not needed.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of the exact law, shape (5,).

    Returns:
        1, the programmes solved.
    """
    scale = 1.0 / np.sqrt(np.diag(W)[::3])
    H = W[::3, ::3] * scale * scale[:, None]
    g = v_free[::3] * scale
    size = np.abs(g).max(initial=0.0) or 1.0
    m = mu.size
    x = _minimise(H, g / size, np.zeros((0, m)), np.full(m, 1e30), np.zeros(m))
    if x is not None:
        f[:] = 0.0
        f[::3] = np.maximum(x, 0.0) * scale * size
    contact_residuals(W, v_free, mu, f, v, residuals)
    return 1


def staggered_projections(
    W: Array,
    v_free: Array,
    mu: Array,
    f: Array,
    tolerance: float,
    max_iterations: int,
    v: Array,
    residuals: Array,
) -> int:
    """Return normal forces and friction, each with the other held, in turns (thesis equations 2.36 and 2.37).

    Both are convex quadratic programmes; friction lies in pyramids of 8 facets that stand in the cones. D. M. Kaufman,
    S. Sueda, D. L. James, D. K. Pai, "Staggered projections for frictional contact in multibody systems", ACM Trans.
    Graph. 27 (2008), in forces instead of velocities.

    Args:
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces, overwritten with the solution, shape (3m,).
        tolerance: bound on the relative change of the forces.
        max_iterations: bound on the number of pairs of programmes.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of the exact law, shape (5,).

    Returns:
        Number of pairs of programmes solved.
    """
    m = mu.size
    tangential = np.arange(3 * m) % 3 != 0
    scale = 1.0 / np.sqrt(np.diag(W))
    scaled = W * scale * scale[:, None]
    H_n = np.ascontiguousarray(scaled[::3, ::3])
    H_t = np.ascontiguousarray(scaled[np.ix_(tangential, tangential)])
    coupling = scaled[::3][:, tangential]
    free = v_free * scale
    size = np.abs(free).max(initial=0.0) or 1.0
    free = free / size
    angles = (np.arange(FACETS // 2) + 0.5) * 2.0 * math.pi / FACETS  # normals of opposite pairs of facets
    A = np.zeros((m * len(angles), 2 * m))
    for i in range(m):
        rows = slice(i * len(angles), (i + 1) * len(angles))
        A[rows, 2 * i] = np.cos(angles) * scale[3 * i + 1]
        A[rows, 2 * i + 1] = np.sin(angles) * scale[3 * i + 2]
    norms = np.linalg.norm(A, axis=1)
    A /= norms[:, None]
    reach = mu * math.cos(math.pi / FACETS) * scale[::3]
    x = f / scale / size
    x_n, x_t = x[::3].copy(), x[tangential].copy()
    none = np.zeros((0, m))
    iteration = 0
    while iteration < max_iterations:
        iteration += 1
        new_n = _minimise(H_n, free[::3] + coupling @ x_t, none, np.full(m, 1e30), np.zeros(m))
        if new_n is None:
            break
        new_n = np.maximum(new_n, 0.0)
        bound = np.repeat(reach * new_n, len(angles)) / norms
        far = np.full(2 * m, 1e30)
        new_t = _minimise(
            H_t,
            free[tangential] + coupling.T @ new_n,
            A,
            np.concatenate([far, bound]),
            np.concatenate([-far, -bound]),
        )
        if new_t is None:
            break
        change = max(np.abs(new_n - x_n).max(), np.abs(new_t - x_t).max())
        x_n, x_t = new_n, new_t
        if change <= 0.1 * tolerance * max(np.abs(x_n).max(), np.abs(x_t).max(), 1e-300):
            break
    f[::3] = x_n * scale[::3] * size
    f[tangential] = x_t * scale[tangential] * size
    contact_residuals(W, v_free, mu, f, v, residuals)
    return iteration
