# SPDX-License-Identifier: Apache-2.0
"""Jean's modified theta-method (specification 000 §7.4, thesis equations 2.52 to 2.54)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import SimulationError
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver, normal_shifts, solve_contact_step
from humanoid_studies.integration.integrator import Integrator, check_fraction
from humanoid_studies.integration.mechanical_system import ContactForces, MechanicalSystem, Step

_NEWTON_TOLERANCE = 1e-10
_NEWTON_ITERATIONS = 50


class Jean(Integrator):
    r""":math:`M^t(v^+ - v) = \delta t\,((1-\theta)B^t + \theta B^{t+\delta t}) + N^T p`.

    The gap at :math:`\tilde q = q + (1-\theta)\,\delta t\,v` is linearised so that it agrees with the position
    update :math:`q^+ = \tilde q + \theta\,\delta t\,v^+`:
    :math:`\phi(\tilde q)/(\theta\,\delta t) + v_n^+ \ge 0`. (The thesis prints the velocity with the other sign, and
    :math:`\delta t` for :math:`\theta\,\delta t`.) Contact directions are taken with the gaps at :math:`\tilde q`.
    Inelastic; of a closing contact's velocity up to :math:`(1-\theta)/\theta` comes back for
    :math:`\theta < 1`, as for every scheme that gives the position only a part of the new velocity.

    Attributes:
        theta: weight of the end of the step, above 0 and up to 1.
    """

    has_restitution = False

    def __init__(self, theta: float = 1.0, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        """Choose the weight.

        Raises:
            InputError: theta is not in 0..1, or is 0.
        """
        super().__init__(solver)
        self.theta = check_fraction("theta", theta, zero=False)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        theta = self.theta
        M = system.mass(q)
        B = system.efforts(t, q, v)
        part = system.integrate(q, (1.0 - theta) * dt * v)
        contacts = system.contacts(part, v, dt)
        shifts = normal_shifts(contacts.gaps / (theta * dt))
        v_new = v.copy()
        last = np.inf
        for _ in range(_NEWTON_ITERATIONS):
            q_new = system.integrate(q, dt * (theta * v_new + (1.0 - theta) * v))
            by_q, by_v = system.derivatives(t + dt, q_new, v_new)
            H = M - theta * dt * by_v - (theta * dt) ** 2 * by_q
            B_new = system.efforts(t + dt, q_new, v_new)
            r = dt * ((1.0 - theta) * B + theta * B_new) - M @ (v_new - v)
            before = v_new
            v_new, impulses, converged = solve_contact_step(H, r, before, contacts, shifts, self.solver)
            change = float(np.abs(v_new - before).max())
            if change <= _NEWTON_TOLERANCE * (1.0 + np.abs(v_new).max()):
                q_new = system.integrate(q, dt * (theta * v_new + (1.0 - theta) * v))
                return Step(q_new, v_new, ContactForces(contacts, impulses / dt, converged))
            if change > 0.5 * last:  # to and fro across a kink, such as the limit of an actuator
                v_new = 0.5 * (before + v_new)
            last = change
        raise SimulationError(f"the implicit step of {dt} s from t = {t} s did not converge; take a smaller one")
