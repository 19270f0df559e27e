# SPDX-License-Identifier: Apache-2.0
"""What the normal velocity of a contact must reach at the end of a step: gaps, impacts, penetrations."""

from __future__ import annotations

import numpy as np
from numba import njit

TOUCHING_GAP = 1e-9
"""Gaps below this count as closed: rounding must not pull the corners of one rigid sole apart [m]."""
PENETRATION_SLOP = 1e-6
"""Penetrations below this are left alone: a body at rest stays exactly at rest [m]."""
CORRECTED_FRACTION = 0.2
"""Part of a penetration that one step takes back."""
CORRECTION_SPEED = 0.1
"""A deep penetration, such as that of a bad start, is taken back no faster than this [m/s]."""


@njit(cache=True)
def shift_normal_velocities(
    v_free: np.ndarray,
    v_before: np.ndarray,
    gaps: np.ndarray,
    restitution: np.ndarray,
    impact_speed: float,
    dt: float,
    shifts: np.ndarray,
) -> None:
    r"""Shift the free normal velocities so that the contact law reads :math:`0 \le f_n \perp v_n + s \ge 0`.

    A contact with a gap may close it during the step, no more: :math:`s = \phi/\delta t` (Anitescu and Hart,
    specification 000 §7.4). The force of such a contact acts on an approaching velocity, so it can only take energy
    away. A contact that arrives faster than ``impact_speed`` leaves with Newton's law
    :math:`v_n^+ \ge -e v_n^-`: :math:`s = e v_n^-` (Moreau, thesis equation 2.51). A penetration doesn't push
    here, see :func:`correction_velocities`.

    Args:
        v_free: contact velocities without contact forces, shifted in place, shape (3m,).
        v_before: contact velocities at the start of the step, shape (3m,).
        gaps: signed distances [m], shape (m,).
        restitution: restitution coefficients e, shape (m,).
        impact_speed: approach speed from which on restitution applies [m/s].
        dt: time step [s].
        shifts: receives s [m/s], shape (m,).
    """
    for i in range(gaps.size):
        shift = max(gaps[i] - TOUCHING_GAP, 0.0) / dt
        arrives = gaps[i] + dt * v_free[3 * i] < 0.0
        if restitution[i] > 0.0 and arrives and v_before[3 * i] < -impact_speed:
            shift = restitution[i] * v_before[3 * i]
        shifts[i] = shift
        v_free[3 * i] += shift


@njit(cache=True)
def correction_velocity(gap: float, dt: float) -> tuple[float, bool]:
    """Free normal velocity of a motion that takes a penetration back, and whether there is one to take back.

    Args:
        gap: signed distance [m].
        dt: time step [s].
    """
    if gap < -PENETRATION_SLOP:
        return max(CORRECTED_FRACTION * (gap + PENETRATION_SLOP) / dt, -CORRECTION_SPEED), True
    return max(gap, 0.0) / dt, False


@njit(cache=True)
def correction_velocities(gaps: np.ndarray, dt: float, v: np.ndarray) -> bool:
    """Contact velocities of a motion that takes penetrations back without becoming part of the velocity.

    Solved as a contact problem of its own, they give a displacement that lifts what has sunk, keeps what is near
    from sinking and, since friction holds, doesn't make feet slide. The kinetic energy is untouched.

    Args:
        gaps: signed distances [m], shape (m,).
        dt: time step [s].
        v: receives the free velocities of that problem, shape (3m,).

    Returns:
        Whether there is anything to correct.
    """
    needed = False
    for i in range(gaps.size):
        v[3 * i] = gaps[i] / dt
        v[3 * i + 1] = 0.0
        v[3 * i + 2] = 0.0
        if gaps[i] < -PENETRATION_SLOP:
            needed = True
            rate = CORRECTED_FRACTION * (gaps[i] + PENETRATION_SLOP) / dt
            v[3 * i] = max(rate, -CORRECTION_SPEED)
        elif gaps[i] < 0.0:
            v[3 * i] = 0.0
    return needed
