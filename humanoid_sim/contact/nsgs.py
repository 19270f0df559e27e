# SPDX-License-Identifier: Apache-2.0
"""Block Gauss-Seidel on contacts with exact Coulomb cones (specification 000 §9.4, Algorithm 1)."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import counted, uncounted
from humanoid_sim.contact.alart_curnier import newton_contact, optimal_steps, polar_search
from humanoid_sim.contact.cone import contact_residuals, natural_map, project_on_cone


@uncounted()
def inverse_3x3(A: np.ndarray, out: np.ndarray) -> None:
    """Compute the inverse of a symmetric positive definite 3x3 block."""
    c_0 = A[1, 1] * A[2, 2] - A[1, 2] * A[1, 2]
    c_1 = A[1, 2] * A[0, 2] - A[0, 1] * A[2, 2]
    c_2 = A[0, 1] * A[1, 2] - A[1, 1] * A[0, 2]
    inverse = 1.0 / (A[0, 0] * c_0 + A[0, 1] * c_1 + A[0, 2] * c_2)
    out[0, 0] = inverse * c_0
    out[0, 1] = inverse * c_1
    out[0, 2] = inverse * c_2
    out[1, 1] = inverse * (A[0, 0] * A[2, 2] - A[0, 2] * A[0, 2])
    out[1, 2] = inverse * (A[0, 1] * A[0, 2] - A[0, 0] * A[1, 2])
    out[2, 2] = inverse * (A[0, 0] * A[1, 1] - A[0, 1] * A[0, 1])
    out[1, 0] = out[0, 1]
    out[2, 0] = out[0, 2]
    out[2, 1] = out[1, 2]


@uncounted()
def solve_one_contact(
    W: np.ndarray,
    W_inverse: np.ndarray,
    rho_n: float,
    rho_t: float,
    v_loc: np.ndarray,
    mu: float,
    f: np.ndarray,
) -> None:
    """Exact solution of the local problem at one contact (specification 000 §9.1): open, stick or slip.

    Args:
        W: diagonal block of the contact, shape (3, 3).
        W_inverse: its inverse.
        rho_n: normal step of the Alart-Curnier function.
        rho_t: tangential step.
        v_loc: velocity of the contact with no force on it, shape (3,).
        mu: friction coefficient.
        f: previous force, overwritten with the solution, shape (3,).
    """
    if v_loc[0] >= 0.0:
        f[0] = 0.0
        f[1] = 0.0
        f[2] = 0.0
        return
    stick_n = -(W_inverse[0, 0] * v_loc[0] + W_inverse[0, 1] * v_loc[1] + W_inverse[0, 2] * v_loc[2])
    stick_1 = -(W_inverse[1, 0] * v_loc[0] + W_inverse[1, 1] * v_loc[1] + W_inverse[1, 2] * v_loc[2])
    stick_2 = -(W_inverse[2, 0] * v_loc[0] + W_inverse[2, 1] * v_loc[1] + W_inverse[2, 2] * v_loc[2])
    if stick_n >= 0.0 and math.sqrt(stick_1 * stick_1 + stick_2 * stick_2) <= mu * stick_n:
        f[0] = stick_n
        f[1] = stick_1
        f[2] = stick_2
        return
    if mu == 0.0:
        f[0] = -v_loc[0] / W[0, 0]
        f[1] = 0.0
        f[2] = 0.0
        return
    if f[0] <= 0.0:  # no previous force to start Newton from: the stick force, brought back to the cone
        f[0], f[1], f[2] = project_on_cone(stick_n, stick_1, stick_2, mu)
        if f[0] <= 0.0:
            f[0] = -v_loc[0] / W[0, 0]
    previous_n, previous_1, previous_2 = f[0], f[1], f[2]
    if newton_contact(W, v_loc, mu, rho_n, rho_t, f) >= 0 and f[0] >= 0.0:
        return
    if polar_search(W, v_loc, mu, f):
        return
    # No slipping solution at this contact alone (strong coupling of normal and tangential motion): a
    # projected step from the previous force keeps the sweep going, the residual tells the outcome.
    v_n = v_loc[0] + W[0, 0] * previous_n + W[0, 1] * previous_1 + W[0, 2] * previous_2
    v_1 = v_loc[1] + W[1, 0] * previous_n + W[1, 1] * previous_1 + W[1, 2] * previous_2
    v_2 = v_loc[2] + W[2, 0] * previous_n + W[2, 1] * previous_1 + W[2, 2] * previous_2
    slip = math.sqrt(v_1 * v_1 + v_2 * v_2)
    rho = 3.0 / (W[0, 0] + W[1, 1] + W[2, 2])
    f[0], f[1], f[2] = project_on_cone(
        previous_n - rho * (v_n + mu * slip), previous_1 - rho * v_1, previous_2 - rho * v_2, mu
    )


@counted()
def nsgs(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """Sweeps over the contacts, each solved exactly with the newest forces of the others.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces (warm start), overwritten with the solution, shape (3m,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of sweeps.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of sweeps done. The problem is solved if ``residuals[0] <= tolerance``.

    The velocities are kept up to date along with the forces, so that the true residual is at hand after
    each sweep. The relative change of the forces, thesis equation (3.34), misleads: where
    convergence is slow it is small far from the solution, and where contacts are redundant the forces may drift
    along self-stresses that change no velocity.
    """
    m = mu.size
    contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:  # a warm start that already solves the problem costs no sweep
        return 0

    inverses = np.empty((m, 3, 3))
    steps = np.empty((m, 2))
    for i in range(m):
        k = 3 * i
        block = W[k : k + 3, k : k + 3]
        inverse_3x3(block, inverses[i])
        steps[i, 0], steps[i, 1] = optimal_steps(block)

    v_loc = np.empty(3)
    sweep = 0
    while sweep < max_iterations:
        sweep += 1
        for i in range(m):
            k = 3 * i
            f_i = f[k : k + 3]
            f_0, f_1, f_2 = f_i[0], f_i[1], f_i[2]
            for r in range(3):
                v_loc[r] = v[k + r] - W[k + r, k] * f_0 - W[k + r, k + 1] * f_1 - W[k + r, k + 2] * f_2
            block = W[k : k + 3, k : k + 3]
            solve_one_contact(block, inverses[i], steps[i, 0], steps[i, 1], v_loc, mu[i], f_i)
            d_0, d_1, d_2 = f_i[0] - f_0, f_i[1] - f_1, f_i[2] - f_2
            if d_0 != 0.0 or d_1 != 0.0 or d_2 != 0.0:
                for c in range(3 * m):
                    v[c] += W[k, c] * d_0 + W[k + 1, c] * d_1 + W[k + 2, c] * d_2
        if natural_map(W, v_free, mu, f, v) <= tolerance:
            # Believed only once the velocities have been computed anew, free of accumulated rounding.
            contact_residuals(W, v_free, mu, f, v, residuals)
            if residuals[0] <= tolerance:
                return sweep
    contact_residuals(W, v_free, mu, f, v, residuals)
    return sweep
