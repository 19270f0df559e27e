# SPDX-License-Identifier: Apache-2.0
r"""The theta-method and implicit Euler, with contacts in the same equations (specification 000 §7.2)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import SimulationError
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver, normal_shifts, solve_contact_step
from humanoid_studies.integration.explicit_euler import ExplicitEuler
from humanoid_studies.integration.integrator import TOUCHING_GAP, Integrator, check_fraction
from humanoid_studies.integration.mechanical_system import ContactForces, MechanicalSystem, Step

_NEWTON_TOLERANCE = 1e-10
_NEWTON_ITERATIONS = 50


class ThetaMethod(Integrator):
    r""":math:`y^+ = y + \delta t\,(\theta f(y^+, t + \delta t) + (1-\theta) f(y, t))` for y = (q, v).

    ``theta`` = 0 is explicit Euler, 1/2 the trapezoid of order 2, 1 implicit Euler; 1/2 and more is stable for any
    step on linear systems. The equation is solved by Newton iterations, each with the contact problem of the
    linearised step.

    Contacts are Moreau's: those that are closed at :math:`q + \tfrac12\delta t\,v` obey
    :math:`v_n^+ + e\,v_n \ge 0`, in the same equations as everything else.
    :class:`~humanoid_studies.integration.jean.Jean` is the method with the gap constrained.

    Attributes:
        theta: weight of the end of the step, 0..1.
    """

    def __init__(self, theta: float = 0.5, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        """Choose the weight.

        Raises:
            InputError: theta is not in 0..1.
        """
        super().__init__(solver)
        self.theta = check_fraction("theta", theta)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        theta = self.theta
        if theta == 0.0:
            return ExplicitEuler(self.solver).step(system, q, v, dt, t)
        a_start = system.acceleration(t, q, v) if theta < 1.0 else np.zeros_like(v)
        contacts = system.contacts(system.integrate(q, 0.5 * dt * v), v, dt)
        contacts = contacts.where(contacts.gaps <= TOUCHING_GAP)
        shifts = normal_shifts(contacts.restitution * contacts.velocities(v)[:, 0])
        v_new = v + dt * a_start
        last = np.inf
        for _ in range(_NEWTON_ITERATIONS):
            q_new = system.integrate(q, dt * (theta * v_new + (1.0 - theta) * v))
            M = system.mass(q_new)
            a_new = (v_new - v - (1.0 - theta) * dt * a_start) / (theta * dt)
            by_q, by_v = system.derivatives(t + dt, q_new, v_new, a_new)
            H = M - theta * dt * by_v - (theta * dt) ** 2 * by_q
            r = theta * dt * (system.efforts(t + dt, q_new, v_new) - M @ a_new)
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


class ImplicitEuler(ThetaMethod):
    """Implicit Euler, order 1, stable on stiff springs at any step."""

    def __init__(self, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        super().__init__(1.0, solver)
