# SPDX-License-Identifier: Apache-2.0
"""Time stepping of Stewart and Trinkle (specification 000 §7.4, thesis equations 2.57 to 2.59)."""

from __future__ import annotations

from humanoid_model.arrays import Array
from humanoid_studies.integration.contact_step import (
    DEFAULT_SOLVER,
    ContactSolver,
    normal_shifts,
    solve_contact_step,
)
from humanoid_studies.integration.integrator import Integrator, check_positive, linear_impedance
from humanoid_studies.integration.mechanical_system import ContactForces, ContactSet, MechanicalSystem, Step


class StewartTrinkle(Integrator):
    r"""Inertia, efforts and contact directions are those at :math:`q^t + \delta t\,v^t`.

    The position is constrained: :math:`\phi(q^t) + N_n(q^+ - q^t) + \varepsilon \ge 0` with
    :math:`q^+ = q + \delta t\,v^+`; friction acts on the velocity. Inelastic only.

    Attributes:
        epsilon: penetration that is tolerated [m].
    """

    has_restitution = False

    def __init__(self, epsilon: float = 0.0, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        """Choose the tolerance.

        Raises:
            InputError: epsilon is negative or not finite.
        """
        super().__init__(solver)
        self.epsilon = check_positive("epsilon", epsilon, zero=True)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        ahead = system.integrate(q, dt * v)
        H, r = linear_impedance(system, t + dt, ahead, v, dt, 1.0)
        contacts = system.contacts(ahead, v, dt)
        gaps = gaps_before(contacts, system.contacts(q, v, dt), dt, v)
        shifts = normal_shifts((gaps + self.epsilon) / dt)
        v_new, impulses, converged = solve_contact_step(H, r, v, contacts, shifts, self.solver)
        return Step(system.integrate(q, dt * v_new), v_new, ContactForces(contacts, impulses / dt, converged))


def gaps_before(contacts: ContactSet, start: ContactSet, dt: float, v: Array) -> Array:
    """Gaps [m], shape (m,), that contacts found after a displacement ``dt v`` had at its start.

    A contact that is not among those of the start is taken back along its normal velocity.
    """
    gaps = contacts.gaps - dt * contacts.velocities(v)[:, 0]
    known = dict(zip(start.ids.tolist(), start.gaps.tolist(), strict=True))
    for i, number in enumerate(contacts.ids.tolist()):
        gaps[i] = known.get(number, gaps[i])
    return gaps
