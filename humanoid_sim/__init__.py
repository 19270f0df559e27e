# SPDX-License-Identifier: Apache-2.0
"""Real-time dynamic simulation of robots in contact, with exact Coulomb friction."""

from humanoid_sim.contact.problem import ContactProblem, ContactResult
from humanoid_sim.contact.solve import solve_contacts
from humanoid_sim.simulation import Simulation

__all__ = ["ContactProblem", "ContactResult", "Simulation", "solve_contacts"]
