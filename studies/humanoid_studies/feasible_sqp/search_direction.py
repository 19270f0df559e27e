# SPDX-License-Identifier: Apache-2.0
"""The quadratic programs of an iteration (specification 001 section 4.3.3): direction, feasible descent, correction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.optimisation.program import Clock
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program
from humanoid_studies.feasible_sqp.one_sided_form import Gradients, Values

_EPIGRAPH_CURVATURE = 1e-6  # keeps the programs strictly convex; bends steps a little, and solutions not at all
_CORRECTION_SHARE = 0.01  # nu and tau of Lawrence & Tits: how far inside the correction aims
_CORRECTION_POWER = 2.5


class SortedProgram(Protocol):
    """What the iteration needs of a program: see :class:`OneSidedForm`."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    linear_jacobian: NDArray[np.float64]
    linear_lower: NDArray[np.float64]
    linear_upper: NDArray[np.float64]

    def values(self, x: NDArray[np.float64]) -> Values:
        """All functions at ``x`` (n,)."""

    def gradients(self, x: NDArray[np.float64]) -> Gradients:
        """Return gradients of all nonlinear functions at ``x`` (n,)."""

    def constraint_gradients(self, x: NDArray[np.float64]) -> Gradients:
        """Return gradients of the nonlinear constraints at ``x`` (n,)."""

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n, n) Hessian of a single objective, where known."""


@dataclass(frozen=True)
class Direction:
    """Solution of the direction program.

    Attributes:
        step: (n,) d0.
        objectives: (k,) multipliers of the objectives; they add up to 1.
        inequalities: (mi,) multipliers, >= 0.
        equalities: (me,) multipliers of the oriented equalities g' <= 0, >= 0, penalties not included.
        linear: (ml,) multipliers, positive at the upper bound.
        bounds: (n,) multipliers of the variables' bounds, positive at the upper one.
    """

    step: NDArray[np.float64]
    objectives: NDArray[np.float64]
    inequalities: NDArray[np.float64]
    equalities: NDArray[np.float64]
    linear: NDArray[np.float64]
    bounds: NDArray[np.float64]


@dataclass(frozen=True)
class Linearisation:
    """A program at an iterate: values, gradients and penalties, and the quadratic programs made of them.

    Attributes:
        program: the program.
        x: (n,) the iterate.
        values: its functions there.
        gradients: their gradients.
        penalties: (me,) p of the penalised objective max_i f_i - sum p g' (specification 001 section 4.3.3).
        cuts: (c, n) gradients of inequalities elsewhere: directions keep ``cuts @ d <= cut_bounds`` as well.
        cut_bounds: (c,) not negative.
        clock: of the solution; programs that it stops have no solution.
    """

    program: SortedProgram
    x: NDArray[np.float64]
    values: Values
    gradients: Gradients
    penalties: NDArray[np.float64]
    cuts: NDArray[np.float64]
    cut_bounds: NDArray[np.float64]
    clock: Clock

    @property
    def finite(self) -> bool:
        """Whether all gradients are numbers."""
        return all(bool(np.isfinite(rows).all()) for rows in vars(self.gradients).values())

    def slope(self, d: NDArray[np.float64]) -> float:
        """f'(x, d, p): change of the penalised objective along ``d`` (n,), the functions being linear."""
        objectives = self.values.objectives
        change = float(np.max(objectives + self.gradients.objectives @ d) - np.max(objectives))
        return change - float(self.penalties @ (self.gradients.equalities @ d))

    def with_cuts(self, z: NDArray[np.float64], values: Values, slack: float) -> Linearisation | None:
        """Return this linearisation and that of the inequalities which are violated at ``z`` (n,); None if not new.

        Where an inequality bends within a step (a friction cone near its apex), its gradient here says little of how
        far the step may go; for a convex one the half-space of its gradient at ``z`` contains all that it allows.

        Args:
            z: a point that a direction of this linearisation led to.
            values: functions there.
            slack: inequalities up to this one, or up to their value at the iterate, aren't violated.
        """
        violated = values.inequalities > np.maximum(self.values.inequalities, slack)
        if not violated.any():
            return None
        rows = self.program.constraint_gradients(z).inequalities[violated]
        bounds = rows @ (z - self.x) - values.inequalities[violated]
        kept = np.isfinite(rows).all(axis=1) & (bounds >= 0.0)  # those that a step of zero respects
        if not kept.any():
            return None
        return replace(
            self, cuts=np.vstack([self.cuts, rows[kept]]), cut_bounds=np.append(self.cut_bounds, bounds[kept])
        )

    def direction(self, B: NDArray[np.float64]) -> Direction | None:
        """d0: minimises the quadratic model with Hessian ``B`` (n, n) under the linearised constraints.

        An inequality that is violated within its tolerance may stay so: to mend it could ask for a higher objective,
        which the arc search refuses. None when the program has no solution.
        """
        inequalities, equalities = self.values.inequalities, self.values.equalities
        solution = self._model(
            B, np.zeros(len(self.x)), self.values, np.maximum(-inequalities, 0.0), np.maximum(-equalities, 0.0)
        )
        if solution is None:
            return None
        step, multipliers = solution
        n, ml, mi = len(self.x), len(self.values.linear), len(inequalities)
        bounds, linear, unequal, equal, _, objectives = np.split(
            multipliers, np.cumsum([n, ml, mi, len(equalities), len(self.cuts)])
        )
        return Direction(step, objectives if len(objectives) else np.ones(1), unequal, equal, linear, bounds)

    def feasible_descent(self, B: NDArray[np.float64], d0: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """d1 (n,): close to ``d0``, but descends on the objective and on all nearly active nonlinear constraints.

        min ½ (d - d0)ᵀ B (d - d0) + gamma, with gamma above the slope and above every linearised nonlinear
        constraint. Lawrence & Tits measure d - d0 by eta |d - d0|²: where the curvature ``B`` (n, n) is far above
        their eta, d1 near a solution is many times as long as d0, and the little of it that a tilt takes leads astray.
        """
        n = len(self.x)
        gradients, values = self.gradients, self.values
        objectives = gradients.objectives - self.penalties @ gradients.equalities
        rows = np.vstack(
            [self.program.linear_jacobian, objectives, gradients.inequalities, gradients.equalities, self.cuts]
        )
        epigraph = np.concatenate([np.zeros(len(values.linear)), -np.ones(len(rows) - len(values.linear))])
        upper = np.concatenate(
            [
                self.program.linear_upper - values.linear,
                np.max(values.objectives) - values.objectives,
                -values.inequalities,
                -values.equalities,
                self.cut_bounds,
            ]
        )
        lower = np.full(len(upper), -np.inf)
        lower[: len(values.linear)] = self.program.linear_lower - values.linear
        hessian = np.zeros((n + 1, n + 1))
        hessian[:n, :n] = B
        hessian[n, n] = self._epigraph_curvature()
        solution = _minimise(
            hessian,
            np.append(-B @ d0, 1.0),
            np.column_stack([rows, epigraph]),
            np.concatenate([self.program.lower - self.x, [-np.inf], lower]),
            np.concatenate([self.program.upper - self.x, [np.inf], upper]),
            self.clock,
        )
        return None if solution is None else solution[0][:n]

    def correction(self, B: NDArray[np.float64], d: NDArray[np.float64], ahead: Values) -> NDArray[np.float64]:
        """Second-order correction (n,) of the step ``d`` (n,), from the functions ``ahead`` at x + d.

        Zero where it doesn't exist or is longer than ``d``.
        """
        length = float(np.linalg.norm(d))
        inside = -min(_CORRECTION_SHARE * length, length**_CORRECTION_POWER)
        solution = self._model(B, d, ahead, inside - ahead.inequalities, inside - ahead.equalities)
        if solution is None or np.linalg.norm(solution[0]) > length:
            return np.zeros(len(d))
        return solution[0]

    def _epigraph_curvature(self) -> float:
        """Curvature along the variable above all objectives, small against the decrease that these may promise."""
        steepest = float(np.linalg.norm(self.gradients.objectives, axis=1).max())
        return _EPIGRAPH_CURVATURE / max(1.0, steepest) ** 2

    def _model(
        self,
        B: NDArray[np.float64],
        offset: NDArray[np.float64],
        values: Values,
        inequalities: NDArray[np.float64],
        equalities: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Minimise the model at x + ``offset`` + s over s, gradients times s being at most the given right sides.

        Several objectives are minimised through one more variable, which is above all of them.

        Returns:
            s (n,) and the multipliers of bounds, linear rows, inequalities, equalities, cuts and, if several,
            objectives.
        """
        n = len(self.x)
        gradients = self.gradients
        several = len(values.objectives) > 1
        gradient = B @ offset - self.penalties @ gradients.equalities
        if not several:
            gradient = gradient + gradients.objectives[0]
        base = self.x + offset
        linear = values.linear
        rows = np.vstack([self.program.linear_jacobian, gradients.inequalities, gradients.equalities, self.cuts])
        lower = np.concatenate(
            [
                self.program.lower - base,
                self.program.linear_lower - linear,
                np.full(len(inequalities) + len(equalities) + len(self.cuts), -np.inf),
            ]
        )
        upper = np.concatenate(
            [
                self.program.upper - base,
                self.program.linear_upper - linear,
                inequalities,
                equalities,
                self.cut_bounds - self.cuts @ offset,
            ]
        )
        if not several:
            return _minimise(B, gradient, rows, lower, upper, self.clock)
        k = len(values.objectives)
        rows = np.vstack(
            [
                np.column_stack([rows, np.zeros(len(rows))]),
                np.column_stack([gradients.objectives, -np.ones(k)]),
            ]
        )
        hessian = np.zeros((n + 1, n + 1))
        hessian[:n, :n] = B
        hessian[n, n] = self._epigraph_curvature()
        solution = _minimise(
            hessian,
            np.append(gradient, 1.0),
            rows,
            np.concatenate([np.insert(lower, n, -np.inf), np.full(k, -np.inf)]),
            np.concatenate([np.insert(upper, n, np.inf), np.max(values.objectives) - values.objectives]),
            self.clock,
        )
        if solution is None:
            return None
        return solution[0][:n], np.delete(solution[1], n)


def _minimise(
    hessian: NDArray[np.float64],
    gradient: NDArray[np.float64],
    rows: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    clock: Clock,
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Solve a strictly convex quadratic program; in bounds and multipliers, those of the variables come first."""
    n = len(gradient)
    program = QuadraticProgram(hessian, gradient, rows, lower[n:], upper[n:], lower[:n], upper[:n])
    solution = solve_quadratic_program(program, time_limit=clock.left)
    if solution is None:
        return None
    return solution.x, np.concatenate([solution.bound_multipliers, solution.multipliers])
