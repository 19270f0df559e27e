# SPDX-License-Identifier: Apache-2.0
r"""The thesis' articulated-body recursion in the world frame, whose by-products serve the Delassus operator.

All quantities are in the world frame at the world origin, so that no transformation stands between bodies
(specification 000 §4.5, thesis equations 2.11-2.15 and 3.51-3.55, corrected). A joint with several degrees of freedom
is eliminated one velocity coordinate after the other: that is the :math:`LDL^T` factorisation of its
:math:`D = S^T \bar I S`, so that :math:`H` and :math:`D` kept here are those of the inertia reduced so far, a vector
and a number for every coordinate whatever the joint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from humanoid_sim.dynamics.flat_model import FlatModel
from humanoid_sim.dynamics.tree_motion import TreeMotion

FAST = {"nsz", "arcp", "contract", "reassoc"}
"""Floating-point freedoms of the compiled kernels that keep infinities and not-a-numbers what they are."""


class ArticulatedInertia(NamedTuple):
    r"""What the recursion leaves behind for the rest of the step.

    Attributes:
        inertias: articulated inertias :math:`\bar I` of the bodies, work space, shape (njoints, 6, 6).
        forces: bias forces :math:`\bar b`, work space, shape (njoints, 6).
        H: :math:`\bar I S` of each velocity coordinate, shape (nv, 6).
        D_inverse: inverse of :math:`S^T \bar I S` plus the coordinate's own inertia, shape (nv,).
        u: effort left for each coordinate's own acceleration, shape (nv,).
        accelerations: spatial accelerations of the bodies, work space, shape (njoints, 6).
    """

    inertias: NDArray[np.float64]
    forces: NDArray[np.float64]
    H: NDArray[np.float64]
    D_inverse: NDArray[np.float64]
    u: NDArray[np.float64]
    accelerations: NDArray[np.float64]

    @classmethod
    def of_size(cls, njoints: int, nv: int) -> ArticulatedInertia:
        """Arrays for a model of ``njoints`` joints and ``nv`` velocity coordinates."""
        return cls(
            np.zeros((njoints, 6, 6)),
            np.zeros((njoints, 6)),
            np.zeros((nv, 6)),
            np.zeros(nv),
            np.zeros(nv),
            np.zeros((njoints, 6)),
        )


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _body_inertia(model: FlatModel, j: int, R: np.ndarray, p: np.ndarray, inertia: np.ndarray) -> None:
    """Spatial inertia of what joint j carries, in the world frame at the world origin (thesis equation 2.7)."""
    m = model.masses[j]
    lever = model.levers[j]
    local = model.inertias[j]
    x = p[0] + R[0, 0] * lever[0] + R[0, 1] * lever[1] + R[0, 2] * lever[2]
    y = p[1] + R[1, 0] * lever[0] + R[1, 1] * lever[1] + R[1, 2] * lever[2]
    z = p[2] + R[2, 0] * lever[0] + R[2, 1] * lever[1] + R[2, 2] * lever[2]
    for r in range(3):
        a_0 = R[r, 0] * local[0, 0] + R[r, 1] * local[1, 0] + R[r, 2] * local[2, 0]
        a_1 = R[r, 0] * local[0, 1] + R[r, 1] * local[1, 1] + R[r, 2] * local[2, 1]
        a_2 = R[r, 0] * local[0, 2] + R[r, 1] * local[1, 2] + R[r, 2] * local[2, 2]
        for c in range(3):
            inertia[3 + r, 3 + c] = a_0 * R[c, 0] + a_1 * R[c, 1] + a_2 * R[c, 2]
            inertia[r, c] = 0.0
    inertia[0, 0] = inertia[1, 1] = inertia[2, 2] = m
    x_m, y_m, z_m = m * x, m * y, m * z
    inertia[3, 3] += y_m * y + z_m * z
    inertia[4, 4] += x_m * x + z_m * z
    inertia[5, 5] += x_m * x + y_m * y
    inertia[3, 4] -= x_m * y
    inertia[4, 3] -= x_m * y
    inertia[3, 5] -= x_m * z
    inertia[5, 3] -= x_m * z
    inertia[4, 5] -= y_m * z
    inertia[5, 4] -= y_m * z
    # m [c]x below the diagonal, its transpose above
    inertia[0, 3] = inertia[1, 4] = inertia[2, 5] = 0.0
    inertia[3, 0] = inertia[4, 1] = inertia[5, 2] = 0.0
    inertia[3, 1] = inertia[1, 3] = -z_m
    inertia[3, 2] = inertia[2, 3] = y_m
    inertia[4, 0] = inertia[0, 4] = z_m
    inertia[4, 2] = inertia[2, 4] = -x_m
    inertia[5, 0] = inertia[0, 5] = -y_m
    inertia[5, 1] = inertia[1, 5] = x_m


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _reduce(inertia: np.ndarray, S: np.ndarray, own: float, H: np.ndarray) -> float:
    """Eliminate one coordinate from an articulated inertia; returns 1/D and leaves H."""
    h_0 = h_1 = h_2 = h_3 = h_4 = h_5 = 0.0
    for c in range(6):
        s = S[c]
        h_0 += inertia[c, 0] * s
        h_1 += inertia[c, 1] * s
        h_2 += inertia[c, 2] * s
        h_3 += inertia[c, 3] * s
        h_4 += inertia[c, 4] * s
        h_5 += inertia[c, 5] * s
    H[0], H[1], H[2], H[3], H[4], H[5] = h_0, h_1, h_2, h_3, h_4, h_5
    D = S[0] * h_0 + S[1] * h_1 + S[2] * h_2 + S[3] * h_3 + S[4] * h_4 + S[5] * h_5 + own
    inverse = 1.0 / D
    for r in range(6):
        scaled = H[r] * inverse
        inertia[r, 0] -= scaled * h_0
        inertia[r, 1] -= scaled * h_1
        inertia[r, 2] -= scaled * h_2
        inertia[r, 3] -= scaled * h_3
        inertia[r, 4] -= scaled * h_4
        inertia[r, 5] -= scaled * h_5
    return inverse


@njit(cache=True, error_model="numpy", fastmath=FAST)
def articulated_body(
    model: FlatModel,
    motion: TreeMotion,
    efforts: np.ndarray,
    own_inertia: np.ndarray,
    wrenches: np.ndarray,
    articulated: ArticulatedInertia,
    acceleration: np.ndarray,
) -> None:
    r"""Forward dynamics :math:`\ddot q = (M + \mathrm{diag})^{-1}(\tau - b - g)` in O(n) (thesis equations 2.12-2.15).

    Args:
        model: the tree.
        motion: its motion, from :func:`~humanoid_sim.dynamics.tree_motion.move_tree`.
        efforts: of the coordinates [N m or N], shape (nv,).
        own_inertia: what each coordinate accelerates besides the bodies: rotors, and damping and stiffness that are
            taken implicitly, shape (nv,).
        wrenches: known external wrenches on the bodies, at the world origin, force first, shape (njoints, 6).
        articulated: receives H, D and the rest.
        acceleration: receives :math:`\ddot q`, shape (nv,).
    """
    inertias, forces, H, D_inverse, u = (
        articulated.inertias, articulated.forces, articulated.H, articulated.D_inverse, articulated.u,
    )  # fmt: skip
    S, twists, biases, accelerations = motion.S, motion.twists, motion.biases, articulated.accelerations
    n = model.kinds.size
    for j in range(1, n):
        inertia = inertias[j]
        force = forces[j]
        if model.masses[j] == 0.0:
            inertia[:] = 0.0
            for r in range(6):
                force[r] = -wrenches[j, r]
            continue
        _body_inertia(model, j, motion.R[j], motion.p[j], inertia)
        t = twists[j]
        l_0 = l_1 = l_2 = k_0 = k_1 = k_2 = 0.0
        for c in range(6):
            rate = t[c]
            l_0 += inertia[c, 0] * rate
            l_1 += inertia[c, 1] * rate
            l_2 += inertia[c, 2] * rate
            k_0 += inertia[c, 3] * rate
            k_1 += inertia[c, 4] * rate
            k_2 += inertia[c, 5] * rate
        # twist x* momentum, less the external wrench
        force[0] = t[4] * l_2 - t[5] * l_1 - wrenches[j, 0]
        force[1] = t[5] * l_0 - t[3] * l_2 - wrenches[j, 1]
        force[2] = t[3] * l_1 - t[4] * l_0 - wrenches[j, 2]
        force[3] = t[4] * k_2 - t[5] * k_1 + t[1] * l_2 - t[2] * l_1 - wrenches[j, 3]
        force[4] = t[5] * k_0 - t[3] * k_2 + t[2] * l_0 - t[0] * l_2 - wrenches[j, 4]
        force[5] = t[3] * k_1 - t[4] * k_0 + t[0] * l_1 - t[1] * l_0 - wrenches[j, 5]
    for j in range(n - 1, 0, -1):
        inertia = inertias[j]
        force = forces[j]
        bias = biases[j]
        for c in range(6):
            b = bias[c]
            for r in range(6):
                force[r] += inertia[c, r] * b
        first = model.idx_v[j]
        for k in range(first + model.nvs[j] - 1, first - 1, -1):
            h = H[k]
            s = S[k]
            inverse = _reduce(inertia, s, own_inertia[k], h)
            D_inverse[k] = inverse
            rest = efforts[k] - (
                s[0] * force[0] + s[1] * force[1] + s[2] * force[2]
                + s[3] * force[3] + s[4] * force[4] + s[5] * force[5]
            )  # fmt: skip
            u[k] = rest
            scaled = rest * inverse
            for r in range(6):
                force[r] += h[r] * scaled
        parent = model.parents[j]
        if parent > 0:
            above = inertias[parent]
            for r in range(6):
                forces[parent, r] += force[r]
                for c in range(6):
                    above[r, c] += inertia[r, c]
    for r in range(3):  # a base that accelerates upwards feels what gravity does
        accelerations[0, r] = -model.gravity[r]
        accelerations[0, 3 + r] = 0.0
    for j in range(1, n):
        a = accelerations[j]
        above = accelerations[model.parents[j]]
        for r in range(6):
            a[r] = above[r]
        first = model.idx_v[j]
        for k in range(first, first + model.nvs[j]):
            _accelerate(H[k], S[k], D_inverse[k], u[k], a, acceleration, k)
        for r in range(6):
            a[r] += biases[j, r]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _accelerate(
    h: np.ndarray, s: np.ndarray, inverse: float, u: float, a: np.ndarray, acceleration: np.ndarray, k: int
) -> None:
    """Acceleration of one coordinate (thesis equation 2.15), added to that of its body."""
    rate = inverse * (u - (h[0] * a[0] + h[1] * a[1] + h[2] * a[2] + h[3] * a[3] + h[4] * a[4] + h[5] * a[5]))
    acceleration[k] = rate
    for r in range(6):
        a[r] += s[r] * rate


@njit(cache=True, error_model="numpy", fastmath=FAST)
def force_response(
    model: FlatModel,
    S: np.ndarray,
    articulated: ArticulatedInertia,
    wrenches: np.ndarray,
    efforts: np.ndarray,
    acceleration: np.ndarray,
) -> None:
    r"""What wrenches and efforts alone change in the acceleration: :math:`M^{-1}(J^T f + \tau)`, in O(n).

    One pass inwards and one outwards with the H and D of :func:`articulated_body`. It reaches all coordinates of a
    tree, also those of branches without contacts (specification 000 §11.5, feature F167).

    Args:
        model: the tree.
        S: motion subspaces, shape (nv, 6).
        articulated: output of :func:`articulated_body`; ``forces``, ``u`` and ``accelerations`` are overwritten.
        wrenches: on the bodies, at the world origin, force first, shape (njoints, 6).
        efforts: of the coordinates, shape (nv,).
        acceleration: receives the change, shape (nv,).
    """
    forces, H, D_inverse, u, accelerations = (
        articulated.forces, articulated.H, articulated.D_inverse, articulated.u, articulated.accelerations,
    )  # fmt: skip
    n = model.kinds.size
    for j in range(1, n):
        for r in range(6):
            forces[j, r] = wrenches[j, r]
    for j in range(n - 1, 0, -1):
        f = forces[j]
        first = model.idx_v[j]
        for k in range(first + model.nvs[j] - 1, first - 1, -1):
            s = S[k]
            h = H[k]
            rest = efforts[k] + (
                s[0] * f[0] + s[1] * f[1] + s[2] * f[2] + s[3] * f[3] + s[4] * f[4] + s[5] * f[5]
            )
            u[k] = rest
            scaled = rest * D_inverse[k]
            for r in range(6):
                f[r] -= h[r] * scaled
        parent = model.parents[j]
        if parent > 0:
            for r in range(6):
                forces[parent, r] += f[r]
    for r in range(6):
        accelerations[0, r] = 0.0
    for j in range(1, n):
        a = accelerations[j]
        above = accelerations[model.parents[j]]
        for r in range(6):
            a[r] = above[r]
        first = model.idx_v[j]
        for k in range(first, first + model.nvs[j]):
            _accelerate(H[k], S[k], D_inverse[k], u[k], a, acceleration, k)
