# SPDX-License-Identifier: Apache-2.0
r"""Precession, nutation and spin as coordinates of a ball joint (specification 000 §14.2 a).

:math:`R = R_z(\rho)\,R_n(\theta)\,R_{z'}(\phi)` (3.56), n being the line of nodes, the x axis after the precession. The
coordinates are ``(rho, theta, phi)`` [rad]; angular velocities are those of the child in the axes of the parent.
The angles are singular where :math:`\sin\theta = 0` (the thesis prints the condition of another sequence).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

SINGULAR = 1e-8
r"""Below this :math:`|\det J| = |\sin\theta|` the rates can't be told from the angular velocity."""


@njit(cache=True, error_model="numpy")
def rotation(q: np.ndarray, R: np.ndarray) -> None:
    """Rotation matrix (3.56), written to ``R``, shape (3, 3), of the angles ``q``, shape (3,)."""
    c_r, s_r = math.cos(q[0]), math.sin(q[0])
    c_t, s_t = math.cos(q[1]), math.sin(q[1])
    c_p, s_p = math.cos(q[2]), math.sin(q[2])
    R[0, 0] = c_r * c_p - s_r * c_t * s_p
    R[0, 1] = -c_r * s_p - s_r * c_t * c_p
    R[0, 2] = s_r * s_t
    R[1, 0] = s_r * c_p + c_r * c_t * s_p
    R[1, 1] = -s_r * s_p + c_r * c_t * c_p
    R[1, 2] = -c_r * s_t
    R[2, 0] = s_t * s_p
    R[2, 1] = s_t * c_p
    R[2, 2] = c_t


@njit(cache=True, error_model="numpy")
def determinant(q: np.ndarray) -> float:
    r"""Absolute value of :math:`\det J` in :math:`\omega = J\dot q` (3.57): 0 where the angles are singular."""
    return abs(math.sin(q[1]))


@njit(cache=True, error_model="numpy")
def rate(q: np.ndarray, omega: np.ndarray, spin_rate: float, q_dot: np.ndarray) -> bool:
    r"""Return rates of the angles of an angular velocity (3.58).

    At a singularity the thesis takes :math:`\dot\theta = \sqrt{\omega_x^2+\omega_y^2}` and the last spin rate, which
    leaves :math:`\dot\rho = \omega_z - \cos\theta\,\dot\phi` (printed with :math:`+\sin\theta\,\dot\phi^2`, which is no
    rate). This is the motion asked for only where the line of nodes lies along the horizontal part of ``omega``; see
    :func:`realign`.

    Args:
        q: angles, shape (3,).
        omega: angular velocity in the axes of the parent [rad/s], shape (3,).
        spin_rate: last rate of the spin [rad/s], used at a singularity.
        q_dot: receives the rates, shape (3,).

    Returns:
        Whether the angles are singular, so that the fallback was used.
    """
    c_r, s_r = math.cos(q[0]), math.sin(q[0])
    c_t, s_t = math.cos(q[1]), math.sin(q[1])
    if abs(s_t) < SINGULAR:
        q_dot[0] = omega[2] - c_t * spin_rate
        q_dot[1] = math.hypot(omega[0], omega[1])
        q_dot[2] = spin_rate
        return True
    q_dot[2] = (omega[0] * s_r - omega[1] * c_r) / s_t
    q_dot[1] = omega[0] * c_r + omega[1] * s_r
    q_dot[0] = omega[2] - c_t * q_dot[2]
    return False


@njit(cache=True, error_model="numpy")
def realign(q: np.ndarray, omega: np.ndarray) -> bool:
    r"""At a singularity, turn the line of nodes along the horizontal part of an angular velocity.

    Only :math:`\rho + \phi` (:math:`\theta = 0`) or :math:`\rho - \phi` (:math:`\theta = \pi`) counts there: the
    rotation stays the same, to :data:`SINGULAR`, and the fallback of :func:`rate` becomes exact.

    Args:
        q: angles, changed in place, shape (3,).
        omega: angular velocity in the axes of the parent [rad/s], shape (3,).

    Returns:
        Whether the angles were singular.
    """
    if abs(math.sin(q[1])) >= SINGULAR:
        return False
    if math.hypot(omega[0], omega[1]) > 0.0:
        rho = math.atan2(omega[1], omega[0])
        q[2] += math.copysign(1.0, math.cos(q[1])) * (q[0] - rho)
        q[0] = rho
    return True


def coordinates(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles, shape (3,), of a rotation matrix, shape (3, 3); theta is in 0..pi, phi is 0 at a singularity."""
    s_t = math.hypot(R[2, 0], R[2, 1])
    theta = math.atan2(s_t, R[2, 2])
    if s_t < SINGULAR:
        return np.array([math.atan2(R[1, 0], R[0, 0]), theta, 0.0])
    return np.array([math.atan2(R[0, 2], -R[1, 2]), theta, math.atan2(R[2, 0], R[2, 1])])
