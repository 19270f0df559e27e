# SPDX-License-Identifier: Apache-2.0
"""Event-driven integration: smooth modes between located events (specification 000 §7.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from humanoid_model.arrays import Array
from humanoid_model.errors import SimulationError
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver, delassus, solve_impulses
from humanoid_studies.integration.impact import newton_impact
from humanoid_studies.integration.integrator import TOUCHING_GAP, ImpulseRecord, Integrator, check_positive
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem, Step

CLOSED_GAP = 1e-8
"""Contacts of a mode may drift apart by this much before they count as open [m]."""
LEAVING_SPEED = 1e-8
"""A closed contact that separates faster than this has opened [m/s]."""
APPROACH_SPEED = 1e-9
"""A closed contact that approaches faster than this collides [m/s]."""
STICKING_SPEED = 1e-8
"""A contact that slides slower than this sticks [m/s]."""
MAX_EVENTS = 1000
"""Events in one step; more of them mean that time stands still."""
_SWEEPS = 1000
_SWEEP_TOLERANCE = 1e-13
_RATE_STEP = 1e-6


@dataclass(frozen=True)
class _Mode:
    """Contacts that stay closed, and the direction in which each of them slides; zero for a sticking one."""

    contacts: ContactSet
    directions: Array  # shape (m, 2)

    @property
    def slides(self) -> np.ndarray:
        return np.asarray(self.directions.any(axis=1))


class EventDriven(Integrator):
    r"""One smooth mode up to the next event, which is located; then an impact or another mode.

    Within a mode the contacts that are closed stay closed: their forces follow from the accelerations,
    :math:`0 \le a_n \perp f_n \ge 0`, with Coulomb friction opposite to the sliding velocity, or to the acceleration
    where a contact sticks. Modes are integrated by Runge-Kutta of order 4. Events are a gap that closes, a contact
    that opens, and a sliding velocity that comes to rest; they are located to rounding. A gap that closes and opens
    again within one step is not seen, so that steps should be shorter than what bounces.

    Rebounds slower than ``rest_speed`` are taken for rest: without that a bouncing ball has infinitely many
    events before it lies.

    Attributes:
        rest_speed: approach speed below which impacts are inelastic [m/s].
    """

    def __init__(self, rest_speed: float = 1e-3, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        """Choose the speed.

        Raises:
            InputError: rest_speed is not positive and finite.
        """
        super().__init__(solver)
        self.rest_speed = check_positive("rest_speed", rest_speed)

    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """See :meth:`Integrator.step`.

        Raises:
            SimulationError: too many events, or sliding that no force can go on with (Painlevé's paradox).
        """
        record = ImpulseRecord(v.size)
        left = dt
        hit: set[int] = set()
        for _ in range(MAX_EVENTS):
            contacts = system.contacts(q, v, left)
            closed = contacts.where((contacts.gaps <= CLOSED_GAP) | np.isin(contacts.ids, list(hit)))
            v = self._collide(system, q, v, closed, record)
            mode = _mode(closed, v)
            q_end, v_end, impulses, converged = self._flow(system, q, v, t, mode, left)
            event = self._first_event(system, q, v, t, mode, left, q_end, v_end)
            if event is None:
                record.add(mode.contacts, impulses, converged)
                return Step(q_end, v_end, record.forces(dt))
            duration, number = event
            if duration > 0.0:
                q, v, impulses, converged = self._flow(system, q, v, t, mode, duration)
                record.add(mode.contacts, impulses, converged)
            hit = set() if number is None else {number}
            t += duration
            left -= duration
            if left <= 1e-12 * dt:
                return Step(q, v, record.forces(dt))
        raise SimulationError(f"more than {MAX_EVENTS} events in the step of {dt} s that ends at t = {t + left} s")

    def _collide(
        self, system: MechanicalSystem, q: Array, v: Array, closed: ContactSet, record: ImpulseRecord
    ) -> Array:
        """Velocity after the impacts of closed contacts that approach."""
        approach = closed.velocities(v)[:, 0]
        if not np.any(approach < -APPROACH_SPEED):
            return v
        restitution = np.where(approach < -self.rest_speed, closed.restitution, 0.0)
        v, impulses, converged = newton_impact(system.mass(q), v, closed, restitution, self.solver)
        record.add(closed, impulses, converged)
        return v

    def _flow(
        self, system: MechanicalSystem, q: Array, v: Array, t: float, mode: _Mode, h: float
    ) -> tuple[Array, Array, Array, bool]:
        """State after h seconds in a mode, impulses of its contacts, and whether their solves converged."""
        converged = True

        def rates(time: float, u: Array, w: Array) -> tuple[Array, Array, Array]:
            nonlocal converged
            here = system.integrate(q, u)
            a, f, solved = self._accelerations(system, time, here, w, mode, h)
            converged &= solved
            return system.chart_rate(q, here, w), a, f

        u_1, a_1, f_1 = rates(t, np.zeros_like(v), v)
        u_2, a_2, f_2 = rates(t + 0.5 * h, 0.5 * h * u_1, v + 0.5 * h * a_1)
        u_3, a_3, f_3 = rates(t + 0.5 * h, 0.5 * h * u_2, v + 0.5 * h * a_2)
        u_4, a_4, f_4 = rates(t + h, h * u_3, v + h * a_3)
        q_end = system.integrate(q, h / 6.0 * (u_1 + 2.0 * u_2 + 2.0 * u_3 + u_4))
        v_end = v + h / 6.0 * (a_1 + 2.0 * a_2 + 2.0 * a_3 + a_4)
        return q_end, v_end, h / 6.0 * (f_1 + 2.0 * f_2 + 2.0 * f_3 + f_4), converged

    def _accelerations(
        self, system: MechanicalSystem, t: float, q: Array, v: Array, mode: _Mode, horizon: float
    ) -> tuple[Array, Array, bool]:
        """Acceleration with the contact forces of a mode, and these forces, shape (m, 3)."""
        m = len(mode.contacts)
        forces = np.zeros((m, 3))
        a = system.acceleration(t, q, v)
        if m == 0:
            return a, forces, True
        found = system.contacts(q, v, horizon)
        places = _places(mode.contacts.ids, found.ids)
        here = found.where(places[places >= 0])
        directions = mode.directions[places >= 0]
        if len(here) == 0:
            return a, forces, True
        columns: Array = np.asarray(np.linalg.solve(system.mass(q), here.rows.reshape(-1, v.size).T), dtype=np.float64)
        W = delassus(here, columns)
        free = here.velocities(a) + _row_rates(system, here, q, v, horizon)
        slip = here.velocities(v)[:, 1:]
        along = np.einsum("ij,ij->i", slip, directions)
        speed = np.linalg.norm(slip, axis=1)
        # Past the end of sliding the direction is kept, so that the crossing can be located on a smooth way.
        turned = (along > 0.0) & (speed > STICKING_SPEED)
        directions = np.where(turned[:, None], slip / np.maximum(speed, STICKING_SPEED)[:, None], directions)
        values, converged = _contact_accelerations(here, W, free, directions, self.solver)
        forces[places >= 0] = values
        return a + columns @ values.reshape(-1), forces, converged

    def _first_event(
        self,
        system: MechanicalSystem,
        q: Array,
        v: Array,
        t: float,
        mode: _Mode,
        left: float,
        q_end: Array,
        v_end: Array,
    ) -> tuple[float, int | None] | None:
        """Time from now to the first event in a mode, and the contact that closes there, if it is one."""
        start, end = system.contacts(q, v, left), system.contacts(q_end, v_end, left)
        gaps_start = dict(zip(start.ids.tolist(), start.gaps.tolist(), strict=True))
        events: list[tuple[Callable[[Array, Array], float], int | None]] = []
        for number, gap in zip(end.ids.tolist(), end.gaps.tolist(), strict=True):
            if number in mode.contacts.ids:
                continue
            before = gaps_start.get(number, np.inf)
            level = 0.0 if before > TOUCHING_GAP else before - TOUCHING_GAP
            if gap < level - (TOUCHING_GAP if level == 0.0 else 0.0):
                events.append((_gap_above(system, number, level, left), number))
        kept = end.matching(mode.contacts.ids)
        places = _places(kept.ids, mode.contacts.ids)
        velocities = kept.velocities(v_end)
        for i, place in enumerate(places.tolist()):
            number, direction = int(kept.ids[i]), mode.directions[place]
            if velocities[i, 0] > LEAVING_SPEED:
                events.append((_not_leaving(system, number, left), None))
            if direction.any() and velocities[i, 1:] @ direction < 0.0:
                events.append((_sliding(system, number, direction, left), None))

        first: tuple[float, int | None] | None = None
        for value, closing in events:

            def along(h: float, value: Callable[[Array, Array], float] = value) -> float:
                return value(*self._flow(system, q, v, t, mode, h)[:2]) if h > 0.0 else value(q, v)

            duration = _first_zero(along, left)
            if first is None or duration < first[0]:
                first = (duration, closing)
        return first


def _mode(closed: ContactSet, v: Array) -> _Mode:
    velocities = closed.velocities(v)
    stays = velocities[:, 0] < 0.5 * LEAVING_SPEED  # half: one that is located while leaving must have left
    slip = velocities[stays, 1:]
    speed = np.linalg.norm(slip, axis=1)
    directions = np.where((speed > STICKING_SPEED)[:, None], slip / np.maximum(speed, 1e-300)[:, None], 0.0)
    return _Mode(closed.where(stays), directions)


def _places(wanted: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return where each of the wanted numbers is among ids, -1 if nowhere."""
    place = {number: i for i, number in enumerate(ids.tolist())}
    return np.array([place.get(number, -1) for number in wanted.tolist()], dtype=np.int64)


def _row_rates(system: MechanicalSystem, contacts: ContactSet, q: Array, v: Array, horizon: float) -> Array:
    """Return the rate of the contact velocities at constant velocity of the mechanism [m/s^2], shape (m, 3)."""
    step = _RATE_STEP / max(1.0, float(np.abs(v).max()))
    rates = np.zeros((len(contacts), 3))
    ahead = system.contacts(system.integrate(q, step * v), v, horizon)
    behind = system.contacts(system.integrate(q, -step * v), v, horizon)
    to, back = _places(contacts.ids, ahead.ids), _places(contacts.ids, behind.ids)
    both = (to >= 0) & (back >= 0)
    rates[both] = (ahead.rows[to[both]] - behind.rows[back[both]]) @ v / (2.0 * step)
    return rates


def _contact_accelerations(
    contacts: ContactSet, W: Array, free: Array, directions: Array, solver: ContactSolver
) -> tuple[Array, bool]:
    """Return forces [N], shape (m, 3), with accelerations ``W f + free`` that obey Signorini's and Coulomb's laws.

    Sliding contacts, whose friction is known up to its size, and sticking ones, a contact problem in accelerations,
    are solved in turn.

    Raises:
        SimulationError: the normal force of a sliding contact presses it in (Painlevé's paradox).
    """
    m = len(contacts)
    f = np.zeros((m, 3))
    slides = directions.any(axis=1)
    sticks = np.flatnonzero(~slides)
    rows = (3 * sticks[:, None] + np.arange(3)).reshape(-1)
    W_sticking = np.ascontiguousarray(W[np.ix_(rows, rows)])
    pushes = np.zeros((m, 3))  # force per normal force of the sliding contacts
    pushes[:, 0] = 1.0
    pushes[:, 1:] = -contacts.friction[:, None] * directions
    for _ in range(_SWEEPS):
        before = f.copy()
        for i in np.flatnonzero(slides).tolist():
            gain = W[3 * i, 3 * i : 3 * i + 3] @ pushes[i]
            if gain <= 0.0:
                raise SimulationError(
                    f"contact {contacts.ids[i]} slides where friction jams it (Painlevé's paradox): no acceleration "
                    "is possible; a time-stepping scheme goes on with an impulse"
                )
            a_n = W[3 * i] @ f.reshape(-1) + free[i, 0]
            f[i] = max(0.0, f[i, 0] - a_n / gain) * pushes[i]
        converged = True
        if sticks.size:
            others = f.copy()
            others[sticks] = 0.0
            given = (free.reshape(-1) + W @ others.reshape(-1)).reshape(m, 3)[sticks]
            f[sticks], converged = solve_impulses(contacts.where(sticks), W_sticking, given, solver)
        if not slides.any() or np.abs(f - before).max() <= _SWEEP_TOLERANCE * (1.0 + np.abs(f).max()):
            return f, converged
    return f, False


def _gap_above(
    system: MechanicalSystem, number: int, level: float, horizon: float
) -> Callable[[Array, Array], float]:
    def value(q: Array, v: Array) -> float:
        contacts = system.contacts(q, v, horizon)
        found = contacts.gaps[contacts.ids == number]
        return float(found[0]) - level if found.size else np.inf

    return value


def _not_leaving(system: MechanicalSystem, number: int, horizon: float) -> Callable[[Array, Array], float]:
    def value(q: Array, v: Array) -> float:
        contact = system.contacts(q, v, horizon).matching(np.array([number]))
        return LEAVING_SPEED - float(contact.velocities(v)[0, 0]) if len(contact) else -np.inf

    return value


def _sliding(
    system: MechanicalSystem, number: int, direction: Array, horizon: float
) -> Callable[[Array, Array], float]:
    def value(q: Array, v: Array) -> float:
        contact = system.contacts(q, v, horizon).matching(np.array([number]))
        return float(contact.velocities(v)[0, 1:] @ direction) if len(contact) else np.inf

    return value


def _first_zero(value: Callable[[float], float], end: float) -> float:
    """Return a time in 0..end at which a function that is positive at 0 and negative at the end is zero."""
    low, high = 0.0, end
    if value(low) <= 0.0:
        return 0.0
    while not (np.isfinite(value(low)) and np.isfinite(value(high))):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return high
        if value(middle) > 0.0:
            low = middle
        else:
            high = middle
    return float(brentq(value, low, high, xtol=1e-15 * max(end, 1.0), rtol=1e-14))
