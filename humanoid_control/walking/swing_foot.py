# SPDX-License-Identifier: Apache-2.0
"""Path of a foot from one footprint to the next."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_control.walking.footstep_plan import Footstep


def quintic(s: float) -> float:
    r""":math:`10s^3-15s^4+6s^5`: from 0 at s = 0 to 1 at s = 1 with zero velocity and acceleration at both ends."""
    return s**3 * (10.0 + s * (-15.0 + 6.0 * s))


def swing_yaw(origin: Footstep, goal: Footstep, s: float) -> float:
    """Return the yaw of the foot [rad] at a share s of the swing; it turns the shorter way."""
    turn = math.remainder(goal.yaw - origin.yaw, 2.0 * math.pi)
    return origin.yaw + quintic(s) * turn


def swing_placement(origin: Footstep, goal: Footstep, height: float, s: float) -> pin.SE3:
    """Sole frame at a share of the swing.

    The foot stays parallel to the ground, leaves it and lands with zero velocity and acceleration, and is highest half
    way.

    Args:
        origin: footprint that it leaves.
        goal: footprint that it lands on.
        height: of the highest point [m].
        s: share of the swing's time, 0 to 1.
    """
    share = quintic(s)
    lift = height * quintic(2.0 * min(s, 1.0 - s))
    position = [origin.x + share * (goal.x - origin.x), origin.y + share * (goal.y - origin.y), lift]
    return pin.SE3(pin.utils.rotate("z", swing_yaw(origin, goal, s)), np.array(position))
