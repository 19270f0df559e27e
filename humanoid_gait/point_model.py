# SPDX-License-Identifier: Apache-2.0
r"""What holds at one instant of a phase, as CasADi functions: inverse dynamics in contact, accelerations of contacts.

Unknowns are :math:`\zeta=(y,\dot y,\ddot y,\lambda)`, coordinates with two derivatives and multipliers of contact
forces. Forces at the corners of a unilateral contact are sums of the four edges of a pyramid in the friction cone,
:math:`f=\sum_e\lambda_e(n\pm\mu t),\ \lambda_e\ge0`, so that cones are bounds; those of a bilateral contact are any.
Efforts :math:`\tau=M\dot v+h-J^\top f` follow: where nothing drives they have to be zero.

In an impact :math:`\ddot y` stands for the change of the rates and f for impulses: :math:`M\,\Delta v=J^\top f`, and
what is held is at rest afterwards.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from dataclasses import is_dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from humanoid_gait.batched import BatchedFunction
from humanoid_gait.contact_rows import ContactRows
from humanoid_gait.costs import ForceCost
from humanoid_gait.costs.cost import Cost
from humanoid_gait.costs.instant import Instant
from humanoid_gait.hold import Hold
from humanoid_gait.problem import Phase
from humanoid_gait.robot_model import RobotModel
from humanoid_model.arrays import Array

_KNOWN: dict[Hashable, PointModel] = {}
"""Models that were made: places of contacts are parameters, so that one serves wherever the same parts of it touch."""
_MOST = 16
"""Models that are kept."""
_IMPULSES = ForceCost(1e-3)
"""Cost of impulses, in place of the gait's: it tells those apart that do the same [1/(N s)²]."""


class PointModel:
    """Cost and rows at an instant of one phase.

    Rows are, in this order: efforts where nothing drives, in the robot's weight; accelerations of contacts; efforts of
    the driven joints that have a limit, in these limits; normal forces above their least ones, in the weight.

    Attributes:
        model: of the robot.
        impact: whether it is one.
        contacts: rows of each hold.
        loaded: of each hold and each cut, which both have forces.
        equalities: number of the first two kinds of rows, which have to be zero.
        lower: (rows,) least values of the rows.
        upper: (rows,) greatest ones.
        limited: (l,) which driven joints have limits.
        excess: (k, size) Jacobian of the last kind of rows, which are linear.
        slices: of the multipliers of each hold and cut within all.
        multipliers: number of all.
        scale: of one multiplier [N or N m].
        least: (multipliers,) least values, in the scale.
        parameters: (13 loaded,) axes, coefficients of friction and places of the contacts.
        value: (zeta, parameters) to (cost rate, rows).
        efforts: (zeta, parameters) to efforts (nv,) and forces at the corners of each hold and cut (k, 3).
    """

    def __init__(self, model: RobotModel, phase: Phase, costs: Sequence[Cost]) -> None:
        """Write the expressions down."""
        self.impact = phase.impact
        self.model = model = model.struck() if phase.impact else model
        self.contacts = [ContactRows(model, hold) for hold in _bearing(phase)]
        self.loaded = [*self.contacts, *[ContactRows(model, hold) for hold in phase.cuts]]
        holds = [own.hold for own in self.loaded]
        counts = [own.multipliers for own in self.loaded]
        ends = np.concatenate([[0], np.cumsum(counts)]).astype(int).tolist()
        self.slices = [slice(a, b) for a, b in pairwise(ends)]
        self.multipliers = ends[-1]
        self.scale = model.weight / max(1, max((len(hold.corners) for hold in holds), default=1))
        self.least = np.concatenate([np.zeros(0), *[own.lower for own in self.loaded]]) / self.scale
        n = model.n
        self.size = 3 * n + self.multipliers
        zeta, symbols = ca.SX.sym("zeta", self.size), ca.SX.sym("parameters", 13 * len(holds))
        self.parameters = np.concatenate([np.zeros(0), *[own.parameters for own in self.loaded]])
        cost, rows, tau, forces = self._expressions(zeta, symbols, (_IMPULSES,) if phase.impact else costs)
        self.equalities = len(model.free) + sum(len(own) for own in self.contacts)
        self.limited = np.flatnonzero(np.isfinite(model.limit))
        least = rows.numel() - self.equalities - len(self.limited)
        self.lower = np.repeat([0.0, -1.0, 0.0], [self.equalities, len(self.limited), least])
        self.upper = np.repeat([0.0, 1.0, np.inf], [self.equalities, len(self.limited), least])
        excess = ca.jacobian(rows[rows.numel() - least :], zeta)
        self.excess: Array = np.array(ca.DM(ca.evalf(excess))) if least else np.zeros((0, self.size))
        self.given, self.cost, self.rows, self._tau = [zeta, symbols], cost, rows, tau
        self.value = ca.Function("value", self.given, [cost, rows])
        self.efforts = ca.Function("efforts", self.given, [tau, *forces])
        self._derived: dict[str, Any] = {}

    @classmethod
    def of(cls, model: RobotModel, phase: Phase, costs: Sequence[Cost]) -> PointModel:
        """Return the model of a phase, its expressions those of an earlier one that differs in places alone."""
        if not all(is_dataclass(cost) and cost.__dataclass_params__.frozen for cost in costs):  # it may change
            return cls(model, phase, costs)
        holds = [(own.contact.location.name, own.part, own.contact.bilateral, own.least, own.friction == 0.0,
                  np.isinf(own.friction), own.on) for own in (*phase.holds, *phase.cuts)]  # fmt: skip
        robot, heading = model.coordinates.robot, model.coordinates.heading
        key = (robot, heading, model.gravity, tuple(holds), len(phase.cuts), tuple(costs), phase.impact)
        try:
            hash(key)
        except TypeError:  # a cost with an array
            return cls(model, phase, costs)
        if key not in _KNOWN:
            if len(_KNOWN) >= _MOST:
                _KNOWN.pop(next(iter(_KNOWN)))
            _KNOWN[key] = cls(model, phase, costs)
        found = copy.copy(_KNOWN[key])
        found.contacts = [ContactRows(model, hold) for hold in _bearing(phase)]
        found.loaded = [*found.contacts, *[ContactRows(model, hold) for hold in phase.cuts]]
        found.parameters = np.concatenate([np.zeros(0), *[own.parameters for own in found.loaded]])
        # Which rows a hold has may depend on where it is.
        same = [own.kept for own in found.loaded] == [own.kept for own in _KNOWN[key].loaded]
        return found if same else cls(model, phase, costs)

    def _expressions(
        self, zeta: ca.SX, symbols: ca.SX, costs: Sequence[Cost]
    ) -> tuple[ca.SX, ca.SX, ca.SX, list[ca.SX]]:
        """Return cost rate, rows, efforts (nv,) and forces at corners of each hold."""
        model, n = self.model, self.model.n
        y, rate, change = zeta[:n], zeta[n : 2 * n], zeta[2 * n : 3 * n]
        multipliers = self.scale * zeta[3 * n :]
        q, v, a = model.coordinates.motion(y, rate, change)
        if self.impact:
            q, a, _ = model.coordinates.motion(y, change, ca.SX.zeros(n))
            v = ca.SX.zeros(n)
        ends = [own.hold.contact.location.link for own in self.loaded]
        links = tuple(dict.fromkeys([*ends, *[own.hold.on for own in self.loaded if own.hold.on is not None]]))
        wrenches = {link: ca.SX.zeros(6) for link in links}
        forces = []
        surfaces = ca.vertsplit(symbols, 13) if self.loaded else []
        for own, part, surface in zip(self.loaded, self.slices, surfaces, strict=True):
            link = own.hold.contact.location.link
            R, p = model.placement(link, q)
            on = None if own.hold.on is None else model.placement(own.hold.on, q)
            force, moment, at_corners = own.wrench(multipliers[part], R, surface, None if on is None else on[0])
            wrenches[link] += ca.vertcat(force, moment)
            if own.hold.on is not None and on is not None:
                wrenches[own.hold.on] -= ca.vertcat(force, moment + ca.cross(p - on[1], force))
            forces.append(at_corners)
        loads = [ca.vertcat(*[wrench.T for wrench in wrenches.values()])] if links else []
        tau = model.dynamics(links)(q, v, a, *loads)
        driven = model.driven.tolist()
        limit = np.where(np.isfinite(model.limit), model.limit, 1.0)
        self._effort = ca.SX.sym("effort", len(driven))
        instant = Instant(
            y, rate, change, self._effort, v[driven], limit, tuple(own.hold.name for own in self.loaded), tuple(forces),
            tuple(own.place(y, surface) for own, surface in zip(self.loaded, surfaces, strict=True)),
            lambda name: model.corners(name, q), model.weight,
        )  # fmt: skip
        self._cost_of_effort = sum((item.rate(instant) for item in costs), ca.SX(0.0))
        cost = ca.substitute(self._cost_of_effort, self._effort, tau[driven])
        limited = np.flatnonzero(np.isfinite(model.limit)).tolist()
        rows = ca.vertcat(
            tau[model.free.tolist()] / model.weight,
            *[own.rate(y, rate + change, surface) if self.impact else own.acceleration(y, rate, change, surface)
              for own, surface in zip(self.contacts, surfaces, strict=False)],
            (tau[driven] / limit)[limited],
            *[own.excess(multipliers[part]) / model.weight
              for own, part in zip(self.loaded, self.slices, strict=True)],
        )
        return cost, rows, tau, forces

    @property
    def batched_value(self) -> BatchedFunction:
        """:attr:`value` of many instants."""
        return self._batched("value", lambda: self.value)

    def _batched(self, name: str, make: Callable[[], ca.Function]) -> BatchedFunction:
        kept = f"batched {name}"
        if kept not in self._derived:
            self._derived[kept] = BatchedFunction.stored(name.encode() + self._content, make)
        found: BatchedFunction = self._derived[kept]
        return found

    @property
    def batched_first(self) -> BatchedFunction:
        """(zeta, parameters) to the cost rate's gradient, Jacobians of efforts (nv,) and of accelerations of contacts.

        Then what the cost rate is of efforts e and zeta: its gradient by e, its Hessians by ee, by e and zeta, by zeta.
        """
        return self._batched("first", self._first)

    def _first(self) -> ca.Function:
        zeta, cost, effort = self.given[0], self._cost_of_effort, self._effort
        now = self._tau[self.model.driven.tolist()]
        J = ca.jacobian(self._tau, zeta)
        by_effort, by_zeta = ca.gradient(cost, effort), ca.gradient(cost, zeta)
        parts = [by_effort, *(ca.jacobian(a, b) for a, b in ((by_effort, effort), (by_effort, zeta), (by_zeta, zeta)))]
        parts = ca.substitute([by_zeta, *parts], [effort], [now])
        gradient = ca.densify(parts[0] + J[self.model.driven.tolist(), :].T @ parts[1])
        held = ca.jacobian(self.rows[len(self.model.free) : self.equalities], zeta)
        return ca.Function("first", self.given, [gradient, J, held, ca.densify(parts[1]), *parts[2:]])

    @property
    def batched_second(self) -> BatchedFunction:
        """(zeta, parameters, factors of efforts (nv,), of accelerations) to the Hessian by zeta and (y, rate) alone.

        Of the sum of efforts and accelerations, that is; in other pairs of unknowns they have none.
        """
        return self._batched("second", self._second)

    def _second(self) -> ca.Function:
        zeta, count = self.given[0], self.equalities - len(self.model.free)
        efforts, held = ca.SX.sym("efforts", self.model.n), ca.SX.sym("held", count)
        total = ca.dot(efforts, self._tau) + ca.dot(held, self.rows[len(self.model.free) : self.equalities])
        H = ca.jacobian(ca.gradient(total, zeta), zeta[: 2 * self.model.n])
        return ca.Function("second", [*self.given, efforts, held], [H])

    @cached_property
    def _content(self) -> bytes:
        """What derivatives depend on: all expressions."""
        costs = ca.Function("costs", [self._effort, *self.given], [self._cost_of_effort])
        return f"{self.model.n} {self.model.free} {self.equalities}{self.value.serialize()}{costs.serialize()}".encode()

    def slope(self) -> ca.Function:
        """(zeta, parameters) to the gradient of the cost rate."""
        return self._function("slope", lambda: [ca.gradient(self.cost, self.given[0])])

    def first(self) -> ca.Function:
        """(zeta, parameters) to rows and their Jacobian."""
        return self._function("first", lambda: [self.rows, ca.jacobian(self.rows, self.given[0])])

    def second(self) -> ca.Function:
        """(zeta, parameters, factor of the cost rate, factors of the rows) to gradient and Hessian of the sum."""
        factor, factors = ca.SX.sym("factor"), ca.SX.sym("factors", self.rows.numel())

        def write() -> list[ca.SX]:
            return [*reversed(ca.hessian(factor * self.cost + ca.dot(factors, self.rows), self.given[0]))]

        return self._function("second", write, factor, factors)

    def _function(self, name: str, write: Callable[[], list[ca.SX]], *more: ca.SX) -> ca.Function:
        if name not in self._derived:
            self._derived[name] = ca.Function(name, [*self.given, *more], write())
        found: ca.Function = self._derived[name]
        return found


def _bearing(phase: Phase) -> list[Hold]:
    """Return what is held, of an impact without least forces."""
    return [replace(hold, least=0.0) for hold in phase.holds] if phase.impact else list(phase.holds)
