# SPDX-License-Identifier: Apache-2.0
r"""Motion over one step without contacts, joint servos and damping being taken implicitly.

With servo torques :math:`\tau = K_p(q_d - q - \delta t\,v^+) + K_d(v_d - v^+)` evaluated at the end of the step,
the velocity obeys

.. math::

    H (v^+ - v) = \delta t\,(\tau_0 - b - g) + \delta t\,J^T f, \qquad
    H = M + \delta t (K_d + D) + \delta t^2 K_p,

with :math:`\tau_0` the servo and damping torques for an unchanged velocity (J. Tan, K. Liu, G. Turk, Stable
proportional-derivative controllers, 2011). Gains as stiff as a real position-controlled robot's are then stable at
1 ms on the lightest link, and contact forces see the same H, so that the contact solve stays exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from humanoid_sim.dynamics.ltl import factorize, solve


@njit(cache=True)
def free_motion(
    M: np.ndarray,
    bias: np.ndarray,
    external: np.ndarray,
    v: np.ndarray,
    error: np.ndarray,
    v_target: np.ndarray,
    stiffness: np.ndarray,
    damping: np.ndarray,
    passive_damping: np.ndarray,
    feedforward: np.ndarray,
    limit: np.ndarray,
    saturated: np.ndarray,
    dof_parent: np.ndarray,
    dt: float,
    factor: np.ndarray,
    v_free: np.ndarray,
) -> None:
    """Factorise H and compute the velocity at the end of the step without contact forces.

    Args:
        M: joint-space inertia, upper triangle read, shape (nv, nv).
        bias: Coriolis, centrifugal and gravity efforts, shape (nv,).
        external: generalised efforts of known external wrenches, shape (nv,).
        v: velocity at the start of the step, shape (nv,).
        error: target minus position, in the tangent space, shape (nv,).
        v_target: target velocity, shape (nv,).
        stiffness: servo position gains, shape (nv,).
        damping: servo velocity gains, shape (nv,).
        passive_damping: viscous joint friction, shape (nv,).
        feedforward: effort added to the servo's, shape (nv,).
        limit: largest effort of each actuator, shape (nv,).
        saturated: -1, 0 or 1: the actuator gives -limit, what the servo asks for, or +limit, shape (nv,).
        dof_parent: parent coordinates, shape (nv,).
        dt: time step [s].
        factor: receives the LTL factorisation of H, shape (nv, nv).
        v_free: receives the velocity, shape (nv,).
    """
    for k in range(v.size):
        j = k
        while j >= 0:
            factor[k, j] = M[j, k]
            j = dof_parent[j]
        effort = external[k] - bias[k] - passive_damping[k] * v[k]
        diagonal = passive_damping[k]
        if saturated[k] == 0:
            effort += (
                feedforward[k]
                + stiffness[k] * (error[k] - dt * v[k])
                + damping[k] * (v_target[k] - v[k])
            )
            diagonal += damping[k] + dt * stiffness[k]
        else:
            effort += saturated[k] * limit[k]
        factor[k, k] += dt * diagonal
        v_free[k] = dt * effort
    factorize(factor, dof_parent)
    solve(factor, dof_parent, v_free)
    for k in range(v.size):
        v_free[k] += v[k]


@njit(cache=True)
def servo_efforts(
    v: np.ndarray,
    error: np.ndarray,
    v_target: np.ndarray,
    stiffness: np.ndarray,
    damping: np.ndarray,
    feedforward: np.ndarray,
    limit: np.ndarray,
    dt: float,
    saturated: np.ndarray,
    efforts: np.ndarray,
) -> bool:
    """Efforts of the actuators for the velocity at the end of the step, and which of them saturate.

    Args:
        v: velocity at the end of the step, shape (nv,).
        error: see :func:`free_motion`.
        v_target: same.
        stiffness: same.
        damping: same.
        feedforward: same.
        limit: same.
        dt: time step [s].
        saturated: what was assumed, overwritten with what should have been, shape (nv,).
        efforts: receives the efforts, within the limits, shape (nv,).

    Returns:
        Whether the assumption was wrong somewhere, so that the step has to be solved again.
    """
    changed = False
    for k in range(v.size):
        effort = (
            feedforward[k]
            + stiffness[k] * (error[k] - dt * v[k])
            + damping[k] * (v_target[k] - v[k])
        )
        state = 0
        if effort > limit[k]:
            effort = limit[k]
            state = 1
        elif effort < -limit[k]:
            effort = -limit[k]
            state = -1
        if state != saturated[k]:
            saturated[k] = state
            changed = True
        efforts[k] = effort
    return changed


@njit(cache=True)
def add_wrench(
    last_dof: int,
    dof_parent: np.ndarray,
    J: np.ndarray,
    force: np.ndarray,
    moment: np.ndarray,
    external: np.ndarray,
) -> None:
    """Add the generalised efforts of a wrench on one body (thesis equation 3.64).

    Args:
        last_dof: last velocity coordinate that moves the body, -1 if none.
        dof_parent: parent coordinates, shape (nv,).
        J: joint Jacobian columns in the world frame, shape (6, nv).
        force: in the world [N], shape (3,).
        moment: about the world origin [N m], shape (3,).
        external: efforts to add to, shape (nv,).
    """
    k = last_dof
    while k >= 0:
        for r in range(3):
            external[k] += J[r, k] * force[r] + J[3 + r, k] * moment[r]
        k = dof_parent[k]
