# SPDX-License-Identifier: Apache-2.0
"""The integrators of this package by name, for ``Simulation(integrator=...)``."""

from __future__ import annotations

from functools import partial

from humanoid_sim.stepping.schemes import register_scheme
from humanoid_studies.integration.catalogue import INTEGRATORS, find_integrator


def register() -> None:
    """Make them known to the simulator; none is imported before it is used."""
    for name in INTEGRATORS:
        register_scheme(name, partial(find_integrator, name))
