# SPDX-License-Identifier: Apache-2.0
r"""Tangential velocity of sticking points taken at the middle of the step instead of its start.

A point of a moving robot that is held at the velocity :math:`J(q)\,v^+ = 0` moves by
:math:`\tfrac12\delta t^2\dot J v` all the same: its path is curved. Feet would creep by micrometres with each motion of
the legs. At the middle of the step the velocity is :math:`J v^+ + \tfrac{\delta t}{2}\dot J v`; holding that one
(Moreau's midpoint, specification 000 §7.4) keeps the point where it is to third order.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _point_acceleration(
    curvature: np.ndarray, twist: np.ndarray, x: np.ndarray, sign: float, out: np.ndarray
) -> None:
    """Add ``sign`` times the acceleration of the point of a body that is at ``x``."""
    velocity = np.empty(3)
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        velocity[r] = twist[r] + twist[3 + c1] * x[c2] - twist[3 + c2] * x[c1]
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        out[r] += sign * (
            curvature[r]
            + curvature[3 + c1] * x[c2]
            - curvature[3 + c2] * x[c1]
            + twist[3 + c1] * velocity[c2]
            - twist[3 + c2] * velocity[c1]
        )


@njit(cache=True)
def midpoint_shifts(
    joint_a: np.ndarray,
    joint_b: np.ndarray,
    positions: np.ndarray,
    frames: np.ndarray,
    corner: np.ndarray,
    twists: np.ndarray,
    curvatures: np.ndarray,
    dt: float,
    shifts: np.ndarray,
) -> None:
    """Difference between the contact velocities at the middle and at the start of the step.

    Only corners get one, points that stay the same points of their body; where round shapes roll the contact moves on
    to other points. The normal direction is left to the gap.

    Args:
        joint_a: joint of body a of each contact, shape (m,).
        joint_b: joint of body b, shape (m,).
        positions: contact points in the world [m], shape (m, 3).
        frames: contact frames (n, t1, t2) as rows, shape (m, 3, 3) or more.
        corner: whether the contact is a corner of body a, shape (m,).
        twists: world twists of the joints at the world origin, shape (njoints, 6).
        curvatures: their accelerations at constant velocity coordinates, shape (njoints, 6).
        dt: time step [s].
        shifts: receives the differences in the contact frames [m/s], shape (3m,).
    """
    acceleration = np.empty(3)
    for i in range(joint_a.size):
        for r in range(3):
            shifts[3 * i + r] = 0.0
        if not corner[i]:
            continue
        acceleration[:] = 0.0
        _point_acceleration(curvatures[joint_a[i]], twists[joint_a[i]], positions[i], 1.0, acceleration)
        _point_acceleration(curvatures[joint_b[i]], twists[joint_b[i]], positions[i], -1.0, acceleration)
        for t in range(1, 3):
            for r in range(3):
                shifts[3 * i + t] += 0.5 * dt * frames[i, t, r] * acceleration[r]
