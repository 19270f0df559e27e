# SPDX-License-Identifier: Apache-2.0
r"""What the joints' drives, springs and damping do within a step, taken implicitly.

With servo torques :math:`\tau = K_p(q_d - q - \delta t\,v^+) + K_d(v_d - v^+)` at the end of the step, the velocity
obeys

.. math::

    H (v^+ - v) = \delta t\,(\tau_0 - b - g) + \delta t\,J^T f, \qquad
    H = M + \delta t (K_d + D) + \delta t^2 K_p,

with :math:`\tau_0` the servo and damping torques for an unchanged velocity (J. Tan, K. Liu, G. Turk, Stable
proportional-derivative controllers, 2011). Gains as stiff as a real position-controlled robot's are then stable at
1 ms on the lightest link, and constraint forces see the same H, so that their solution stays exact.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_model.tree.joint_kind import FREE_FLYER, PLANAR, SPHERICAL, UNBOUNDED
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_sim.stepping.step_data import JointArrays


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
