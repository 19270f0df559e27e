# SPDX-License-Identifier: Apache-2.0
"""Velocities along constraint rows, of a velocity of the whole world."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_sim.contact.approach import approach_shift
from humanoid_sim.contact.block_nsgs import CONTACT
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.stepping.step_data import Step


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

    Those of contacts are set here, see :func:`~humanoid_sim.contact.approach.approach_shift`.

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
