# SPDX-License-Identifier: Apache-2.0
"""Integrators of mechanical systems with contacts, general and plain: to compare, and to check the compiled step."""

from humanoid_studies.integration.analytic_systems import FallingBall
from humanoid_studies.integration.catalogue import find_integrator

__all__ = ["FallingBall", "find_integrator"]
