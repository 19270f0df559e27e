# SPDX-License-Identifier: Apache-2.0
r"""An impact that lifts an object and leaves the foot alone (specification 000 sections 21.2 and 21.3).

Robot and object become one body, which turns about the foot's centre B: B is the centre of percussion. With the frame
of Fig. 5.17, z along the lift,

.. math:: I_r\omega_r = \frac{I_s L_B}{r_{BF}^2 m_s + I_s} + r_{ACx} m_o v_{rz}. \tag{5.14}

The angular momentum L_B about the foot is the inverted pendulum's that just comes to rest upright.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class Impact:
    """Velocities around the impact; z along the lift, positive turns from x to z.

    Attributes:
        momentum: L_B about the foot after the impact [kg m²/s].
        turn_after: omega_s of the joined body [rad/s].
        speed_after: v_sz of its centre of mass [m/s].
        speed_before: v_rz of the robot's [m/s].
        spin_before: I_r omega_r, the robot's angular momentum about its centre of mass [kg m²/s].
    """

    momentum: float
    turn_after: float
    speed_after: float
    speed_before: float
    spin_before: float


def pendulum_momentum(mass: float, inertia: float, forward: float, up: float, gravity: float) -> float:
    """L_B that takes an inverted pendulum to its upright rest [kg m²/s].

    Args:
        mass: m_s [kg].
        inertia: I_s about the centre of mass [kg m²].
        forward: of the foot, where the centre of mass is [m].
        up: likewise [m].
        gravity: [m/s²].
    """
    r = math.hypot(forward, up)
    return math.sqrt(2.0 * (inertia + mass * r**2) * mass * gravity * (r - up))


def impact(
    robot_mass: float, object_mass: float, inertia: float, lever: float, object_x: float, momentum: float
) -> Impact:
    """Return the velocities that make the foot the centre of percussion, (5.11) to (5.14).

    The foot takes no impulse, so that momentum along the lift stays as well: m_r v_rz = m_s v_sz.

    Args:
        robot_mass: m_r [kg].
        object_mass: m_o [kg].
        inertia: I_s of both about their centre of mass [kg m²].
        lever: r_BF, from the foot to the joint centre of mass across the lift [m].
        object_x: r_ACx, from there to the object's [m].
        momentum: L_B [kg m²/s].

    Raises:
        InputError: a mass, an inertia or a lever that isn't positive.
    """
    given = {"robot_mass": robot_mass, "object_mass": object_mass, "inertia": inertia, "lever": lever}
    for name, value in given.items():
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"is {value}", element=name, remedy="Give a positive number")
    mass = robot_mass + object_mass
    turn = momentum / (lever**2 * mass + inertia)
    speed = lever * turn
    before = mass / robot_mass * speed
    return Impact(momentum, turn, speed, before, inertia * turn + object_x * object_mass * before)
