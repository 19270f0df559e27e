# SPDX-License-Identifier: Apache-2.0
"""A posture task: two links keep a distance of each other, of which rows of the stack's own tasks know nothing.

It needs no registration: ``generate_posture(..., tasks=[LinksApart("RARM_LINK6", "LARM_LINK6", 0.5)])``.
"""

import numpy as np

from humanoid_planner.posture import Task

ORIGIN = np.zeros(3)


class LinksApart(Task):
    """Distance between the frames of two links [m]."""

    def __init__(self, one, other, distance):
        """Take two links and a distance; equal bounds make an equality."""
        super().__init__(f"{one} apart from {other}", distance, distance, unit="m")
        self.one, self.other = one, other

    def value(self, state):
        """Return the distance, shape (1,)."""
        return np.array([np.linalg.norm(self._between(state.kinematics))])

    def jacobian(self, state):
        """Return its derivatives by all variables, shape (1, state.size)."""
        robot, d = state.kinematics, self._between(state.kinematics)
        J = np.zeros((1, state.size))
        turn = robot.point_jacobian(self.one, ORIGIN) - robot.point_jacobian(self.other, ORIGIN)
        J[0, : robot.size] = d / np.linalg.norm(d) @ turn
        return J

    def _between(self, robot):
        return robot.point(self.one, ORIGIN) - robot.point(self.other, ORIGIN)
