# SPDX-License-Identifier: Apache-2.0
r"""Explicit Euler, :math:`q^+ = q + \delta t\,v,\ v^+ = v + \delta t\,\dot v`, order 1 (specification 000 §7.1)."""

from __future__ import annotations

from humanoid_model.arrays import Array
from humanoid_studies.integration.explicit_step import step_with_contacts
from humanoid_studies.integration.integrator import Integrator
from humanoid_studies.integration.mechanical_system import MechanicalSystem, Step


class ExplicitEuler(Integrator):
    """The default of the thesis (§§3.1.3 and 3.1.6), with its contacts at velocity level.

    The position moves with the old velocity, which feeds energy into everything that swings.
    """

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        q_free = system.integrate(q, dt * v)
        v_free = v + dt * system.acceleration(t, q, v)
        return step_with_contacts(system, v, dt, q_free, v_free, 0.0, self.solver)
