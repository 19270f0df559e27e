# SPDX-License-Identifier: Apache-2.0
r"""Delassus operator by unit forces, the thesis' initial method (§3.2.1, Algorithm 3, corrected).

A unit force along each row goes through the force recursion of the articulated-body algorithm, with its H and D, which
leaves efforts Y for the coordinates on its way. The thesis sends the accelerations outwards again; here their products
are summed up: :math:`J M^{-1} J^T = Y D^{-1} Y^T`, the recursion being the :math:`LDL^T` factorisation of the inertia.
It takes rows of any kind.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import FAST, ArticulatedInertia
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_sim.delassus.branches import mark_branch, sort_branches
from humanoid_sim.delassus.constraint_rows import ConstraintRows


@apart(error_model="numpy", fastmath=FAST)
def unit_forces(
    model: KinematicTree,
    S: np.ndarray,
    articulated: ArticulatedInertia,
    rows: ConstraintRows,
    first: int,
    last: int,
    columns: np.ndarray,
    scale: float,
    marks: np.ndarray,
    W: np.ndarray,
) -> None:
    r"""Columns of ``scale`` times :math:`J M^{-1} J^T` for the rows from ``first`` to ``last``.

    Args:
        model: the tree.
        S: motion subspaces, shape (nv, 6).
        articulated: output of the articulated-body recursion.
        rows: all rows.
        first: first row of the group.
        last: one behind its last row; n = last - first.
        columns: whether the column (and row) of each of these is wanted, shape (n,).
        scale: the time step, for the operator at velocity level.
        marks: work space, zero, left zero, shape (nv,).
        W: receives the wanted columns and, symmetrically, rows, shape (n, n).
    """
    nv = model.dof_parent.size
    found = np.empty(nv, dtype=np.int64)
    count = 0
    for i in range(first, last):
        if rows.dofs[i] >= 0:
            count = mark_branch(model, model.dof_joint[rows.dofs[i]], marks, found, count)
        else:
            count = mark_branch(model, rows.joint_a[i], marks, found, count)
            count = mark_branch(model, rows.joint_b[i], marks, found, count)
    sort_branches(found, count, marks)
    H, D_inverse = articulated.H, articulated.D_inverse
    at = np.empty(nv, dtype=np.int64)
    for s in range(count):
        at[found[s]] = s
    n = last - first
    Y = np.zeros((count, n))
    force = np.empty(6)
    for i in range(n):
        row = first + i
        if rows.dofs[row] >= 0:
            k = rows.dofs[row]
            u = rows.wrenches[row, 0]
            Y[at[k], i] = u
            g = u * D_inverse[k]
            for r in range(6):
                force[r] = -g * H[k, r]
            _inwards(model.dof_parent, S, articulated, model.dof_parent[k], force, at, Y[:, i])
            continue
        for side in range(2):
            joint = rows.joint_a[row] if side == 0 else rows.joint_b[row]
            for r in range(6):
                force[r] = rows.wrenches[row, r] if side == 0 else -rows.wrenches[row, r]
            _inwards(model.dof_parent, S, articulated, model.joints[joint].last_dof, force, at, Y[:, i])
    for i in range(n):
        if not columns[i]:
            continue
        own = W[i]
        for j in range(n):
            own[j] = 0.0
        for s in range(count):
            if Y[s, i] != 0.0:
                g = scale * D_inverse[found[s]] * Y[s, i]
                for j in range(n):
                    own[j] += g * Y[s, j]
        for j in range(n):
            W[j, i] = own[j]


@uncounted(fastmath=FAST)
def _inwards(
    parents: np.ndarray, S: np.ndarray, articulated: ArticulatedInertia, k: int, force: np.ndarray, at: np.ndarray,
    y: np.ndarray,
) -> None:  # fmt: skip
    """Add to y what a wrench that has come to a coordinate k, -1 for none, leaves for it and those before it."""
    H, D_inverse = articulated.H, articulated.D_inverse
    f_0, f_1, f_2, f_3, f_4, f_5 = force[0], force[1], force[2], force[3], force[4], force[5]
    while k >= 0:
        s, h = S[k], H[k]
        u = s[0] * f_0 + s[1] * f_1 + s[2] * f_2 + s[3] * f_3 + s[4] * f_4 + s[5] * f_5
        y[at[k]] += u
        g = u * D_inverse[k]
        f_0 -= g * h[0]
        f_1 -= g * h[1]
        f_2 -= g * h[2]
        f_3 -= g * h[3]
        f_4 -= g * h[4]
        f_5 -= g * h[5]
        k = parents[k]
