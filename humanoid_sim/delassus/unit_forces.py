# SPDX-License-Identifier: Apache-2.0
r"""Delassus operator by unit forces, the thesis' initial method (§3.2.1, Algorithm 3, corrected).

A unit force along each row in turn is sent through the force and acceleration recursions of the articulated-body
algorithm, with its H and D; what accelerates is a column of :math:`J M^{-1} J^T`. Slow, but it takes rows of any kind.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_sim.delassus.branches import mark_branch, sort_branches
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.dynamics.articulated_body import FAST, ArticulatedInertia
from humanoid_sim.dynamics.flat_model import FlatModel


@apart(error_model="numpy", fastmath=FAST)
def unit_forces(
    model: FlatModel,
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
    forces = np.zeros((nv, 6))
    u = np.zeros(nv)
    rates = np.zeros(nv)
    accelerations = np.zeros((nv, 6))
    for i in range(first, last):
        if not columns[i - first]:
            continue
        for s in range(count):
            k = found[s]
            u[k] = 0.0
            for r in range(6):
                forces[k, r] = 0.0
        if rows.dofs[i] >= 0:
            u[rows.dofs[i]] = rows.wrenches[i, 0]
        else:
            k = model.last_dof[rows.joint_a[i]]
            if k >= 0:
                for r in range(6):
                    forces[k, r] += rows.wrenches[i, r]
            k = model.last_dof[rows.joint_b[i]]
            if k >= 0:
                for r in range(6):
                    forces[k, r] -= rows.wrenches[i, r]
        for s in range(count - 1, -1, -1):  # from the tips to the roots; the sign is minus, see the errata
            k = found[s]
            rest = u[k]
            for r in range(6):
                rest += S[k, r] * forces[k, r]
            u[k] = rest
            above = model.dof_parent[k]
            if above >= 0:
                scaled = rest * D_inverse[k]
                for r in range(6):
                    forces[above, r] += forces[k, r] - H[k, r] * scaled
        for s in range(count):
            k = found[s]
            above = model.dof_parent[k]
            rest = u[k]
            if above >= 0:
                for r in range(6):
                    rest -= H[k, r] * accelerations[above, r]
            rate = rest * D_inverse[k]
            rates[k] = rate
            for r in range(6):
                accelerations[k, r] = S[k, r] * rate
            if above >= 0:
                for r in range(6):
                    accelerations[k, r] += accelerations[above, r]
        for j in range(first, last):
            value = 0.0
            if rows.dofs[j] >= 0:
                value = rows.wrenches[j, 0] * rates[rows.dofs[j]]
            else:
                k = model.last_dof[rows.joint_a[j]]
                if k >= 0:
                    for r in range(6):
                        value += rows.wrenches[j, r] * accelerations[k, r]
                k = model.last_dof[rows.joint_b[j]]
                if k >= 0:
                    for r in range(6):
                        value -= rows.wrenches[j, r] * accelerations[k, r]
            W[j - first, i - first] = scale * value
            W[i - first, j - first] = scale * value
