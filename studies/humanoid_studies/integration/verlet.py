# SPDX-License-Identifier: Apache-2.0
r"""Velocity Verlet, order 2 (specification 000 §7.1)."""

from __future__ import annotations

from humanoid_model.arrays import Array
from humanoid_studies.integration.explicit_step import step_with_contacts
from humanoid_studies.integration.integrator import Integrator
from humanoid_studies.integration.mechanical_system import MechanicalSystem, Step


class Verlet(Integrator):
    r""":math:`q^+ = q + \delta t\,v + \tfrac12\delta t^2\dot v,\quad v^+ = v + \tfrac12\delta t(\dot v + \dot v^+)`.

    The acceleration at the end is evaluated at the velocity :math:`v + \delta t\,\dot v`: efforts that depend on
    the velocity would make the printed formula implicit, and this keeps its order.
    """

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        a = system.acceleration(t, q, v)
        q_free = system.integrate(q, dt * v + 0.5 * dt * dt * a)
        a_end = system.acceleration(t + dt, q_free, v + dt * a)
        return step_with_contacts(system, v, dt, q_free, v + 0.5 * dt * (a + a_end), 0.5, self.solver)
