# SPDX-License-Identifier: Apache-2.0
"""Zero-moment point of a robot from the forces that act on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_sim.monitoring.zero_moment_point import zero_moment_point
from humanoid_sim.stepping.contacts import Contacts


def robot_zero_moment_point(contacts: Contacts, robot: str, up: NDArray[np.float64]) -> NDArray[np.float64]:
    """Point about which the contact forces on a robot have no moment across the vertical.

    It lies in the horizontal plane through the mean of the contact points, weighted by their vertical forces: on flat
    ground the ground itself, elsewhere a choice of plane that the field has no agreement on.

    Args:
        contacts: of the last step.
        robot: name of the robot; only what others exert on it counts.
        up: unit vector against gravity, in the world, shape (3,).

    Returns:
        The point in the world [m], shape (3,); NaN where nothing carries the robot.
    """
    prefix = f"{robot}/"
    signs = np.array([a.startswith(prefix) * 1.0 - b.startswith(prefix) for a, b in contacts.bodies])
    rows = signs != 0.0  # contacts between the robot's own links cancel
    if not rows.any():
        return np.full(3, np.nan)
    forces = signs[rows, None] * contacts.force[rows]
    points = contacts.position[rows]
    vertical = forces @ up
    carried = float(vertical.sum())
    if carried <= 0.0:
        return np.full(3, np.nan)
    return zero_moment_point(points, forces, up, float(vertical @ (points @ up)) / carried)
