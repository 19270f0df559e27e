# SPDX-License-Identifier: Apache-2.0
"""Penalty contact: springs and dampers where bodies overlap (specification 000 §§5.1 and 6.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_studies.integration.integrator import Integrator, check_positive
from humanoid_studies.integration.mechanical_system import ContactForces, ContactSet, MechanicalSystem, Step
from humanoid_studies.integration.runge_kutta import RungeKutta4


class PenaltyFriction(ABC):
    """A friction law that takes its force from the motion in the tangent plane."""

    @abstractmethod
    def forces(self, slip: Array, deflection: Array, limit: Array) -> Array:
        """Tangential forces [N], shape (m, 2).

        Args:
            slip: tangential velocities [m/s], shape (m, 2).
            deflection: tangential displacement since the contact began, less what has slipped [m], shape (m, 2).
            limit: friction coefficient times normal force [N], shape (m,).
        """

    def carried(self, deflection: Array, limit: Array) -> Array:
        """Return what of the deflection is left after a step, shape (m, 2)."""
        return deflection


class WeightedFriction(PenaltyFriction):
    r"""Coulomb's slip force, weighted: :math:`f_t = -\mu f_n\,w(\|v_t\|)\,v_t/\|v_t\|` (thesis equation 2.29).

    The weight is :math:`w(x) = \tanh(x/v_0)`: zero at rest, so that everything on a slope creeps, and one far beyond
    :math:`v_0`.

    Attributes:
        speed: :math:`v_0` [m/s].
    """

    def __init__(self, speed: float = 1e-3) -> None:
        """Choose the speed.

        Raises:
            InputError: it is not positive and finite.
        """
        self.speed = check_positive("speed", speed)

    def forces(self, slip: Array, deflection: Array, limit: Array) -> Array:
        """See :meth:`PenaltyFriction.forces`."""
        size = np.linalg.norm(slip, axis=1)
        weight = np.tanh(size / self.speed) / np.maximum(size, 1e-300)
        return -(limit * weight)[:, None] * slip


class TangentialSprings(PenaltyFriction):
    r"""A spring and damper along each tangent, each limited by itself (thesis equations 2.30 and 2.31).

    :math:`f_x = -(K\,\delta x + C\,\dot{\delta x})`, and at most :math:`\mu f_n` along each axis: a friction box
    instead of a cone. A spring that slips is dragged along at the length that its limit stretches it to.

    Attributes:
        stiffness: K [N/m].
        damping: C [N s/m].
    """

    def __init__(self, stiffness: float, damping: float = 0.0) -> None:
        """Choose the springs.

        Raises:
            InputError: a stiffness that is not positive, a negative damping.
        """
        self.stiffness = check_positive("stiffness", stiffness)
        self.damping = check_positive("damping", damping, zero=True)

    def forces(self, slip: Array, deflection: Array, limit: Array) -> Array:
        """See :meth:`PenaltyFriction.forces`."""
        force = -(self.stiffness * deflection + self.damping * slip)
        return np.clip(force, -limit[:, None], limit[:, None])

    def carried(self, deflection: Array, limit: Array) -> Array:
        """See :meth:`PenaltyFriction.carried`."""
        longest = (limit / self.stiffness)[:, None]
        return np.clip(deflection, -longest, longest)


class Penalty(Integrator):
    r"""A smooth scheme on a mechanism whose contacts are springs and dampers.

    :math:`f_n = K\,\delta + C\,\dot\delta` where the penetration :math:`\delta` is positive (thesis equation 2.19).
    The printed law pulls a body that leaves fast; by default the force is never less than zero. K and C have no
    physical value; they are tuned to a task.

    Attributes:
        stiffness: K [N/m].
        damping: C [N s/m].
        friction: law of the tangential forces.
        base: the smooth scheme.
        pulls: whether the normal force may pull, as printed.
    """

    solves_contacts = False
    has_restitution = False
    has_joint_limits = False  # K and C are those of a point, not of a turning joint

    def __init__(
        self,
        stiffness: float = 1e5,
        damping: float = 100.0,
        friction: PenaltyFriction | None = None,
        base: Integrator | None = None,
        pulls: bool = False,
    ) -> None:
        """Choose gains.

        Args:
            stiffness: of each contact point [N/m].
            damping: of each contact point [N s/m].
            friction: the weighted Coulomb law if not given.
            base: Runge-Kutta of order 4 if not given, as OpenHRP2.
            pulls: True lets the normal force pull, as printed.

        Raises:
            InputError: a stiffness that is not positive, a negative damping.
        """
        self.base = RungeKutta4() if base is None else base
        super().__init__()
        self.stiffness = check_positive("stiffness", stiffness)
        self.damping = check_positive("damping", damping, zero=True)
        self.pulls = pulls
        self.friction = WeightedFriction() if friction is None else friction
        self._deflections: dict[int, Array] = {}

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`; the forces are those at the end of the step."""
        sprung = _SprungSystem(system, self, q)
        end = self.base.step(sprung, q, v, dt, t)
        contacts, forces, deflection = sprung.contact_forces(end.q, end.v)
        kept = self.friction.carried(deflection, contacts.friction * np.abs(forces[:, 0]))
        self._deflections = dict(zip(contacts.ids.tolist(), kept, strict=True))
        return Step(end.q, end.v, ContactForces(contacts, forces))

    def deflections(self, ids: NDArray[np.int64]) -> Array:
        """Tangential deflections of contacts at the start of the step [m], shape (m, 2)."""
        return np.array([self._deflections.get(number, np.zeros(2)) for number in ids.tolist()]).reshape(-1, 2)

    def save(self) -> object:
        """Return deflections of the tangential springs, and the state of the scheme."""
        return {number: d.copy() for number, d in self._deflections.items()}, self.base.save()

    def restore(self, state: object) -> None:
        """See :meth:`Integrator.restore`."""
        assert isinstance(state, tuple)
        deflections, base = state
        self._deflections = {number: d.copy() for number, d in deflections.items()}
        self.base.restore(base)


class _SprungSystem(MechanicalSystem):
    """A mechanism without unilateral contacts, whose efforts include the penalty forces."""

    def __init__(self, system: MechanicalSystem, law: Penalty, q_start: Array) -> None:
        self.nv = system.nv
        self._system, self._law, self._q_start = system, law, q_start

    def contact_forces(self, q: Array, v: Array) -> tuple[ContactSet, Array, Array]:
        """Return contacts that overlap, their forces (n, t1, t2) [N], shape (m, 3), and tangential deflections."""
        law = self._law
        contacts = self._system.contacts(q, v, 0.0)
        contacts = contacts.where(contacts.gaps <= 0.0)
        velocities = contacts.velocities(v)
        moved = contacts.velocities(self._system.difference(self._q_start, q))[:, 1:]
        deflection = law.deflections(contacts.ids) + moved
        forces = np.zeros((len(contacts), 3))
        forces[:, 0] = -law.stiffness * contacts.gaps - law.damping * velocities[:, 0]
        if not law.pulls:
            forces[:, 0] = np.maximum(0.0, forces[:, 0])
        limit = contacts.friction * np.abs(forces[:, 0])
        forces[:, 1:] = law.friction.forces(velocities[:, 1:], deflection, limit)
        return contacts, forces, deflection

    def mass(self, q: Array) -> Array:
        return self._system.mass(q)

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        contacts, forces, _ = self.contact_forces(q, v)
        pushed = np.einsum("irk,ir->k", contacts.rows, forces)
        return self._system.efforts(t, q, v) + pushed

    def integrate(self, q: Array, displacement: Array) -> Array:
        return self._system.integrate(q, displacement)

    def difference(self, q_from: Array, q_to: Array) -> Array:
        return self._system.difference(q_from, q_to)

    def chart_rate(self, q_from: Array, q: Array, v: Array) -> Array:
        return self._system.chart_rate(q_from, q, v)
