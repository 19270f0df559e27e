# SPDX-License-Identifier: Apache-2.0
r"""Which constraints take part in the impacts of a step, and what their impulses do to the velocities.

An impact lasts no time: what has a bounded force gives no impulse. So contact normals, joint limits and loops take
part; servos, springs, damping, dry friction and compliant contacts don't. Impacts are without friction (specification
000 §8.1).
"""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import counted
from humanoid_model.tree.articulated_body import articulated_body, force_response
from humanoid_model.tree.tree_motion import body_twists
from humanoid_sim.contact.approach import PENETRATION_SLOP, TOUCHING_GAP
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, UNILATERAL
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.delassus.unit_forces import unit_forces
from humanoid_sim.stepping.constraints import LOWER
from humanoid_sim.stepping.row_velocities import row_velocity
from humanoid_sim.stepping.step_data import Step

_EXCESS_SPEED = 1e-6
"""An approach beyond what the gap leaves room for counts from here on [m/s]: less is the contact law's."""
_COMPLIANCE = 5
"""Place of the normal compliance among the properties of a pair."""


@counted()
def _approach(step: Step, i: int) -> float:
    """Return the normal velocity of a contact point, negative where the bodies approach."""
    points, twists = step.points, step.motion.twists
    x, n = points.positions[i], points.normals[i]
    a, b = twists[points.joint_a[i]], twists[points.joint_b[i]]
    total = 0.0
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        total += n[r] * (a[r] - b[r] + (a[3 + c1] - b[3 + c1]) * x[c2] - (a[3 + c2] - b[3 + c2]) * x[c1])
    return total


@counted()
def _kept_speed(gap: float, dt: float) -> float:
    """Approach speed that closes a gap within the step and no more."""
    return max(gap - TOUCHING_GAP, 0.0) / dt


@counted()
def _strikes(gap: float, v: float, impact_speed: float, dt: float) -> bool:
    """Return whether a contact arrives within the step faster than what counts as an impact."""
    return v < -impact_speed and v + _kept_speed(gap, dt) < -_EXCESS_SPEED


@counted()
def anything_strikes(step: Step, rigid: int, dt: float, impact_speed: float) -> bool:
    """Return whether any of the first ``rigid`` contact points has an impact.

    Args:
        step: the step, after detection.
        rigid: number of contact points between rigid bodies, which come first.
        dt: time step [s].
        impact_speed: approach speed from which on it is one [m/s].
    """
    points, pairs = step.points, step.pairs
    for i in range(rigid):
        if _strikes(points.gaps[i], _approach(step, i), impact_speed, dt):
            properties = pairs.properties[pairs.classes[points.body_a[i]], pairs.classes[points.body_b[i]]]
            if properties[_COMPLIANCE] == 0.0:
                return True
    return False


@counted()
def build_bare_inertia(step: Step, no_efforts: np.ndarray, no_wrenches: np.ndarray) -> None:
    """Articulated inertias of bodies and rotors alone, without what implicit servos add; the free motion makes its own.

    Args:
        step: the step, moved to its state.
        no_efforts: zeros, shape (nv,).
        no_wrenches: zeros, shape (njoints, 6).
    """
    articulated_body(
        step.model, step.motion, no_efforts, step.model.armature, no_wrenches, step.articulated, step.state.rate
    )


@counted()
def take_rows(
    step: Step, group: int, rigid: int, dt: float, impact_speed: float, rows: ConstraintRows, blocks: np.ndarray,
    v: np.ndarray, restitution: np.ndarray, kept: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Return rows of one group that take part in its impacts: loops first, then contact normals and joint limits.

    A contact takes part if it strikes, or if it is closed and has to hold. By (3.7) one that was parting may be left
    approaching, e times as fast: it strikes in the next round. Limits take part likewise, and never bounce.

    Args:
        step: the step, constraints written.
        group: number of the group.
        rigid: number of contact points between rigid bodies.
        dt: time step [s].
        impact_speed: see :func:`anything_strikes`.
        rows: receives the rows.
        blocks: receives the block of each row.
        v: receives velocities along the rows [m/s or rad/s].
        restitution: receives Newton's coefficients.
        kept: receives the approach speeds that may be left.

    Returns:
        Numbers of rows of loops and of all; none where nothing in the group strikes.
    """
    own, all_rows, points, joints, state = step.blocks, step.rows, step.points, step.joints, step.state
    count = 0
    loops = 0
    strikes = False
    for block in range(step.groups.blocks[group], step.groups.blocks[group + 1]):
        kind = own.kinds[block]
        first = own.starts[block]
        last = first + 1
        i = own.points[block]
        bounce = 0.0
        keep = 0.0
        if kind == BILATERAL:
            last = own.starts[block + 1]
            loops += last - first
        elif kind == CONTACT:
            if i >= rigid or own.compliance[first] > 0.0:
                continue
            speed = row_velocity(all_rows, first, step.motion.twists, state.v)
            keep = _kept_speed(points.gaps[i], dt)
            if _strikes(points.gaps[i], speed, impact_speed, dt):
                strikes = True
                bounce = points.restitution[i]
                if bounce > 0.0:
                    keep = 0.0
            elif points.gaps[i] > PENETRATION_SLOP and speed + keep > 0.0:
                continue
            elif speed > 0.0:
                bounce = points.restitution[i]
        elif kind == UNILATERAL:
            k = all_rows.dofs[first]
            q = state.q[joints.idx_q[k]]
            gap = q - joints.lower[k] if i == LOWER else joints.upper[k] - q
            keep = _kept_speed(gap, dt)
            if gap > PENETRATION_SLOP and row_velocity(all_rows, first, step.motion.twists, state.v) + keep > 0.0:
                continue
        else:
            continue
        for row in range(first, last):
            for r in range(6):
                rows.wrenches[count, r] = all_rows.wrenches[row, r]
            rows.joint_a[count] = all_rows.joint_a[row]
            rows.joint_b[count] = all_rows.joint_b[row]
            rows.dofs[count] = all_rows.dofs[row]
            blocks[count] = block
            v[count] = row_velocity(all_rows, row, step.motion.twists, state.v)
            restitution[count] = bounce
            kept[count] = keep
            count += 1
    return (loops, count) if strikes else (0, 0)


@counted()
def impact_operator(step: Step, rows: ConstraintRows, count: int) -> np.ndarray:
    r""":math:`\Lambda = J M^{-1} J^T` of the rows that take part, shape (count, count)."""
    Lambda = np.zeros((count, count))
    unit_forces(
        step.model, step.motion.S, step.articulated, rows, 0, count, np.ones(count, dtype=np.bool_), 1.0,
        step.groups.marks, Lambda,
    )  # fmt: skip
    return Lambda


@counted()
def add_impulses(rows: ConstraintRows, impulses: np.ndarray, wrenches: np.ndarray, thrusts: np.ndarray) -> None:
    """Add the impulses of rows to those on the bodies, shape (njoints, 6), and on the coordinates, shape (nv,)."""
    for row in range(impulses.size):
        p = impulses[row]
        if rows.dofs[row] >= 0:
            thrusts[rows.dofs[row]] += rows.wrenches[row, 0] * p
            continue
        for r in range(6):
            wrenches[rows.joint_a[row], r] += rows.wrenches[row, r] * p
            wrenches[rows.joint_b[row], r] -= rows.wrenches[row, r] * p


@counted()
def change_velocity(step: Step, wrenches: np.ndarray, thrusts: np.ndarray) -> None:
    r"""Joint velocities after the impact, :math:`\dot q^+ = \dot q^- + M^{-1} J^T p` (thesis equation 3.9), and twists.

    Args:
        step: the step, after :func:`build_bare_inertia`.
        wrenches: impulses on the bodies, at the world origin, shape (njoints, 6).
        thrusts: impulses on the coordinates, shape (nv,).
    """
    state = step.state
    force_response(step.model, step.motion.S, step.articulated, wrenches, thrusts, state.rate)
    for k in range(state.v.size):
        state.v[k] += state.rate[k]
    body_twists(step.model, state.v, step.motion)
