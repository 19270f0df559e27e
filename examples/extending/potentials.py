# SPDX-License-Identifier: Apache-2.0
"""Potentials of a search for contacts: one of postures and one of stances; neither needs a registration.

``plan_contacts(..., potential=HeightOf("WAIST", 1.2), terms=[SurfacePenalty("table", 0.5)])``.
"""

import numpy as np

from humanoid_planner.contacts import StanceTerm
from humanoid_planner.posture import Criterion

ORIGIN = np.zeros(3)
UP = np.array([0.0, 0.0, 1.0])


class HeightOf(Criterion):
    """Squared difference of a link's height from one that is wanted [m^2]."""

    def __init__(self, link, height):
        """Take a link and a height in the world [m]."""
        self.link, self.height = link, height

    def value(self, state):
        """Return the potential."""
        return self._above(state) ** 2

    def gradient(self, state):
        """Return its derivatives by all variables, shape (state.size,)."""
        robot, g = state.kinematics, np.zeros(state.size)
        g[: robot.size] = 2.0 * self._above(state) * (UP @ robot.point_jacobian(self.link, ORIGIN))
        return g

    def hessian(self, state):
        """Return a positive semidefinite approximation, shape (state.size, state.size)."""
        robot, H = state.kinematics, np.zeros((state.size, state.size))
        slope = UP @ robot.point_jacobian(self.link, ORIGIN)
        H[: robot.size, : robot.size] = 2.0 * np.outer(slope, slope)
        return H

    def _above(self, state):
        return UP @ state.kinematics.point(self.link, ORIGIN) - self.height


class SurfacePenalty(StanceTerm):
    """A constant for each contact on a surface."""

    def __init__(self, surface, penalty):
        """Take the name of a surface and what a contact on it costs; below zero is a bonus."""
        self.surface, self.penalty = surface, penalty

    def value(self, stance, couples):
        """Return what is added to the potential of a stance."""
        return self.penalty * sum(couples.surface(hold.couple).name == self.surface for hold in stance.key)
