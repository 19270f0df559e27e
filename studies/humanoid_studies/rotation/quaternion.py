# SPDX-License-Identifier: Apache-2.0
"""The unit quaternion as coordinates of a ball joint (specification 000 §14.2 c), the one that the simulator uses.

The order is x, y, z, w (the thesis has w first); angular velocities are those of the child in the axes of the parent,
where Pinocchio's are in the axes of the child.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, error_model="numpy")
def rotation(q: np.ndarray, R: np.ndarray) -> None:
    """Rotation matrix, written to ``R``, shape (3, 3), of a unit quaternion: (3.61) in its corrected form."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    R[0, 0] = 2.0 * (w * w + x * x - 0.5)
    R[0, 1] = 2.0 * (x * y - w * z)
    R[0, 2] = 2.0 * (x * z + w * y)
    R[1, 0] = 2.0 * (x * y + w * z)
    R[1, 1] = 2.0 * (w * w + y * y - 0.5)
    R[1, 2] = 2.0 * (y * z - w * x)
    R[2, 0] = 2.0 * (x * z - w * y)
    R[2, 1] = 2.0 * (y * z + w * x)
    R[2, 2] = 2.0 * (w * w + z * z - 0.5)


@njit(cache=True, error_model="numpy")
def rate(q: np.ndarray, omega: np.ndarray, q_dot: np.ndarray) -> None:
    r"""Compute the derivative :math:`\dot q = \tfrac12\bar\omega q` (3.62; the thesis prints the transposed matrix).

    Args:
        q: unit quaternion, shape (4,).
        omega: angular velocity in the axes of the parent [rad/s], shape (3,).
        q_dot: receives the derivative, shape (4,).
    """
    q_dot[0] = 0.5 * (q[3] * omega[0] + q[2] * omega[1] - q[1] * omega[2])
    q_dot[1] = 0.5 * (-q[2] * omega[0] + q[3] * omega[1] + q[0] * omega[2])
    q_dot[2] = 0.5 * (q[1] * omega[0] - q[0] * omega[1] + q[3] * omega[2])
    q_dot[3] = -0.5 * (q[0] * omega[0] + q[1] * omega[1] + q[2] * omega[2])


@njit(cache=True, error_model="numpy")
def renormalise(q: np.ndarray) -> float:
    """Make a quaternion unit again after an integration step.

    Args:
        q: changed in place, shape (4,).

    Returns:
        How far from 1 its norm was.
    """
    norm = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for i in range(4):
        q[i] /= norm
    return abs(norm - 1.0)


def coordinates(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the unit quaternion, shape (4,), of a rotation matrix, shape (3, 3)."""
    return np.array(pin.Quaternion(np.asarray(R)).coeffs())
