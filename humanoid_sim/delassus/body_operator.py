# SPDX-License-Identifier: Apache-2.0
r"""Delassus operator of many contacts by way of the bodies, which takes memory linear in the contacts.

A contact's force changes the twists of the bodies of the trees that it acts on, by a block of six rows and three
columns each; the twists of its two bodies are what its velocity is made of. The blocks of three rows and columns of
:math:`W = X\,\Omega\,X^T` between two contacts are products of these and never stored, save those on the diagonal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import FAST
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.delassus.projection import TreeOperators


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
