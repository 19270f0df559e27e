# SPDX-License-Identifier: Apache-2.0
r"""Three recursions that give the Delassus operator of a tree, along the branches that carry contacts (thesis §3.2).

- :func:`unit_forces`, the thesis' initial method (§3.2.1, Algorithm 3, corrected): a unit force along each row, of any
  kind, goes through the force recursion of the articulated-body algorithm, with its H and D, which leaves efforts Y
  for the coordinates on its way.
- :func:`unit_wrenches`, its own method (§3.2.3, Algorithm 5): six unit wrenches at the world origin on each body in
  contact, instead of three forces on each contact point, leave efforts U and give the operator between bodies.
- :func:`chang_khatib` (§3.2.2, Algorithm 4, corrected; K.-S. Chang, O. Khatib, Operational space dynamics: efficient
  algorithms for modeling and control of branching mechanisms, 2000): one recursion gives the diagonal blocks along the
  branches, a second one the blocks between bodies from their nearest common ancestor.

In the first two the thesis sends the accelerations outwards again; here products are summed up on the way:
:math:`J M^{-1} J^T = Y D^{-1} Y^T` and :math:`\Omega_{ij} = U_i D^{-1} U_j^T`, the recursion being the :math:`LDL^T`
factorisation of the inertia. The index convention is :math:`\Omega_{ij} = J_i M^{-1} J_j^T` (specification 000
§11.4).
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, plain_arguments, uncounted
from humanoid_model.tree.articulated_body import ArticulatedInertia
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_sim.delassus.constraint_rows import ConstraintRows


@plain_arguments
@uncounted()
def mark_branch(model: KinematicTree, joint: int, marks: np.ndarray, found: np.ndarray, count: int) -> int:
    """Add the coordinates that move a joint's body and aren't marked yet to a list.

    Args:
        model: the tree.
        joint: the joint, 0 for the world.
        marks: 1 for coordinates that are in the list, shape (nv,).
        found: the list, shape (nv,).
        count: its length.

    Returns:
        The new length.
    """
    k = model.joints[joint].last_dof
    while k >= 0 and marks[k] == 0:
        marks[k] = 1
        found[count] = k
        count += 1
        k = model.dof_parent[k]
    return count


@apart(error_model="numpy")
def _sort(found: np.ndarray, count: int) -> None:
    """Sort the first numbers of a list."""
    found[:count].sort()


@plain_arguments
@uncounted()
def sort_branches(found: np.ndarray, count: int, marks: np.ndarray) -> None:
    """Sort a list of coordinates from the roots to the tips and clear its marks, shapes (nv,)."""
    if 8 * count < marks.size:
        _sort(found, count)
        for i in range(count):
            marks[found[i]] = 0
        return
    i = 0
    for k in range(marks.size):
        if marks[k] != 0:
            marks[k] = 0
            found[i] = k
            i += 1


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
