# SPDX-License-Identifier: Apache-2.0
"""What the normal velocity of a contact must reach at the end of a step: gaps, impacts, penetrations."""

from __future__ import annotations

from humanoid_model.compiling import uncounted

TOUCHING_GAP = 1e-9
"""Gaps below this count as closed: rounding must not pull the corners of one rigid sole apart [m]."""
PENETRATION_SLOP = 1e-6
"""Penetrations below this are left alone: a body at rest stays exactly at rest [m]."""
CORRECTED_FRACTION = 0.2
"""Part of a penetration that one step takes back."""
CORRECTION_SPEED = 0.1
"""A deep penetration, such as that of a bad start, is taken back no faster than this [m/s]."""


@uncounted()
def approach_shift(
    gap: float, before: float, free: float, restitution: float, impact_speed: float, dt: float
) -> float:
    r"""Shift s of a free normal velocity so that the contact law reads :math:`0 \le f_n \perp v_n + s \ge 0`.

    A contact with a gap may close it during the step, no more: :math:`s = \phi/\delta t` (Anitescu and Hart,
    specification 000 §7.4). The force of such a contact acts on an approaching velocity, so it can only take energy
    away. A contact that arrives faster than ``impact_speed`` leaves with Newton's law
    :math:`v_n^+ \ge -e v_n^-`: :math:`s = e v_n^-` (Moreau, thesis equation 2.51). A penetration doesn't push
    here, see :func:`correction_velocity`.

    Args:
        gap: signed distance [m].
        before: normal velocity at the start of the step [m/s].
        free: normal velocity at its end without contact forces [m/s].
        restitution: restitution coefficient e.
        impact_speed: approach speed from which on restitution applies [m/s].
        dt: time step [s].
    """
    if restitution > 0.0 and gap + dt * free < 0.0 and before < -impact_speed:
        return restitution * before
    return max(gap - TOUCHING_GAP, 0.0) / dt


@uncounted()
def correction_velocity(gap: float, dt: float) -> tuple[float, bool]:
    """Free normal velocity of a motion that takes a penetration back, and whether there is one to take back.

    Args:
        gap: signed distance [m].
        dt: time step [s].
    """
    if gap < -PENETRATION_SLOP:
        return max(CORRECTED_FRACTION * (gap + PENETRATION_SLOP) / dt, -CORRECTION_SPEED), True
    return max(gap, 0.0) / dt, False
