# SPDX-License-Identifier: Apache-2.0
"""Studer's schemes for one coordinate with one gap (specification 000 §7.4, thesis equations 2.77 to 2.80)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.integration.integrator import TOUCHING_GAP, Integrator, check_positive
from humanoid_studies.integration.mechanical_system import ContactForces, ContactSet, MechanicalSystem, Step


def _only_contact(system: MechanicalSystem, q: Array, v: Array, dt: float, scheme: str) -> ContactSet:
    """Return the one contact of a system of one coordinate.

    Raises:
        InputError: the system has more coordinates, or more contacts, or friction along its way.
    """
    contacts = system.contacts(q, v, dt)
    if system.nv != 1 or len(contacts) > 1:
        raise InputError(
            f"{scheme} is defined for one coordinate and one contact, not {system.nv} and {len(contacts)}",
            element="system",
            remedy="Choose another integrator",
        )
    if np.any(contacts.friction[:, None, None] * contacts.rows[:, 1:] != 0.0):
        raise InputError(
            f"{scheme} has no friction, and the contact slides with a coefficient of {contacts.friction[0]:g}",
            element="system",
            remedy="Make the friction of the pair 0, or choose another integrator",
        )
    return contacts


class StuderGgl(Integrator):
    r"""Position and velocity constrained each by a multiplier of its own, found by projection.

    :math:`M\,\Delta v = B\,\delta t + N F_v`, :math:`q^+ = q + \tfrac12\delta t(v + v^+) + N F_q`;
    :math:`v_n^+ + e\,v_n \ge 0` where the gap at the end of the step without :math:`F_v` would be closed, and
    :math:`\phi^+ + \varepsilon \ge 0`. A small penetration must be allowed: held at exactly zero, the gap of a contact
    at rest opens and closes at random.

    Attributes:
        epsilon: penetration that is tolerated [m].
    """

    solves_contacts = False

    def __init__(self, epsilon: float = 1e-6) -> None:
        """Choose the tolerance.

        Raises:
            InputError: epsilon is not positive and finite.
        """
        super().__init__()
        self.epsilon = check_positive("epsilon", epsilon)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`.

        Raises:
            InputError: the system has more than one coordinate or contact.
        """
        M = system.mass(q)
        v_new = v + dt * system.acceleration(t, q, v)
        q_new = system.integrate(q, 0.5 * dt * (v + v_new))
        contacts = _only_contact(system, q_new, v, dt, "the GGL scheme")
        closed = contacts.where(contacts.gaps <= TOUCHING_GAP)
        if len(closed) == 0:
            return Step(q_new, v_new, ContactForces(closed, np.zeros((0, 3))))
        N = closed.rows[0, 0]
        W = float(N @ np.linalg.solve(M, N))
        impulse = max(0.0, -float(N @ v_new + closed.restitution[0] * N @ v) / W)
        v_new = v_new + np.linalg.solve(M, N) * impulse
        q_new = system.integrate(q, 0.5 * dt * (v + v_new))
        gap = system.contacts(q_new, v, dt).gaps
        if gap.size and gap[0] < -self.epsilon:
            q_new = system.integrate(q_new, N * (-self.epsilon - gap[0]) / float(N @ N))
        forces = np.array([[impulse / dt, 0.0, 0.0]])
        return Step(q_new, v_new, ContactForces(closed, forces))


class StuderPreconditioned(Integrator):
    r"""The position constraint in the variable :math:`\hat v = v\,\delta t`, whose conditioning doesn't see the step.

    :math:`M(\hat v^+ - \hat v) = B\,\delta t^2 + N\hat p` with :math:`\phi(q) + N\hat v^+ \ge 0` and
    :math:`q^+ = q + \hat v^+`: the operator :math:`N M^{-1} N^T` is free of the time step. Inelastic.
    """

    solves_contacts = False
    has_restitution = False

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`.

        Raises:
            InputError: the system has more than one coordinate or contact.
        """
        M = system.mass(q)
        travel = dt * v + dt * dt * system.acceleration(t, q, v)
        contacts = _only_contact(system, q, v, dt, "the preconditioned scheme")
        forces = np.zeros((len(contacts), 3))
        if len(contacts) > 0:
            N = contacts.rows[0, 0]
            W = float(N @ np.linalg.solve(M, N))
            scaled = max(0.0, -float(contacts.gaps[0] + N @ travel) / W)
            travel = travel + np.linalg.solve(M, N) * scaled
            forces[0, 0] = scaled / dt**2
        return Step(system.integrate(q, travel), travel / dt, ContactForces(contacts, forces))
