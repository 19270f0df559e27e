# SPDX-License-Identifier: Apache-2.0
"""Sequential quadratic programming whose iterates stay feasible: the loop of both nonlinear phases of the feasible SQP.

It follows the arc-search algorithm FSQP-AL of Lawrence & Tits, "Nonlinear equality constraints in feasible sequential
quadratic programming" (Optimization Methods and Software 6, 1996) and "User's guide for CFSQP" (TR 94-16r1), which the
planner thesis uses through OFSQP (specification 001 section 4.3). One thing is added: a step that violates inequalities
is drawn anew under cutting planes before it is shortened. Without them the many small contact forces of a posture, each
near the apex of its friction cone, limit every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.optimisation.program import Clock, ReturnCode
from humanoid_studies.feasible_sqp.one_sided_form import Gradients, Values
from humanoid_studies.feasible_sqp.search_direction import Direction, Linearisation, SortedProgram

FIRST_PENALTY = 10.0
MAX_PENALTY = 1e8  # p_max, appendix B

_SUFFICIENT_DECREASE = 0.1  # alpha of Lawrence & Tits
_SHORTER = 0.5  # beta
_CUT_ROUNDS = 8
_MIN_ARC = 2.0**-40
_MIN_PENALTY_EXCESS = 1.0  # epsilon_1: a penalty exceeds its multiplier by this at least
_PENALTY_GROWTH = 2.0  # delta
_STATIONARY_PENALTY_GROWTH = 10.0
_TILT_LEAST, _TILT_LARGEST, _TILT_GROWTH = 0.01, 10.0, 10.0  # C
_TILT_DESCENT = 0.2  # theta: share of the descent along d0 that tilting must leave
_POWELL_DAMPING = 0.2
_MIN_CURVATURE = 1e-6  # added to a known objective Hessian, which may be singular
_MIN_RELATIVE_CURVATURE = 1e-8  # the same, relative to its largest entry
_REGULARISED_CURVATURE = 1e-3  # added, relative to the largest entry (or 1), where a program can't be solved otherwise
_SETTLED_DECREASE = 1e-3  # share of the equalities' penalties: who gains less will not satisfy them
_SLACK = 1e-2  # share of a constraint's tolerance that the arc search uses, for rounding
_ROUNDING = 8.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Iterate:
    """Where the descent is, given to the callback.

    Attributes:
        index: how many directions were computed before.
        x: (n,) the point.
        values: functions there.
        step: length of the step that led to it, 0 at the start.
        arc: t of the arc search that led to it, 0 at the start.
        penalty: largest penalty.
    """

    index: int
    x: NDArray[np.float64]
    values: Values
    step: float
    arc: float
    penalty: float


@dataclass(frozen=True)
class Outcome:
    """End of a descent.

    Attributes:
        x: (n,) last iterate.
        values: functions there.
        code: why it ended.
        direction: multipliers at the last iterate, None before any direction was found.
        penalties: (me,) last penalties.
    """

    x: NDArray[np.float64]
    values: Values
    code: ReturnCode
    direction: Direction | None
    penalties: NDArray[np.float64]


@dataclass(frozen=True)
class Tolerances:
    """When a function counts as satisfied, and a point as optimal; as in :class:`SolverOptions`."""

    equality: float
    inequality: float
    optimality: float


class FeasibleDescent:
    """Minimises max_i f_i - sum p g' from a point where all inequalities and linear rows hold, never leaving them.

    Args:
        program: the program, its equalities oriented.
        tolerances: when it counts as solved.
        judge: called with every iterate, the first included; a code that it returns ends the descent.
        clock: of the solution, looked at within iterations too.
    """

    def __init__(
        self,
        program: SortedProgram,
        tolerances: Tolerances,
        judge: Callable[[Iterate], ReturnCode | None],
        clock: Clock,
    ) -> None:
        self._program = program
        self._tolerances = tolerances
        self._judge = judge
        self._clock = clock
        self._tilt = _TILT_LEAST
        self._slack = _SLACK * tolerances.inequality

    def run(self, x: NDArray[np.float64], values: Values, penalties: NDArray[np.float64]) -> Outcome:
        """Descend from ``x`` (n,), where the functions are ``values``, with ``penalties`` (me,) to begin with."""
        program = self._program
        penalties = penalties.copy()
        curvature = _Curvature(len(x))
        direction = None
        step, arc = 0.0, 0.0
        gradients = program.gradients(x)
        for index in itertools.count():
            code = self._judge(Iterate(index, x, values, step, arc, float(np.max(penalties, initial=0.0))))
            if code is not None:
                return Outcome(x, values, code, direction, penalties)
            here = Linearisation(
                program, x, values, gradients, penalties, np.zeros((0, len(x))), np.zeros(0), self._clock
            )
            B = curvature.matrix(program.objective_hessian(x))
            found = here.direction(B) if here.finite else None
            if found is None and here.finite:  # numerically: in exact arithmetic a step of zero is feasible
                B = B + _REGULARISED_CURVATURE * max(1.0, float(np.abs(B).max())) * np.eye(len(x))
                found = here.direction(B)
            if found is None:
                return Outcome(x, values, self._failure(ReturnCode.DIRECTION_FAILED), direction, penalties)
            direction = found
            if values.worst_equality <= self._tolerances.equality:
                if self._stationary(here, B, direction):
                    return Outcome(x, values, ReturnCode.SUCCESS, direction, penalties)
            elif self._settled(here, direction):
                penalties = np.where(
                    np.abs(values.equalities) > self._tolerances.equality,
                    _STATIONARY_PENALTY_GROWTH * penalties,
                    penalties,
                )
                if penalties.max() > MAX_PENALTY:
                    return Outcome(x, values, ReturnCode.EQUALITIES_UNSATISFIED, direction, penalties)
                step, arc = 0.0, 0.0
                continue
            moved = self._search(here, B, direction)
            if moved is None:
                return Outcome(x, values, self._failure(ReturnCode.STEP_SEARCH_FAILED), direction, penalties)
            x_next, values_next, arc = moved
            step = float(np.linalg.norm(x_next - x))
            if step <= _ROUNDING * float(np.linalg.norm(x)):
                return Outcome(x, values, ReturnCode.STALLED, direction, penalties)
            gradients_next = program.gradients(x_next)
            penalised = direction.equalities - penalties
            curvature.update(
                x_next - x,
                _lagrangian_gradient(gradients_next, direction, penalised)
                - _lagrangian_gradient(gradients, direction, penalised),
            )
            penalties = _raised(penalties, gradients_next, direction, program.linear_jacobian)
            x, values, gradients = x_next, values_next, gradients_next
            if np.max(penalties, initial=0.0) > MAX_PENALTY:
                return Outcome(x, values, ReturnCode.EQUALITIES_UNSATISFIED, direction, penalties)
        raise AssertionError  # the count never ends

    def _failure(self, code: ReturnCode) -> ReturnCode:
        """Why an iteration failed: with ``code``, unless the time was up."""
        return ReturnCode.TIME_LIMIT if self._clock.over else code

    def _stationary(self, here: Linearisation, B: NDArray[np.float64], direction: Direction) -> bool:
        """Return whether the gradient of the Lagrangian (which is -B d0) and the complementarity gap are small."""
        objectives = here.values.objectives
        tolerance = self._tolerances.optimality
        steepness = float(np.linalg.norm(direction.objectives @ here.gradients.objectives))
        program, values = self._program, here.values
        gap = (
            float(direction.objectives @ (np.max(objectives) - objectives))
            - float(direction.inequalities @ values.inequalities)
            + _gap(direction.linear, values.linear, program.linear_lower, program.linear_upper)
            + _gap(direction.bounds, here.x, program.lower, program.upper)
        )
        return bool(
            np.linalg.norm(B @ direction.step) <= tolerance * max(1.0, steepness)
            and gap <= tolerance * max(1.0, float(np.abs(np.max(objectives))))
        )

    def _settled(self, here: Linearisation, direction: Direction) -> bool:
        """Return whether equalities are still violated, yet the model promises little of their penalties back."""
        violation = np.maximum(np.abs(here.values.equalities), self._tolerances.equality)
        return bool(-here.slope(direction.step) <= _SETTLED_DECREASE * float(here.penalties @ violation))

    def _search(
        self, here: Linearisation, B: NDArray[np.float64], direction: Direction
    ) -> tuple[NDArray[np.float64], Values, float] | None:
        """Next iterate, its functions and t on the arc x + t d + t² d~.

        A whole step that violates inequalities even when it is corrected is first drawn anew under their cuts; only
        then are shorter ones tried.
        """
        curved = len(here.values.inequalities) + len(here.values.equalities) > 0
        d0 = direction.step
        for round_ in itertools.count():
            d = self._tilted(here, B, d0) if curved else d0
            slope = here.slope(d)
            x, values = self._on_arc(here, d, 0.0 * d, 1.0)
            holds = self._holds(here, values)
            if round_ == 0:
                self._adapt_tilt(holds)
            if holds and self._decreases(here, values, slope, 1.0):
                return x, values, 1.0
            bend: NDArray[np.float64] = np.zeros(len(d))
            if (curved or len(values.objectives) > 1) and _all_finite(values):
                bend = here.correction(B, d, values)
            if bend.any():
                corrected = self._on_arc(here, d, bend, 1.0)
                if self._holds(here, corrected[1]) and self._decreases(here, corrected[1], slope, 1.0):
                    return *corrected, 1.0
            cut = None if holds or round_ == _CUT_ROUNDS or self._clock.over else here.with_cuts(x, values, self._slack)
            again = None if cut is None else cut.direction(B)
            if cut is None or again is None:
                break
            here, d0 = cut, again.step
        t = _SHORTER
        while t >= _MIN_ARC and not self._clock.over:
            x, values = self._on_arc(here, d, bend, t)
            if self._holds(here, values) and self._decreases(here, values, slope, t):
                return x, values, t
            t *= _SHORTER
        return None

    def _adapt_tilt(self, holds: bool) -> None:
        """C of Lawrence & Tits: more tilt after a step that violates something, less after another."""
        self._tilt = max(_SHORTER * self._tilt, _TILT_LEAST) if holds else min(_TILT_GROWTH * self._tilt, _TILT_LARGEST)

    def _on_arc(
        self, here: Linearisation, d: NDArray[np.float64], bend: NDArray[np.float64], t: float
    ) -> tuple[NDArray[np.float64], Values]:
        x = np.clip(here.x + t * d + t * t * bend, self._program.lower, self._program.upper)
        return x, self._program.values(x)

    def _holds(self, here: Linearisation, values: Values) -> bool:
        """Return whether no nonlinear constraint is violated at a trial point, or more than it is at the iterate."""
        slack = _SLACK * self._tolerances.equality
        return bool(
            (values.inequalities <= np.maximum(here.values.inequalities, self._slack)).all()
            and (values.equalities <= np.maximum(here.values.equalities, slack)).all()
        )

    def _decreases(self, here: Linearisation, values: Values, slope: float, t: float) -> bool:
        """Return whether the penalised objective is low enough at a trial point."""
        before, after = _penalised(here.values, here.penalties), _penalised(values, here.penalties)
        return bool(after <= before + _SUFFICIENT_DECREASE * t * slope + _ROUNDING * max(1.0, abs(before)))

    def _tilted(self, here: Linearisation, B: NDArray[np.float64], d0: NDArray[np.float64]) -> NDArray[np.float64]:
        """(1 - rho) d0 + rho d1: as much of the feasible descent as keeps nearly active constraints at bay."""
        length = float(np.linalg.norm(d0))
        margin = min(self._tilt * length**2, length)
        constraints = np.concatenate([here.values.inequalities, here.values.equalities])
        rows = np.vstack([here.gradients.inequalities, here.gradients.equalities])
        along_0 = constraints + rows @ d0
        if not (along_0 > -margin).any():
            return d0
        d1 = here.feasible_descent(B, d0)
        if d1 is None:
            return d0
        # largest share with which a constraint that d0 brings too near still stays no farther than the margin
        along_1 = constraints + rows @ d1
        near = along_0 > -margin
        fall = along_0[near] - along_1[near]
        share = np.where(fall > 0.0, (along_0[near] + margin) / np.where(fall > 0.0, fall, 1.0), 1.0)
        rho = float(np.clip(share, 0.0, 1.0).max())
        slope_0 = here.slope(d0)
        for _ in range(60):
            d = (1.0 - rho) * d0 + rho * d1
            if here.slope(d) <= _TILT_DESCENT * slope_0:
                return np.asarray(d)
            rho *= _SHORTER
        return d0


class _Curvature:
    """Hessian of the model: the program's own where it knows one, else damped BFGS of the Lagrangian."""

    def __init__(self, size: int) -> None:
        self._B = np.eye(size)
        self._fresh = True

    def matrix(self, known: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """(n, n) positive definite Hessian; ``known`` is the objective's (n, n), positive semidefinite."""
        if known is None:
            return self._B
        least = max(_MIN_CURVATURE, _MIN_RELATIVE_CURVATURE * float(np.abs(known).max(initial=0.0)))
        return known + least * np.eye(len(known))

    def update(self, s: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Take in the change ``y`` (n,) of the Lagrangian's gradient along the step ``s`` (n,); Powell's damping."""
        if not np.isfinite(y).all():
            return
        if self._fresh and s @ y > 0.0:  # Nocedal & Wright (6.20)
            self._B *= (y @ y) / (s @ y)
        self._fresh = False
        Bs = self._B @ s
        sBs = float(s @ Bs)
        sy = float(s @ y)
        if sy < _POWELL_DAMPING * sBs:
            theta = (1.0 - _POWELL_DAMPING) * sBs / (sBs - sy)
            y = theta * y + (1.0 - theta) * Bs
            sy = _POWELL_DAMPING * sBs
        self._B += np.outer(y, y) / sy - np.outer(Bs, Bs) / sBs


def _gap(
    multipliers: NDArray[np.float64],
    values: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> float:
    """Return the sum of multipliers times distances to the bounds that they belong to."""
    acting = np.where(multipliers > 0.0, upper, np.where(multipliers < 0.0, lower, values))
    return float(np.abs(multipliers) @ np.abs(acting - values))


def _all_finite(functions: Values | Gradients) -> bool:
    return all(bool(np.isfinite(part).all()) for part in vars(functions).values())


def _penalised(values: Values, penalties: NDArray[np.float64]) -> float:
    """max_i f_i - sum p g'."""
    return float(np.max(values.objectives) - penalties @ values.equalities)


def _lagrangian_gradient(
    gradients: Gradients, direction: Direction, equalities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n,) gradient of the Lagrangian without its linear terms, whose differences don't change."""
    return np.asarray(
        direction.objectives @ gradients.objectives
        + direction.inequalities @ gradients.inequalities
        + equalities @ gradients.equalities
    )


def _raised(
    penalties: NDArray[np.float64], gradients: Gradients, direction: Direction, linear_jacobian: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(me,) penalties, raised where the oriented equalities' multipliers would otherwise become negative.

    Those are penalty and multiplier of the equality together; the latter is estimated by least squares on the gradient
    of the Lagrangian at the new iterate.
    """
    if not len(penalties) or not _all_finite(gradients):
        return penalties
    rest = (
        _lagrangian_gradient(gradients, direction, np.zeros(len(penalties)))
        + direction.linear @ linear_jacobian
        + direction.bounds
    )
    estimate = np.linalg.lstsq(gradients.equalities.T, -rest, rcond=1e-10)[0]
    return np.where(
        penalties + estimate >= _MIN_PENALTY_EXCESS,
        penalties,
        np.maximum(_MIN_PENALTY_EXCESS - estimate, _PENALTY_GROWTH * penalties),
    )
