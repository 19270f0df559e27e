# SPDX-License-Identifier: Apache-2.0
r"""Mass matrix of a tree by the composite-rigid-body algorithm in the world frame (thesis equations 2.9 and 2.10)."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import counted, uncounted
from humanoid_model.tree.articulated_body import FAST
from humanoid_model.tree.forward_kinematics import place_all
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements


@counted(fastmath=FAST)
def _body_inertia(tree: KinematicTree, j: int, R: np.ndarray, p: np.ndarray, inertia: np.ndarray) -> None:
    """Spatial inertia of what a joint carries, in the world frame at the world origin (thesis equation 2.7), 6 x 6."""
    m, local = tree.joints[j].mass, tree.joints[j].inertia
    centre = np.empty(3)
    for r in range(3):
        centre[r] = p[r]
        for c in range(3):
            centre[r] += R[r, c] * tree.joints[j].lever[c]
    square = centre[0] ** 2 + centre[1] ** 2 + centre[2] ** 2
    for r in range(3):
        inertia[r, r] = m
        c, d = (r + 1) % 3, (r + 2) % 3
        inertia[3 + c, d] = inertia[d, 3 + c] = -m * centre[r]  # m [centre]x below, its transpose above
        inertia[3 + d, c] = inertia[c, 3 + d] = m * centre[r]
        for c in range(3):
            total = -m * centre[r] * centre[c]
            for x in range(3):
                for y in range(3):
                    total += R[r, x] * local[x, y] * R[c, y]
            inertia[3 + r, 3 + c] = total
        inertia[3 + r, 3 + r] += m * square


@uncounted(fastmath=FAST)
def composite_inertias(tree: KinematicTree, R: np.ndarray, p: np.ndarray, inertias: np.ndarray) -> None:
    r"""Inertia :math:`\hat I_i` of all that each joint carries, its subtree, at the world origin.

    Args:
        tree: the tree.
        R: rotations of the joint frames, shape (njoints, 3, 3).
        p: origins of the joint frames in the world [m], shape (njoints, 3).
        inertias: receives them, the fixed world's left zero, shape (njoints, 6, 6).
    """
    inertias[:] = 0.0
    for j in range(1, tree.joints.size):
        if tree.joints[j].mass > 0.0:
            _body_inertia(tree, j, R[j], p[j], inertias[j])
    for j in range(tree.joints.size - 1, 0, -1):
        parent = tree.joints[j].parent
        if parent > 0:
            for r in range(6):
                for c in range(6):
                    inertias[parent, r, c] += inertias[j, r, c]


@counted(fastmath=FAST)
def mass_matrix(tree: KinematicTree, q: np.ndarray) -> np.ndarray:
    r"""Joint-space inertia, rotors included: :math:`M_{kl} = S_k^T \hat I_k S_l` for l on the way from k to the root.

    Two coordinates of which none carries the other have none in common. The world frame needs no transformation
    between bodies; the precision goes with the square of the distance from its origin.

    Args:
        tree: the tree.
        q: configuration, shape (nq,).

    Returns:
        Symmetric and positive definite where every coordinate moves some inertia [kg, kg m, kg m^2], shape (nv, nv).
    """
    n, nv = tree.joints.size, tree.armature.size
    R, p, S = np.empty((n, 3, 3)), np.zeros((n, 3)), np.empty((nv, 6))
    R[0] = np.eye(3)
    place_all(tree, q, Placements(R, p, S))
    inertias = np.empty((n, 6, 6))
    composite_inertias(tree, R, p, inertias)
    M = np.zeros((nv, nv))
    momentum = np.empty(6)
    for k in range(nv):
        inertia = inertias[tree.dof_joint[k]]
        for r in range(6):
            total = 0.0
            for c in range(6):
                total += inertia[r, c] * S[k, c]
            momentum[r] = total
        on_the_way = k
        while on_the_way >= 0:
            total = 0.0
            for r in range(6):
                total += S[on_the_way, r] * momentum[r]
            M[k, on_the_way] = total
            M[on_the_way, k] = total
            on_the_way = tree.dof_parent[on_the_way]
        M[k, k] += tree.armature[k]
    return M
