# SPDX-License-Identifier: Apache-2.0
"""Time stepping of Anitescu and Potra, 1997 (specification 000 §7.4, thesis equations 2.60 to 2.62)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_studies.integration.collision_stepping import CollisionStepping, Path, straight_path
from humanoid_studies.integration.contact_step import solve_contact_step
from humanoid_studies.integration.integrator import linear_impedance
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem


class AnitescuPotra1997(CollisionStepping):
    r"""Inertia, efforts and directions at :math:`q^t + \delta t\,v^t`, which is also :math:`q^{t+\delta t}`.

    Closed contacts obey :math:`v_n^+ \ge 0`; collisions follow Poisson's law at their estimated time.
    """

    def advance(
        self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float, closed: NDArray[np.int64]
    ) -> tuple[Array, Array, ContactSet, Array, bool]:
        """See :meth:`CollisionStepping.advance`."""
        q_new = system.integrate(q, dt * v)
        H, r = linear_impedance(system, t + dt, q_new, v, dt, 1.0)
        contacts = system.contacts(q_new, v, dt).matching(closed)
        v_new, impulses, converged = solve_contact_step(H, r, v, contacts, np.zeros((len(contacts), 3)), self.solver)
        return q_new, v_new, contacts, impulses, converged

    def path(self, system: MechanicalSystem, q: Array, v: Array, q_end: Array, v_end: Array, dt: float) -> Path:
        """Return the position moves with the old velocity all along."""
        return straight_path(system, q, v, dt)
