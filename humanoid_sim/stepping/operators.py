# SPDX-License-Identifier: Apache-2.0
r"""Delassus operators of all groups of a step, and the elimination of closures from them."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted, uncounted
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT
from humanoid_sim.delassus.constraint_rows import TreeOperators, project
from humanoid_sim.delassus.operation_counts import prefers_chang_khatib
from humanoid_sim.delassus.recursions import chang_khatib, mark_branch, sort_branches, unit_forces, unit_wrenches
from humanoid_sim.stepping.step_data import BlockArrays, Step

AUTO, UNIT_FORCES, CHANG_KHATIB, UNIT_WRENCHES = range(4)
DELASSUS_METHODS = {
    "auto": AUTO,
    "unit_forces": UNIT_FORCES,
    "chang_khatib": CHANG_KHATIB,
    "unit_wrenches": UNIT_WRENCHES,
}
"""Ways to the operator (specification 000 §11): the thesis' three, or per tree the cheaper of the last two."""

_LEAST_RESPONSE = 1e-12
"""Of a contact to any force, beside the sum of its responses; the recursions are exact to a hundredth of it."""


@uncounted()
def gather_bodies(step: Step) -> None:
    """List the bodies that wrench rows act on, tree by tree, and what room their operators need.

    ``groups.counts[4]`` receives the number of 6 x 6 blocks of all operators.
    """
    groups, rows, model, blocks = step.groups, step.rows, step.model, step.blocks
    place, sizes = groups.place, groups.sizes
    for t in range(sizes.size):
        for i in range(groups.tree_bodies[t], groups.tree_bodies[t + 1]):
            place[groups.bodies[i]] = -1
        sizes[t] = 0
    for block in range(groups.counts[1]):
        row = blocks.starts[block]
        if rows.dofs[row] >= 0:
            continue
        for side in range(2):
            joint = rows.joint_a[row] if side == 0 else rows.joint_b[row]
            if joint > 0 and place[joint] < 0:
                tree = model.trees[joint]
                place[joint] = sizes[tree]
                sizes[tree] += 1
    first = 0
    entries = 0
    for t in range(sizes.size):
        groups.tree_bodies[t] = first
        groups.omega_offsets[t] = entries
        first += sizes[t]
        entries += sizes[t] * sizes[t]
    groups.tree_bodies[sizes.size] = first
    for block in range(groups.counts[1]):
        row = blocks.starts[block]
        if rows.dofs[row] >= 0:
            continue
        for side in range(2):
            joint = rows.joint_a[row] if side == 0 else rows.joint_b[row]
            if joint > 0:
                groups.bodies[groups.tree_bodies[model.trees[joint]] + place[joint]] = joint
    groups.counts[4] = entries


@counted()
def build_operators(step: Step, method: int, dt: float) -> None:
    r"""Operators :math:`W = \delta t\,J H^{-1} J^T` plus compliance of all groups, into ``groups.W``.

    Groups without room there have the operators between their bodies only, see :mod:`humanoid_sim.stepping.by_bodies`.

    Args:
        step: the step, after :func:`gather_bodies`.
        method: one of :data:`DELASSUS_METHODS`; the one that each tree got is written to ``groups.methods``.
        dt: time step [s].
    """
    groups, rows, model, blocks = step.groups, step.rows, step.model, step.blocks
    S, articulated = step.motion.S, step.articulated
    for tree in range(groups.sizes.size):
        groups.methods[tree] = method if groups.sizes[tree] > 0 else AUTO
    without = False  # whether a group has to do with the operators between bodies
    for g in range(groups.counts[0]):
        without = without or groups.offsets[g] < 0
    if method != UNIT_FORCES or without:
        for tree in range(groups.sizes.size):
            size = groups.sizes[tree]
            if size == 0:
                continue
            bodies = groups.bodies[groups.tree_bodies[tree] : groups.tree_bodies[tree + 1]]
            length = 0
            for i in range(size):
                length = mark_branch(model, bodies[i], groups.marks, groups.branch, length)
            sort_branches(groups.branch, length, groups.marks)
            branch = groups.branch[:length]
            offset = groups.omega_offsets[tree]
            omega = groups.omega[offset : offset + size * size].reshape(size, size, 6, 6)
            if method in (AUTO, UNIT_FORCES):
                recursions = prefers_chang_khatib(model, bodies, branch, groups.path)
                groups.methods[tree] = CHANG_KHATIB if recursions else UNIT_WRENCHES
            if groups.methods[tree] == CHANG_KHATIB:
                chang_khatib(model, S, articulated, bodies, branch, groups.path, groups.A, omega)
            else:
                unit_wrenches(model, S, articulated, bodies, branch, groups.U, groups.A, omega)
    for g in range(groups.counts[0]):
        first, last = groups.blocks[g], groups.blocks[g + 1]
        begin = blocks.starts[first]
        for block in range(first, last):
            blocks.built[block] = 8 * blocks.memory[block] + blocks.kinds[block]
        if groups.offsets[g] < 0:
            continue
        last = groups.ends[g]
        end = blocks.starts[last]
        n = end - begin
        W = groups.W[groups.offsets[g] : groups.offsets[g] + n * n].reshape(n, n)
        efforts = method == UNIT_FORCES
        for row in range(begin, end):
            efforts = efforts or rows.dofs[row] >= 0
        if method != UNIT_FORCES:
            trees = TreeOperators(model.trees, groups.place, groups.sizes, groups.omega_offsets, groups.omega)
            project(rows, blocks.starts, first, last, trees, dt, groups.reach, W)
        if efforts:
            columns = np.empty(n, dtype=np.bool_)
            for r in range(n):
                columns[r] = method == UNIT_FORCES or rows.dofs[begin + r] >= 0
            unit_forces(model, S, articulated, rows, begin, end, columns, dt, groups.marks, W)
        add_compliance(step.blocks, first, last, W)
        for r in range(n):
            blocks.diagonal[begin + r] = W[r, r]


@uncounted()
def add_compliance(blocks: BlockArrays, first: int, last: int, W: np.ndarray) -> None:
    """Add the compliance of the rows of some blocks, and what no contact yields less than, to their operator.

    A contact between links that one or two joints connect doesn't respond to every force: what is left along the
    others is rounding, and the force that answers the rounding of its free velocity could be anything.
    """
    begin = blocks.starts[first]
    for block in range(first, last):
        least = 0.0
        row, end = blocks.starts[block] - begin, blocks.starts[block + 1] - begin
        if blocks.kinds[block] == CONTACT:
            least = _LEAST_RESPONSE * (W[row, row] + W[row + 1, row + 1] + W[row + 2, row + 2])
        for r in range(row, end):
            W[r, r] += blocks.compliance[begin + r] + least


@uncounted()
def closure_rows(step: Step, group: int) -> int:
    """Return the number of rows of closures, which come first in a group."""
    groups, blocks = step.groups, step.blocks
    block = groups.blocks[group]
    while block < groups.blocks[group + 1] and blocks.kinds[block] == BILATERAL:
        block += 1
    return blocks.starts[block] - blocks.starts[groups.blocks[group]]


@apart(error_model="numpy", _nrt=False)
def eliminate_closures(W: np.ndarray, v_free: np.ndarray, count: int) -> None:
    r"""Schur complement of the first ``count`` rows, in place: what the others feel when those don't move.

    On return the leading block holds its Cholesky factor L, the rows below :math:`W_{ub} L^{-T}`, the trailing block
    :math:`W_{uu} - W_{ub} W_{bb}^{-1} W_{bu}` and ``v_free`` :math:`L^{-1}v_b` and :math:`v_u - W_{ub}W_{bb}^{-1}v_b`.

    Args:
        W: operator of a group, symmetric, shape (n, n).
        v_free: its free velocities, shape (n,).
        count: number of rows of closures.
    """
    n = v_free.size
    largest = 0.0
    for k in range(count):
        largest = max(largest, W[k, k])
    for k in range(count):  # redundant closures are compliant a little, relative to the softest
        W[k, k] += 1e-10 * largest
    for k in range(count):
        pivot = math.sqrt(max(W[k, k], 1e-14 * largest))
        W[k, k] = pivot
        v_free[k] /= pivot
        for r in range(k + 1, n):
            W[r, k] /= pivot
        for r in range(k + 1, n):
            factor = W[r, k]
            if factor == 0.0:
                continue
            v_free[r] -= factor * v_free[k]
            for c in range(k + 1, r + 1):
                W[r, c] -= factor * W[c, k]
    for r in range(count, n):
        for c in range(count, r):
            W[c, r] = W[r, c]


@apart(error_model="numpy", _nrt=False)
def closure_forces(W: np.ndarray, v_free: np.ndarray, count: int, f: np.ndarray) -> None:
    r"""Compute forces of the closures once the others are known: :math:`f_b = -W_{bb}^{-1}(v_b + W_{bu} f_u)`.

    Args:
        W: output of :func:`eliminate_closures`, shape (n, n).
        v_free: likewise, shape (n,).
        count: number of rows of closures.
        f: forces of the other rows; receives those of the closures, shape (n,).
    """
    n = v_free.size
    for k in range(count):
        value = -v_free[k]
        for r in range(count, n):
            value -= W[r, k] * f[r]
        f[k] = value
    for k in range(count - 1, -1, -1):
        for r in range(k + 1, count):
            f[k] -= W[r, k] * f[r]
        f[k] /= W[k, k]
