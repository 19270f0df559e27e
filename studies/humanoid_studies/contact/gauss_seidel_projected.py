# SPDX-License-Identifier: Apache-2.0
"""The thesis' fast Gauss-Seidel: stick, on violation back to the cone radially (AMELIFGS, specification 000 §10)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_sim.contact.cone import add_contact_force, block_inverse, contact_residuals


@njit(cache=True, error_model="numpy")
def radial_contact(
    W: np.ndarray, W_inverse: np.ndarray, v_loc: np.ndarray, mu: float, f: np.ndarray
) -> None:
    """Open, stick, or slip against the direction in which the stick force leaves the cone.

    A slipping contact keeps the direction of its stick force, not that opposite to its velocity: the two
    differ where the contact's two tangential motions have different inertias. The normal force is that of
    zero normal velocity with the tangential force on the cone, so that nothing penetrates.

    Args:
        W: diagonal block of the contact, shape (3, 3).
        W_inverse: its inverse.
        v_loc: velocity of the contact with no force on it, shape (3,).
        mu: friction coefficient.
        f: receives the force, shape (3,).
    """
    f[0] = f[1] = f[2] = 0.0
    if v_loc[0] >= 0.0:
        return
    n = -(W_inverse[0, 0] * v_loc[0] + W_inverse[0, 1] * v_loc[1] + W_inverse[0, 2] * v_loc[2])
    t_1 = -(W_inverse[1, 0] * v_loc[0] + W_inverse[1, 1] * v_loc[1] + W_inverse[1, 2] * v_loc[2])
    t_2 = -(W_inverse[2, 0] * v_loc[0] + W_inverse[2, 1] * v_loc[1] + W_inverse[2, 2] * v_loc[2])
    norm = math.sqrt(t_1 * t_1 + t_2 * t_2)
    if norm <= mu * n:
        f[0] = n
        f[1] = t_1
        f[2] = t_2
        return
    d_1 = t_1 / norm
    d_2 = t_2 / norm
    stiffness = W[0, 0] + mu * (W[0, 1] * d_1 + W[0, 2] * d_2)
    if stiffness <= 0.0:  # friction in that direction would wedge the contact: its normal force alone
        f[0] = -v_loc[0] / W[0, 0]
        return
    f[0] = -v_loc[0] / stiffness
    f[1] = mu * f[0] * d_1
    f[2] = mu * f[0] * d_2


@njit(cache=True, error_model="numpy")
def radial_residual(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray
) -> float:
    """Largest change that :func:`radial_contact` would still make to a force, relative to the largest force.

    Args:
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: forces, shape (3m,).
        v: their velocities, shape (3m,).

    Returns:
        The residual of the radial law.
    """
    v_loc = np.empty(3)
    new = np.empty(3)
    inverse = np.empty((3, 3))
    largest = 0.0
    scale = 0.0
    for i in range(mu.size):
        k = 3 * i
        block = W[k : k + 3, k : k + 3]
        for r in range(3):
            v_loc[r] = v[k + r] - block[r, 0] * f[k] - block[r, 1] * f[k + 1] - block[r, 2] * f[k + 2]
        block_inverse(block, inverse)
        radial_contact(block, inverse, v_loc, mu[i], new)
        for r in range(3):
            largest = max(largest, abs(new[r] - f[k + r]))
            scale = max(scale, abs(new[r]), abs(v_free[k + r]) / block[r, r])
    return largest / scale if scale > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def gauss_seidel_projected(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """Gauss-Seidel sweeps with :func:`radial_contact` at each contact.

    Exact where contacts stick or open. Where they slip, approximate: see :func:`radial_contact`. The sweeps end when
    they change no force by more than the tolerance; the residuals returned are those of the exact law.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces, overwritten with the solution, shape (3m,).
        tolerance: bound on the relative change of the forces.
        max_iterations: bound on the number of sweeps.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of sweeps done.
    """
    m = mu.size
    contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:
        return 0
    inverses = np.empty((m, 3, 3))
    for i in range(m):
        block_inverse(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3], inverses[i])
    v_loc = np.empty(3)
    sweep = 0
    while sweep < max_iterations:
        sweep += 1
        change = 0.0
        scale = 0.0
        for i in range(m):
            k = 3 * i
            f_0, f_1, f_2 = f[k], f[k + 1], f[k + 2]
            for r in range(3):
                v_loc[r] = v[k + r] - W[k + r, k] * f_0 - W[k + r, k + 1] * f_1 - W[k + r, k + 2] * f_2
            radial_contact(W[k : k + 3, k : k + 3], inverses[i], v_loc, mu[i], f[k : k + 3])
            d_0, d_1, d_2 = f[k] - f_0, f[k + 1] - f_1, f[k + 2] - f_2
            add_contact_force(W, k, d_0, d_1, d_2, v)
            change = max(change, abs(d_0), abs(d_1), abs(d_2))
            scale = max(scale, abs(f[k]), abs(f[k + 1]), abs(f[k + 2]))
        # A sweep that changes little may be slow instead of near: the residual of the law has the last word.
        if change <= tolerance * scale and radial_residual(W, v_free, mu, f, v) <= 0.5 * tolerance:
            break
    contact_residuals(W, v_free, mu, f, v, residuals)
    return sweep
