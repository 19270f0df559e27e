# SPDX-License-Identifier: Apache-2.0
r"""Explicit Runge-Kutta schemes of order 2 and 4 (specification 000 §7.1).

A configuration with rotations is no vector space. The schemes integrate its coordinates in the chart at the start of
the step, :math:`u = q^+ \ominus q`, whose rate differs from the velocity in second order (H. Munthe-Kaas, High order
Runge-Kutta methods on manifolds, 1999): that keeps the order.
"""

from __future__ import annotations

from humanoid_model.arrays import Array
from humanoid_studies.integration.explicit_step import step_with_contacts
from humanoid_studies.integration.integrator import Integrator
from humanoid_studies.integration.mechanical_system import MechanicalSystem, Step


def _rates(system: MechanicalSystem, t: float, q_start: Array, u: Array, v: Array) -> tuple[Array, Array]:
    """Return derivatives of chart coordinates u and velocity v, each of shape (nv,)."""
    q = system.integrate(q_start, u)
    return system.chart_rate(q_start, q, v), system.acceleration(t, q, v)


def runge_kutta_2(system: MechanicalSystem, q: Array, v: Array, dt: float, t: float) -> tuple[Array, Array]:
    """Return the configuration and velocity after dt of smooth motion by the midpoint rule."""
    half = 0.5 * dt
    du, dv = _rates(system, t + half, q, half * v, v + half * system.acceleration(t, q, v))
    return system.integrate(q, dt * du), v + dt * dv


def runge_kutta_4(system: MechanicalSystem, q: Array, v: Array, dt: float, t: float) -> tuple[Array, Array]:
    """Return the configuration and velocity after dt of smooth motion by the classical scheme of order 4."""
    half = 0.5 * dt
    u_1, a_1 = v, system.acceleration(t, q, v)
    u_2, a_2 = _rates(system, t + half, q, half * u_1, v + half * a_1)
    u_3, a_3 = _rates(system, t + half, q, half * u_2, v + half * a_2)
    u_4, a_4 = _rates(system, t + dt, q, dt * u_3, v + dt * a_3)
    u = dt * (u_1 / 6.0 + u_2 / 3.0 + u_3 / 3.0 + u_4 / 6.0)
    return system.integrate(q, u), v + dt * (a_1 / 6.0 + a_2 / 3.0 + a_3 / 3.0 + a_4 / 6.0)


class RungeKutta2(Integrator):
    """The midpoint rule, two evaluations per step."""

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        return step_with_contacts(system, v, dt, *runge_kutta_2(system, q, v, dt, t), 0.5, self.solver)


class RungeKutta4(Integrator):
    """The classical scheme, four evaluations per step; the thesis judges it too slow for real time."""

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        return step_with_contacts(system, v, dt, *runge_kutta_4(system, q, v, dt, t), 0.5, self.solver)
