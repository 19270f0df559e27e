# SPDX-License-Identifier: Apache-2.0
r"""The thesis' articulated-body recursion in the world frame, whose by-products serve the Delassus operator.

All quantities are in the world frame at the world origin, so that no transformation stands between bodies
(specification 000 §4.5, thesis equations 2.11-2.15 and 3.51-3.55, corrected). A joint with several degrees of freedom
is eliminated one velocity coordinate after the other: that is the :math:`LDL^T` factorisation of its
:math:`D = S^T \bar I S`, so that :math:`H` and :math:`D` kept here are those of the inertia reduced so far, a vector
and a number for every coordinate whatever the joint.

Inertias are symmetric: 21 numbers each, which the recursion holds in local variables, so that the compiler keeps them
in registers and nothing is stored and loaded between two coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, uncounted
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion


class ArticulatedInertia(NamedTuple):
    r"""What the recursion leaves behind for the rest of the step.

    Attributes:
        inertias: articulated inertias :math:`\bar I` of the bodies, upper triangles row by row, work space, shape
            (njoints, 21).
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
            np.zeros((njoints, 21)),
            np.zeros((njoints, 6)),
            np.zeros((nv, 6)),
            np.zeros(nv),
            np.zeros(nv),
            np.zeros((njoints, 6)),
        )


@uncounted(fastmath=FAST, forceinline=True)
def _body_terms(
    tree: KinematicTree, motion: TreeMotion, j: int, w: np.ndarray, i: np.ndarray, force: np.ndarray
) -> None:
    r"""Inertia and bias force of what joint j carries, in the world frame at the world origin (thesis equation 2.7).

    Args:
        tree: the tree.
        motion: its motion.
        j: the joint.
        w: known external wrench, shape (6,).
        i: receives the upper triangle of the spatial inertia, shape (21,).
        force: receives :math:`\xi \times^* I \xi - w`, shape (6,).
    """
    joint = tree.joints[j]
    m, lever, local = joint.mass, joint.lever, joint.inertia
    R, p, t = motion.rotations[j], motion.origins[j], motion.twists[j]
    r_00, r_01, r_02 = R[0, 0], R[0, 1], R[0, 2]
    r_10, r_11, r_12 = R[1, 0], R[1, 1], R[1, 2]
    r_20, r_21, r_22 = R[2, 0], R[2, 1], R[2, 2]
    l_00, l_01, l_02, l_11, l_12, l_22 = local[0, 0], local[0, 1], local[0, 2], local[1, 1], local[1, 2], local[2, 2]
    x = p[0] + r_00 * lever[0] + r_01 * lever[1] + r_02 * lever[2]
    y = p[1] + r_10 * lever[0] + r_11 * lever[1] + r_12 * lever[2]
    z = p[2] + r_20 * lever[0] + r_21 * lever[1] + r_22 * lever[2]
    a_0 = r_00 * l_00 + r_01 * l_01 + r_02 * l_02
    a_1 = r_00 * l_01 + r_01 * l_11 + r_02 * l_12
    a_2 = r_00 * l_02 + r_01 * l_12 + r_02 * l_22
    b_0 = r_10 * l_00 + r_11 * l_01 + r_12 * l_02
    b_1 = r_10 * l_01 + r_11 * l_11 + r_12 * l_12
    b_2 = r_10 * l_02 + r_11 * l_12 + r_12 * l_22
    c_0 = r_20 * l_00 + r_21 * l_01 + r_22 * l_02
    c_1 = r_20 * l_01 + r_21 * l_11 + r_22 * l_12
    c_2 = r_20 * l_02 + r_21 * l_12 + r_22 * l_22
    x_m, y_m, z_m = m * x, m * y, m * z
    i_33 = a_0 * r_00 + a_1 * r_01 + a_2 * r_02 + y_m * y + z_m * z
    i_34 = a_0 * r_10 + a_1 * r_11 + a_2 * r_12 - x_m * y
    i_35 = a_0 * r_20 + a_1 * r_21 + a_2 * r_22 - x_m * z
    i_44 = b_0 * r_10 + b_1 * r_11 + b_2 * r_12 + x_m * x + z_m * z
    i_45 = b_0 * r_20 + b_1 * r_21 + b_2 * r_22 - y_m * z
    i_55 = c_0 * r_20 + c_1 * r_21 + c_2 * r_22 + x_m * x + y_m * y
    i[0], i[1], i[2], i[3], i[4], i[5] = m, 0.0, 0.0, 0.0, z_m, -y_m
    i[6], i[7], i[8], i[9], i[10] = m, 0.0, -z_m, 0.0, x_m
    i[11], i[12], i[13], i[14] = m, y_m, -x_m, 0.0
    i[15], i[16], i[17], i[18], i[19], i[20] = i_33, i_34, i_35, i_44, i_45, i_55
    t_0, t_1, t_2, t_3, t_4, t_5 = t[0], t[1], t[2], t[3], t[4], t[5]
    l_0 = m * t_0 + z_m * t_4 - y_m * t_5
    l_1 = m * t_1 - z_m * t_3 + x_m * t_5
    l_2 = m * t_2 + y_m * t_3 - x_m * t_4
    k_0 = y_m * t_2 - z_m * t_1 + i_33 * t_3 + i_34 * t_4 + i_35 * t_5
    k_1 = z_m * t_0 - x_m * t_2 + i_34 * t_3 + i_44 * t_4 + i_45 * t_5
    k_2 = x_m * t_1 - y_m * t_0 + i_35 * t_3 + i_45 * t_4 + i_55 * t_5
    force[0] = t_4 * l_2 - t_5 * l_1 - w[0]
    force[1] = t_5 * l_0 - t_3 * l_2 - w[1]
    force[2] = t_3 * l_1 - t_4 * l_0 - w[2]
    force[3] = t_4 * k_2 - t_5 * k_1 + t_1 * l_2 - t_2 * l_1 - w[3]
    force[4] = t_5 * k_0 - t_3 * k_2 + t_2 * l_0 - t_0 * l_2 - w[4]
    force[5] = t_3 * k_1 - t_4 * k_0 + t_0 * l_1 - t_1 * l_0 - w[5]


@uncounted(fastmath=FAST, forceinline=True)
def _bias_force(tree: KinematicTree, motion: TreeMotion, j: int, w: np.ndarray, force: np.ndarray) -> None:
    r"""Compute the bias force of :func:`_body_terms` alone, by the momentum: half of the work."""
    joint = tree.joints[j]
    m, lever, local = joint.mass, joint.lever, joint.inertia
    R, p, t = motion.rotations[j], motion.origins[j], motion.twists[j]
    r_00, r_01, r_02 = R[0, 0], R[0, 1], R[0, 2]
    r_10, r_11, r_12 = R[1, 0], R[1, 1], R[1, 2]
    r_20, r_21, r_22 = R[2, 0], R[2, 1], R[2, 2]
    t_0, t_1, t_2, t_3, t_4, t_5 = t[0], t[1], t[2], t[3], t[4], t[5]
    x = p[0] + r_00 * lever[0] + r_01 * lever[1] + r_02 * lever[2]
    y = p[1] + r_10 * lever[0] + r_11 * lever[1] + r_12 * lever[2]
    z = p[2] + r_20 * lever[0] + r_21 * lever[1] + r_22 * lever[2]
    l_0 = m * (t_0 + t_4 * z - t_5 * y)
    l_1 = m * (t_1 + t_5 * x - t_3 * z)
    l_2 = m * (t_2 + t_3 * y - t_4 * x)
    o_0 = r_00 * t_3 + r_10 * t_4 + r_20 * t_5  # angular velocity in the axes of the body
    o_1 = r_01 * t_3 + r_11 * t_4 + r_21 * t_5
    o_2 = r_02 * t_3 + r_12 * t_4 + r_22 * t_5
    h_0 = local[0, 0] * o_0 + local[0, 1] * o_1 + local[0, 2] * o_2
    h_1 = local[0, 1] * o_0 + local[1, 1] * o_1 + local[1, 2] * o_2
    h_2 = local[0, 2] * o_0 + local[1, 2] * o_1 + local[2, 2] * o_2
    k_0 = r_00 * h_0 + r_01 * h_1 + r_02 * h_2 + y * l_2 - z * l_1
    k_1 = r_10 * h_0 + r_11 * h_1 + r_12 * h_2 + z * l_0 - x * l_2
    k_2 = r_20 * h_0 + r_21 * h_1 + r_22 * h_2 + x * l_1 - y * l_0
    force[0] = t_4 * l_2 - t_5 * l_1 - w[0]
    force[1] = t_5 * l_0 - t_3 * l_2 - w[1]
    force[2] = t_3 * l_1 - t_4 * l_0 - w[2]
    force[3] = t_4 * k_2 - t_5 * k_1 + t_1 * l_2 - t_2 * l_1 - w[3]
    force[4] = t_5 * k_0 - t_3 * k_2 + t_2 * l_0 - t_0 * l_2 - w[4]
    force[5] = t_3 * k_1 - t_4 * k_0 + t_0 * l_1 - t_1 * l_0 - w[5]


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
def articulated_body(
    tree: KinematicTree,
    motion: TreeMotion,
    efforts: np.ndarray,
    own_inertia: np.ndarray,
    wrenches: np.ndarray,
    articulated: ArticulatedInertia,
    acceleration: np.ndarray,
) -> None:
    r"""Forward dynamics :math:`\ddot q = (M + \mathrm{diag})^{-1}(\tau - b - g)` in O(n) (thesis equations 2.12-2.15).

    Args:
        tree: the tree.
        motion: its motion, from :func:`~humanoid_model.tree.tree_motion.move_tree`.
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
    S, biases = motion.S, motion.biases
    n = tree.joints.size
    for j in range(1, n):
        _body_terms(tree, motion, j, wrenches[j], inertias[j], forces[j])
    for j in range(n - 1, 0, -1):
        i, force, bias = inertias[j], forces[j], biases[j]
        i_00, i_01, i_02, i_03, i_04, i_05 = i[0], i[1], i[2], i[3], i[4], i[5]
        i_11, i_12, i_13, i_14, i_15 = i[6], i[7], i[8], i[9], i[10]
        i_22, i_23, i_24, i_25 = i[11], i[12], i[13], i[14]
        i_33, i_34, i_35 = i[15], i[16], i[17]
        i_44, i_45 = i[18], i[19]
        i_55 = i[20]
        b_0, b_1, b_2, b_3, b_4, b_5 = bias[0], bias[1], bias[2], bias[3], bias[4], bias[5]
        f_0, f_1, f_2, f_3, f_4, f_5 = force[0], force[1], force[2], force[3], force[4], force[5]
        f_0 += i_00 * b_0 + i_01 * b_1 + i_02 * b_2 + i_03 * b_3 + i_04 * b_4 + i_05 * b_5
        f_1 += i_01 * b_0 + i_11 * b_1 + i_12 * b_2 + i_13 * b_3 + i_14 * b_4 + i_15 * b_5
        f_2 += i_02 * b_0 + i_12 * b_1 + i_22 * b_2 + i_23 * b_3 + i_24 * b_4 + i_25 * b_5
        f_3 += i_03 * b_0 + i_13 * b_1 + i_23 * b_2 + i_33 * b_3 + i_34 * b_4 + i_35 * b_5
        f_4 += i_04 * b_0 + i_14 * b_1 + i_24 * b_2 + i_34 * b_3 + i_44 * b_4 + i_45 * b_5
        f_5 += i_05 * b_0 + i_15 * b_1 + i_25 * b_2 + i_35 * b_3 + i_45 * b_4 + i_55 * b_5
        joint = tree.joints[j]
        first = joint.idx_v
        for k in range(first + joint.nv - 1, first - 1, -1):
            s, h = S[k], H[k]
            s_0, s_1, s_2, s_3, s_4, s_5 = s[0], s[1], s[2], s[3], s[4], s[5]
            h_0 = i_00 * s_0 + i_01 * s_1 + i_02 * s_2 + i_03 * s_3 + i_04 * s_4 + i_05 * s_5
            h_1 = i_01 * s_0 + i_11 * s_1 + i_12 * s_2 + i_13 * s_3 + i_14 * s_4 + i_15 * s_5
            h_2 = i_02 * s_0 + i_12 * s_1 + i_22 * s_2 + i_23 * s_3 + i_24 * s_4 + i_25 * s_5
            h_3 = i_03 * s_0 + i_13 * s_1 + i_23 * s_2 + i_33 * s_3 + i_34 * s_4 + i_35 * s_5
            h_4 = i_04 * s_0 + i_14 * s_1 + i_24 * s_2 + i_34 * s_3 + i_44 * s_4 + i_45 * s_5
            h_5 = i_05 * s_0 + i_15 * s_1 + i_25 * s_2 + i_35 * s_3 + i_45 * s_4 + i_55 * s_5
            h[0], h[1], h[2], h[3], h[4], h[5] = h_0, h_1, h_2, h_3, h_4, h_5
            inverse = 1.0 / (
                s_0 * h_0 + s_1 * h_1 + s_2 * h_2 + s_3 * h_3 + s_4 * h_4 + s_5 * h_5 + own_inertia[k]
            )
            rest = efforts[k] - (s_0 * f_0 + s_1 * f_1 + s_2 * f_2 + s_3 * f_3 + s_4 * f_4 + s_5 * f_5)
            D_inverse[k] = inverse
            u[k] = rest
            g = rest * inverse
            f_0 += h_0 * g
            f_1 += h_1 * g
            f_2 += h_2 * g
            f_3 += h_3 * g
            f_4 += h_4 * g
            f_5 += h_5 * g
            g = h_0 * inverse
            i_00 -= g * h_0
            i_01 -= g * h_1
            i_02 -= g * h_2
            i_03 -= g * h_3
            i_04 -= g * h_4
            i_05 -= g * h_5
            g = h_1 * inverse
            i_11 -= g * h_1
            i_12 -= g * h_2
            i_13 -= g * h_3
            i_14 -= g * h_4
            i_15 -= g * h_5
            g = h_2 * inverse
            i_22 -= g * h_2
            i_23 -= g * h_3
            i_24 -= g * h_4
            i_25 -= g * h_5
            g = h_3 * inverse
            i_33 -= g * h_3
            i_34 -= g * h_4
            i_35 -= g * h_5
            g = h_4 * inverse
            i_44 -= g * h_4
            i_45 -= g * h_5
            g = h_5 * inverse
            i_55 -= g * h_5
        parent = joint.parent
        if parent > 0:
            above, force = inertias[parent], forces[parent]
            force[0] += f_0
            force[1] += f_1
            force[2] += f_2
            force[3] += f_3
            force[4] += f_4
            force[5] += f_5
            above[0] += i_00
            above[1] += i_01
            above[2] += i_02
            above[3] += i_03
            above[4] += i_04
            above[5] += i_05
            above[6] += i_11
            above[7] += i_12
            above[8] += i_13
            above[9] += i_14
            above[10] += i_15
            above[11] += i_22
            above[12] += i_23
            above[13] += i_24
            above[14] += i_25
            above[15] += i_33
            above[16] += i_34
            above[17] += i_35
            above[18] += i_44
            above[19] += i_45
            above[20] += i_55
    for r in range(3):  # a base that accelerates upwards feels what gravity does
        articulated.accelerations[0, r] = -tree.gravity[r]
        articulated.accelerations[0, 3 + r] = 0.0
    for j in range(1, n):
        _accelerate(tree, j, S, articulated, biases[j], acceleration)


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
def biased_acceleration(
    tree: KinematicTree,
    motion: TreeMotion,
    efforts: np.ndarray,
    wrenches: np.ndarray,
    articulated: ArticulatedInertia,
    acceleration: np.ndarray,
) -> None:
    """Compute the acceleration of :func:`articulated_body` for another velocity at the same configuration.

    Inertias, H and D are those that :func:`articulated_body` left; only what depends on the velocity is new.

    Args:
        tree: the tree.
        motion: its motion with the other velocity.
        efforts: of the coordinates [N m or N], shape (nv,).
        wrenches: known external wrenches on the bodies, at the world origin, force first, shape (njoints, 6).
        articulated: output of :func:`articulated_body`; ``forces``, ``u`` and ``accelerations`` are overwritten.
        acceleration: receives the acceleration, shape (nv,).
    """
    inertias, forces, H, D_inverse, u = (
        articulated.inertias, articulated.forces, articulated.H, articulated.D_inverse, articulated.u,
    )  # fmt: skip
    S, biases = motion.S, motion.biases
    n = tree.joints.size
    for j in range(1, n):
        _bias_force(tree, motion, j, wrenches[j], forces[j])
    for j in range(n - 1, 0, -1):
        i, force, bias = inertias[j], forces[j], biases[j]
        b_0, b_1, b_2, b_3, b_4, b_5 = bias[0], bias[1], bias[2], bias[3], bias[4], bias[5]
        f_0 = force[0] + i[0] * b_0 + i[1] * b_1 + i[2] * b_2 + i[3] * b_3 + i[4] * b_4 + i[5] * b_5
        f_1 = force[1] + i[1] * b_0 + i[6] * b_1 + i[7] * b_2 + i[8] * b_3 + i[9] * b_4 + i[10] * b_5
        f_2 = force[2] + i[2] * b_0 + i[7] * b_1 + i[11] * b_2 + i[12] * b_3 + i[13] * b_4 + i[14] * b_5
        f_3 = force[3] + i[3] * b_0 + i[8] * b_1 + i[12] * b_2 + i[15] * b_3 + i[16] * b_4 + i[17] * b_5
        f_4 = force[4] + i[4] * b_0 + i[9] * b_1 + i[13] * b_2 + i[16] * b_3 + i[18] * b_4 + i[19] * b_5
        f_5 = force[5] + i[5] * b_0 + i[10] * b_1 + i[14] * b_2 + i[17] * b_3 + i[19] * b_4 + i[20] * b_5
        joint = tree.joints[j]
        first = joint.idx_v
        for k in range(first + joint.nv - 1, first - 1, -1):
            s, h = S[k], H[k]
            rest = efforts[k] - (
                s[0] * f_0 + s[1] * f_1 + s[2] * f_2 + s[3] * f_3 + s[4] * f_4 + s[5] * f_5
            )
            u[k] = rest
            g = rest * D_inverse[k]
            f_0 += h[0] * g
            f_1 += h[1] * g
            f_2 += h[2] * g
            f_3 += h[3] * g
            f_4 += h[4] * g
            f_5 += h[5] * g
        parent = joint.parent
        if parent > 0:
            above = forces[parent]
            above[0] += f_0
            above[1] += f_1
            above[2] += f_2
            above[3] += f_3
            above[4] += f_4
            above[5] += f_5
    for r in range(3):  # a base that accelerates upwards feels what gravity does
        articulated.accelerations[0, r] = -tree.gravity[r]
        articulated.accelerations[0, 3 + r] = 0.0
    for j in range(1, n):
        _accelerate(tree, j, S, articulated, biases[j], acceleration)


@uncounted(fastmath=FAST)
def _accelerate(
    tree: KinematicTree, j: int, S: np.ndarray, articulated: ArticulatedInertia, bias: np.ndarray,
    acceleration: np.ndarray,
) -> None:  # fmt: skip
    """Accelerations of a joint's coordinates (thesis equation 2.15) and of its body, given that of its parent."""
    H, D_inverse, u, accelerations = articulated.H, articulated.D_inverse, articulated.u, articulated.accelerations
    joint = tree.joints[j]
    above, a = accelerations[joint.parent], accelerations[j]
    a_0, a_1, a_2, a_3, a_4, a_5 = above[0], above[1], above[2], above[3], above[4], above[5]
    first = joint.idx_v
    for k in range(first, first + joint.nv):
        s, h = S[k], H[k]
        rate = D_inverse[k] * (
            u[k] - (h[0] * a_0 + h[1] * a_1 + h[2] * a_2 + h[3] * a_3 + h[4] * a_4 + h[5] * a_5)
        )
        acceleration[k] = rate
        a_0 += s[0] * rate
        a_1 += s[1] * rate
        a_2 += s[2] * rate
        a_3 += s[3] * rate
        a_4 += s[4] * rate
        a_5 += s[5] * rate
    a[0], a[1], a[2] = a_0 + bias[0], a_1 + bias[1], a_2 + bias[2]
    a[3], a[4], a[5] = a_3 + bias[3], a_4 + bias[4], a_5 + bias[5]


@apart(error_model="numpy", fastmath=FAST, _nrt=False)
def force_response(
    tree: KinematicTree,
    S: np.ndarray,
    articulated: ArticulatedInertia,
    wrenches: np.ndarray,
    efforts: np.ndarray,
    acceleration: np.ndarray,
) -> None:
    r"""Compute what wrenches and efforts alone change in the acceleration: :math:`M^{-1}(J^T f + \tau)`, in O(n).

    One pass inwards and one outwards with the H and D of :func:`articulated_body`. It reaches all coordinates of a
    tree, also those of branches without contacts (specification 000 §11.5, feature F167).

    Args:
        tree: the tree.
        S: motion subspaces, shape (nv, 6).
        articulated: output of :func:`articulated_body`; ``forces``, ``u`` and ``accelerations`` are overwritten.
        wrenches: on the bodies, at the world origin, force first, shape (njoints, 6).
        efforts: of the coordinates, shape (nv,).
        acceleration: receives the change, shape (nv,).
    """
    forces, H, D_inverse, u = articulated.forces, articulated.H, articulated.D_inverse, articulated.u
    n = tree.joints.size
    for j in range(1, n):
        for r in range(6):
            forces[j, r] = wrenches[j, r]
    for j in range(n - 1, 0, -1):
        f = forces[j]
        f_0, f_1, f_2, f_3, f_4, f_5 = f[0], f[1], f[2], f[3], f[4], f[5]
        joint = tree.joints[j]
        first = joint.idx_v
        for k in range(first + joint.nv - 1, first - 1, -1):
            s, h = S[k], H[k]
            rest = efforts[k] + (
                s[0] * f_0 + s[1] * f_1 + s[2] * f_2 + s[3] * f_3 + s[4] * f_4 + s[5] * f_5
            )
            u[k] = rest
            g = rest * D_inverse[k]
            f_0 -= h[0] * g
            f_1 -= h[1] * g
            f_2 -= h[2] * g
            f_3 -= h[3] * g
            f_4 -= h[4] * g
            f_5 -= h[5] * g
        parent = joint.parent
        if parent > 0:
            above = forces[parent]
            above[0] += f_0
            above[1] += f_1
            above[2] += f_2
            above[3] += f_3
            above[4] += f_4
            above[5] += f_5
    none = forces[0]  # nothing is remembered there
    for r in range(6):
        articulated.accelerations[0, r] = none[r] = 0.0
    for j in range(1, n):
        _accelerate(tree, j, S, articulated, none, acceleration)
