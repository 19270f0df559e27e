# SPDX-License-Identifier: Apache-2.0
"""Moreau's time stepping (specification 000 §7.4, thesis equations 2.49 to 2.51)."""

from __future__ import annotations

from humanoid_model.arrays import Array
from humanoid_studies.integration.contact_step import normal_shifts, solve_contact_step
from humanoid_studies.integration.integrator import TOUCHING_GAP, Integrator, linear_impedance
from humanoid_studies.integration.mechanical_system import ContactForces, MechanicalSystem, Step


class Moreau(Integrator):
    r"""Everything is evaluated at the middle of the step, :math:`q^t + \tfrac12\delta t\,v^t`.

    Contacts that are closed there obey :math:`v_n^+ + e\,v_n \ge 0`, friction the velocity at the end, and
    :math:`q^+ = q + \tfrac12\delta t\,(v + v^+)`. Rest, elastic and inelastic impacts are one law. The velocity is
    constrained, not the gap: what sinks in during a step stays there.
    """

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        middle = system.integrate(q, 0.5 * dt * v)
        H, r = linear_impedance(system, t + 0.5 * dt, middle, v, dt, 0.5)
        contacts = system.contacts(middle, v, dt)
        contacts = contacts.where(contacts.gaps <= TOUCHING_GAP)
        shifts = normal_shifts(contacts.restitution * contacts.velocities(v)[:, 0])
        v_new, impulses, converged = solve_contact_step(H, r, v, contacts, shifts, self.solver)
        q_new = system.integrate(q, 0.5 * dt * (v + v_new))
        return Step(q_new, v_new, ContactForces(contacts, impulses / dt, converged))
