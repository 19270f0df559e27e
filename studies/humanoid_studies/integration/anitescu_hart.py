# SPDX-License-Identifier: Apache-2.0
"""Stabilised time stepping of Anitescu and Hart (specification 000 §7.4, thesis equations 2.66 to 2.68)."""

from __future__ import annotations

from humanoid_model.arrays import Array
from humanoid_studies.integration.contact_step import (
    DEFAULT_SOLVER,
    ContactSolver,
    normal_shifts,
    solve_contact_step,
)
from humanoid_studies.integration.integrator import Integrator, check_positive, linear_impedance
from humanoid_studies.integration.mechanical_system import ContactForces, MechanicalSystem, Step


class AnitescuHart(Integrator):
    r"""Contacts nearer than :math:`\varepsilon` obey :math:`v_n^+ + \phi^t/\delta t \ge 0`; the others don't exist.

    Everything is evaluated at the start of the step and :math:`q^+ = q + \delta t\,v^+`. Drift is taken back at once;
    what is faster than :math:`\varepsilon/\delta t` gets in before it is seen.

    Attributes:
        epsilon: distance from which on contacts are constrained [m].
    """

    has_restitution = False

    def __init__(self, epsilon: float = 0.01, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        """Choose the distance.

        Raises:
            InputError: epsilon is not positive and finite.
        """
        super().__init__(solver)
        self.epsilon = check_positive("epsilon", epsilon)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        H, r = linear_impedance(system, t, q, v, dt, 0.0)
        contacts = system.contacts(q, v, dt)
        contacts = contacts.where(contacts.gaps < self.epsilon)
        shifts = normal_shifts(contacts.gaps / dt)
        v_new, impulses, converged = solve_contact_step(H, r, v, contacts, shifts, self.solver)
        return Step(system.integrate(q, dt * v_new), v_new, ContactForces(contacts, impulses / dt, converged))
