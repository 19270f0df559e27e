# SPDX-License-Identifier: Apache-2.0
r"""Rows of a constraint Jacobian, and the operator between them made of that between bodies.

Each row is a wrench on two bodies or the effort of one coordinate: :math:`\Lambda = X\,\Omega\,X^T`.

Many contacts of free bodies take memory linear in the contacts: a contact's force changes the twists of the bodies of
the trees that it acts on, by a block of six rows and three columns each; the twists of its two bodies are what its
velocity is made of. The blocks of three rows and columns of :math:`\Lambda` between two contacts are products of these
and never stored, save those on the diagonal (:class:`BodyOperator`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, uncounted


@uncounted()
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


class ConstraintRows(NamedTuple):
    r"""Directions in which constraints act on a tree.

    A row is the relative twist of two bodies projected on a unit wrench, :math:`w\cdot(\varphi_a - \varphi_b)`, or the
    velocity of one coordinate. A contact has one such row per direction of its frame: with the point x and the
    direction d the wrench is :math:`(d;\ x\times d)` (specification 000 §11.1, :math:`X_c^T e_y`).

    Attributes:
        wrenches: unit wrenches at the world origin, force first; of a row that is an effort the first entry is its
            sign, 1 or -1, shape (rows, 6).
        joint_a: joint of the body on which the wrench acts, 0 for the world, shape (rows,).
        joint_b: joint of the body on which the opposite wrench acts, shape (rows,).
        dofs: velocity coordinate of a row that is an effort, -1 for a wrench, shape (rows,).
    """

    wrenches: NDArray[np.float64]
    joint_a: NDArray[np.int64]
    joint_b: NDArray[np.int64]
    dofs: NDArray[np.int64]

    @classmethod
    def of_size(cls, rows: int) -> ConstraintRows:
        """Room for so many rows."""
        return cls(
            np.zeros((rows, 6)),
            np.zeros(rows, dtype=np.int64),
            np.zeros(rows, dtype=np.int64),
            np.full(rows, -1, dtype=np.int64),
        )


class TreeOperators(NamedTuple):
    r"""Operators between the bodies of each tree that constraints act on.

    Attributes:
        tree: tree of each joint, shape (njoints,).
        place: place of each joint among the bodies of its tree that constraints act on, shape (njoints,).
        sizes: number of those bodies, by tree, shape (ntrees,).
        offsets: where in ``omega`` the blocks of a tree begin, shape (ntrees,).
        omega: operators of the trees, :math:`\Omega_{ij}` at ``offsets + i * size + j``, shape (any, 6, 6).
    """

    tree: np.ndarray
    place: np.ndarray
    sizes: np.ndarray
    offsets: np.ndarray
    omega: np.ndarray


@apart(error_model="numpy", fastmath=FAST)
def project(
    rows: ConstraintRows,
    starts: np.ndarray,
    first: int,
    last: int,
    trees: TreeOperators,
    scale: float,
    reach: np.ndarray,
    W: np.ndarray,
) -> None:
    r"""Blocks of ``scale`` times :math:`X\,\Omega\,X^T` between the wrench rows of a group (thesis equation 3.45).

    Only the upper triangle is computed, the rest is mirrored. Blocks between bodies of different trees are zero.

    Args:
        rows: all rows; those of one block act on the same two bodies.
        starts: first row of each block, and one behind the last row, shape (blocks + 1,).
        first: first block of the group.
        last: one behind its last block.
        trees: operators between the bodies.
        scale: the time step, for the operator at velocity level.
        reach: work space, shape (2 * most bodies of a tree, 6, 6).
        W: receives the operator, shape (n, n) with n the rows of the group.
    """
    place, sizes, offsets, omega = trees.place, trees.sizes, trees.offsets, trees.omega
    origin = starts[first]
    n = starts[last] - origin
    columns = np.empty((6, n))  # the wrenches of all rows side by side, so that the inner loop runs along memory
    for row in range(n):
        for x in range(6):
            columns[x, row] = rows.wrenches[origin + row, x]
    for c in range(first, last):
        r_c = starts[c]
        if rows.dofs[r_c] >= 0:
            continue
        k_c = starts[c + 1] - r_c
        a_c, b_c = rows.joint_a[r_c], rows.joint_b[r_c]
        tree_a = trees.tree[a_c]
        tree_b = trees.tree[b_c]
        # reach[i] are the rows of X times Omega to body i of the tree, side b already subtracted
        size_a = sizes[tree_a] if tree_a >= 0 else 0
        for i in range(size_a):
            block = omega[offsets[tree_a] + place[a_c] * size_a + i]
            for r in range(k_c):
                for y in range(6):
                    total = 0.0
                    for x in range(6):
                        total += rows.wrenches[r_c + r, x] * block[x, y]
                    reach[i, r, y] = scale * total
        size_b = 0
        if tree_b >= 0:
            size_b = sizes[tree_b]
            shift = 0 if tree_b == tree_a else size_a
            for i in range(size_b):
                block = omega[offsets[tree_b] + place[b_c] * size_b + i]
                for r in range(k_c):
                    for y in range(6):
                        total = 0.0
                        for x in range(6):
                            total += rows.wrenches[r_c + r, x] * block[x, y]
                        if shift == 0 and tree_b == tree_a:
                            reach[i, r, y] -= scale * total
                        else:
                            reach[shift + i, r, y] = -scale * total
        d = c
        while d < last:
            r_d = starts[d]
            if rows.dofs[r_d] >= 0:
                d += 1
                continue
            a_d, b_d = rows.joint_a[r_d], rows.joint_b[r_d]
            d += 1
            while d < last:  # blocks behind one another on the same two bodies go together
                r = starts[d]
                if rows.dofs[r] >= 0 or rows.joint_a[r] != a_d or rows.joint_b[r] != b_d:
                    break
                d += 1
            begin, end = r_d - origin, starts[d] - origin
            w_0, w_1, w_2 = columns[0, begin:end], columns[1, begin:end], columns[2, begin:end]
            w_3, w_4, w_5 = columns[3, begin:end], columns[4, begin:end], columns[5, begin:end]
            at_a = _place_in_reach(trees.tree[a_d], tree_a, tree_b, size_a, place[a_d])
            at_b = _place_in_reach(trees.tree[b_d], tree_a, tree_b, size_a, place[b_d])
            for r in range(k_c):
                y_0 = y_1 = y_2 = y_3 = y_4 = y_5 = 0.0
                if at_a >= 0:
                    y = reach[at_a, r]
                    y_0, y_1, y_2, y_3, y_4, y_5 = y[0], y[1], y[2], y[3], y[4], y[5]
                if at_b >= 0:
                    y = reach[at_b, r]
                    y_0 -= y[0]
                    y_1 -= y[1]
                    y_2 -= y[2]
                    y_3 -= y[3]
                    y_4 -= y[4]
                    y_5 -= y[5]
                row = r_c - origin + r
                out = W[row, begin:end]
                for k in range(out.size):
                    out[k] = (
                        y_0 * w_0[k] + y_1 * w_1[k] + y_2 * w_2[k] + y_3 * w_3[k] + y_4 * w_4[k] + y_5 * w_5[k]
                    )
                for k in range(out.size):
                    W[begin + k, row] = out[k]


@uncounted()
def _place_in_reach(tree: int, tree_a: int, tree_b: int, size_a: int, place: int) -> int:
    """Return where the rows that lead to a body are, -1 where none do."""
    if tree < 0:
        return -1
    if tree == tree_a:
        return place
    if tree == tree_b:
        return place + size_a
    return -1


class BodyOperator(NamedTuple):
    """How contacts act on bodies and bodies on contacts.

    Attributes:
        wrenches: of the rows, shape (3m, 6).
        compliance: of the rows [m/(s N)], shape (3m,).
        sides: number of the bodies a and b of each contact, -1 for the world, shape (m, 2).
        starts: first response of each contact and their number, shape (m + 1,).
        bodies: number of the body that responds, shape (responses,).
        responses: twist of that body for unit forces of the contact, shape (responses, 6, 3).
        diagonal: what a contact feels of its own force, shape (m, 3, 3).
        twists: work space, one for each body, shape (bodies, 6).
    """

    wrenches: np.ndarray
    compliance: np.ndarray
    sides: np.ndarray
    starts: np.ndarray
    bodies: np.ndarray
    responses: np.ndarray
    diagonal: np.ndarray
    twists: np.ndarray


@uncounted(fastmath=FAST)
def count_responses(rows: ConstraintRows, begin: int, starts: np.ndarray, trees: TreeOperators) -> None:
    """Count the responses of contacts of three rows each, from row ``begin`` on; see :class:`BodyOperator`."""
    starts[0] = 0
    for c in range(starts.size - 1):
        a, b = trees.tree[rows.joint_a[begin + 3 * c]], trees.tree[rows.joint_b[begin + 3 * c]]
        starts[c + 1] = starts[c] + (trees.sizes[a] if a >= 0 else 0)
        if b >= 0 and b != a:
            starts[c + 1] += trees.sizes[b]


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
def fill_body_operator(
    rows: ConstraintRows, begin: int, trees: TreeOperators, tree_bodies: np.ndarray, scale: float,
    operator: BodyOperator,
) -> None:  # fmt: skip
    """Write the blocks of an operator; ``starts``, ``wrenches`` and ``compliance`` are there already.

    Args:
        rows: all rows.
        begin: first row of the contacts.
        trees: operators between the bodies of each tree.
        tree_bodies: number of the first body of each tree, shape (ntrees + 1,).
        scale: the time step, for the operator at velocity level.
        operator: receives sides, bodies, responses and diagonal.
    """
    starts, wrenches, responses = operator.starts, operator.wrenches, operator.responses
    for c in range(starts.size - 1):
        for e in range(starts[c], starts[c + 1]):
            for x in range(6):
                for r in range(3):
                    responses[e, x, r] = 0.0
        first = starts[c]
        for side in range(2):
            joint = rows.joint_a[begin + 3 * c] if side == 0 else rows.joint_b[begin + 3 * c]
            tree = trees.tree[joint]
            operator.sides[c, side] = -1
            if tree < 0:
                continue
            size, place = trees.sizes[tree], trees.place[joint]
            operator.sides[c, side] = tree_bodies[tree] + place
            if side == 1 and tree != trees.tree[rows.joint_a[begin + 3 * c]]:
                first = starts[c + 1] - size
            sign = scale if side == 0 else -scale
            for i in range(size):
                operator.bodies[first + i] = tree_bodies[tree] + i
                block = trees.omega[trees.offsets[tree] + place * size + i]
                for r in range(3):
                    for y in range(6):
                        total = 0.0
                        for x in range(6):
                            total += wrenches[3 * c + r, x] * block[x, y]
                        responses[first + i, y, r] += sign * total
        for r in range(3):
            for s in range(3):
                own = operator.compliance[3 * c + r] if r == s else 0.0
                for e in range(starts[c], starts[c + 1]):
                    sign = 0.0
                    if operator.bodies[e] == operator.sides[c, 0]:
                        sign += 1.0
                    if operator.bodies[e] == operator.sides[c, 1]:
                        sign -= 1.0
                    if sign != 0.0:
                        for x in range(6):
                            own += sign * wrenches[3 * c + r, x] * responses[e, x, s]
                operator.diagonal[c, r, s] = own


@uncounted(fastmath=FAST)
def push_bodies(operator: BodyOperator, c: int, d_0: float, d_1: float, d_2: float) -> None:
    """Add what a change of a contact's force makes of the twists."""
    twists, responses = operator.twists, operator.responses
    for e in range(operator.starts[c], operator.starts[c + 1]):
        i = operator.bodies[e]
        for x in range(6):
            twists[i, x] += responses[e, x, 0] * d_0 + responses[e, x, 1] * d_1 + responses[e, x, 2] * d_2


@uncounted(fastmath=FAST)
def contact_velocity_of_twists(
    operator: BodyOperator, c: int, v_free: np.ndarray, f: np.ndarray, v: np.ndarray
) -> None:
    """Velocity of a contact, free and of the twists and of its compliance under its force, into its rows of ``v``.

    Numbers are read one by one: views of rows would be counted, which took twenty times as long.
    """
    a, b = operator.sides[c, 0], operator.sides[c, 1]
    twists, wrenches, compliance = operator.twists, operator.wrenches, operator.compliance
    t_0 = t_1 = t_2 = t_3 = t_4 = t_5 = 0.0
    if a >= 0:
        t_0, t_1, t_2, t_3, t_4, t_5 = (
            twists[a, 0], twists[a, 1], twists[a, 2], twists[a, 3], twists[a, 4], twists[a, 5]
        )  # fmt: skip
    if b >= 0:
        t_0, t_1, t_2 = t_0 - twists[b, 0], t_1 - twists[b, 1], t_2 - twists[b, 2]
        t_3, t_4, t_5 = t_3 - twists[b, 3], t_4 - twists[b, 4], t_5 - twists[b, 5]
    for k in range(3 * c, 3 * c + 3):
        linear = wrenches[k, 0] * t_0 + wrenches[k, 1] * t_1 + wrenches[k, 2] * t_2
        angular = wrenches[k, 3] * t_3 + wrenches[k, 4] * t_4 + wrenches[k, 5] * t_5
        v[k] = v_free[k] + compliance[k] * f[k] + (linear + angular)


@uncounted(fastmath=FAST)
def operator_velocity(operator: BodyOperator, v_free: np.ndarray, f: np.ndarray, v: np.ndarray) -> None:
    """Velocities :math:`W f + v_{free}` of all rows into ``v``, and the twists of all bodies, computed anew."""
    operator.twists[:] = 0.0
    for c in range(operator.starts.size - 1):
        if f[3 * c] != 0.0 or f[3 * c + 1] != 0.0 or f[3 * c + 2] != 0.0:
            push_bodies(operator, c, f[3 * c], f[3 * c + 1], f[3 * c + 2])
    for c in range(operator.starts.size - 1):
        contact_velocity_of_twists(operator, c, v_free, f, v)
