# SPDX-License-Identifier: Apache-2.0
"""Linearly implicit time stepping of Anitescu and Potra, 2002 (specification 000 §7.4, equations 2.63 to 2.65)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_studies.integration.collision_stepping import CollisionStepping
from humanoid_studies.integration.contact_step import solve_contact_step
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem


class AnitescuPotra2002(CollisionStepping):
    r"""For stiff systems: :math:`[M - \delta t B_v - \delta t^2 B_q]\Delta v = \delta t(B + \delta t B_q v) + N^T p`.

    The position moves with the new velocity, closed contacts obey :math:`v_n^+ \ge 0`, collisions Poisson's law.
    (The thesis prints the gradients without the time step; that doesn't converge.)
    """

    def advance(
        self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float, closed: NDArray[np.int64]
    ) -> tuple[Array, Array, ContactSet, Array, bool]:
        """See :meth:`CollisionStepping.advance`."""
        by_q, by_v = system.derivatives(t, q, v)
        H = system.mass(q) - dt * by_v - dt * dt * by_q
        r = dt * (system.efforts(t, q, v) + dt * by_q @ v)
        contacts = system.contacts(q, v, dt).matching(closed)
        v_new, impulses, converged = solve_contact_step(H, r, v, contacts, np.zeros((len(contacts), 3)), self.solver)
        return system.integrate(q, dt * v_new), v_new, contacts, impulses, converged
