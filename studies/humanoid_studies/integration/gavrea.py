# SPDX-License-Identifier: Apache-2.0
"""The linearly implicit family of Gavrea, Anitescu and Potra (specification 000 §7.4, equations 2.73 to 2.76)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_studies.integration.collision_stepping import CollisionStepping
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver, solve_contact_step
from humanoid_studies.integration.integrator import check_fraction
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem

_STICKING_SPEED = 1e-9
"""A loaded contact whose constrained velocity is below this sticks [m/s]."""


class Gavrea(CollisionStepping):
    r"""Linearly implicit steps weighted by :math:`\zeta`, order 2 at 1/2 and 1 elsewhere.

    .. math::

        [M - \zeta\delta t B_v - \zeta^2\delta t^2 B_q]\,\Delta v =
        \delta t\,((1-\zeta)B^t + \zeta B^{t*}) + \zeta\delta t^2 B_q v + N^T p, \qquad
        q^+ = q + \delta t\,((1-\zeta) v + \zeta v^+),

    with :math:`B^{t*}` at the end of the time but the configuration and velocity of its start; inertia and contact
    directions are those in the middle, :math:`q + \tfrac12\delta t\,v`. Closed contacts obey
    :math:`\zeta v^+ + (1-\zeta) v \ge 0`, collisions Poisson's law.

    The thesis writes :math:`B = \mathcal F v + k` and prints a factor :math:`1 - \zeta` on :math:`\mathcal F v` that
    doesn't converge. With the corrected formula any split of a constant :math:`\mathcal F` is the same scheme; k is
    all of B here, so that efforts nonlinear in the velocity keep the order. A sticking contact is held at the end
    velocity instead of the mean one, which would let it swing back and forth from step to step.

    Attributes:
        zeta: weight of the end of the step, above 0 and up to 1.
    """

    def __init__(self, zeta: float = 0.5, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        """Choose the weight.

        Raises:
            InputError: zeta is not in 0..1, or is 0.
        """
        super().__init__(solver)
        self.zeta = check_fraction("zeta", zeta, zero=False)

    def advance(
        self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float, closed: NDArray[np.int64]
    ) -> tuple[Array, Array, ContactSet, Array, bool]:
        """See :meth:`CollisionStepping.advance`."""
        zeta = self.zeta
        middle = system.integrate(q, 0.5 * dt * v)
        by_q, by_v = system.derivatives(t, q, v)
        H = system.mass(middle) - zeta * dt * by_v - (zeta * dt) ** 2 * by_q
        mean = (1.0 - zeta) * system.efforts(t, q, v) + zeta * system.efforts(t + dt, q, v)
        r = dt * (mean + zeta * dt * by_q @ v)
        contacts = system.contacts(middle, v, dt).matching(closed)
        shifts = (1.0 - zeta) / zeta * contacts.velocities(v)
        v_new, impulses, converged = solve_contact_step(H, r, v, contacts, shifts, self.solver)
        slip = np.linalg.norm((contacts.velocities(v_new) + shifts)[:, 1:], axis=1)
        sticks = (slip < _STICKING_SPEED) & (impulses[:, 0] > 0.0) & shifts[:, 1:].any(axis=1)
        if sticks.any():
            shifts[sticks, 1:] = 0.0
            v_new, impulses, converged = solve_contact_step(H, r, v, contacts, shifts, self.solver)
        q_new = system.integrate(q, dt * ((1.0 - zeta) * v + zeta * v_new))
        return q_new, v_new, contacts, impulses, converged
