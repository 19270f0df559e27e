# SPDX-License-Identifier: Apache-2.0
"""Steps of velocity-level schemes that stop at collisions (specification 000 §7.4, event search)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from humanoid_model.arrays import Array
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver
from humanoid_studies.integration.impact import poisson_impact
from humanoid_studies.integration.integrator import TOUCHING_GAP, ImpulseRecord, Integrator
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem, Step

APPROACH_SPEED = 1e-9
"""A closed contact that approaches faster than this collides [m/s]."""
SEPARATING_SPEED = 1e-9
"""A touching contact that leaves faster than this is open [m/s]."""
MAX_IMPACTS = 10
"""Elastic impacts in one step; later ones are inelastic, since bounces may pile up without end."""

_FRACTIONS = tuple(0.5**k for k in range(1, 20))

Path = Callable[[float], Array]
"""Configuration at a part s in 0..1 of a step."""


def straight_path(system: MechanicalSystem, q: Array, v: Array, dt: float) -> Path:
    """Return the way at constant velocity."""
    return lambda s: system.integrate(q, s * dt * v)


def cubic_path(system: MechanicalSystem, q: Array, v: Array, q_end: Array, v_end: Array, dt: float) -> Path:
    """Return the cubic with the configurations and velocities at both ends of a step."""
    u_end = system.difference(q, q_end)
    slope, slope_end = dt * v, dt * system.chart_rate(q, q_end, v_end)

    def at(s: float) -> Array:
        u = (s * s * (3.0 - 2.0 * s)) * u_end + (s * (1.0 - s) ** 2) * slope - (s * s * (1.0 - s)) * slope_end
        return system.integrate(q, u)

    return at


def first_collision(
    system: MechanicalSystem, path: Path, v: Array, dt: float, closed: NDArray[np.int64]
) -> tuple[float, int] | None:
    """Return the part of a step after which the first of the open contacts closes, and its number; None if none does.

    Contacts that close and open again within the step are not seen.

    Args:
        system: the mechanism.
        path: its way during the step.
        v: velocity, for the search of contacts, shape (nv,).
        dt: time step [s].
        closed: numbers of the contacts that are closed at the start.
    """
    end = system.contacts(path(1.0), v, dt)
    first: tuple[float, int] | None = None
    for number, gap in zip(end.ids.tolist(), end.gaps.tolist(), strict=True):
        if gap >= -TOUCHING_GAP or number in closed:
            continue
        s = closing_time(system, path, v, dt, number)
        if first is None or s < first[0]:
            first = (s, number)
    return first


def closing_time(system: MechanicalSystem, path: Path, v: Array, dt: float, number: int) -> float:
    """Part s of a path after which a contact closes that is closed at its end."""

    def gap(s: float) -> float:
        contacts = system.contacts(path(s), v, dt)
        found = contacts.gaps[contacts.ids == number]
        return float(found[0]) if found.size else np.inf  # too far away to be listed

    low, high = 0.0, 1.0
    if gap(low) <= TOUCHING_GAP:  # it leaves first, and comes back
        low = next((s for s in _FRACTIONS if gap(s) > TOUCHING_GAP), 0.0)
        if low == 0.0:
            return 0.0
    while not np.isfinite(gap(low)):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return high
        if gap(middle) > 0.0:
            low = middle
        else:
            high = middle
    return float(brentq(gap, low, high, xtol=1e-15, rtol=1e-14))


class CollisionStepping(Integrator):
    """A scheme that constrains velocities at closed contacts, cut at every collision.

    A step runs to the first collision, where Poisson's law (compression and decompression) changes the velocity,
    and goes on from there with the rest of its time. Contacts that close while the mechanism rests on others thus
    neither sink in nor are seen late, at the price of more steps.
    """

    def __init__(self, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        super().__init__(solver)

    @abstractmethod
    def advance(
        self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float, closed: NDArray[np.int64]
    ) -> tuple[Array, Array, ContactSet, Array, bool]:
        """One step in which no further contact closes.

        Args:
            system: the mechanism.
            q: configuration at the start.
            v: velocity at the start, shape (nv,).
            dt: time step [s].
            t: time at the start [s].
            closed: numbers of the closed contacts.

        Returns:
            Configuration and velocity at the end, the closed contacts, their impulses [N s], shape (m, 3), and
            whether these are within the tolerance.
        """

    def path(self, system: MechanicalSystem, q: Array, v: Array, q_end: Array, v_end: Array, dt: float) -> Path:
        """Return the way between the ends of a step, on which collisions are searched for."""
        return cubic_path(system, q, v, q_end, v_end, dt)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`."""
        record = ImpulseRecord(v.size)
        left, impacts = dt, 0
        hit: set[int] = set()
        held: set[int] = set()
        while True:
            contacts = system.contacts(q, v, left)
            touching = contacts.where((contacts.gaps <= TOUCHING_GAP) | np.isin(contacts.ids, list(hit)))
            if len(touching) > 0 and touching.velocities(v)[:, 0].min() < -APPROACH_SPEED:
                elastic = touching.restitution if impacts < MAX_IMPACTS else np.zeros(len(touching))
                v, impulses, converged = poisson_impact(system.mass(q), v, touching, elastic, self.solver)
                record.add(touching, impulses, converged)
                impacts += 1
            stays = touching.velocities(v)[:, 0] <= SEPARATING_SPEED
            ids = touching.ids[stays | np.isin(touching.ids, list(held))]
            q_end, v_end, closed, impulses, converged = self.advance(system, q, v, left, t, ids)
            path = self.path(system, q, v, q_end, v_end, left)
            found = first_collision(system, path, v, left, ids)
            if found is None:
                record.add(closed, impulses, converged)
                return Step(q_end, v_end, record.forces(dt))
            s, number = found
            if s * left > 0.0:
                _, v, closed, impulses, converged = self.advance(system, q, v, s * left, t, ids)
                record.add(closed, impulses, converged)
                q = path(s)
                t += s * left
                left *= 1.0 - s
                hit, held = {number}, set()
            else:  # leaves too slowly to get anywhere before it is back: it stays
                hit.add(number)
                held.add(number)
            if left <= 1e-12 * dt:
                return Step(q, v, record.forces(dt))
