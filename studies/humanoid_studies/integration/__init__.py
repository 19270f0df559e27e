# SPDX-License-Identifier: Apache-2.0
"""Integrators of mechanical systems with contacts, general and plain: to compare, and to check the compiled step."""

from humanoid_studies.integration.analytic_systems import FallingBall
from humanoid_studies.integration.catalogue import find_integrator
from humanoid_studies.integration.integrator import Integrator
from humanoid_studies.integration.mechanical_system import MechanicalSystem
from humanoid_studies.integration.world_system import WorldSystem
from humanoid_studies.registration import INTEGRATORS

__all__ = ["INTEGRATORS", "FallingBall", "Integrator", "MechanicalSystem", "WorldSystem", "find_integrator"]
