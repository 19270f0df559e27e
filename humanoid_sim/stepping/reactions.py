# SPDX-License-Identifier: Apache-2.0
"""What constraint forces do to the velocity of the world, and where they are remembered."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import force_response
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, ROLL, SPIN
from humanoid_sim.stepping.constraints import FRICTION, LOWER
from humanoid_sim.stepping.step_data import Step


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
