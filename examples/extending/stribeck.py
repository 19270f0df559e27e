# SPDX-License-Identifier: Apache-2.0
"""A friction law: Stribeck's, whose coefficient falls from that of rest towards a lower one while a contact slides.

After ``register()``, ``Simulation(scene, method="stribeck")`` has it, and ``solve_contacts(..., method="stribeck")``.
"""

import numpy as np

from humanoid_sim import FrictionLaw, register_solver


class Stribeck(FrictionLaw):
    """The coefficient loses a share of itself over a speed: mu (1 - loss (1 - exp(-slip / speed)))."""

    def __init__(self, loss=0.3, speed=0.1):
        """Take a share of 0..1 and a speed [m/s]."""
        self.loss, self.speed = loss, speed

    def coefficients(self, mu, slip, load):
        """Return the coefficients that act."""
        return mu * (1.0 - self.loss * (1.0 - np.exp(-slip / self.speed)))


def register():
    """Make it known; for the nodes a package has it as an entry point ``humanoid_stack.contact_solvers``."""
    law = Stribeck()
    register_solver("stribeck", law.solve, law_residual=law.residual)
