# SPDX-License-Identifier: Apache-2.0
r"""Body-level operator by unit wrenches, the thesis' own method (§3.2.3, Algorithm 5).

Six unit wrenches at the world origin on each body in contact, instead of three forces on each contact point, go
through the recursion of the articulated-body algorithm that leads inwards, along the branches that carry contacts. The
thesis sends the accelerations outwards again; here the operator is summed up on the way. With U the efforts that are
left for each coordinate, :math:`\Omega_{ij} = U_i D^{-1} U_j^T`: the recursion is the :math:`LDL^T` factorisation of
the inertia.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.tree.articulated_body import FAST, ArticulatedInertia
from humanoid_model.tree.kinematic_tree import KinematicTree


@apart(error_model="numpy", fastmath=FAST)
def unit_wrenches(
    model: KinematicTree,
    S: np.ndarray,
    articulated: ArticulatedInertia,
    bodies: np.ndarray,
    branch: np.ndarray,
    U: np.ndarray,
    A: np.ndarray,
    omega: np.ndarray,
) -> None:
    r"""Operator :math:`\Omega_{ij} = J_i M^{-1} J_j^T` between bodies of one tree (thesis equation 3.49).

    Args:
        model: the tree.
        S: motion subspaces, shape (nv, 6).
        articulated: output of the articulated-body recursion.
        bodies: joints of the bodies, all of one tree, shape (C,).
        branch: coordinates that move any of them, ascending, shape (s,).
        U: work space, shape (nv, 6); there are at least as many coordinates as bodies.
        A: work space, shape (nv, 6, 6).
        omega: receives the operator, shape (C, C, 6, 6).
    """
    H, D_inverse = articulated.H, articulated.D_inverse
    places = np.empty(bodies.size, dtype=np.int64)  # coordinate that the wrenches on each body have come to
    for i in range(bodies.size):
        places[i] = model.joints[bodies[i]].last_dof
        for r in range(6):
            for c in range(6):
                A[i, r, c] = 1.0 if r == c else 0.0
        for j in range(i + 1):
            for r in range(6):
                for c in range(6):
                    omega[i, j, r, c] = 0.0
    for s in range(branch.size - 1, -1, -1):  # from all bodies to the root
        k = branch[s]
        inverse = D_inverse[k]
        s_0, s_1, s_2, s_3, s_4, s_5 = S[k, 0], S[k, 1], S[k, 2], S[k, 3], S[k, 4], S[k, 5]
        for i in range(bodies.size):
            if places[i] != k:
                continue
            F, u = A[i], U[i]
            for c in range(6):
                u[c] = (
                    s_0 * F[0, c] + s_1 * F[1, c] + s_2 * F[2, c] + s_3 * F[3, c] + s_4 * F[4, c] + s_5 * F[5, c]
                )
            for r in range(6):
                h = H[k, r] * inverse
                for c in range(6):
                    F[r, c] -= h * u[c]
            for j in range(i + 1):
                if places[j] != k:
                    continue
                other, block = U[j], omega[i, j]
                for r in range(6):
                    g = inverse * u[r]
                    for c in range(6):
                        block[r, c] += g * other[c]
        for i in range(bodies.size):
            if places[i] == k:
                places[i] = model.dof_parent[k]
    for i in range(bodies.size):
        for j in range(i):
            for r in range(6):
                for c in range(6):
                    omega[j, i, c, r] = omega[i, j, r, c]
