# SPDX-License-Identifier: Apache-2.0
r"""What joints do within a step: drives, springs and damping, taken implicitly, and locks by dry friction or a limit.

With servo torques :math:`\tau = K_p(q_d - q - \delta t\,v^+) + K_d(v_d - v^+)` at the end of the step, the velocity
obeys

.. math::

    H (v^+ - v) = \delta t\,(\tau_0 - b - g) + \delta t\,J^T f, \qquad
    H = M + \delta t (K_d + D) + \delta t^2 K_p,

with :math:`\tau_0` the servo and damping torques for an unchanged velocity (J. Tan, K. Liu, G. Turk, Stable
proportional-derivative controllers, 2011). Gains as stiff as a real position-controlled robot's are then stable at
1 ms on the lightest link, and constraint forces see the same H, so that their solution stays exact.

A joint that dry friction or a limit holds comes to rest and stays there. With an infinite inertia of its own and the
acceleration :math:`-v/\delta t` among the biases, the articulated-body recursion takes it for part of its parent, and
its rows leave the contact problem. The recursion's by-products give the effort that holds it,

.. math::
    \tau_k = \iota_k \dot v_k + H_k^T a_{\lambda(k)} - u_k,

with :math:`\iota` what the coordinate accelerates besides the bodies and :math:`\lambda` its parent. Joints that slide
feel a known friction. The forces of the last step say which are which; the laws of the rows themselves judge it
afterwards, as the states of :mod:`humanoid_sim.contact.scalar_active_set` are, whose elimination this is without rows,
in O(n). R. Featherstone, Rigid Body Dynamics Algorithms, 2008, §9.2 (hybrid dynamics).
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_model.tree.kinematic_tree import FREE_FLYER, PLANAR, SPHERICAL, UNBOUNDED, KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, body_twists
from humanoid_sim.contact.block_nsgs import BOUNDED, UNILATERAL, block_natural_map
from humanoid_sim.stepping.constraints import LOWER, is_limited
from humanoid_sim.stepping.solve_groups import bounces
from humanoid_sim.stepping.step_data import JointArrays, Step


@uncounted()
def rotation_vector(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Rotation vector of the rotation from quaternion ``a`` to quaternion ``b``, both x, y, z, w, in the frame of a."""
    w = a[3] * b[3] + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    x = a[3] * b[0] - a[0] * b[3] - a[1] * b[2] + a[2] * b[1]
    y = a[3] * b[1] - a[1] * b[3] - a[2] * b[0] + a[0] * b[2]
    z = a[3] * b[2] - a[2] * b[3] - a[0] * b[1] + a[1] * b[0]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    # angle / sine of its half; 2 where the angle vanishes
    factor = 2.0 if sine < 1e-9 else 2.0 * math.atan2(sine, w) / sine
    out[0] = factor * x
    out[1] = factor * y
    out[2] = factor * z


@uncounted()
def position_errors(model: KinematicTree, q: np.ndarray, joints: JointArrays) -> None:
    """Targets minus positions in the tangent space; free-flying and planar joints have no drive and get zero."""
    target, error = joints.q_target, joints.error
    for j in range(1, model.joints.size):
        joint = model.joints[j]
        i, k, kind = joint.idx_q, joint.idx_v, joint.kind
        if kind == SPHERICAL:
            rotation_vector(q[i : i + 4], target[i : i + 4], error[k : k + 3])
        elif kind in (FREE_FLYER, PLANAR):
            for r in range(joint.nv):
                error[k + r] = 0.0
        elif kind == UNBOUNDED:
            cosine = q[i] * target[i] + q[i + 1] * target[i + 1]
            error[k] = math.atan2(q[i] * target[i + 1] - q[i + 1] * target[i], cosine)
        else:
            for r in range(joint.nv):
                error[k + r] = target[i + r] - q[i + r]


@uncounted()
def joint_loads(armature: np.ndarray, v: np.ndarray, joints: JointArrays, dt: float) -> None:
    """Efforts for an unchanged velocity, and the diagonal that the drives add to the inertia.

    Args:
        armature: inertia of the rotors, shape (nv,).
        v: velocity at the start of the step, shape (nv,).
        joints: ``loads`` and ``own_inertia`` are written.
        dt: time step [s].
    """
    for k in range(v.size):
        load = -joints.passive_damping[k] * v[k]
        diagonal = joints.passive_damping[k]
        if joints.saturated[k] == 0:
            load += (
                joints.feedforward[k]
                + joints.stiffness[k] * (joints.error[k] - dt * v[k])
                + joints.damping[k] * (joints.v_target[k] - v[k])
            )
            diagonal += joints.damping[k] + dt * joints.stiffness[k]
        elif joints.saturated[k] > 0:
            load += joints.highest[k]
        else:
            load += joints.lowest[k]
        joints.loads[k] = load
        joints.own_inertia[k] = armature[k] + dt * diagonal


@uncounted()
def drive_efforts(v: np.ndarray, joints: JointArrays, dt: float) -> bool:
    """Return efforts of the actuators for the velocity at the end of the step, and which of them saturate.

    Args:
        v: velocity at the end of the step, shape (nv,).
        joints: ``efforts`` is written; ``saturated`` holds what was assumed and receives what should have been.
        dt: time step [s].

    Returns:
        Whether the assumption was wrong somewhere, so that the step has to be solved again.
    """
    changed = False
    for k in range(v.size):
        effort = (
            joints.feedforward[k]
            + joints.stiffness[k] * (joints.error[k] - dt * v[k])
            + joints.damping[k] * (joints.v_target[k] - v[k])
        )
        state = 0
        if effort > joints.highest[k]:
            effort = joints.highest[k]
            state = 1
        elif effort < joints.lowest[k]:
            effort = joints.lowest[k]
            state = -1
        if state != joints.saturated[k]:
            joints.saturated[k] = state
            changed = True
        joints.efforts[k] = effort
    return changed


_FEW = 12
"""So many contacts of the last step are solved at once, as a rule; many of a robot that lies need what all rows do."""
_UNCHANGED = 0.03
"""Part of the tolerance by which forces that count as unchanged may differ: what comes to rest starts from forces that
last, as where a few contacts begin with Newton."""
LAWS_HOLD, STATES_CHANGED, LOST = range(3)
"""What :func:`judge_locks` says."""


@uncounted()
def lock_joints(step: Step, dt: float) -> None:
    """Lock the joints that were held in the last step, where dry friction acts and nothing but contacts beside joints.

    Args:
        step: the step, moved; biases of the motion receive the accelerations that stop them.
        dt: time step [s].
    """
    locks, joints, past, state = step.locks, step.joints, step.memory.joints, step.state
    locks.on[0] = 0
    if step.closures.joint_a.size > 0 or step.pairs.has_torques[0] != 0 or step.memory.used_count[0] > _FEW:
        return
    found = False
    for k in range(locks.held.size):
        bound, force = joints.dry_friction[k], past[k, 2]
        held = abs(force) < bound
        if not held and (past[k, 0] > 0.0 or past[k, 1] > 0.0):
            held = is_limited(state.q[joints.idx_q[k]], state.v[k], joints.lower[k], joints.upper[k], dt) > 0
        locks.held[k] = held
        locks.friction[k] = math.copysign(bound, force)
        found = found or bound > 0.0
    if found:
        locks.on[0] = 1
        stop_locked(step, step.motion, dt)


@uncounted()
def unlock_joints(step: Step) -> None:
    """Let go of all joints; :func:`mark_solved` and the free motion have to follow."""
    if step.locks.on[0] != 0:
        step.locks.on[0] = 0
        body_twists(step.model, step.state.v, step.motion)


@uncounted()
def start_anew(step: Step) -> None:
    """Let go of all joints, and of which actuators saturate while they were locked."""
    unlock_joints(step)
    for k in range(step.state.saturated.size):
        step.joints.saturated[k] = step.state.saturated[k]


@uncounted()
def stop_locked(step: Step, motion: TreeMotion, dt: float) -> None:
    """Add the accelerations that stop held joints within the step to the biases of a motion."""
    model, held, v = step.model, step.locks.held, step.state.v
    for k in range(held.size):
        if held[k]:
            bias, rate = motion.biases[model.dof_joint[k]], -v[k] / dt
            for r in range(6):
                bias[r] += motion.S[k, r] * rate


@uncounted()
def load_locked(step: Step, dt: float) -> None:
    """Give held joints an infinite inertia and those that slide their friction, after the loads of the joints."""
    locks, joints = step.locks, step.joints
    for k in range(locks.held.size):
        if locks.held[k]:
            locks.inertia[k] = joints.own_inertia[k]
            locks.efforts[k] = -joints.own_inertia[k] * step.state.v[k] / dt
            joints.own_inertia[k] = np.inf
        else:
            joints.loads[k] += locks.friction[k]


@uncounted()
def add_holding_efforts(step: Step) -> None:
    """Add what holds the locked joints against what the recursion has just been through, free motion or forces."""
    model, S, articulated, locks, rate = step.model, step.motion.S, step.articulated, step.locks, step.state.rate
    H, u = articulated.H, articulated.u
    for j in range(1, model.joints.size):
        first = model.joints[j].idx_v
        a = articulated.accelerations[model.joints[j].parent]
        a_0, a_1, a_2, a_3, a_4, a_5 = a[0], a[1], a[2], a[3], a[4], a[5]
        for k in range(first, first + model.joints[j].nv):
            s, h = S[k], H[k]
            if locks.held[k]:
                across = h[0] * a_0 + h[1] * a_1 + h[2] * a_2 + h[3] * a_3 + h[4] * a_4 + h[5] * a_5
                locks.efforts[k] += across - u[k]
            elif model.joints[j].nv > 1:
                a_0 += s[0] * rate[k]
                a_1 += s[1] * rate[k]
                a_2 += s[2] * rate[k]
                a_3 += s[3] * rate[k]
                a_4 += s[4] * rate[k]
                a_5 += s[5] * rate[k]


@uncounted()
def mark_solved(step: Step) -> None:
    """Write which blocks of each group are solved for: rows of joints, its last ones, are not while joints are locked.

    Their forces are zero until :func:`judge_locks` knows them.
    """
    groups, blocks = step.groups, step.blocks
    for g in range(groups.counts[0]):
        end = groups.blocks[g + 1]
        if step.locks.on[0] != 0:
            while end > groups.blocks[g] and blocks.kinds[end - 1] in (BOUNDED, UNILATERAL):
                end -= 1
                blocks.forces[blocks.starts[end]] = 0.0
        groups.ends[g] = end


@uncounted()
def judge_locks(step: Step, dt: float, tolerance: float) -> int:
    """Write forces and velocities of the rows of joints and the residuals of their groups; whether their laws hold.

    Args:
        step: the step, ``state.v_new`` being the velocity under the forces of the contacts alone.
        dt: time step [s].
        tolerance: bound on the relative residual of every group.

    Returns:
        ``LAWS_HOLD``, ``STATES_CHANGED`` where other joints are held, or ``LOST`` where the contacts weren't solved or
        bounce: the energy of rebounds is watched with all forces at once.
    """
    groups, blocks, rows, locks, articulated = step.groups, step.blocks, step.rows, step.locks, step.articulated
    add_holding_efforts(step)
    answer = LAWS_HOLD
    for g in range(groups.counts[0]):
        first, last = groups.blocks[g], groups.blocks[g + 1]
        if groups.ends[g] == last:
            continue
        if not groups.residuals[g, 0] <= tolerance or bounces(step, g):
            return LOST
        change = largest = 0.0
        for block in range(groups.ends[g], last):
            row = blocks.starts[block]
            k, sign, bound = rows.dofs[row], rows.wrenches[row, 0], step.joints.dry_friction[rows.dofs[row]]
            inertia, f = 0.0, 0.0
            if locks.held[k]:
                inertia = locks.inertia[k]
                for r in range(6):
                    inertia += articulated.H[k, r] * step.motion.S[k, r]
                f = sign * locks.efforts[k]
                if blocks.kinds[block] == UNILATERAL:  # what dry friction can't give, which has its row behind these
                    f = max(f - bound, 0.0) if bound > 0.0 else f
                    locks.efforts[k] -= sign * f
            elif blocks.kinds[block] == BOUNDED:
                f = locks.friction[k]
            blocks.diagonal[row] = dt / inertia if inertia > 0.0 else dt * articulated.D_inverse[k]
            blocks.velocities[row] = sign * step.state.v_new[k] + blocks.shifts[row]
            blocks.forces[row] = f
            step.state.thrusts[k] += sign * f
            change = max(change, abs(f - step.memory.joints[k, LOWER - blocks.points[block]]))
            largest = max(largest, abs(f))
        residual = block_natural_map(
            blocks.diagonal, blocks.v_free, blocks.starts[first : last + 1], blocks.kinds[first:last],
            blocks.parameters[first:last], blocks.parents[first:last], blocks.forces, blocks.velocities, first,
        )  # fmt: skip
        groups.residuals[g, 0] = residual
        if change > _UNCHANGED * tolerance * largest:
            groups.iterations[g] = max(groups.iterations[g], 1)
        if not residual <= tolerance:
            answer = STATES_CHANGED
    return answer


@uncounted()
def change_locks(step: Step, dt: float) -> bool:
    """Lock and let go of joints as :func:`judge_locks` found; whether there are any, and none that strikes a limit."""
    groups, blocks, rows, locks = step.groups, step.blocks, step.rows, step.locks
    changed = False
    for g in range(groups.counts[0]):
        for block in range(groups.ends[g], groups.blocks[g + 1]):
            row = blocks.starts[block]
            k, f, v = rows.dofs[row], blocks.forces[row], blocks.velocities[row]
            if blocks.kinds[block] == UNILATERAL:
                if v < 0.0:
                    return False
                if f < 0.0:
                    locks.held[k], changed = False, True
            elif locks.held[k] and abs(f) > blocks.parameters[block]:
                locks.held[k], changed = False, True
                locks.friction[k] = math.copysign(blocks.parameters[block], f)
            elif not locks.held[k] and f * v > 0.0:
                locks.held[k] = changed = True
    if changed:
        body_twists(step.model, step.state.v, step.motion)
        stop_locked(step, step.motion, dt)
    return changed
