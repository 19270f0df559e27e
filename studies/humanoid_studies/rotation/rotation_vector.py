# SPDX-License-Identifier: Apache-2.0
r"""The rotation vector as coordinates of a ball joint (specification 000 §14.2 b; F. S. Grassia, 1998).

``q`` is the axis times the angle :math:`\theta = \|q\|` [rad]; angular velocities are those of the child in the axes
of the parent. The singularity at :math:`\theta = 0` is removed by a series; those at :math:`2k\pi, k\ge1` are kept away
by re-parametrising.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray

SERIES_BELOW = 1e-3
r"""Angle [rad] below which the series are used: their first term left out is :math:`\theta^4/360`."""


@njit(cache=True, error_model="numpy")
def rotation(q: np.ndarray, R: np.ndarray) -> None:
    """Rotation matrix, written to ``R``, shape (3, 3): equation (3.59) with the unit axis in the sine's term."""
    theta = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    if theta < SERIES_BELOW:
        a = 1.0 - theta * theta / 6.0  # sin(theta)/theta
        b = 0.5 - theta * theta / 24.0  # (1 - cos(theta))/theta^2
    else:
        a = math.sin(theta) / theta
        half = math.sin(0.5 * theta) / theta
        b = 2.0 * half * half
    x, y, z = q[0], q[1], q[2]
    R[0, 0] = 1.0 - b * (y * y + z * z)
    R[0, 1] = b * x * y - a * z
    R[0, 2] = b * x * z + a * y
    R[1, 0] = b * x * y + a * z
    R[1, 1] = 1.0 - b * (x * x + z * z)
    R[1, 2] = b * y * z - a * x
    R[2, 0] = b * x * z - a * y
    R[2, 1] = b * y * z + a * x
    R[2, 2] = 1.0 - b * (x * x + y * y)


@njit(cache=True, error_model="numpy")
def rate(q: np.ndarray, omega: np.ndarray, q_dot: np.ndarray) -> None:
    r"""Compute the derivative of the rotation vector (3.60).

    :math:`\dot q = \tfrac12(\gamma\,\omega + \omega\times q - \eta\,q)` with :math:`\gamma = \theta\cot\frac\theta2`
    (printed with a cosine) and :math:`\eta = \frac{\omega\cdot q}\theta(\cot\frac\theta2 - \frac2\theta)`; for
    :math:`\theta\to0`, :math:`\gamma = 2 - \theta^2/6` and :math:`\eta = -(\omega\cdot q)(60+\theta^2)/360` (printed
    without the minus). It grows without bound towards :math:`\theta = 2\pi`.

    Args:
        q: rotation vector, shape (3,).
        omega: angular velocity in the axes of the parent [rad/s], shape (3,).
        q_dot: receives the derivative, shape (3,).
    """
    square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2]
    along = omega[0] * q[0] + omega[1] * q[1] + omega[2] * q[2]
    theta = math.sqrt(square)
    if theta < SERIES_BELOW:
        gamma = 2.0 - square / 6.0
        eta = -along * (60.0 + square) / 360.0
    else:
        cotangent = 1.0 / math.tan(0.5 * theta)
        gamma = theta * cotangent
        eta = along / theta * (cotangent - 2.0 / theta)
    q_dot[0] = 0.5 * (gamma * omega[0] + omega[1] * q[2] - omega[2] * q[1] - eta * q[0])
    q_dot[1] = 0.5 * (gamma * omega[1] + omega[2] * q[0] - omega[0] * q[2] - eta * q[1])
    q_dot[2] = 0.5 * (gamma * omega[2] + omega[0] * q[1] - omega[1] * q[0] - eta * q[2])


@njit(cache=True, error_model="numpy")
def reparametrise(q: np.ndarray) -> bool:
    r"""Replace a vector longer than :math:`\pi` by the other one of the same rotation, :math:`(1-2\pi/\theta)q`.

    Args:
        q: rotation vector, changed in place, shape (3,).

    Returns:
        Whether it was replaced.
    """
    theta = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    if theta <= math.pi:
        return False
    turns = math.floor(theta / (2.0 * math.pi) + 0.5)  # several turns at once, if it has been left alone for long
    factor = 1.0 - 2.0 * math.pi * turns / theta
    for i in range(3):
        q[i] *= factor
    return True


def coordinates(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation vector, shape (3,), no longer than pi, of a rotation matrix, shape (3, 3)."""
    return np.asarray(pin.log3(R))
