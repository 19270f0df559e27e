# SPDX-License-Identifier: Apache-2.0
"""Real-time dynamic simulation of robots in contact, with exact Coulomb friction."""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported

from humanoid_sim.contact.cone import contact_residuals  # noqa: E402
from humanoid_sim.contact.friction_law import FrictionLaw  # noqa: E402
from humanoid_sim.contact.solve import ContactProblem, register_solver, solve_contacts  # noqa: E402
from humanoid_sim.linearisation import linearise  # noqa: E402
from humanoid_sim.module import Module  # noqa: E402
from humanoid_sim.rollout import Controls, rollout  # noqa: E402
from humanoid_sim.simulation import Simulation  # noqa: E402

__all__ = [
    "ContactProblem",
    "Controls",
    "FrictionLaw",
    "Module",
    "Simulation",
    "contact_residuals",
    "linearise",
    "register_solver",
    "rollout",
    "solve_contacts",
]
