# SPDX-License-Identifier: Apache-2.0
r"""Which efforts a motor can give at which speed (specification 000 §20.4).

A direct-current motor stays within :math:`|\dot q/\dot q^M + \Gamma/\Gamma^M| < 1` (5.25) and
:math:`|\Gamma| < \Gamma^M` (5.26): a parallelogram in the plane of torque and speed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError


def motor_load(
    speed: ArrayLike, effort: ArrayLike, max_speed: ArrayLike, max_effort: ArrayLike
) -> NDArray[np.float64]:
    r"""How much of its parallelogram a motor uses: the larger of :math:`|\dot q/\dot q^M+\Gamma/\Gamma^M|`, |Γ|/Γᴹ.

    Args:
        speed: rad/s or m/s, of any shape.
        effort: N m or N, of a shape that fits.
        max_speed: without load, infinite for none, likewise.
        max_effort: at standstill, infinite for none, likewise.

    Returns:
        Below 1 within the limits, of the common shape.

    Raises:
        InputError: a limit that is not positive.
    """
    _check_limits(max_speed, max_effort)
    torque = np.asarray(effort, dtype=float) / max_effort
    return np.maximum(np.abs(np.asarray(speed, dtype=float) / max_speed + torque), np.abs(torque))


def effort_range(
    speed: ArrayLike, max_speed: ArrayLike, max_effort: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest effort that a motor can give at a speed.

    Against the motion it can give its largest effort, with the motion less the faster it turns, and none beyond its
    largest speed, where it can only brake.

    Args:
        speed: rad/s or m/s, of any shape.
        max_speed: without load, infinite for none, of a shape that fits.
        max_effort: at standstill, infinite for none, likewise.

    Returns:
        Lower bound, zero or negative, and upper bound, zero or positive, of the common shape.

    Raises:
        InputError: a limit that is not positive.
    """
    _check_limits(max_speed, max_effort)
    largest = np.asarray(max_effort, dtype=float)
    used = np.asarray(speed, dtype=float) / max_speed
    # An unlimited motor stays so at its largest speed: infinity times zero has no value.
    with np.errstate(invalid="ignore"):
        upper = largest * np.clip(1.0 - used, 0.0, 1.0)
        lower = -largest * np.clip(1.0 + used, 0.0, 1.0)
    return np.nan_to_num(lower, nan=-np.inf, neginf=-np.inf), np.nan_to_num(upper, nan=np.inf, posinf=np.inf)


def parallelogram(max_speed: float, max_effort: float) -> NDArray[np.float64]:
    """Corners (torque, speed) of a motor's limits, shape (4, 2), one after the other.

    Raises:
        InputError: a limit that is not positive or not finite.
    """
    _check_limits(max_speed, max_effort)
    if not (np.isfinite(max_speed) and np.isfinite(max_effort)):
        raise InputError("a motor without limits has no parallelogram", element="limits", remedy="Give finite limits")
    q, tau = max_speed, max_effort
    return np.array([[tau, 0.0], [-tau, 2.0 * q], [-tau, 0.0], [tau, -2.0 * q]])


def _check_limits(max_speed: ArrayLike, max_effort: ArrayLike) -> None:
    for name, values in (("largest speed", max_speed), ("largest effort", max_effort)):
        if not np.all(np.asarray(values) > 0.0):
            raise InputError(f"{name} is {values!r}", element=name, remedy="Give positive numbers")
