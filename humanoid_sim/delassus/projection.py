# SPDX-License-Identifier: Apache-2.0
r"""From the operator between bodies to that between constraint rows: :math:`\Lambda = X\,\Omega\,X^T`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import FAST
from humanoid_sim.delassus.constraint_rows import ConstraintRows


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
