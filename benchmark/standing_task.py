# SPDX-License-Identifier: Apache-2.0
"""A standing robot as every engine can set it up: one URDF, the same servos, the same corners of its soles."""

from __future__ import annotations

from typing import Any

import numpy as np

from humanoid_model import Robot

FRICTION = 0.8
RADIUS = 0.005
"""Of the spheres that stand for the corners in an engine that has no points [m]."""


def sole_corners(robot: Robot) -> list[dict[str, Any]]:
    """Return corners of the contacts that the robot stands on: link and position in its frame [m]."""
    return [
        {"link": contact.link, "position": [float(x) for x in vertex]}
        for contact in robot.contacts.values()
        if contact.support
        for vertex in contact.vertices_link
    ]


def standing_task(robot: Robot, posture: str, dt: float, settle: int) -> dict[str, Any]:
    """Return everything that a peer needs to set the robot up on a floor.

    Args:
        robot: it stands on the contacts that are its supports.
        posture: which of its postures its servos hold.
        dt: time step [s].
        settle: steps before the first block that is timed.
    """
    q = robot.postures[posture]
    servos = {
        name: {
            "position": float(q[robot.index_q(name)]),
            "stiffness": actuator.stiffness,
            "damping": actuator.damping,
            "armature": actuator.armature,
        }
        for name, actuator in robot.actuators.items()
    }
    return {
        "urdf": robot.urdf,
        "base": np.asarray(q[:7], dtype=float).tolist(),
        "servos": servos,
        "corners": sole_corners(robot),
        "dt": dt,
        "gravity": [0.0, 0.0, -9.81],
        "friction": FRICTION,
        "radius": RADIUS,
        "settle": settle,
    }
