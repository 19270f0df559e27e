# SPDX-License-Identifier: Apache-2.0
r"""Body-level operator by unit wrenches, the thesis' own method (§3.2.3, Algorithm 5).

Six unit wrenches at the world origin on each body in contact, instead of three forces on each contact point, through
the recursions of the articulated-body algorithm along the branches that carry contacts.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_sim.dynamics.articulated_body import FAST, ArticulatedInertia
from humanoid_sim.dynamics.flat_model import FlatModel


@apart(error_model="numpy", fastmath=FAST)
def unit_wrenches(
    model: FlatModel,
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
        U: work space, shape (nv, 6).
        A: work space, shape (nv, 6, 6).
        omega: receives the operator, shape (C, C, 6, 6).
    """
    H, D_inverse = articulated.H, articulated.D_inverse
    F = np.empty((6, 6))
    for i in range(bodies.size):
        for s in range(branch.size):
            for c in range(6):
                U[branch[s], c] = 0.0
        for r in range(6):
            for c in range(6):
                F[r, c] = 1.0 if r == c else 0.0
        k = model.last_dof[bodies[i]]
        while k >= 0:  # from the body to the root
            for c in range(6):
                U[k, c] = (
                    S[k, 0] * F[0, c] + S[k, 1] * F[1, c] + S[k, 2] * F[2, c]
                    + S[k, 3] * F[3, c] + S[k, 4] * F[4, c] + S[k, 5] * F[5, c]
                )  # fmt: skip
            for r in range(6):
                h = H[k, r] * D_inverse[k]
                for c in range(6):
                    F[r, c] -= h * U[k, c]
            k = model.dof_parent[k]
        for s in range(branch.size):  # from the root to all bodies
            k = branch[s]
            above = model.dof_parent[k]
            inverse = D_inverse[k]
            if above < 0:
                for c in range(6):
                    rate = U[k, c] * inverse
                    for r in range(6):
                        A[k, r, c] = S[k, r] * rate
                continue
            for c in range(6):
                rate = inverse * (
                    U[k, c]
                    - H[k, 0] * A[above, 0, c] - H[k, 1] * A[above, 1, c] - H[k, 2] * A[above, 2, c]
                    - H[k, 3] * A[above, 3, c] - H[k, 4] * A[above, 4, c] - H[k, 5] * A[above, 5, c]
                )  # fmt: skip
                for r in range(6):
                    A[k, r, c] = A[above, r, c] + S[k, r] * rate
        for j in range(bodies.size):
            k = model.last_dof[bodies[j]]
            for r in range(6):
                for c in range(6):
                    omega[j, i, r, c] = A[k, r, c]
