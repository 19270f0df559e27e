# SPDX-License-Identifier: Apache-2.0
"""Velocities along constraint rows, what they must reach, and what forces do to the velocity of the world.

Forces are those of the constraints, remembered for the next step, and the wrenches that a user lets act.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import force_response
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, ROLL, SPIN
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.stepping.constraints import FRICTION, LOWER
from humanoid_sim.stepping.step_data import PushArrays, Step

TOUCHING_GAP = 1e-9
"""Gaps below this count as closed: rounding must not pull the corners of one rigid sole apart [m]."""
PENETRATION_SLOP = 1e-6
"""Penetrations below this are left alone: a body at rest stays exactly at rest [m]."""
CORRECTED_FRACTION = 0.2
"""Part of a penetration that one step takes back."""
CORRECTION_SPEED = 0.1
"""A deep penetration, such as that of a bad start, is taken back no faster than this [m/s]."""


@uncounted()
def approach_shift(
    gap: float, before: float, free: float, restitution: float, impact_speed: float, dt: float
) -> float:
    r"""Shift s of a free normal velocity so that the contact law reads :math:`0 \le f_n \perp v_n + s \ge 0`.

    A contact with a gap may close it during the step, no more: :math:`s = \phi/\delta t` (Anitescu and Hart,
    specification 000 §7.4). The force of such a contact acts on an approaching velocity, so it can only take energy
    away. A contact that arrives faster than ``impact_speed`` leaves with Newton's law
    :math:`v_n^+ \ge -e v_n^-`: :math:`s = e v_n^-` (Moreau, thesis equation 2.51). A penetration doesn't push
    here, see :func:`correction_velocity`.

    Args:
        gap: signed distance [m].
        before: normal velocity at the start of the step [m/s].
        free: normal velocity at its end without contact forces [m/s].
        restitution: restitution coefficient e.
        impact_speed: approach speed from which on restitution applies [m/s].
        dt: time step [s].
    """
    if restitution > 0.0 and gap + dt * free < 0.0 and before < -impact_speed:
        return restitution * before
    return max(gap - TOUCHING_GAP, 0.0) / dt


@uncounted()
def correction_velocity(gap: float, dt: float) -> tuple[float, bool]:
    """Free normal velocity of a motion that takes a penetration back, and whether there is one to take back.

    Args:
        gap: signed distance [m].
        dt: time step [s].
    """
    if gap < -PENETRATION_SLOP:
        return max(CORRECTED_FRACTION * (gap + PENETRATION_SLOP) / dt, -CORRECTION_SPEED), True
    return max(gap, 0.0) / dt, False


@uncounted()
def body_velocities(model: KinematicTree, S: np.ndarray, v: np.ndarray, twists: np.ndarray) -> None:
    """Compute twists of all bodies, shape (njoints, 6), for a velocity ``v``, shape (nv,)."""
    for r in range(6):
        twists[0, r] = 0.0
    for j in range(1, model.joints.size):
        parent = model.joints[j].parent
        first = model.joints[j].idx_v
        for r in range(6):
            twists[j, r] = twists[parent, r]
        for k in range(first, first + model.joints[j].nv):
            rate = v[k]
            for r in range(6):
                twists[j, r] += S[k, r] * rate


@uncounted()
def row_velocity(rows: ConstraintRows, row: int, twists: np.ndarray, v: np.ndarray) -> float:
    """Velocity along one row, of the twists of all bodies and the velocity that they come from."""
    if rows.dofs[row] >= 0:
        return float(rows.wrenches[row, 0] * v[rows.dofs[row]])
    w = rows.wrenches[row]
    a, b = rows.joint_a[row], rows.joint_b[row]
    total = 0.0
    for r in range(6):
        total += w[r] * (twists[a, r] - twists[b, r])
    return total


@uncounted()
def free_velocities(step: Step, dt: float, impact_speed: float) -> None:
    r"""Shifted free velocities of all rows, so that each law reads as if it began at zero.

    Those of contacts are set here, see :func:`approach_shift`.

    Args:
        step: the step; ``blocks.shifts`` and ``blocks.v_free`` are written.
        dt: time step [s].
        impact_speed: approach speed from which on restitution applies [m/s].
    """
    blocks, rows, points, state = step.blocks, step.rows, step.points, step.state
    _project_free_velocity(step)
    for block in range(step.groups.counts[1]):
        first = blocks.starts[block]
        if blocks.kinds[block] == CONTACT and blocks.compliance[first] == 0.0:
            i = blocks.points[block]
            restitution = points.restitution[i]
            before = row_velocity(rows, first, step.motion.twists, state.v) if restitution > 0.0 else 0.0
            blocks.shifts[first] = approach_shift(
                points.gaps[i], before, blocks.v_free[first], restitution, impact_speed, dt
            )
        for row in range(first, blocks.starts[block + 1]):
            blocks.v_free[row] += blocks.shifts[row]


@uncounted()
def _project_free_velocity(step: Step) -> None:
    """Velocities along all rows without constraint forces and without shifts."""
    twists = step.articulated.accelerations  # free until the forces are applied
    body_velocities(step.model, step.motion.S, step.state.v_free, twists)
    for row in range(step.groups.counts[2]):
        step.blocks.v_free[row] = row_velocity(step.rows, row, twists, step.state.v_free)


@uncounted()
def keep_velocities(step: Step) -> None:
    """Free velocities of all rows with the shifts that they have."""
    _project_free_velocity(step)
    for row in range(step.groups.counts[2]):
        step.blocks.v_free[row] += step.blocks.shifts[row]


@uncounted()
def gather_reactions(step: Step, forces: np.ndarray) -> None:
    """Wrenches on the bodies and efforts on the coordinates of the forces of all rows, shape (rows,)."""
    rows, state = step.rows, step.state
    reactions, thrusts = state.reactions, state.thrusts
    for j in range(reactions.shape[0]):
        for r in range(6):
            reactions[j, r] = 0.0
    for k in range(thrusts.size):
        thrusts[k] = 0.0
    for row in range(step.groups.counts[2]):
        f = forces[row]
        if f == 0.0:
            continue
        if rows.dofs[row] >= 0:
            thrusts[rows.dofs[row]] += rows.wrenches[row, 0] * f
            continue
        a, b = rows.joint_a[row], rows.joint_b[row]
        for r in range(6):
            value = rows.wrenches[row, r] * f
            reactions[a, r] += value
            reactions[b, r] -= value


@uncounted()
def apply_constraint_forces(step: Step, forces: np.ndarray, dt: float, v: np.ndarray) -> None:
    r"""Add :math:`\delta t\,H^{-1} J^T f` to a velocity, for all coordinates of all trees (thesis equation 3.20).

    Args:
        step: the step; reactions and thrusts are written.
        forces: of all rows, shape (rows,).
        dt: time step [s].
        v: velocity, shape (nv,).
    """
    gather_reactions(step, forces)
    if step.groups.counts[2] == 0:
        return
    state = step.state
    force_response(step.model, step.motion.S, step.articulated, state.reactions, state.thrusts, state.rate)
    for k in range(v.size):
        v[k] += dt * state.rate[k]


@uncounted()
def remember_forces(step: Step, m: int) -> None:
    """Keep the forces for the next step's start and give those of contacts to their points, the first ``m``."""
    blocks, memory, points = step.blocks, step.memory, step.points
    for s in range(memory.used_count[0]):
        slot = memory.used[s]
        for r in range(6):
            memory.contacts[slot, r] = 0.0
    memory.used_count[0] = 0
    for k in range(memory.joints.shape[0]):
        memory.joints[k, 0] = memory.joints[k, 1] = memory.joints[k, 2] = 0.0
    for i in range(m):
        for r in range(3):
            points.torques[i, r] = 0.0
    for block in range(step.groups.counts[1]):
        first = blocks.starts[block]
        kind = blocks.kinds[block]
        place = blocks.memory[block]
        i = blocks.points[block]
        if kind == CONTACT:
            memory.used[memory.used_count[0]] = place
            memory.used_count[0] += 1
            points.friction[i] = blocks.parameters[block]
            for r in range(3):
                memory.contacts[place, r] = blocks.forces[first + r]
                points.forces[i, r] = blocks.forces[first + r]
                points.velocities[i, r] = blocks.velocities[first + r] - (
                    blocks.shifts[first + r] + blocks.compliance[first + r] * blocks.forces[first + r] if r == 0
                    else blocks.compliance[first + r] * blocks.forces[first + r]
                )  # fmt: skip
        elif kind == SPIN:
            memory.contacts[place, 3] = blocks.forces[first]
            points.torques[i, 0] = blocks.forces[first]
        elif kind == ROLL:
            for r in range(2):
                memory.contacts[place, 4 + r] = blocks.forces[first + r]
                points.torques[i, 1 + r] = blocks.forces[first + r]
        elif kind == BILATERAL:
            row = first
            for r in range(6):
                step.closures.memory[place, r] = 0.0
                if step.closures.fixed[place, r]:
                    step.closures.memory[place, r] = blocks.forces[row]
                    row += 1
        elif i >= FRICTION and i <= LOWER:
            memory.joints[place, LOWER - i] = blocks.forces[first]


@uncounted()
def first_not_finite(v: np.ndarray) -> int:
    """Return the index of the first entry that is infinite or not a number, -1 if there is none."""
    for k in range(v.size):
        if not np.isfinite(v[k]):
            return k
    return -1


@uncounted()
def give_up(step: Step) -> None:
    """Take back what a step that ends in infinity or in no number at all has decided for the next one."""
    for k in range(step.state.saturated.size):
        step.joints.saturated[k] = step.state.saturated[k]
    step.groups.was_solved[0] = -1


@apart(error_model="numpy", _nrt=False)
def gather_wrenches(step: Step) -> None:
    """Sum the wrenches of a step up by joint, at the world origin, with the bodies where they are at its start."""
    pushes, total, motion = step.pushes, step.state.wrenches, step.motion
    if pushes.counts[0] == 0 and pushes.counts[1] == 0:
        return
    for j in range(total.shape[0]):
        for r in range(6):
            total[j, r] = 0.0
    for i in range(pushes.counts[0]):
        j, values = pushes.joints[i], pushes.values[i]
        R, p = motion.rotations[j], motion.origins[j]
        x = p[0] + R[0, 0] * values[0] + R[0, 1] * values[1] + R[0, 2] * values[2]
        y = p[1] + R[1, 0] * values[0] + R[1, 1] * values[1] + R[1, 2] * values[2]
        z = p[2] + R[2, 0] * values[0] + R[2, 1] * values[1] + R[2, 2] * values[2]
        for r in range(6):
            total[j, r] += values[3 + r]
        total[j, 3] += y * values[5] - z * values[4]
        total[j, 4] += z * values[3] - x * values[5]
        total[j, 5] += x * values[4] - y * values[3]


@uncounted()
def end_wrenches(pushes: PushArrays) -> None:
    """Let go of what doesn't act in the next step."""
    counts = pushes.counts
    counts[2] += 1
    if counts[0] == 0 and counts[1] == 0:
        return
    counts[1] = counts[0]
    kept = 0
    for i in range(counts[0]):
        if pushes.last_steps[i] >= counts[2]:
            pushes.joints[kept], pushes.last_steps[kept] = pushes.joints[i], pushes.last_steps[i]
            for r in range(9):
                pushes.values[kept, r] = pushes.values[i, r]
            kept += 1
    counts[0] = kept
