# SPDX-License-Identifier: Apache-2.0
r"""BIP2000's ankle: two screws behind the shank that push and pull the foot through rods, in parallel.

A nut slides along each screw, a rod hangs from the nut on a cross (two hinges) and ends in a ball joint on a lever of
the foot. Both nuts together pitch the foot, one against the other rolls it. The loop is cut at the ball joint.

In axes of the shank at the ankle (x forward, y left, z up) the screw of a side :math:`\pm` is the line
:math:`P + s\,u`, the ball joint at pitch p and roll r is at :math:`A = R_y(p) R_x(r) a`, and the rod of length l asks
for

.. math:: |P + s\,u - A| = l, \qquad s = u^T(A - P) + \sqrt{l^2 - |A - P|^2 + (u^T(A - P))^2}.

Published (HuMAnS, ActuatorsData): lead of the screws, length of the rods, distance and tilt of the screws, half their
spacing, arms of the foot's levers. Which way each of these counts is not drawn there: **approximate**, like the masses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from primitive_urdf import Mass, box, cylinder, joint_text, link_text, number, uniform

LEAD = 0.004  # m per turn
ROD = 0.1258
SCREW_BEHIND = 0.0512  # distance of the screw's line from the ankle
SCREW_TILT = math.radians(5.78)  # upper end backwards
HALF_SPACING = 0.0379  # of the screws, and of the foot's levers
LEVER_BEHIND, LEVER_ABOVE = 0.060, 0.002
SIDES = {"right": -1.0, "left": 1.0}
"""Which screw of an ankle, and the sign of its y."""

NUT_MASS, ROD_MASS = 0.25, 0.10  # kg, approximate; taken from the shank's
ROTOR = 1.1e-5  # kg m^2, approximate: about what the plain model's 0.2 kg m^2 at the joint come to
TRAVEL, SPEED, FORCE = 0.055, 0.36, 2500.0  # m, m/s, N; the range of the joint, speed and force approximate


def axis() -> np.ndarray:
    """Return the direction of the screws, upwards, shape (3,)."""
    return np.array([-math.sin(SCREW_TILT), 0.0, math.cos(SCREW_TILT)])


def foot_of_screw(side: float) -> np.ndarray:
    """Return the point of a screw's line nearest to the ankle, shape (3,)."""
    behind = SCREW_BEHIND * np.array([math.cos(SCREW_TILT), 0.0, math.sin(SCREW_TILT)])
    return np.array([0.0, side * HALF_SPACING, 0.0]) - behind


def lever(side: float) -> np.ndarray:
    """Ball joint in the foot's frame, shape (3,)."""
    return np.array([-LEVER_BEHIND, side * HALF_SPACING, LEVER_ABOVE])


def ball(side: float, pitch: float, roll: float) -> np.ndarray:
    """Ball joint at an attitude of the foot, in the shank's axes at the ankle, shape (3,)."""
    x, y, z = lever(side)
    y, z = y * math.cos(roll) - z * math.sin(roll), y * math.sin(roll) + z * math.cos(roll)
    return np.array([x * math.cos(pitch) + z * math.sin(pitch), y, z * math.cos(pitch) - x * math.sin(pitch)])


def place_of_nut(side: float, pitch: float, roll: float) -> float:
    """Return the place of a nut along its screw [m] from the point nearest to the ankle."""
    arm = ball(side, pitch, roll) - foot_of_screw(side)
    along = float(axis() @ arm)
    return along + math.sqrt(ROD**2 - float(arm @ arm) + along**2)


def rod_pitch_at_zero(side: float) -> float:
    """Turn about y of a rod at zero, its end below its cross [rad]."""
    direction = (ball(side, 0.0, 0.0) - nut(side, 0.0, 0.0)) / ROD
    return math.atan2(-direction[0], -direction[2])


def nut(side: float, pitch: float, roll: float) -> np.ndarray:
    """Return the centre of a nut's cross in the shank's axes at the ankle, shape (3,)."""
    return foot_of_screw(side) + place_of_nut(side, pitch, roll) * axis()


def joint_positions(pitch: float, roll: float) -> dict[str, float]:
    """Positions of the screws and of the rods' hinges that go with an attitude of the foot, by joint, m and rad."""
    found = {}
    for word, side in SIDES.items():
        direction = (ball(side, pitch, roll) - nut(side, pitch, roll)) / ROD
        at_zero = rod_pitch_at_zero(side)
        c, s = math.cos(at_zero), math.sin(at_zero)
        x, y, z = c * direction[0] - s * direction[2], direction[1], s * direction[0] + c * direction[2]
        found[f"{word}_screw"] = place_of_nut(side, pitch, roll) - place_of_nut(side, 0.0, 0.0)
        found[f"{word}_rod_pitch"] = math.atan2(-x, -z)
        found[f"{word}_rod_roll"] = math.asin(y)
    return found


@dataclass(frozen=True)
class Drive:
    """Gains of the servo of a screw: N/m and N s/m at the nut."""

    stiffness: float
    damping: float


def urdf_text(prefix: str, shank: str, ankle: np.ndarray) -> str:
    """Screws, nuts and rods of an ankle.

    Args:
        prefix: put before every name.
        shank: link that carries the screws.
        ankle: centre of the ankle in the shank's frame, shape (3,).
    """
    text = ""
    shift = np.array([0.0, 0.0, 0.5 * ROD])
    for word, side in SIDES.items():
        name = f"{prefix}{word}"
        slide, hang = f"{name}_nut", f"{name}_rod"
        at_zero = rod_pitch_at_zero(side)
        text += joint_text(
            f"{name}_screw", "prismatic", shank, slide, ankle + nut(side, 0.0, 0.0), "z",
            (-TRAVEL, TRAVEL, FORCE, SPEED), (0.0, -SCREW_TILT, 0.0),
        )  # fmt: skip
        block = box(0.03, 0.03, 0.03, (0.0, 0.0, 0.0), "orange")
        text += link_text(slide, uniform(NUT_MASS, block), (block,))
        cross = f"{name}_cross"
        text += joint_text(
            f"{name}_rod_pitch", "revolute", slide, cross, (0.0, 0.0, 0.0), "y", (-1.0, 1.0, 0.0, 100.0),
            (0.0, at_zero + SCREW_TILT, 0.0),
        )  # fmt: skip
        text += link_text(cross)
        text += joint_text(
            f"{name}_rod_roll", "revolute", cross, hang, (0.0, 0.0, 0.0), "x", (-1.0, 1.0, 0.0, 100.0)
        )
        bar = cylinder(0.006, ROD, (0.0, 0.0, -float(shift[2])), "black")
        text += link_text(hang, uniform(ROD_MASS, bar), (bar,))
    return text


def shank_without(shank: Mass, ankle: np.ndarray) -> Mass:
    """Return what is left of a shank's mass properties when nuts and rods, where they are at zero, are taken out."""
    parts = [(shank.mass, np.asarray(shank.com, dtype=float), np.asarray(shank.inertia))]
    for side in SIDES.values():
        top, end = ankle + nut(side, 0.0, 0.0), ankle + ball(side, 0.0, 0.0)
        along = (end - top) / ROD
        rod = ROD_MASS * ROD**2 / 12.0 * (np.eye(3) - np.outer(along, along))
        parts += [(-NUT_MASS, top, -NUT_MASS * 0.03**2 / 6.0 * np.eye(3)), (-ROD_MASS, 0.5 * (top + end), -rod)]
    mass = sum(part[0] for part in parts)
    com = sum((part[0] * part[1] for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for own, centre, about in parts:
        arm = centre - com
        inertia += about + own * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Mass(mass, com, inertia)


def loop_lines(prefix: str, foot: str) -> list[str]:
    """Return the cuts of an ankle, as the YAML takes them."""
    lines = []
    for word, side in SIDES.items():
        end = ", ".join(number(float(value)) for value in lever(side))
        lines += [
            f"  {prefix}{word}_ball:",
            f"    a: {{link: {prefix}{word}_rod, xyz: [0, 0, {number(-ROD)}]}}",
            f"    b: {{link: {foot}, xyz: [{end}]}}",
        ]
    return lines


def posture_lines(prefix: str, pitch: float, roll: float) -> list[str]:
    """Return positions of the screws and rods in a posture."""
    return [f"    {prefix}{name}: {number(value)}" for name, value in joint_positions(pitch, roll).items()]


def actuator_line(pattern: str, drive: Drive) -> str:
    """Return the servos of screws."""
    return (
        f'  "{pattern}": {{stiffness: {number(drive.stiffness)}, damping: {number(drive.damping)}, '
        f"gear_ratio: {number(2.0 * math.pi / LEAD)}, rotor_inertia: {ROTOR:.2g}}}"
    )
