# SPDX-License-Identifier: Apache-2.0
"""How a simulation computes: the choices that a user makes by name, checked in one place."""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from humanoid_model.checks import is_finite
from humanoid_model.errors import InputError
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.solve import SOLVERS, find_solver
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.stepping.impact_stage import IMPACTS
from humanoid_sim.stepping.operators import DELASSUS_METHODS
from humanoid_sim.stepping.schemes import Scheme, find_scheme
from humanoid_sim.stepping.stepper import DYNAMICS

if TYPE_CHECKING:
    from typing_extensions import Unpack


class OptionValues(TypedDict, total=False):
    """Options by name, see :class:`SimulationOptions`."""

    method: str
    dynamics: str
    delassus: str
    tolerance: float
    max_iterations: int
    time_budget: float | None
    integrator: str | Scheme | None
    impacts: str
    impact_speed: float | None
    detection: str


@dataclass(frozen=True)
class SimulationOptions:
    """What decides how a simulation computes, beside its scene and its time step.

    Attributes:
        method: contact solver, one of :data:`~humanoid_sim.contact.solve.SOLVERS`; another scheme takes it too if it
            solves contact problems and is given by name.
        dynamics: where the dynamics come from, one of :data:`~humanoid_sim.stepping.stepper.DYNAMICS`.
        delassus: way to the Delassus operator, one of :data:`~humanoid_sim.stepping.operators.DELASSUS_METHODS`.
        tolerance: bound on the relative residual of the contact solve.
        max_iterations: bound on its sweeps; it ends earlier where a good answer gets no better.
        time_budget: time that the contact solve of a step may take [s]; the best iterate goes on, and
            :attr:`Simulation.solver` says so. Each group of contacts gets its share, and one sweep in any case. None
            for no limit.
        integrator: another scheme than the simulator's own step, to compare with: by a name that is registered
            (:func:`~humanoid_sim.stepping.schemes.register_scheme`; the studies register the theses')
            or ready made; None for the own step. Options that only the own step has keep their defaults beside it,
            those of the contact solver beside a ready-made one or one that solves no contact problems.
        impacts: where restitution acts, one of :data:`~humanoid_sim.stepping.impact_stage.IMPACTS`:
            ``"with_contacts"``: the contact law itself reaches Newton's velocity, with friction; ``"separate"``:
            frictionless impacts at the start of the step (specification 000 §8.1).
        impact_speed: approach speed from which on a contact bounces [m/s]; None for twice what gravity makes in a
            step, at least 0.02.
        detection: what finds the distances of pairs of solids, one of
            :data:`~humanoid_sim.detection.backends.BACKENDS`: ``"coal"`` to compare with, slower and not for meshes
            that collide triangle by triangle. Half-spaces have closed forms with both.
    """

    method: str = "nsgs_newton"
    dynamics: str = "articulated_body"
    delassus: str = "auto"
    tolerance: float = 1e-9
    max_iterations: int = 1000
    time_budget: float | None = None
    integrator: str | Scheme | None = None
    impacts: str = IMPACTS[0]
    impact_speed: float | None = None
    detection: str = BACKENDS[0]

    @classmethod
    def by_name(cls, **options: Unpack[OptionValues]) -> SimulationOptions:
        """Make options of those that are given.

        Raises:
            InputError: one that there isn't, or see :meth:`__post_init__`.
        """
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise InputError(
                    f"there is no option '{name}'", element=name, remedy=f"Options are {', '.join(known)}"
                )
        return cls(**options)

    def __post_init__(self) -> None:
        """Check everything.

        Raises:
            InputError: an unknown name, with those that there are; a tolerance or budget that is no positive number,
                fewer iterations than 1, a budget for a solver that can't be stopped on the way or without a clock, an
                option that the integrator has no use for.
        """
        find_solver(self.method)
        for element, value, known, problem in (
            ("dynamics", self.dynamics, DYNAMICS, "there are no dynamics"),
            ("delassus", self.delassus, DELASSUS_METHODS, "there is no Delassus method"),
            ("impacts", self.impacts, IMPACTS, "there is no way to resolve impacts"),
            ("detection", self.detection, BACKENDS, "there is no detection"),
        ):
            if not isinstance(value, str) or value not in known:
                raise InputError(f"{problem} '{value}'", element=element, remedy=f"Choose one of {', '.join(known)}")
        if not (is_finite(self.tolerance) and self.tolerance > 0.0):
            raise InputError(
                f"tolerance is {self.tolerance!r}",
                element="tolerance",
                remedy="Give a positive number, 1e-9 by default",
            )
        most = self.max_iterations
        if isinstance(most, bool) or not is_finite(most) or most != int(most):
            raise InputError(
                f"max_iterations is {most!r}", element="max_iterations", remedy="Give a whole number"
            )
        if self.max_iterations < 1:
            raise InputError(
                f"max_iterations is {self.max_iterations}", element="max_iterations", remedy="Give 1 or more"
            )
        if self.impact_speed is not None and not (is_finite(self.impact_speed) and self.impact_speed > 0.0):
            raise InputError(
                f"impact_speed is {self.impact_speed!r}",
                element="impact_speed",
                remedy="Give a positive speed in metres per second",
            )
        self._check_budget()
        if self.integrator is not None:
            self._check_unused(self.integrator)

    def _check_unused(self, integrator: str | Scheme) -> None:
        """Refuse options that the integrator would leave out."""
        unused = ["dynamics", "delassus", "time_budget", "impacts", "impact_speed"]
        remedy = "Leave it out, or take the simulator's own step"
        own_solver = ["method", "tolerance", "max_iterations"]
        if not isinstance(integrator, str):
            name = type(integrator).__name__
            unused += own_solver
            remedy += "; a ready-made integrator brings its own contact solver along"
        else:
            name = integrator
            if not find_scheme(integrator).solves_contacts:
                unused += own_solver
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in unused and value != field.default:
                raise InputError(
                    f"{field.name} is {value!r}, which the integrator '{name}' doesn't use",
                    element=field.name,
                    remedy=remedy,
                )

    def _check_budget(self) -> None:
        if self.time_budget is None:
            return
        if not (isinstance(self.time_budget, Real) and self.time_budget > 0.0):
            raise InputError(
                f"time_budget is {self.time_budget!r}", element="time_budget", remedy="Give a positive time in seconds"
            )
        if not SOLVERS[self.method].anytime:
            anytime = sorted(name for name, solver in SOLVERS.items() if solver.anytime)
            raise InputError(
                f"the contact solver '{self.method}' can't be stopped on the way",
                element="time_budget",
                remedy=f"Choose one of {', '.join(anytime)}, or give no time budget",
            )
        if seconds(np.zeros(2, dtype=np.int64)) == 0.0:
            raise InputError(
                "compiled code has no clock on this system", element="time_budget", remedy="Give no time budget"
            )

    def as_text(self) -> dict[str, str | float | int | None]:
        """All options as words and numbers, a ready-made integrator by its class."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if not (self.integrator is None or isinstance(self.integrator, str)):
            values["integrator"] = type(self.integrator).__name__
        return values
