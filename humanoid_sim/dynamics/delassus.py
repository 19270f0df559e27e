# SPDX-License-Identifier: Apache-2.0
r"""Contact Jacobian and Delassus operator :math:`W = \delta t\, J H^{-1} J^T` on the branches of a tree."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def tangents(n: np.ndarray, t1: np.ndarray, t2: np.ndarray) -> None:
    """Complete a unit normal to a right-handed contact frame.

    ``t1`` is orthogonal to the world axis that the normal is least aligned with, so that the frame
    doesn't turn as long as the normal doesn't (specification 000 §13.2).
    """
    axis = 0
    for r in range(1, 3):
        if abs(n[r]) < abs(n[axis]) - 1e-12:
            axis = r
    if axis == 0:
        t1[0], t1[1], t1[2] = 0.0, n[2], -n[1]
    elif axis == 1:
        t1[0], t1[1], t1[2] = -n[2], 0.0, n[0]
    else:
        t1[0], t1[1], t1[2] = n[1], -n[0], 0.0
    norm = math.sqrt(t1[0] ** 2 + t1[1] ** 2 + t1[2] ** 2)
    for r in range(3):
        t1[r] /= norm
    t2[0] = n[1] * t1[2] - n[2] * t1[1]
    t2[1] = n[2] * t1[0] - n[0] * t1[2]
    t2[2] = n[0] * t1[1] - n[1] * t1[0]


@njit(cache=True)
def contact_jacobian(
    joint_a: np.ndarray,
    joint_b: np.ndarray,
    positions: np.ndarray,
    normals: np.ndarray,
    last_dof: np.ndarray,
    dof_parent: np.ndarray,
    J: np.ndarray,
    frames: np.ndarray,
    rows: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
) -> None:
    """Rows that map joint velocities to the velocity of body a relative to body b in each contact frame.

    Args:
        joint_a: joint that carries body a of each contact, shape (m,).
        joint_b: joint that carries body b, 0 for the world, shape (m,).
        positions: contact points in the world [m], shape (m, 3).
        normals: unit normals from b into a, in the world, shape (m, 3).
        last_dof: see :class:`~humanoid_sim.dynamics.flat_model.FlatModel`.
        dof_parent: see :class:`~humanoid_sim.dynamics.flat_model.FlatModel`.
        J: joint Jacobian columns in the world frame, shape (6, nv).
        frames: receives (n, t1, t2) as rows, in the world, shape (m, 3, 3).
        rows: receives the Jacobian; only the columns of the support are written, shape (m, 3, nv).
        support: receives the coordinates that move the contact, in decreasing order, shape (m, nv).
        support_size: receives how many they are, shape (m,).
    """
    for i in range(joint_a.size):
        for r in range(3):
            frames[i, 0, r] = normals[i, r]
        tangents(frames[i, 0], frames[i, 1], frames[i, 2])
        x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
        a = last_dof[joint_a[i]]
        b = last_dof[joint_b[i]]
        size = 0
        while a >= 0 or b >= 0:
            k = max(a, b)
            on_a = a == k
            on_b = b == k
            if on_a:
                a = dof_parent[k]
            if on_b:
                b = dof_parent[k]
            support[i, size] = k
            size += 1
            if on_a and on_b:  # moves both bodies alike
                for r in range(3):
                    rows[i, r, k] = 0.0
                continue
            sign = 1.0 if on_a else -1.0
            # velocity at the point of the body that coordinate k moves: linear + angular x position
            u = sign * (J[0, k] + J[4, k] * z - J[5, k] * y)
            v = sign * (J[1, k] + J[5, k] * x - J[3, k] * z)
            w = sign * (J[2, k] + J[3, k] * y - J[4, k] * x)
            for r in range(3):
                rows[i, r, k] = frames[i, r, 0] * u + frames[i, r, 1] * v + frames[i, r, 2] * w
        support_size[i] = size


@njit(cache=True)
def delassus(
    factor: np.ndarray,
    dof_parent: np.ndarray,
    rows: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
    dt: float,
    reduced: np.ndarray,
    mark: np.ndarray,
    W: np.ndarray,
) -> None:
    r"""Delassus operator from the factorised inertia: :math:`W = \delta t\,(L^{-T}J^T)^T D^{-1} (L^{-T}J^T)`.

    Args:
        factor: output of :func:`~humanoid_sim.dynamics.ltl.factorize`, shape (nv, nv).
        dof_parent: parent coordinates, shape (nv,).
        rows: contact Jacobian, shape (m, 3, nv).
        support: coordinates of each contact, decreasing, closed under the parent, shape (m, nv).
        support_size: their number, shape (m,).
        dt: time step [s].
        reduced: work space, shape (m, 3, nv).
        mark: work space, integers, shape (nv,).
        W: receives the operator, shape (3m, 3m).
    """
    m = support_size.size
    scaled = np.empty((3, dof_parent.size))
    mark[:] = -1
    for i in range(m):
        size = support_size[i]
        for s in range(size):
            k = support[i, s]
            for r in range(3):
                reduced[i, r, k] = rows[i, r, k]
        for s in range(size):
            k = support[i, s]
            z_0, z_1, z_2 = reduced[i, 0, k], reduced[i, 1, k], reduced[i, 2, k]
            j = dof_parent[k]
            while j >= 0:
                entry = factor[k, j]
                reduced[i, 0, j] -= entry * z_0
                reduced[i, 1, j] -= entry * z_1
                reduced[i, 2, j] -= entry * z_2
                j = dof_parent[j]
            inverse = dt / factor[k, k]
            scaled[0, k] = inverse * z_0
            scaled[1, k] = inverse * z_1
            scaled[2, k] = inverse * z_2
            mark[k] = i
        for j in range(i + 1):
            w_00 = w_01 = w_02 = w_10 = w_11 = w_12 = w_20 = w_21 = w_22 = 0.0
            for s in range(support_size[j]):
                k = support[j, s]
                if mark[k] == i:
                    a_0, a_1, a_2 = scaled[0, k], scaled[1, k], scaled[2, k]
                    b_0, b_1, b_2 = reduced[j, 0, k], reduced[j, 1, k], reduced[j, 2, k]
                    w_00 += a_0 * b_0
                    w_01 += a_0 * b_1
                    w_02 += a_0 * b_2
                    w_10 += a_1 * b_0
                    w_11 += a_1 * b_1
                    w_12 += a_1 * b_2
                    w_20 += a_2 * b_0
                    w_21 += a_2 * b_1
                    w_22 += a_2 * b_2
            r, c = 3 * i, 3 * j
            W[r, c], W[r, c + 1], W[r, c + 2] = w_00, w_01, w_02
            W[r + 1, c], W[r + 1, c + 1], W[r + 1, c + 2] = w_10, w_11, w_12
            W[r + 2, c], W[r + 2, c + 1], W[r + 2, c + 2] = w_20, w_21, w_22
            W[c, r], W[c + 1, r], W[c + 2, r] = w_00, w_01, w_02
            W[c, r + 1], W[c + 1, r + 1], W[c + 2, r + 1] = w_10, w_11, w_12
            W[c, r + 2], W[c + 1, r + 2], W[c + 2, r + 2] = w_20, w_21, w_22


@njit(cache=True)
def contact_velocities(
    rows: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    """Relative velocities ``J v`` in the contact frames, shape (3m,) into ``out``."""
    for i in range(support_size.size):
        s_0 = s_1 = s_2 = 0.0
        for s in range(support_size[i]):
            k = support[i, s]
            s_0 += rows[i, 0, k] * v[k]
            s_1 += rows[i, 1, k] * v[k]
            s_2 += rows[i, 2, k] * v[k]
        out[3 * i] = s_0
        out[3 * i + 1] = s_1
        out[3 * i + 2] = s_2


@njit(cache=True)
def add_generalized_forces(
    rows: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
    f: np.ndarray,
    scale: float,
    out: np.ndarray,
) -> None:
    """Add ``scale`` times :math:`J^T f` to ``out``, shape (nv,)."""
    for i in range(support_size.size):
        f_0, f_1, f_2 = scale * f[3 * i], scale * f[3 * i + 1], scale * f[3 * i + 2]
        for s in range(support_size[i]):
            k = support[i, s]
            out[k] += rows[i, 0, k] * f_0 + rows[i, 1, k] * f_1 + rows[i, 2, k] * f_2
