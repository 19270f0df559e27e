# SPDX-License-Identifier: Apache-2.0
"""The parts of a step around the contact solve, each one compiled call."""

from __future__ import annotations

import numpy as np
from numba import njit

from humanoid_sim.contact.approach import shift_normal_velocities
from humanoid_sim.dynamics.delassus import add_generalized_forces, contact_velocities, delassus
from humanoid_sim.dynamics.free_motion import free_motion, servo_efforts
from humanoid_sim.dynamics.ltl import solve


@njit(cache=True)
def assemble(
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
    rows: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
    gaps: np.ndarray,
    restitution: np.ndarray,
    midpoint: np.ndarray,
    impact_speed: float,
    factor: np.ndarray,
    reduced: np.ndarray,
    mark: np.ndarray,
    v_free: np.ndarray,
    W: np.ndarray,
    v_contact: np.ndarray,
    shifts: np.ndarray,
) -> None:
    """Free motion, Delassus operator and free contact velocities: the contact problem of a step.

    The arguments are those of :func:`~humanoid_sim.dynamics.free_motion.free_motion`,
    :func:`~humanoid_sim.dynamics.delassus.delassus` and
    :func:`~humanoid_sim.contact.approach.shift_normal_velocities`, by the same names; ``v_contact``, shape (3m,),
    receives the shifted free contact velocities; ``midpoint``, shape (3m,), are the shifts of
    :func:`~humanoid_sim.contact.midpoint.midpoint_shifts`.
    """
    free_motion(
        M, bias, external, v, error, v_target, stiffness, damping, passive_damping, feedforward, limit,
        saturated, dof_parent, dt, factor, v_free,
    )  # fmt: skip
    if support_size.size == 0:
        return
    delassus(factor, dof_parent, rows, support, support_size, dt, reduced, mark, W)
    before = np.empty(v_contact.size)
    contact_velocities(rows, support, support_size, v_free, v_contact)
    contact_velocities(rows, support, support_size, v, before)
    shift_normal_velocities(v_contact, before, gaps, restitution, impact_speed, dt, shifts)
    for i in range(v_contact.size):
        v_contact[i] += midpoint[i]


@njit(cache=True)
def displace(
    factor: np.ndarray,
    dof_parent: np.ndarray,
    rows: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
    forces: np.ndarray,
    dt: float,
    v: np.ndarray,
) -> None:
    r"""Add :math:`\delta t\,H^{-1} J^T f` to the velocity ``v``, shape (nv,) (thesis equation 3.20)."""
    if support_size.size == 0:
        return
    change = np.zeros(v.size)
    add_generalized_forces(rows, support, support_size, forces, dt, change)
    solve(factor, dof_parent, change)
    for k in range(v.size):
        v[k] += change[k]


@njit(cache=True)
def apply_forces(
    factor: np.ndarray,
    dof_parent: np.ndarray,
    rows: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
    forces: np.ndarray,
    error: np.ndarray,
    v_target: np.ndarray,
    stiffness: np.ndarray,
    damping: np.ndarray,
    feedforward: np.ndarray,
    limit: np.ndarray,
    dt: float,
    v: np.ndarray,
    saturated: np.ndarray,
    efforts: np.ndarray,
) -> bool:
    """Velocity at the end of the step under the contact forces, and the efforts that the servos give for it.

    Returns:
        Whether other actuators saturate than was assumed, as
        :func:`~humanoid_sim.dynamics.free_motion.servo_efforts`.
    """
    displace(factor, dof_parent, rows, support, support_size, forces, dt, v)
    return servo_efforts(
        v, error, v_target, stiffness, damping, feedforward, limit, dt, saturated, efforts
    )


@njit(cache=True)
def first_not_finite(v: np.ndarray) -> int:
    """Index of the first entry that is infinite or not a number, -1 if there is none."""
    for k in range(v.size):
        if not np.isfinite(v[k]):
            return k
    return -1
