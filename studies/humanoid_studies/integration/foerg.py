# SPDX-License-Identifier: Apache-2.0
"""Förg's time stepping (specification 000 §7.4, thesis equations 2.55 and 2.56)."""

from __future__ import annotations

from humanoid_model.arrays import Array
from humanoid_studies.integration.contact_step import normal_shifts, solve_contact_step
from humanoid_studies.integration.integrator import Integrator, linear_impedance
from humanoid_studies.integration.mechanical_system import ContactForces, MechanicalSystem, Step


class Foerg(Integrator):
    r"""Everything is evaluated at the start of the step; :math:`q^+ = q + \delta t\,v^+`.

    All gaps obey :math:`\phi^t/\delta t + v_n^+ \ge 0`. Inelastic. Without contacts this is the semi-implicit Euler
    scheme.
    """

    has_restitution = False

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        H, r = linear_impedance(system, t, q, v, dt, 0.0)
        contacts = system.contacts(q, v, dt)
        shifts = normal_shifts(contacts.gaps / dt)
        v_new, impulses, converged = solve_contact_step(H, r, v, contacts, shifts, self.solver)
        return Step(system.integrate(q, dt * v_new), v_new, ContactForces(contacts, impulses / dt, converged))
