# SPDX-License-Identifier: Apache-2.0
r"""Velocities of free bodies, as the simulator steps them and as Pinocchio's free-flyer tells them.

The simulator writes a free body as a translation followed by a ball joint: its linear velocity is in the axes of
the world. Pinocchio's free-flyer has it in the axes of the moving body, where a spinning body's linear velocity
turns all the time: explicit steps then make a thrown body faster by :math:`\omega^2\delta t^2/2` each.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray


def rotation(q_base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation from the body to its fixed frame, shape (3, 3), of coordinates x, y, z, qx, qy, qz, qw."""
    return np.asarray(pin.Quaternion(q_base[3:7]).matrix())


def stepped_velocity(q_base: NDArray[np.float64], twist: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocity coordinates of the simulator, shape (6,), of a body-frame twist, linear part first."""
    return np.concatenate([rotation(q_base) @ twist[:3], twist[3:]])


def body_twist(q_base: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Body-frame twist, shape (6,), of the simulator's velocity coordinates."""
    return np.concatenate([rotation(q_base).T @ v[:3], v[3:]])


def body_acceleration(
    q_base: NDArray[np.float64], v: NDArray[np.float64], a: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the body-frame twist, shape (6,), of the simulator's velocity and acceleration coordinates."""
    turned = body_twist(q_base, a)
    turned[:3] -= np.cross(v[3:], body_twist(q_base, v)[:3])
    return turned
