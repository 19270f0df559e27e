# SPDX-License-Identifier: Apache-2.0
"""Step adaptation, and extrapolation where the motion is smooth (specification 000 §7.4, remarks on §2.5.2.3)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.integration.contact_step import ContactSolver
from humanoid_studies.integration.integrator import ImpulseRecord, Integrator, check_fraction, check_positive
from humanoid_studies.integration.mechanical_system import ContactForces, MechanicalSystem, Step
from humanoid_studies.integration.moreau import Moreau

_STICKING_SPEED = 1e-9
_SAFETY = 0.9
_GROWTH = 2.0


class Extrapolated(Integrator):
    r"""Steps of another scheme, as long as the wanted accuracy allows, extrapolated in smooth parts.

    Every part of the step is done once as a whole and once in halves. Where all three see the same contacts do the
    same (open, sticking, sliding), the difference tells the error, and Richardson's extrapolation
    :math:`y + (y - y_{whole})/(2^p - 1)` raises the order p by one. Where something changes, an impact say, no
    order can be gained: the part is shortened down to ``smallest`` of the step and taken as it is
    (C. Studer, 2008).

    Attributes:
        base: the scheme.
        order: its order p in smooth motion.
        tolerance: bound on the error of one part, in the units of configuration and velocity.
        smallest: shortest part of a step, as a fraction of it.
    """

    def __init__(
        self,
        base: Integrator | None = None,
        order: int = 1,
        tolerance: float = 1e-6,
        smallest: float = 2.0**-8,
    ) -> None:
        """Choose scheme and accuracy.

        Args:
            base: the scheme; Moreau's if not given.
            order: its order in smooth motion.
            tolerance: bound on the error of one part.
            smallest: shortest part of a step.

        Raises:
            InputError: a number out of range.
        """
        self.base = Moreau() if base is None else base
        super().__init__(self.base.solver)
        self.solves_contacts = self.base.solves_contacts
        self.has_restitution = self.base.has_restitution
        self.has_joint_limits = self.base.has_joint_limits
        if order < 1:
            raise InputError(f"order is {order}", element="order", remedy="Give 1 or more")
        self.order = order
        self.tolerance = check_positive("tolerance", tolerance)
        self.smallest = check_fraction("smallest", smallest, zero=False)
        self._part = np.inf

    def use_solver(self, solver: ContactSolver) -> None:
        """See :meth:`Integrator.use_solver`; the scheme takes it too."""
        super().use_solver(solver)
        self.base.use_solver(solver)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        record = ImpulseRecord(v.size)
        left, shortest = dt, self.smallest * dt
        weight = 2.0**self.order - 1.0
        while left > 1e-12 * dt:
            h = min(max(self._part, shortest), left)
            state = self.base.save()
            whole = self.base.step(system, q, v, h, t)
            self.base.restore(state)
            first = self.base.step(system, q, v, 0.5 * h, t)
            second = self.base.step(system, first.q, first.v, 0.5 * h, t + 0.5 * h)
            gain_q = system.difference(whole.q, second.q) / weight
            gain_v = (second.v - whole.v) / weight
            error = max(float(np.abs(gain_q).max()), float(np.abs(gain_v).max()))
            smooth = _contact_states(whole) == _contact_states(first) == _contact_states(second)
            good = smooth and error <= self.tolerance
            if not good and h > shortest:
                factor = 0.5
                if smooth:
                    factor = max(0.1, _SAFETY * (self.tolerance / error) ** (1.0 / (self.order + 1)))
                self._part = max(h * factor, shortest)
                self.base.restore(state)
                continue
            record.add_forces(first.forces, 0.5 * h)
            record.add_forces(second.forces, 0.5 * h)
            q, v = second.q, second.v
            factor = _GROWTH
            if good:
                q, v = system.integrate(q, gain_q), v + gain_v
                ratio = self.tolerance / max(error, 1e-300)
                factor = min(_GROWTH, _SAFETY * ratio ** (1.0 / (self.order + 1)))
            if h < left or factor < 1.0:  # a last part that was cut tells nothing about the next step
                self._part = max(h * factor, shortest)
            t += h
            left -= h
        return Step(q, v, record.forces(dt))

    def save(self) -> object:
        """Return the length of the next part, and the state of the scheme."""
        return self._part, self.base.save()

    def restore(self, state: object) -> None:
        """See :meth:`Integrator.restore`."""
        assert isinstance(state, tuple)
        self._part, base = state
        self.base.restore(base)


def _contact_states(step: Step) -> frozenset[tuple[int, bool]]:
    """Return contacts that carry a force, and whether each sticks."""
    forces: ContactForces = step.forces
    loaded = forces.forces[:, 0] > 0.0
    slip = np.linalg.norm(forces.contacts.velocities(step.v)[:, 1:], axis=1)
    return frozenset(
        (number, bool(speed < _STICKING_SPEED))
        for number, speed in zip(forces.contacts.ids[loaded].tolist(), slip[loaded].tolist(), strict=True)
    )
