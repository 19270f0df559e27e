# SPDX-License-Identifier: Apache-2.0
"""Impulse-based contact: everything that touches is a series of collisions (specification 000 §5.3, Mirtich 1996)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from humanoid_model.arrays import Array
from humanoid_studies.integration.collision_stepping import closing_time, cubic_path
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver
from humanoid_studies.integration.impact import newton_impact
from humanoid_studies.integration.integrator import (
    TOUCHING_GAP,
    ImpulseRecord,
    Integrator,
    check_fraction,
    check_positive,
)
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem, Step
from humanoid_studies.integration.runge_kutta import runge_kutta_2

_SWEEPS = 100


class ImpulseMethod(Integrator):
    r"""Free flight up to the next collision, one impulse at one point there, and on.

    1. The time without collisions is bounded: the first gap that closes on the free way ends it.
    2. All bodies move freely for that time (Runge-Kutta of order 2).
    3. Every point that touches and approaches gets, one after the other until none approaches, the impulse of
       Newton's law :math:`v_n^+ = -e\,v_n^-` with Coulomb friction.

    There are no contact forces. What lies on something is held by collisions slower than ``micro_speed``, which
    are elastic, so that it neither sinks nor gains energy: it trembles. No time without collisions is taken shorter
    than ``shortest``, since such collisions pile up.

    Attributes:
        micro_speed: approach speed below which collisions are elastic [m/s].
        shortest: shortest time between collisions of a point that lies, as a fraction of the step.
    """

    def __init__(
        self, micro_speed: float = 0.01, shortest: float = 0.1, solver: ContactSolver = DEFAULT_SOLVER
    ) -> None:
        """Choose what counts as lying.

        Raises:
            InputError: a number out of range.
        """
        super().__init__(solver)
        self.micro_speed = check_positive("micro_speed", micro_speed)
        self.shortest = check_fraction("shortest", shortest, zero=False)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        record = ImpulseRecord(v.size)
        left, shortest = dt, self.shortest * dt
        while True:
            contacts = system.contacts(q, v, left)
            touching = contacts.where(contacts.gaps <= TOUCHING_GAP)
            v = self._collide(system, q, v, touching, record)
            q_end, v_end = runge_kutta_2(system, q, v, left, t)
            free = self._free_time(system, q, v, q_end, v_end, left, touching)
            if free < shortest:
                free = min(shortest, left)
            if free >= left * (1.0 - 1e-12):
                return Step(q_end, v_end, record.forces(dt))
            q, v = runge_kutta_2(system, q, v, free, t)
            t += free
            left -= free

    def _collide(
        self, system: MechanicalSystem, q: Array, v: Array, touching: ContactSet, record: ImpulseRecord
    ) -> Array:
        """Velocity after impulses one at a time at all points that approach."""
        M = system.mass(q)
        for _ in range(_SWEEPS):
            approach = touching.velocities(v)[:, 0]
            hits = np.flatnonzero(approach < -1e-12)
            if hits.size == 0:
                break
            for i in hits.tolist():
                point = touching.where(np.array([i]))
                speed = -float(point.velocities(v)[0, 0])
                if speed <= 0.0:
                    continue
                restitution = point.restitution if speed >= self.micro_speed else np.ones(1)
                v, impulse, converged = newton_impact(M, v, point, restitution, self.solver)
                record.add(point, impulse, converged)
        return v

    def _free_time(
        self,
        system: MechanicalSystem,
        q: Array,
        v: Array,
        q_end: Array,
        v_end: Array,
        left: float,
        touching: ContactSet,
    ) -> float:
        """Time until the first gap closes, or a touching one comes back to where it is [s]."""
        path = cubic_path(system, q, v, q_end, v_end, left)
        end = system.contacts(q_end, v_end, left)
        first = 1.0
        for number, gap in zip(end.ids.tolist(), end.gaps.tolist(), strict=True):
            lies = touching.ids == number
            if not lies.any():
                if gap < 0.0:
                    first = min(first, closing_time(system, path, v, left, number))
                continue
            start = float(touching.gaps[lies][0])
            if gap >= min(start, 0.0):
                continue
            bounce = self.shortest

            def rise(s: float, number: int = number, start: float = start) -> float:
                here = system.contacts(path(s), v, left)
                found = here.gaps[here.ids == number]
                return float(found[0]) - start if found.size else np.inf

            first = min(first, bounce if rise(bounce) <= 0.0 else float(brentq(rise, bounce, 1.0, xtol=1e-13)))
        return first * left
