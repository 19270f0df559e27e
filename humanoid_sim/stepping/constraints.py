# SPDX-License-Identifier: Apache-2.0
r"""Which constraints act in a step, in groups that see each other (specification 000 §12).

A group is a connected component of the graph whose nodes are trees of joints and whose edges are contacts and closures
between two of them; all links of a robot are one node. Each group has its own, smaller operator.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import counted, plain_arguments, uncounted
from humanoid_model.tree.tree_motion import TreeMotion
from humanoid_sim.contact.block_nsgs import BILATERAL, BOUNDED, CONTACT, DAMPER, ROLL, SPIN, UNILATERAL
from humanoid_sim.delassus.constraint_rows import tangents
from humanoid_sim.stepping.step_data import Step

STICTION_SPEED = 1e-3
"""Contacts that slide faster than this at the start of the step have the dynamic friction coefficient [m/s]."""
LIMIT_MARGIN = 1e-3
"""A joint nearer to its limit than this, or that could arrive within two steps, is limited [rad or m]."""
CLOSURE_RATE = 0.2
"""Part of a closure's error that one step takes back."""
NO_OPERATOR, FREE_BODIES = -1, -2
"""In place of where a group's operator begins."""
LOWER, UPPER, FRICTION, CLOSURE = -1, -2, -3, -4
"""In place of a contact point: what of a joint a block stands for, or a closure."""


@uncounted()
def leader(leaders: np.ndarray, tree: int) -> int:
    """Return the representative of the trees that a tree is joined with; paths are halved on the way."""
    while leaders[tree] != tree:
        leaders[tree] = leaders[leaders[tree]]
        tree = leaders[tree]
    return tree


@uncounted()
def _join(leaders: np.ndarray, a: int, b: int) -> None:
    if a < 0 or b < 0:
        return
    a, b = leader(leaders, a), leader(leaders, b)
    if a < b:
        leaders[b] = a
    elif b < a:
        leaders[a] = b


@uncounted()
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


@uncounted()
def _force_wrench(w: np.ndarray, d: np.ndarray, x: np.ndarray) -> None:
    """Compute the wrench of a unit force along d at the point x."""
    w[0], w[1], w[2] = d[0], d[1], d[2]
    w[3] = x[1] * d[2] - x[2] * d[1]
    w[4] = x[2] * d[0] - x[0] * d[2]
    w[5] = x[0] * d[1] - x[1] * d[0]


@uncounted()
def _torque_wrench(w: np.ndarray, d: np.ndarray) -> None:
    """Compute the wrench of a unit torque about d."""
    w[0] = w[1] = w[2] = 0.0
    w[3], w[4], w[5] = d[0], d[1], d[2]


@uncounted()
def is_limited(q: float, v: float, lower: float, upper: float, dt: float) -> int:
    """Return which limits of a coordinate are near: 1 the lower, 2 the upper, 3 both."""
    reach = LIMIT_MARGIN + 2.0 * dt * abs(v)
    return (1 if q - lower < reach else 0) + (2 if upper - q < reach else 0)


@uncounted()
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
    mixed, members = groups.mixed, groups.members
    for t in range(leaders.size):
        mixed[t] = pairs.has_torques[0] != 0
        members[t] = 0
    for c in range(closure_count):
        tree = trees[closures.joint_a[c]] if closures.joint_a[c] > 0 else trees[closures.joint_b[c]]
        own = 0
        for r in range(6):
            own += 1 if closures.fixed[c, r] else 0
        count = _enter(groups.group_of_tree, size_of, leader(leaders, tree), count, own)
        mixed[groups.group_of_tree[leader(leaders, tree)]] = True
        blocks += 1
        rows += own
    for i in range(m):
        tree = trees[points.joint_a[i]] if points.joint_a[i] > 0 else trees[points.joint_b[i]]
        own = 3
        blocks += 1
        if pairs.has_torques[0] != 0:
            properties = pairs.properties[pairs.classes[points.body_a[i]], pairs.classes[points.body_b[i]]]
            for kind, extra in ((2, 1), (3, 2), (4, 2)):
                if properties[kind] > 0.0:
                    own += extra
                    blocks += 1
        count = _enter(groups.group_of_tree, size_of, leader(leaders, tree), count, own)
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
            count = _enter(groups.group_of_tree, size_of, leader(leaders, tree), count, own)
            mixed[groups.group_of_tree[leader(leaders, tree)]] = True
            blocks += own
            rows += own
    entries = 0
    for t in range(leaders.size):
        g = groups.group_of_tree[leader(leaders, t)]
        if g >= 0:
            members[g] += 1 if groups.free[t] else leaders.size + 1
    for g in range(count):
        free = members[g] <= leaders.size
        if not mixed[g] and (size_of[g] > groups.largest[0] or (free and members[g] > groups.largest[1])):
            groups.offsets[g] = FREE_BODIES if free else NO_OPERATOR
            continue
        groups.offsets[g] = entries
        entries += size_of[g] * size_of[g]
    groups.offsets[count] = entries
    groups.counts[0] = count
    groups.counts[1] = blocks
    groups.counts[2] = rows
    groups.counts[3] = entries


@plain_arguments
@uncounted()
def _enter(group_of_tree: np.ndarray, sizes: np.ndarray, leader: int, count: int, rows: int) -> int:
    """Add rows to the group of a leading tree, a new one where there is none yet."""
    if group_of_tree[leader] < 0:
        group_of_tree[leader] = count
        sizes[count] = 0
        count += 1
    sizes[group_of_tree[leader]] += rows
    return count


@counted()
def collect_constraints(step: Step, m: int, dt: float) -> None:
    """Write the blocks and rows of all constraints, group by group, in each closures first, then contacts, then joints.

    Args:
        step: the step, after :func:`count_constraints`.
        m: number of contact points.
        dt: time step [s].
    """
    most = max(step.closures.joint_a.size, m, step.joints.lower.size)
    members, ends = np.empty((4, most), dtype=np.int64), np.empty((3, step.groups.counts[0] + 2), dtype=np.int64)
    _collect_constraints(step, m, dt, members, ends)


@uncounted()
def _collect_constraints(step: Step, m: int, dt: float, members: np.ndarray, ends: np.ndarray) -> None:
    """:func:`collect_constraints` in this work space.

    Args:
        step: the step.
        m: number of contact points.
        dt: time step [s].
        members: shape (4, most closures, contact points or coordinates).
        ends: shape (3, groups + 2).
    """
    model, groups, points, joints, closures = step.model, step.groups, step.points, step.joints, step.closures
    count = groups.counts[0]
    held = closures.joint_a.size
    nv = joints.lower.size
    group_of, closure_order, contact_order, joint_order = members[0], members[1], members[2], members[3]
    for c in range(held):
        joint = closures.joint_a[c] if closures.joint_a[c] > 0 else closures.joint_b[c]
        group_of[c] = groups.group_of_tree[leader(groups.leaders, model.trees[joint])]
    _sort_by_group(group_of, held, ends[0], closure_order)
    for i in range(m):
        joint = points.joint_a[i] if points.joint_a[i] > 0 else points.joint_b[i]
        group_of[i] = groups.group_of_tree[leader(groups.leaders, model.trees[joint])]
    _sort_by_group(group_of, m, ends[1], contact_order)
    for k in range(nv):
        group_of[k] = -1
        if joints.dry_friction[k] > 0.0 or joints.lower[k] != -np.inf or joints.upper[k] != np.inf:
            group_of[k] = groups.group_of_tree[leader(groups.leaders, model.trees[model.dof_joint[k]])]
    _sort_by_group(group_of, nv, ends[2], joint_order)
    block = 0
    row = 0
    for g in range(count):
        groups.blocks[g] = block
        if ends[0, g] < ends[0, g + 1]:
            block, row = _write_closures(step, closure_order[ends[0, g] : ends[0, g + 1]], block, row, dt)
        if ends[1, g] < ends[1, g + 1]:
            block, row = _write_contacts(step, contact_order[ends[1, g] : ends[1, g + 1]], block, row, dt)
        if ends[2, g] < ends[2, g + 1]:
            block, row = _write_joints(step, joint_order[ends[2, g] : ends[2, g + 1]], block, row, dt)
    step.blocks.starts[block] = row
    groups.blocks[count] = block


@uncounted()
def _sort_by_group(group_of: np.ndarray, size: int, ends: np.ndarray, order: np.ndarray) -> None:
    """Members by group, in their order within each; those of group -1 are left out.

    Args:
        group_of: group of each member, the first ``size`` count.
        size: number of members.
        ends: receives where each group begins and the last one ends, and a number more, shape (groups + 2,).
        order: receives the members.
    """
    for g in range(ends.size):
        ends[g] = 0
    for member in range(size):
        if group_of[member] >= 0:
            ends[group_of[member] + 2] += 1
    for g in range(2, ends.size):
        ends[g] += ends[g - 1]
    for member in range(size):  # ends[g + 1] is the next place of group g, and where it ends when all have theirs
        g = group_of[member]
        if g >= 0:
            order[ends[g + 1]] = member
            ends[g + 1] += 1


@uncounted()
def _write_contacts(step: Step, order: np.ndarray, block: int, row: int, dt: float) -> tuple[int, int]:
    """Return blocks of some contact points; returns the next block and row."""
    points, pairs, motion, blocks, rows = step.points, step.pairs, step.motion, step.blocks, step.rows
    wrenches, twists, past = rows.wrenches, motion.twists, step.memory.contacts
    has_torques = pairs.has_torques[0] != 0
    for i in order:
        properties = pairs.properties[pairs.classes[points.body_a[i]], pairs.classes[points.body_b[i]]]
        a, b = points.joint_a[i], points.joint_b[i]
        x = points.positions[i]
        frame = points.frames[i]
        for r in range(3):
            frame[0, r] = points.normals[i, r]
        tangents(frame[0], frame[1], frame[2])
        friction = properties[0]
        if properties[1] < friction and _tangential_speed(twists, a, b, x, frame) > STICTION_SPEED:
            friction = properties[1]
        slot = points.slots[i]
        contact = block
        first = row
        blocks.kinds[block] = CONTACT
        blocks.parameters[block] = friction
        for r in range(3):
            _force_wrench(wrenches[row + r], frame[r], x)
            blocks.shifts[row + r] = 0.0
            blocks.compliance[row + r] = 0.0
            blocks.forces[row + r] = past[slot, r]
        if properties[5] > 0.0:  # a spring at the end of the step: 0 <= f, gap + C f >= 0
            blocks.compliance[row] = properties[5] / dt
            blocks.shifts[row] = points.gaps[i] / dt
        if points.corner[i]:
            along_1 = midpoint_shift(twists, motion.curvatures, a, b, x, frame[1], dt)
            along_2 = midpoint_shift(twists, motion.curvatures, a, b, x, frame[2], dt)
            blocks.shifts[row + 1], blocks.shifts[row + 2] = along_1, along_2  # written once: what they share stays
        blocks.starts[block] = row
        block += 1
        row += 3
        if has_torques:
            if properties[2] > 0.0:
                blocks.kinds[block] = SPIN
                blocks.parameters[block] = properties[2]
                _torque_wrench(wrenches[row], frame[0])
                blocks.shifts[row] = blocks.compliance[row] = 0.0
                blocks.forces[row] = past[slot, 3]
                blocks.starts[block] = row
                block += 1
                row += 1
            if properties[3] > 0.0:
                blocks.kinds[block] = ROLL
                blocks.parameters[block] = properties[3]
                for r in range(2):
                    _torque_wrench(wrenches[row + r], frame[1 + r])
                    blocks.shifts[row + r] = blocks.compliance[row + r] = 0.0
                    blocks.forces[row + r] = past[slot, 4 + r]
                blocks.starts[block] = row
                block += 1
                row += 2
            if properties[4] > 0.0:
                blocks.kinds[block] = DAMPER
                blocks.parameters[block] = 0.0
                for r in range(2):
                    _force_wrench(wrenches[row + r], frame[1 + r], x)
                    blocks.shifts[row + r] = blocks.forces[row + r] = 0.0
                    blocks.compliance[row + r] = 1.0 / properties[4]
                blocks.starts[block] = row
                block += 1
                row += 2
        for own in range(contact, block):
            blocks.parents[own] = contact
            blocks.memory[own] = slot
            blocks.points[own] = i
        for r in range(first, row):
            rows.joint_a[r] = a
            rows.joint_b[r] = b
            rows.dofs[r] = -1
    return block, row


@uncounted()
def midpoint_shift(
    twists: np.ndarray, curvatures: np.ndarray, a: int, b: int, x: np.ndarray, d: np.ndarray, dt: float
) -> float:
    r"""Tangential shift to the middle of the step: a point held at :math:`J(q)v^+ = 0` creeps along its curved path.

    At the middle of the step the velocity is :math:`J v^+ + \tfrac{\delta t}{2}\dot J v`; holding that one (Moreau's
    midpoint, specification 000 §7.4) keeps the point where it is to third order. Only corners, which stay the same
    points of their body, get it; where round shapes roll the contact moves on to other points.
    """
    along = 0.0
    for side in range(2):
        j = a if side == 0 else b
        if j == 0:
            continue
        twist, curvature = twists[j], curvatures[j]
        v_0 = twist[0] + twist[4] * x[2] - twist[5] * x[1]
        v_1 = twist[1] + twist[5] * x[0] - twist[3] * x[2]
        v_2 = twist[2] + twist[3] * x[1] - twist[4] * x[0]
        a_0 = curvature[0] + curvature[4] * x[2] - curvature[5] * x[1] + twist[4] * v_2 - twist[5] * v_1
        a_1 = curvature[1] + curvature[5] * x[0] - curvature[3] * x[2] + twist[5] * v_0 - twist[3] * v_2
        a_2 = curvature[2] + curvature[3] * x[1] - curvature[4] * x[0] + twist[3] * v_1 - twist[4] * v_0
        value = d[0] * a_0 + d[1] * a_1 + d[2] * a_2
        along += value if side == 0 else -value
    return 0.5 * dt * along


@uncounted()
def _closure_shift(
    motion: TreeMotion, a: int, b: int, x: np.ndarray, d: np.ndarray, linear: bool, dt: float
) -> float:
    r"""Shift :math:`\tfrac{\delta t}{2}\dot J v` of a closure's row, see :func:`midpoint_shift`; no energy is lost.

    The direction d turns with body a.
    """
    s, t = motion.twists[a], motion.twists[b]
    u_0, u_1, u_2 = s[3] - t[3], s[4] - t[4], s[5] - t[5]
    if linear:
        value = midpoint_shift(motion.twists, motion.curvatures, a, b, x, d, dt)
        w_0 = s[0] - t[0] + u_1 * x[2] - u_2 * x[1]
        w_1 = s[1] - t[1] + u_2 * x[0] - u_0 * x[2]
        u_2 = s[2] - t[2] + u_0 * x[1] - u_1 * x[0]
        u_0, u_1 = w_0, w_1
    else:
        f, g = motion.curvatures[a], motion.curvatures[b]
        value = 0.5 * dt * (d[0] * (f[3] - g[3]) + d[1] * (f[4] - g[4]) + d[2] * (f[5] - g[5]))
    return value + 0.5 * dt * (
        (s[4] * d[2] - s[5] * d[1]) * u_0 + (s[5] * d[0] - s[3] * d[2]) * u_1 + (s[3] * d[1] - s[4] * d[0]) * u_2
    )


@uncounted()
def _write_joints(step: Step, order: np.ndarray, block: int, row: int, dt: float) -> tuple[int, int]:
    """Return blocks of the limits and the dry friction of some coordinates; returns the next block and row."""
    joints, state, blocks, rows = step.joints, step.state, step.blocks, step.rows
    past = step.memory.joints
    for k in order:
        first = block
        if joints.lower[k] != -np.inf or joints.upper[k] != np.inf:
            q = state.q[joints.idx_q[k]]
            near = is_limited(q, state.v[k], joints.lower[k], joints.upper[k], dt)
            for side in range(2):
                if near & (1 + side):
                    gap = q - joints.lower[k] if side == 0 else joints.upper[k] - q
                    blocks.kinds[block] = UNILATERAL
                    blocks.parameters[block] = 0.0
                    blocks.points[block] = LOWER if side == 0 else UPPER
                    rows.wrenches[row, 0] = 1.0 if side == 0 else -1.0
                    blocks.shifts[row] = max(gap, 0.0) / dt
                    blocks.forces[row] = past[k, side]
                    blocks.starts[block] = row
                    block += 1
                    row += 1
        if joints.dry_friction[k] > 0.0:
            blocks.kinds[block] = BOUNDED
            blocks.parameters[block] = joints.dry_friction[k]
            blocks.points[block] = FRICTION
            rows.wrenches[row, 0] = 1.0
            blocks.shifts[row] = 0.0
            blocks.forces[row] = past[k, 2]
            blocks.starts[block] = row
            block += 1
            row += 1
        for own in range(first, block):
            r = blocks.starts[own]
            blocks.parents[own] = own
            blocks.memory[own] = k
            blocks.compliance[r] = 0.0
            rows.dofs[r] = k
            rows.joint_a[r] = rows.joint_b[r] = 0
    return block, row


@plain_arguments
@counted()
def _write_closures(step: Step, order: np.ndarray, block: int, row: int, dt: float) -> tuple[int, int]:
    """Return rows of some closures, which pull their two frames together; returns the next block and row."""
    closures, motion, blocks, rows = step.closures, step.motion, step.blocks, step.rows
    R_a, R_b = np.empty((3, 3)), np.empty((3, 3))
    x_a, x_b, middle, turn, d = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for c in order:
        a, b = closures.joint_a[c], closures.joint_b[c]
        for r in range(3):
            x_a[r], x_b[r] = motion.origins[a, r], motion.origins[b, r]
            for s in range(3):
                x_a[r] += motion.rotations[a, r, s] * closures.origin_a[c, s]
                x_b[r] += motion.rotations[b, r, s] * closures.origin_b[c, s]
                R_a[r, s] = R_b[r, s] = 0.0
                for t in range(3):
                    R_a[r, s] += motion.rotations[a, r, t] * closures.rotation_a[c, t, s]
                    R_b[r, s] += motion.rotations[b, r, t] * closures.rotation_b[c, t, s]
            middle[r] = 0.5 * (x_a[r] + x_b[r])
        # rotation that is left from frame b to frame a, in the world; small, so that its sine serves
        for r in range(3):
            c1 = (r + 1) % 3
            c2 = (r + 2) % 3
            turn[r] = 0.0
            for s in range(3):
                turn[r] += 0.5 * (R_b[c1, s] * R_a[c2, s] - R_b[c2, s] * R_a[c1, s])
        blocks.starts[block] = row
        blocks.kinds[block] = BILATERAL
        blocks.parameters[block] = 0.0
        blocks.parents[block] = block
        blocks.memory[block] = c
        blocks.points[block] = CLOSURE
        for r in range(6):
            if not closures.fixed[c, r]:
                continue
            error = 0.0
            for s in range(3):
                d[s] = R_a[s, r % 3]
                error += d[s] * (x_a[s] - x_b[s] if r < 3 else turn[s])
            if r < 3:
                _force_wrench(rows.wrenches[row], d, middle)
            else:
                _torque_wrench(rows.wrenches[row], d)
            rows.joint_a[row] = a
            rows.joint_b[row] = b
            rows.dofs[row] = -1
            blocks.shifts[row] = CLOSURE_RATE * error / dt + _closure_shift(motion, a, b, middle, d, r < 3, dt)
            blocks.compliance[row] = 0.0
            blocks.forces[row] = closures.memory[c, r]
            row += 1
        block += 1
    return block, row
