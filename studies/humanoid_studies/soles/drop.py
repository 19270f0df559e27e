# SPDX-License-Identifier: Apache-2.0
"""A mass falls on one spring: thesis equation (4.21) with one unknown (specification 000, E12 and N11)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.checks import check_positive


@dataclass(frozen=True)
class Drop:
    """A drop, step by step.

    Attributes:
        height: of the undeformed spring's end over the floor after each step [m], shape (n,).
        acceleration: mean acceleration in each step [m/s^2], shape (n,).
        force: of the floor in each step [N], shape (n,).
        compression: of the spring after each step [m], shape (n,).
    """

    height: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    force: NDArray[np.float64]
    compression: NDArray[np.float64]


def drop_on_spring(
    mass: float, stiffness: float, height: float, *, steps: int, dt: float = 1e-3, gravity: float = 9.8
) -> Drop:
    r"""Drop a mass on a massless spring.

    In each step that the spring touches, :math:`W = \delta t/m + 1/(k\,\delta t)` and
    :math:`f = \max(0, -(v_f - U/\delta t)/W)`, then :math:`U = f/k`; the position moves with the new velocity.

    Args:
        mass: [kg].
        stiffness: k [N/m].
        height: of the spring's end over the floor at the start [m].
        steps: number of time steps.
        dt: time step [s].
        gravity: [m/s^2].

    Raises:
        InputError: a number that is not positive.
    """
    numbers = {"mass": mass, "stiffness": stiffness, "height": height, "steps": steps, "dt": dt, "gravity": gravity}
    for name, value in numbers.items():
        check_positive(value, name)
    W = dt / mass + 1.0 / (stiffness * dt)
    z, v, U = height, 0.0, 0.0
    rows = np.empty((steps, 4))
    for step in range(steps):
        v_free = v - gravity * dt
        f = max(0.0, -(v_free - U / dt) / W) if z <= 0.0 or z + U <= 0.0 else 0.0
        U = f / stiffness
        v_new = v_free + f * dt / mass
        z += v_new * dt
        rows[step] = z, (v_new - v) / dt, f, U
        v = v_new
    return Drop(*rows.T.copy())
