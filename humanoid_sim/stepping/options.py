# SPDX-License-Identifier: Apache-2.0
"""How a simulation computes: the choices that a user makes by name, checked in one place.

Other schemes than the simulator's own step are registered here by whoever has one. The thesis' start-up file chooses
the contact solver by two keywords (specification 000 §10, Table 5.1): one line with the family and the method, or one
line for each; ``#`` begins a comment::

    # solver.txt
    NSGS AMELIFGSNEWTON
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypedDict

import numpy as np

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.extensions import load_extensions, others
from humanoid_model.fields import Described, choice, count, number, text
from humanoid_model.files import read_text
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.solve import SOLVERS, find_solver
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.stepping.impacts import IMPACTS
from humanoid_sim.stepping.operators import DELASSUS_METHODS
from humanoid_sim.stepping.stepper import DYNAMICS

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Scheme(Protocol):
    """A scheme that a simulation can take instead of its own step, see :mod:`humanoid_sim.stepping.make_stepping`.

    Attributes:
        solves_contacts: whether it poses contact problems, so that the contact solver matters.
    """

    solves_contacts: bool


_SCHEMES: dict[str, Callable[[], Scheme]] = {}


def register_scheme(name: str, make: Callable[[], Scheme]) -> None:
    """Make a scheme known by a name, for ``Simulation(integrator=...)``.

    Args:
        name: the name.
        make: makes it, and imports what it needs only then.

    Raises:
        InputError: the name is taken.
    """
    if name in _SCHEMES:
        raise InputError(f"there is an integrator '{name}' already", element="name", remedy="Choose another name")
    _SCHEMES[name] = make


def scheme_names() -> list[str]:
    """All names that are registered, those of other installed packages too."""
    load_extensions("integrators")
    return sorted(_SCHEMES)


def find_scheme(name: str) -> Scheme:
    """Make a scheme by its name.

    Raises:
        InputError: none of that name is registered.
    """
    if name not in _SCHEMES and name not in scheme_names():
        raise InputError(
            f"there is no integrator '{name}'",
            element="integrator",
            remedy=f"Choose one of {', '.join(scheme_names()) or 'none'}{others('integrators')}",
        )
    return _SCHEMES[name]()


KEYWORDS: dict[str, dict[str, str]] = {
    "NSGS": {
        "AMELIFGS": "gauss_seidel_projected",
        "AMELIFGSNEWTON": "nsgs",
        # "Same as the previous one", done by Siconos' Numerics: there the name is that of Newton on all contacts.
        "AC": "alart_curnier_global",
        "FIXEDPOINT": "fixed_point",
        "PROJECTION": "projection",
    },
    "LCP": {
        "AMELIFLCP": "lemke_faceted",
        "LEMKE": "lemke_faceted",
        # The equivalent quadratic programme exists without friction only; with it, programmes in turns.
        "QP": "staggered_projections",
    },
}
"""Our solver for each family (exact cone, faceted cone) and method of the thesis."""


def read_solver_file(path: str | Path) -> str:
    """Read which contact solver a start-up file asks for.

    Args:
        path: the text file.

    Returns:
        The name of the solver, for :func:`~humanoid_sim.contact.solve.solve_contacts` and simulations.

    Raises:
        InputError: the file can't be read, a keyword is missing or unknown, a method belongs to the other family,
            something follows the two keywords.
    """
    source = Path(path)
    text = read_text(source, remedy="Give a text file")
    words = [
        (number, word)
        for number, line in enumerate(text.splitlines(), start=1)
        for word in line.split("#", 1)[0].split()
    ]
    families = " or ".join(KEYWORDS)
    if not words:
        raise InputError("there is no keyword", source=source, remedy=f"Give a family, {families}, and a method")
    line, family = words[0]
    if family not in KEYWORDS:
        raise InputError(
            f"the family is '{family}'", source=source, line=line, element="family", remedy=f"Give {families}"
        )
    methods = KEYWORDS[family]
    choice = f"Give one of {', '.join(methods)}"
    if len(words) == 1:
        raise InputError(f"family {family} without a method", source=source, line=line, element="method", remedy=choice)
    line, method = words[1]
    if method not in methods:
        other = next((name for name, theirs in KEYWORDS.items() if method in theirs), None)
        problem = f"the method '{method}' is not one of family {family}"
        raise InputError(
            problem if other is None else f"{problem} but of {other}",
            source=source,
            line=line,
            element="method",
            remedy=choice,
        )
    if len(words) > 2:
        line, word = words[2]
        raise InputError(
            f"'{word}' follows the method", source=source, line=line, remedy="Give two keywords, family and method"
        )
    return methods[method]


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
class SimulationOptions(Described):
    """What decides how a simulation computes, beside its scene and its time step.

    Attributes:
        integrator: another scheme than the simulator's own step, to compare with: by a name that is registered
            (:func:`register_scheme`; the studies register the theses')
            or ready made; None for the own step. Options that only the own step has keep their defaults beside it,
            those of the contact solver beside a ready-made one or one that solves no contact problems.
    """

    method: str = text("nsgs_newton", "contact solver")
    dynamics: str = choice("articulated_body", DYNAMICS, "where the dynamics come from")
    delassus: str = choice("auto", DELASSUS_METHODS, "way to the Delassus operator")
    tolerance: float = number(
        1e-9, "bound on the relative residual of the contact solve", low=0.0, above=True, high=1.0
    )
    max_iterations: int = count(
        1000, "bound on the contact solver's sweeps; it ends earlier where a good answer gets no better", low=1,
        high=10**9,
    )  # fmt: skip
    time_budget: float | None = number(
        None,
        "time for the contact solve of a step, of which each group of contacts gets its share, one sweep in any case; "
        "open: no limit",
        "s", low=0.0, above=True, high=3600.0,
    )  # fmt: skip
    integrator: str | Scheme | None = text(None, "empty: the simulator's own step; or to compare with it")
    impacts: str = choice(
        IMPACTS[0], IMPACTS,
        "where restitution acts, in the contact law or without friction at the start of the step (specification 000 "
        "§8.1)",
    )  # fmt: skip
    impact_speed: float | None = number(
        None,
        "approach speed from which on a contact bounces; open: twice what gravity makes in a step, at least 0.02",
        "m/s", low=0.0, above=True, high=100.0,
    )  # fmt: skip
    detection: str = choice(
        BACKENDS[0], BACKENDS,
        "what finds the distances of pairs of solids, coal to compare with, not for meshes triangle by triangle",
    )  # fmt: skip

    @classmethod
    def by_name(cls, **options: Unpack[OptionValues]) -> SimulationOptions:
        """Make options of those that are given.

        Raises:
            InputError: one that there isn't, or see :meth:`__post_init__`.
        """
        known = [field.name for field in fields(cls)]
        for name in options:
            check_known(name, known, name, "option")
        return cls(**options)

    def __post_init__(self) -> None:
        """Check everything.

        Raises:
            InputError: an unknown name, with those that there are; a number out of its range, a budget for a solver
                that can't be stopped on the way or without a clock, an option that the integrator has no use for.
        """
        find_solver(self.method)
        super().__post_init__()
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
