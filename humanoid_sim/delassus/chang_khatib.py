# SPDX-License-Identifier: Apache-2.0
r"""Body-level operator by the recursions of Chang and Khatib (§3.2.2, Algorithm 4, corrected).

K.-S. Chang, O. Khatib, Operational space dynamics: efficient algorithms for modeling and control of branching
mechanisms, 2000. One recursion gives the diagonal blocks along the branches, a second one the blocks between bodies
from their nearest common ancestor. The index convention is :math:`\Omega_{ij} = J_i M^{-1} J_j^T` (specification 000
§11.4).
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import FAST, ArticulatedInertia
from humanoid_model.tree.kinematic_tree import KinematicTree


@uncounted(fastmath=FAST)
def _descend(S: np.ndarray, H: np.ndarray, inverse: float, block: np.ndarray) -> None:
    r"""Overwrite a block with :math:`L^T` times it, :math:`L^T = 1 - S D^{-1} H^T` (thesis equation 3.43)."""
    for c in range(6):
        rate = inverse * (
            H[0] * block[0, c] + H[1] * block[1, c] + H[2] * block[2, c]
            + H[3] * block[3, c] + H[4] * block[4, c] + H[5] * block[5, c]
        )  # fmt: skip
        for r in range(6):
            block[r, c] -= S[r] * rate


@apart(error_model="numpy", fastmath=FAST)
def chang_khatib(
    model: KinematicTree,
    S: np.ndarray,
    articulated: ArticulatedInertia,
    bodies: np.ndarray,
    branch: np.ndarray,
    path: np.ndarray,
    diagonal: np.ndarray,
    omega: np.ndarray,
) -> None:
    r"""Operator :math:`\Omega_{ij} = J_i M^{-1} J_j^T` between bodies of one tree (thesis equations 3.41-3.45).

    Args:
        model: the tree.
        S: motion subspaces, shape (nv, 6).
        articulated: output of the articulated-body recursion.
        bodies: joints of the bodies, all of one tree, shape (C,).
        branch: coordinates that move any of them, ascending, shape (s,).
        path: work space, shape (nv,).
        diagonal: work space for the blocks along the branches, shape (nv, 6, 6).
        omega: receives the operator, shape (C, C, 6, 6).
    """
    H, D_inverse = articulated.H, articulated.D_inverse
    y = np.empty(6)
    for s in range(branch.size):
        k = branch[s]
        above = model.dof_parent[k]
        inverse = D_inverse[k]
        own = diagonal[k]
        if above < 0:
            for r in range(6):
                for c in range(6):
                    own[r, c] = inverse * S[k, r] * S[k, c]
            continue
        before = diagonal[above]
        across = 0.0
        for r in range(6):
            y[r] = inverse * (
                before[r, 0] * H[k, 0] + before[r, 1] * H[k, 1] + before[r, 2] * H[k, 2]
                + before[r, 3] * H[k, 3] + before[r, 4] * H[k, 4] + before[r, 5] * H[k, 5]
            )  # fmt: skip
        for r in range(6):
            across += H[k, r] * y[r]
        gain = inverse * (1.0 + across)
        for r in range(6):
            for c in range(6):
                own[r, c] = before[r, c] - S[k, r] * y[c] - y[r] * S[k, c] + gain * S[k, r] * S[k, c]
    for i in range(bodies.size):
        k = model.joints[bodies[i]].last_dof
        for r in range(6):
            for c in range(6):
                omega[i, i, r, c] = diagonal[k, r, c]
        for j in range(i):
            a = model.joints[bodies[i]].last_dof
            b = model.joints[bodies[j]].last_dof
            while a != b:  # parents have lower numbers
                if a > b:
                    a = model.dof_parent[a]
                else:
                    b = model.dof_parent[b]
            block = omega[i, j]
            if a < 0:
                for r in range(6):
                    for c in range(6):
                        block[r, c] = 0.0
                        omega[j, i, r, c] = 0.0
                continue
            for r in range(6):
                for c in range(6):
                    block[r, c] = diagonal[a, r, c]
            for side in range(2):  # to body j, transposed to body i
                length = 0
                k = model.joints[bodies[j if side == 0 else i]].last_dof
                while k != a:
                    path[length] = k
                    length += 1
                    k = model.dof_parent[k]
                for s in range(length - 1, -1, -1):
                    k = path[s]
                    _descend(S[k], H[k], D_inverse[k], block)
                if side == 0:
                    for r in range(6):
                        for c in range(r):
                            block[r, c], block[c, r] = block[c, r], block[r, c]
            for r in range(6):
                for c in range(6):
                    omega[j, i, c, r] = block[r, c]
