# SPDX-License-Identifier: Apache-2.0
"""The two-phase feasible SQP of specification 001 section 4.3: infeasible inequalities are found first, cheaply."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import Clock, NonlinearProgram, ReturnCode, SolverOptions, SolverResult
from humanoid_studies.feasible_sqp.feasible_descent import (
    FIRST_PENALTY,
    MAX_PENALTY,
    FeasibleDescent,
    Iterate,
    Tolerances,
)
from humanoid_studies.feasible_sqp.one_sided_form import OneSidedForm
from humanoid_studies.feasible_sqp.phase_one import InequalityDescent, InequalityMaximum, satisfy_linear
from humanoid_studies.feasible_sqp.search_direction import Direction

_MESSAGES = {
    ReturnCode.SUCCESS: "solved",
    ReturnCode.LINEAR_INFEASIBLE: "no point satisfies the bounds and the linear constraints (phase 1a)",
    ReturnCode.INEQUALITIES_INFEASIBLE: "no point found that satisfies the nonlinear inequalities (phase 1b)",
    ReturnCode.MAX_ITERATIONS: "iteration limit reached",
    ReturnCode.STEP_SEARCH_FAILED: "no acceptable step along the search arc",
    ReturnCode.DIRECTION_FAILED: "the quadratic program of the search direction has no solution",
    ReturnCode.STALLED: "two consecutive iterates are numerically equal",
    ReturnCode.EQUALITIES_UNSATISFIED: "penalties at their maximum, nonlinear equalities still violated",
    ReturnCode.TIME_LIMIT: "time limit reached",
}


def solve_feasible_sqp(
    program: NonlinearProgram,
    x0: NDArray[np.float64],
    options: SolverOptions | None = None,
    warm_start: SolverResult | None = None,
) -> SolverResult:
    """Solve a nonlinear program by the two-phase feasible SQP of the thesis (specification 001 section 4.3).

    Phase 1a moves to the nearest point that satisfies bounds and linear constraints; phase 1b minimises the largest
    nonlinear inequality until all are satisfied; each is skipped where nothing is violated. Phase 2 minimises the
    objective and the penalised deviations of the oriented equalities, and every iterate of it satisfies all
    inequalities within their tolerance. A :class:`MinimaxProgram` may have several objectives, of which the largest
    is minimised.

    Args:
        program: the program; a sparse Jacobian is made dense.
        x0: (n,) start.
        options: limits and tolerances; None for the defaults.
        warm_start: solution of a program with the same constraints, whose multipliers set the first penalties.

    Returns:
        The solution, or the least-violating point and the thesis' code of the failure.

    Raises:
        InputError: ``x0`` doesn't have the program's size or isn't finite, or the program isn't finite there.
    """
    return _Solution(program, x0, options or SolverOptions()).run(warm_start)


class _Solution:
    """One run of the solver: its counts, its clock and the least-violating point that it met."""

    def __init__(self, program: NonlinearProgram, x0: NDArray[np.float64], options: SolverOptions) -> None:
        x0 = np.array(x0, dtype=np.float64)
        if x0.shape != (program.size,) or not np.isfinite(x0).all():
            raise InputError(f"start of shape {x0.shape}", element="x0", remedy=f"Give {program.size} finite numbers")
        self._began = time.perf_counter()
        self._clock = Clock(options.time_limit, options.stop)
        self._options = options
        self._program = program
        self._form = OneSidedForm(program, x0)
        self._x = x0
        self._least_violation = np.inf
        self._iterations_before = 0  # of the phases that are over
        self._iterations = 0

    def run(self, warm_start: SolverResult | None) -> SolverResult:
        """Phases 1a, 1b and 2."""
        form, options = self._form, self._options
        tolerances = Tolerances(options.equality_tolerance, options.inequality_tolerance, options.optimality_tolerance)
        x = satisfy_linear(form, self._x)
        if x is None:
            return self._result(ReturnCode.LINEAR_INFEASIBLE)
        self._x = x
        values = form.values(x)
        if values.worst_inequality > tolerances.inequality:
            maximum = InequalityMaximum(form)
            outcome = InequalityDescent(maximum, tolerances, self._watch_phase_one, self._clock).run(
                x, maximum.of(values), np.empty(0)
            )
            self._x = x = outcome.x
            values = form.values(x)
            self._iterations_before = self._iterations
            if values.worst_inequality > tolerances.inequality:
                stopped = (ReturnCode.MAX_ITERATIONS, ReturnCode.TIME_LIMIT, ReturnCode.DIRECTION_FAILED)
                return self._result(outcome.code if outcome.code in stopped else ReturnCode.INEQUALITIES_INFEASIBLE)
        values = form.orient(values)
        penalties: NDArray[np.float64] = np.full(len(values.equalities), FIRST_PENALTY)
        if warm_start is not None:
            multipliers = form.equality_multipliers(warm_start.multipliers)
            penalties = np.clip(1.0 - multipliers, FIRST_PENALTY, MAX_PENALTY)
        outcome = FeasibleDescent(form, tolerances, self._watch_phase_two, self._clock).run(x, values, penalties)
        if outcome.code == ReturnCode.SUCCESS:
            self._x = outcome.x
        return self._result(outcome.code, outcome.direction, outcome.penalties)

    def _watch_phase_one(self, iterate: Iterate) -> ReturnCode | None:
        """Phase 1b is over as soon as no inequality is positive."""
        self._iterations = iterate.index
        worst = float(np.max(iterate.values.objectives))
        self._show("1b", iterate, np.nan, worst, np.nan)
        return ReturnCode.SUCCESS if worst <= 0.0 else self._limit()

    def _watch_phase_two(self, iterate: Iterate) -> ReturnCode | None:
        self._iterations = self._iterations_before + iterate.index
        values = iterate.values
        violation = self._form.violation(iterate.x, values)
        if violation <= self._least_violation:
            self._least_violation, self._x = violation, iterate.x
        self._show("2", iterate, float(np.max(values.objectives)), values.worst_inequality, values.worst_equality)
        return self._limit()

    def _limit(self) -> ReturnCode | None:
        if self._clock.over:
            return ReturnCode.TIME_LIMIT
        return ReturnCode.MAX_ITERATIONS if self._iterations >= self._options.max_iterations else None

    def _show(self, phase: str, iterate: Iterate, objective: float, inequality: float, equality: float) -> None:
        """Print an iterate when the options ask for it (F064)."""
        if not self._options.verbose:
            return
        if iterate.index == 0:
            print(
                f"{'phase':>5} {'iteration':>9} {'objective':>14} {'inequality':>11} {'equality':>11} {'step':>10}"
                f" {'arc':>9} {'penalty':>9} {'evaluations':>11}"
            )
        print(
            f"{phase:>5} {self._iterations:>9} {objective:>14.6e} {inequality:>11.3e}"
            f" {equality:>11.3e} {iterate.step:>10.3e} {iterate.arc:>9.2e} {iterate.penalty:>9.2e}"
            f" {self._form.evaluations:>11}"
        )

    def _result(
        self,
        code: ReturnCode,
        direction: Direction | None = None,
        penalties: NDArray[np.float64] | None = None,
    ) -> SolverResult:
        form = self._form
        values = form.values(self._x)
        multipliers: NDArray[np.float64] = np.zeros(len(self._program.linear))
        bound_multipliers: NDArray[np.float64] = np.zeros(self._program.size)
        if direction is not None and penalties is not None:
            multipliers = form.multipliers(direction.inequalities, direction.equalities - penalties, direction.linear)
            bound_multipliers = direction.bounds
        return SolverResult(
            x=self._x,
            code=code,
            message=_MESSAGES[code],
            objective=float(np.max(values.objectives)),
            residual=form.violation(self._x, values),
            iterations=self._iterations,
            evaluations=form.evaluations,
            jacobian_evaluations=form.jacobian_evaluations,
            multipliers=multipliers,
            bound_multipliers=bound_multipliers,
            time=time.perf_counter() - self._began,
            solver="feasible_sqp",
        )
