# SPDX-License-Identifier: Apache-2.0
r"""Which constraints act in a step, in groups that see each other (specification 000 §12).

A group is a connected component of the graph whose nodes are trees of joints and whose edges are contacts and closures
between two of them; all links of a robot are one node. Each group has its own, smaller operator.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_sim.contact.approach import TOUCHING_GAP
from humanoid_sim.contact.block_nsgs import (
    BILATERAL,
    BOUNDED,
    CONTACT,
    DAMPER,
    ROLL,
    SPIN,
    UNILATERAL,
)
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.delassus.contact_frame import tangents
from humanoid_sim.stepping.step_data import Step

STICTION_SPEED = 1e-3
"""Contacts that slide faster than this at the start of the step have the dynamic friction coefficient [m/s]."""
LIMIT_MARGIN = 1e-3
"""A joint nearer to its limit than this, or that could arrive within two steps, is limited [rad or m]."""
CLOSURE_RATE = 0.2
"""Part of a closure's error that one step takes back."""
CLOSURE_COMPLIANCE = 1e-9
"""Relative compliance that lets loops with redundant constraints be solved."""


@njit(cache=True)
def _leader(leaders: np.ndarray, tree: int) -> int:
    """Representative of the trees that a tree is joined with; paths are halved on the way."""
    while leaders[tree] != tree:
        leaders[tree] = leaders[leaders[tree]]
        tree = leaders[tree]
    return tree


@njit(cache=True)
def _join(leaders: np.ndarray, a: int, b: int) -> None:
    if a < 0 or b < 0:
        return
    a, b = _leader(leaders, a), _leader(leaders, b)
    if a < b:
        leaders[b] = a
    elif b < a:
        leaders[a] = b


@njit(cache=True, error_model="numpy")
def _tangential_speed(twists: np.ndarray, a: int, b: int, x: np.ndarray, frame: np.ndarray) -> float:
    """Speed at which body a slides on body b at a point."""
    square = 0.0
    for t in range(1, 3):
        along = 0.0
        for r in range(3):
            c1 = (r + 1) % 3
            c2 = (r + 2) % 3
            v = (
                twists[a, r] + twists[a, 3 + c1] * x[c2] - twists[a, 3 + c2] * x[c1]
                - twists[b, r] - twists[b, 3 + c1] * x[c2] + twists[b, 3 + c2] * x[c1]
            )  # fmt: skip
            along += frame[t, r] * v
        square += along * along
    return math.sqrt(square)


@njit(cache=True, error_model="numpy")
def _force_row(rows: ConstraintRows, row: int, d: np.ndarray, x: np.ndarray, a: int, b: int) -> None:
    """Row of a force along d at the point x."""
    w = rows.wrenches[row]
    w[0], w[1], w[2] = d[0], d[1], d[2]
    w[3] = x[1] * d[2] - x[2] * d[1]
    w[4] = x[2] * d[0] - x[0] * d[2]
    w[5] = x[0] * d[1] - x[1] * d[0]
    rows.joint_a[row] = a
    rows.joint_b[row] = b
    rows.dofs[row] = -1


@njit(cache=True, error_model="numpy")
def _torque_row(rows: ConstraintRows, row: int, d: np.ndarray, a: int, b: int) -> None:
    """Row of a torque about d."""
    w = rows.wrenches[row]
    w[0] = w[1] = w[2] = 0.0
    w[3], w[4], w[5] = d[0], d[1], d[2]
    rows.joint_a[row] = a
    rows.joint_b[row] = b
    rows.dofs[row] = -1


@njit(cache=True, error_model="numpy")
def is_limited(q: float, v: float, lower: float, upper: float, dt: float) -> int:
    """Which limits of a coordinate are near: 1 the lower, 2 the upper, 3 both."""
    reach = LIMIT_MARGIN + 2.0 * dt * abs(v)
    return (1 if q - lower < reach else 0) + (2 if upper - q < reach else 0)


@njit(cache=True, error_model="numpy")
def count_constraints(step: Step, m: int, dt: float) -> None:
    """Join the trees that constraints couple, and count groups, blocks, rows and entries.

    Args:
        step: the step; ``groups.counts`` receives the numbers, ``groups.group_of_tree`` the groups.
        m: number of contact points.
        dt: time step [s].
    """
    model, groups, points, pairs, joints = step.model, step.groups, step.points, step.pairs, step.joints
    closures, state = step.closures, step.state
    trees, leaders = model.trees, groups.leaders
    for t in range(leaders.size):
        leaders[t] = t
        groups.group_of_tree[t] = -1
    closure_count = closures.joint_a.size
    for c in range(closure_count):
        _join(leaders, trees[closures.joint_a[c]], trees[closures.joint_b[c]])
    for i in range(m):
        _join(leaders, trees[points.joint_a[i]], trees[points.joint_b[i]])
    count = 0
    blocks = 0
    rows = 0
    size_of = groups.iterations  # room for a number per group: at most one group per tree
    for c in range(closure_count):
        tree = trees[closures.joint_a[c]] if closures.joint_a[c] > 0 else trees[closures.joint_b[c]]
        own = 0
        for r in range(6):
            own += 1 if closures.fixed[c, r] else 0
        count = _enter(groups.group_of_tree, size_of, _leader(leaders, tree), count, own)
        blocks += 1
        rows += own
    for i in range(m):
        tree = trees[points.joint_a[i]] if points.joint_a[i] > 0 else trees[points.joint_b[i]]
        own = 3
        blocks += 1
        if pairs.has_torques[0] != 0:
            properties = pairs.properties[pairs.classes[points.body_a[i]], pairs.classes[points.body_b[i]]]
            for kind, extra in ((3, 1), (4, 2), (5, 2)):
                if properties[kind] > 0.0:
                    own += extra
                    blocks += 1
        count = _enter(groups.group_of_tree, size_of, _leader(leaders, tree), count, own)
        rows += own
    for k in range(joints.lower.size):
        own = 0
        if joints.dry_friction[k] > 0.0:
            own += 1
        if joints.lower[k] != -np.inf or joints.upper[k] != np.inf:
            near = is_limited(state.q[joints.idx_q[k]], state.v[k], joints.lower[k], joints.upper[k], dt)
            own += (near & 1) + (near >> 1)
        if own > 0:
            tree = trees[model.dof_joint[k]]
            count = _enter(groups.group_of_tree, size_of, _leader(leaders, tree), count, own)
            blocks += own
            rows += own
    entries = 0
    for g in range(count):
        groups.offsets[g] = entries
        entries += size_of[g] * size_of[g]
    groups.offsets[count] = entries
    groups.counts[0] = count
    groups.counts[1] = blocks
    groups.counts[2] = rows
    groups.counts[3] = entries


@njit(cache=True)
def _enter(group_of_tree: np.ndarray, sizes: np.ndarray, leader: int, count: int, rows: int) -> int:
    """Add rows to the group of a leading tree, a new one where there is none yet."""
    if group_of_tree[leader] < 0:
        group_of_tree[leader] = count
        sizes[count] = 0
        count += 1
    sizes[group_of_tree[leader]] += rows
    return count


@njit(cache=True, error_model="numpy")
def collect_constraints(step: Step, m: int, dt: float) -> None:
    """Write the blocks and rows of all constraints, group by group, closures first within each.

    Args:
        step: the step, after :func:`count_constraints`.
        m: number of contact points.
        dt: time step [s].
    """
    model, groups, points = step.model, step.groups, step.points
    closures = step.closures
    trees, leaders = model.trees, groups.leaders
    count = groups.counts[0]
    if count == 1:  # all in one group, in the order in which they come
        groups.blocks[0] = 0
        block = 0
        row = 0
        for c in range(closures.joint_a.size):
            block, row = _write_closure(step, c, block, row, dt)
        for i in range(m):
            block, row = _write_contact(step, i, block, row, dt)
        for k in range(step.joints.lower.size):
            block, row = _write_joint(step, k, block, row, dt)
        step.blocks.starts[block] = row
        groups.blocks[1] = block
        return
    block = 0
    row = 0
    # Members of each group, by counting.
    total = closures.joint_a.size + m + step.joints.lower.size
    group_of = np.empty(total, dtype=np.int64)
    sizes = np.zeros(count + 1, dtype=np.int64)
    for member in range(total):
        group_of[member] = -1
        if member < closures.joint_a.size:
            joint = closures.joint_a[member] if closures.joint_a[member] > 0 else closures.joint_b[member]
        elif member < closures.joint_a.size + m:
            i = member - closures.joint_a.size
            joint = points.joint_a[i] if points.joint_a[i] > 0 else points.joint_b[i]
        else:
            k = member - closures.joint_a.size - m
            joints = step.joints
            if joints.dry_friction[k] <= 0.0 and joints.lower[k] == -np.inf and joints.upper[k] == np.inf:
                continue
            joint = model.dof_joint[k]
        group = groups.group_of_tree[_leader(leaders, trees[joint])]
        if group < 0:  # a joint away from its limits
            continue
        group_of[member] = group
        sizes[group + 1] += 1
    for g in range(count):
        sizes[g + 1] += sizes[g]
    order = np.empty(sizes[count], dtype=np.int64)
    fill = sizes.copy()
    for member in range(total):
        group = group_of[member]
        if group >= 0:
            order[fill[group]] = member
            fill[group] += 1
    for g in range(count):
        groups.blocks[g] = block
        for s in range(sizes[g], sizes[g + 1]):
            member = order[s]
            if member < closures.joint_a.size:
                block, row = _write_closure(step, member, block, row, dt)
            elif member < closures.joint_a.size + m:
                block, row = _write_contact(step, member - closures.joint_a.size, block, row, dt)
            else:
                block, row = _write_joint(step, member - closures.joint_a.size - m, block, row, dt)
    step.blocks.starts[block] = row
    groups.blocks[count] = block


@njit(cache=True, error_model="numpy")
def _write_block(
    step: Step, block: int, row: int, kind: int, parameter: float, parent: int, memory: int, point: int
) -> None:
    blocks = step.blocks
    blocks.starts[block] = row
    blocks.kinds[block] = kind
    blocks.parameters[block] = parameter
    blocks.parents[block] = parent
    blocks.memory[block] = memory
    blocks.points[block] = point


@njit(cache=True, error_model="numpy")
def _write_row(step: Step, row: int, shift: float, compliance: float, force: float) -> None:
    blocks = step.blocks
    blocks.shifts[row] = shift
    blocks.compliance[row] = compliance
    blocks.forces[row] = force


@njit(cache=True, error_model="numpy")
def _write_contact(step: Step, i: int, block: int, row: int, dt: float) -> tuple[int, int]:
    """Blocks of one contact point; returns the next block and row."""
    points, pairs, rows, motion = step.points, step.pairs, step.rows, step.motion
    properties = pairs.properties[pairs.classes[points.body_a[i]], pairs.classes[points.body_b[i]]]
    a, b = points.joint_a[i], points.joint_b[i]
    x = points.positions[i]
    frame = points.frames[i]
    for r in range(3):
        frame[0, r] = points.normals[i, r]
    tangents(frame[0], frame[1], frame[2])
    friction = properties[0]
    if properties[1] < friction and _tangential_speed(motion.twists, a, b, x, frame) > STICTION_SPEED:
        friction = properties[1]
    slot = points.slots[i]
    past = step.memory.contacts[slot]
    _write_block(step, block, row, CONTACT, friction, -1, slot, i)
    compliance = properties[6] / dt
    for r in range(3):
        _force_row(rows, row + r, frame[r], x, a, b)
        _write_row(step, row + r, 0.0, compliance, past[r])
    step.blocks.shifts[row] = max(points.gaps[i] - TOUCHING_GAP, 0.0) / dt
    if points.corner[i]:
        _midpoint(step, i, row, dt)
    contact = block
    block += 1
    row += 3
    if pairs.has_torques[0] != 0:
        if properties[3] > 0.0:
            _write_block(step, block, row, SPIN, properties[3], contact, slot, i)
            _torque_row(rows, row, frame[0], a, b)
            _write_row(step, row, 0.0, 0.0, past[3])
            block += 1
            row += 1
        if properties[4] > 0.0:
            _write_block(step, block, row, ROLL, properties[4], contact, slot, i)
            for r in range(2):
                _torque_row(rows, row + r, frame[1 + r], a, b)
                _write_row(step, row + r, 0.0, 0.0, past[4 + r])
            block += 1
            row += 2
        if properties[5] > 0.0:
            _write_block(step, block, row, DAMPER, 0.0, contact, slot, i)
            for r in range(2):
                _force_row(rows, row + r, frame[1 + r], x, a, b)
                _write_row(step, row + r, 0.0, 1.0 / properties[5], 0.0)
            block += 1
            row += 2
    return block, row


@njit(cache=True, error_model="numpy")
def _midpoint(step: Step, i: int, row: int, dt: float) -> None:
    r"""Tangential shifts to the middle of the step: a point held at :math:`J(q)v^+ = 0` creeps along its curved path.

    At the middle of the step the velocity is :math:`J v^+ + \tfrac{\delta t}{2}\dot J v`; holding that one (Moreau's
    midpoint, specification 000 §7.4) keeps the point where it is to third order. Only corners, which stay the same
    points of their body, get it; where round shapes roll the contact moves on to other points.
    """
    points, motion = step.points, step.motion
    x = points.positions[i]
    for t in range(1, 3):
        d = points.frames[i, t]
        along = 0.0
        for side in range(2):
            j = points.joint_a[i] if side == 0 else points.joint_b[i]
            if j == 0:
                continue
            twist, curvature = motion.twists[j], motion.curvatures[j]
            v_0 = twist[0] + twist[4] * x[2] - twist[5] * x[1]
            v_1 = twist[1] + twist[5] * x[0] - twist[3] * x[2]
            v_2 = twist[2] + twist[3] * x[1] - twist[4] * x[0]
            a_0 = curvature[0] + curvature[4] * x[2] - curvature[5] * x[1] + twist[4] * v_2 - twist[5] * v_1
            a_1 = curvature[1] + curvature[5] * x[0] - curvature[3] * x[2] + twist[5] * v_0 - twist[3] * v_2
            a_2 = curvature[2] + curvature[3] * x[1] - curvature[4] * x[0] + twist[3] * v_1 - twist[4] * v_0
            value = d[0] * a_0 + d[1] * a_1 + d[2] * a_2
            along += value if side == 0 else -value
        step.blocks.shifts[row + t] = 0.5 * dt * along


@njit(cache=True, error_model="numpy")
def _write_joint(step: Step, k: int, block: int, row: int, dt: float) -> tuple[int, int]:
    """Blocks of one coordinate's limits and dry friction; returns the next block and row."""
    joints, rows, memory = step.joints, step.rows, step.memory
    if joints.lower[k] != -np.inf or joints.upper[k] != np.inf:
        q = step.state.q[joints.idx_q[k]]
        near = is_limited(q, step.state.v[k], joints.lower[k], joints.upper[k], dt)
        for side in range(2):
            if near & (1 + side):
                sign = 1.0 if side == 0 else -1.0
                gap = q - joints.lower[k] if side == 0 else joints.upper[k] - q
                _write_block(step, block, row, UNILATERAL, 0.0, -1, k, -1 - side)
                _effort_row(rows, row, k, sign)
                _write_row(step, row, max(gap, 0.0) / dt, 0.0, memory.joints[k, side])
                block += 1
                row += 1
    if joints.dry_friction[k] > 0.0:
        _write_block(step, block, row, BOUNDED, joints.dry_friction[k], -1, k, -3)
        _effort_row(rows, row, k, 1.0)
        _write_row(step, row, 0.0, 0.0, memory.joints[k, 2])
        block += 1
        row += 1
    return block, row


@njit(cache=True, error_model="numpy")
def _effort_row(rows: ConstraintRows, row: int, k: int, sign: float) -> None:
    rows.dofs[row] = k
    rows.wrenches[row, 0] = sign
    rows.joint_a[row] = 0
    rows.joint_b[row] = 0


@njit(cache=True, error_model="numpy")
def _write_closure(step: Step, c: int, block: int, row: int, dt: float) -> tuple[int, int]:
    """Rows of one closure, which pull its two frames together; returns the next block and row."""
    closures, rows, motion = step.closures, step.rows, step.motion
    a, b = closures.joint_a[c], closures.joint_b[c]
    R_a, R_b = np.empty((3, 3)), np.empty((3, 3))
    x_a, x_b = np.empty(3), np.empty(3)
    for r in range(3):
        x_a[r], x_b[r] = motion.p[a, r], motion.p[b, r]
        for s in range(3):
            x_a[r] += motion.R[a, r, s] * closures.origin_a[c, s]
            x_b[r] += motion.R[b, r, s] * closures.origin_b[c, s]
            R_a[r, s] = R_b[r, s] = 0.0
            for t in range(3):
                R_a[r, s] += motion.R[a, r, t] * closures.rotation_a[c, t, s]
                R_b[r, s] += motion.R[b, r, t] * closures.rotation_b[c, t, s]
    middle = 0.5 * (x_a + x_b)
    # rotation that is left from frame b to frame a, in the world; small, so that its sine serves
    turn = np.zeros(3)
    for s in range(3):
        turn[0] += 0.5 * (R_b[1, s] * R_a[2, s] - R_b[2, s] * R_a[1, s])
        turn[1] += 0.5 * (R_b[2, s] * R_a[0, s] - R_b[0, s] * R_a[2, s])
        turn[2] += 0.5 * (R_b[0, s] * R_a[1, s] - R_b[1, s] * R_a[0, s])
    _write_block(step, block, row, BILATERAL, 0.0, -1, c, -4)
    d = np.empty(3)
    for r in range(6):
        if not closures.fixed[c, r]:
            continue
        error = 0.0
        for s in range(3):
            d[s] = R_a[s, r % 3]
            error += d[s] * (x_a[s] - x_b[s] if r < 3 else turn[s])
        if r < 3:
            _force_row(rows, row, d, middle, a, b)
        else:
            _torque_row(rows, row, d, a, b)
        _write_row(step, row, CLOSURE_RATE * error / dt, CLOSURE_COMPLIANCE, closures.memory[c, r])
        row += 1
    return block + 1, row
