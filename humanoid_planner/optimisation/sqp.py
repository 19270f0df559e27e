# SPDX-License-Identifier: Apache-2.0
"""Sequential quadratic programming with a trust region and elastic constraints: the fast default for postures."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from humanoid_planner.optimisation.contradiction import (
    contradiction,
    share_of_equalities,
    tolerances,
    violation,
)
from humanoid_planner.optimisation.program import NonlinearProgram
from humanoid_planner.optimisation.quadratic_program import QuadraticSolution, solve_quadratic_program
from humanoid_planner.optimisation.result import ReturnCode, SolverOptions, SolverResult
from humanoid_planner.optimisation.start import require_finite

_COMPLIANCE = 1e-7
"""Of elastic constraints: an active one is missed by this times the change of its multiplier."""
_INEQUALITY_WEIGHT = 5.0
"""Of inequalities over equalities in the merit; see :func:`_weights`."""
_SECOND_INEQUALITY_WEIGHT = 25.0
"""The same after the first attempt has ended where inequalities are violated."""
_LARGEST_ROW = 100.0
"""Rows of the Jacobian longer than this at the start are scaled down to it."""
_PROXIMAL = 1e-4
"""Added to the Hessian's diagonal, relative to its largest element: it may be singular, as for forces without cost."""
_LEAST_CURVATURE = 1e-6
"""The same for a BFGS matrix, which may become singular."""
_LARGEST_MULTIPLIER = 1e3
"""Of those that guess the constraints' curvature, over the constraint's weight."""
_FIRST_RADIUS = 0.25
"""Of the trust region, for variables of size 1 to 10 (rad, m, weights); a tenth of the largest beyond."""
_ACCEPTED = 0.02
"""Least ratio of actual to predicted decrease of an accepted step."""
_STATIONARY = 1e-3
"""Relative predicted decrease of the violation, for a step of 0.1, below which there is none."""
_IDLE = ((5, 1e5, 0.7), (8, 1e4, 0.6))
"""Steps, violation over tolerance, part of the violation left: the latter after so many steps is no progress.

Of 320 solvable posture problems, none kept more than 0.4 of its violation over such steps.
"""


class _Stop(Exception):  # noqa: N818
    """Carries the code and the words up from wherever the solution ends without success."""

    def __init__(self, code: ReturnCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class _Point:
    """What is known of a point without derivatives."""

    x: NDArray[np.float64]
    objective: float
    constraints: NDArray[np.float64]
    excess: float  # weighted 2-norm of the violations of the included constraints
    total: float  # 2-norm of all violations, without weights
    residual: float  # largest violation
    feasible: bool  # all included constraints are within their tolerances


@dataclass
class _Quadratic:
    """The quadratic model of a point: derivatives, and what the next one starts from."""

    gradient: NDArray[np.float64]
    J: NDArray[np.float64]
    B: NDArray[np.float64]
    own: NDArray[np.float64] | None  # the program's Hessian, regularised; None when it has none
    of_objective: NDArray[np.float64] | None  # the same without the constraints' curvature


def solve_sqp(
    program: NonlinearProgram,
    x0: NDArray[np.float64],
    options: SolverOptions,
    warm_start: SolverResult | None = None,
) -> SolverResult:
    """Local minimiser of a program, or the least-violating point met on the way.

    Each iteration minimises a quadratic model of the Lagrangian over the linearised constraints, a box around the
    iterate (the trust region) and the variables' bounds; iterates never leave the latter. Constraints are elastic with
    a steep quadratic cost, so that contradicting linearisations and dependent constraints are no failure: the step then
    is the one that violates least, and among those the best. A step is accepted by the exact penalty function
    f + nu |W v|, v being the violations, after a second-order correction if need be; once the point is optimal but for
    its violation, steps only restore. Where even the model can't reduce |W v|, or some steps in a row hardly do, the
    constraints contradict each other nearby. If inequalities have their part in that, they are first satisfied alone
    from the start (phase 1b of specification 001 section 4.3.2), and then all is tried once more.

    The Hessian is the program's (Gauss-Newton), to which damped BFGS updates add the constraints' curvature where
    convergence is slow; without one, BFGS from the identity.

    Sources: Byrd and Omojokun's composite steps (Nocedal & Wright 2006, section 18.5, here with the normal and the
    tangential step from one quadratic program), penalty update (18.36), damped BFGS (procedure 18.2), second-order
    correction (section 18.3), stabilised multipliers (Wright 1998, Superlinear convergence of a stabilized SQP method).

    Args:
        program: the problem.
        x0: (n,) start; moved into the bounds.
        options: limits and tolerances.
        warm_start: earlier result of a similar program, whose multipliers and working set start this one.

    Returns:
        The result. Codes: 1 bounds and linear constraints contradict each other; 2, 9, 5 inequalities, equalities,
        both among each other can't be met nearby; 3 and TIME_LIMIT as they say; 4 no step keeps what the derivatives
        promise, or these aren't finite; 8 the iterate no longer changes.

    Raises:
        InputError: the program isn't finite at the start.
    """
    return _Sqp(program, options).solve(x0, warm_start)


class _Sqp:
    """State of one solution."""

    def __init__(self, program: NonlinearProgram, options: SolverOptions) -> None:
        self.program = program
        self.options = options
        self.started = time.perf_counter()
        self.n = program.size
        self.m = len(program.constraint_lower)
        self.equality = program.constraint_lower == program.constraint_upper
        self.tolerance = tolerances(program, options)
        self.weights: NDArray[np.float64] = np.ones(self.m)
        self.included: NDArray[np.bool_] = np.ones(self.m, bool)
        self.relaxations = 0
        self.whole = True  # all constraints are included
        self.pattern = program.nonzeros
        self.iterations = 0
        self.evaluations = 0
        self.jacobian_evaluations = 0
        self.best: _Point | None = None
        self.multipliers: NDArray[np.float64] = np.zeros(self.m)
        self.bound_multipliers: NDArray[np.float64] = np.zeros(self.n)

    # Evaluation of the program

    def violation(self, constraints: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) signed distances out of the bounds: positive above the upper."""
        return violation(self.program, constraints)

    def excess(self, out: NDArray[np.float64]) -> float:
        """Weighted 2-norm of the included violations."""
        weighted = self.weights * out
        if not self.whole:
            weighted = weighted[self.included]
        return math.sqrt(weighted @ weighted)

    def evaluate(self, x: NDArray[np.float64]) -> _Point:
        """Values at a point; its excess is infinite if any is not finite."""
        x = _clipped(x, self.program.lower, self.program.upper)
        self.evaluations += 1
        objective = float(self.program.objective(x))
        constraints = np.array(self.program.constraints(x), dtype=float)
        if not (math.isfinite(objective) and np.isfinite(constraints).all()):
            return _Point(x, objective, constraints, math.inf, math.inf, math.inf, False)
        out = self.violation(constraints)
        size = np.abs(out)
        return _Point(
            x=x,
            objective=objective,
            constraints=constraints,
            excess=self.excess(out),
            total=math.sqrt(size @ size),
            residual=float(size.max(initial=0.0)),
            feasible=bool((size <= self.tolerance)[self.included].all()),
        )

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, n) dense Jacobian."""
        self.jacobian_evaluations += 1
        values = np.asarray(self.program.jacobian(x), dtype=float)
        if self.pattern is not None:
            values = scipy.sparse.coo_array((values, self.pattern.coords), shape=(self.m, self.n)).toarray()
        else:
            values = values.reshape(self.m, self.n).copy()
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise _Stop(ReturnCode.STEP_SEARCH_FAILED, f"the gradient of constraint {row} is not finite")
        return values

    def model(self, x: NDArray[np.float64], J: NDArray[np.float64] | None = None) -> _Quadratic:
        """Quadratic model from the program's derivatives; without equalities, of the distance only."""
        J = self.jacobian(x) if J is None else J
        if not self.whole:
            return _Quadratic(np.zeros(self.n), J, np.eye(self.n), None, None)
        gradient = np.array(self.program.objective_gradient(x), dtype=float)
        own = self.program.objective_hessian(x)
        if not np.isfinite(gradient).all() or (own is not None and not np.isfinite(own).all()):
            raise _Stop(ReturnCode.STEP_SEARCH_FAILED, "the derivatives of the objective are not finite")
        if own is None:
            return _Quadratic(gradient, J, np.eye(self.n), None, None)
        own = np.array(own, dtype=float)
        largest = float(own.diagonal().max(initial=0.0))
        own[np.diag_indices(self.n)] += _PROXIMAL * (largest if largest > 0.0 else 1.0)
        # What the program itself knows of good steps: without it, nearly free variables (contact forces) leap about.
        if self.program.damping is not None:
            own[np.diag_indices(self.n)] += self.program.damping
        curvature = self.program.constraint_curvature(x, self.multipliers)
        bent = own if curvature is None else own + curvature
        return _Quadratic(gradient, J, bent, bent, own)

    # The whole solution

    def solve(self, x0: NDArray[np.float64], warm_start: SolverResult | None) -> SolverResult:
        """Result of all phases."""
        x = _clipped(np.asarray(x0, dtype=float), self.program.lower, self.program.upper)
        code, message = ReturnCode.SUCCESS, "solved"
        try:
            self.solve_phases(x, warm_start)
        except _Stop as stop:
            code, message = stop.code, stop.message
        best = self.best if self.best is not None else self.evaluate(x)
        return SolverResult(
            x=best.x,
            code=code,
            message=message,
            objective=best.objective,
            residual=best.residual,
            iterations=self.iterations,
            evaluations=self.evaluations,
            jacobian_evaluations=self.jacobian_evaluations,
            multipliers=self.multipliers,
            bound_multipliers=self.bound_multipliers,
            time=time.perf_counter() - self.started,
            solver="sqp",
        )

    def solve_phases(self, x: NDArray[np.float64], warm_start: SolverResult | None) -> None:
        """All phases; returns at a solution."""
        x = self.satisfy_linear(x)
        J = self.jacobian(x)
        self.weights = _weights(J, self.equality, _INEQUALITY_WEIGHT)
        start = self.evaluate(x)
        require_finite(start.objective, start.constraints)
        self.best = start
        end = self.minimise(start, self.model(x, J), warm_start)
        if end.feasible:
            return
        share = self.share(end)
        if not self.equality.any() or share > 0.9 or self.share(start) == 1.0:
            raise _Stop(*contradiction(share))
        self.included, self.whole = ~self.equality, False
        begin = self.evaluate(x)
        begin = self.minimise(begin, self.model(x, J), None)
        if not begin.feasible:
            raise _Stop(ReturnCode.INEQUALITIES_INFEASIBLE, "the inequalities contradict each other nearby")
        self.included, self.whole = np.ones(self.m, bool), True
        self.weights = _weights(J, self.equality, _SECOND_INEQUALITY_WEIGHT)
        end = self.minimise(self.evaluate(begin.x), self.model(begin.x), None)
        if not end.feasible:
            raise _Stop(*contradiction(share))

    def share(self, point: _Point) -> float:
        """Part of a point's weighted violation that is the equalities'."""
        out = self.weights * self.violation(point.constraints)
        return share_of_equalities(self.program, out, self.weights * self.tolerance)

    def satisfy_linear(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Nearest point that satisfies the linear constraints and the bounds (phase 1a)."""
        program, linear = self.program, np.asarray(self.program.linear, bool)
        if (program.lower > program.upper).any() or (program.constraint_lower > program.constraint_upper).any():
            raise _Stop(ReturnCode.LINEAR_INFEASIBLE, "a lower bound is above its upper bound")
        if not linear.any():
            return x
        self.evaluations += 1
        c = np.array(program.constraints(x), dtype=float)
        if not np.isfinite(c[linear]).all() or (np.abs(self.violation(c)) <= self.tolerance)[linear].all():
            return x
        step = solve_quadratic_program(
            np.eye(self.n),
            np.zeros(self.n),
            self.jacobian(x)[linear],
            (program.constraint_lower - c)[linear],
            (program.constraint_upper - c)[linear],
            program.lower - x,
            program.upper - x,
        )
        if step is None:
            raise _Stop(ReturnCode.LINEAR_INFEASIBLE, "no point satisfies the linear constraints and the bounds")
        return _clipped(x + step.x, program.lower, program.upper)

    # One phase

    def minimise(self, point: _Point, model: _Quadratic, warm_start: SolverResult | None) -> _Point:
        """A solution of the included constraints, or a point from where their violation no longer falls.

        With equalities left out, any point that satisfies the others will do.
        """
        options, n = self.options, self.n
        radius = _FIRST_RADIUS * max(1.0, 0.1 * float(np.abs(point.x).max(initial=0.0)))
        penalty = 1.0
        multipliers: NDArray[np.float64] = np.zeros(self.m)
        working_set: NDArray[np.float64] | None = None
        if warm_start is not None:
            multipliers = warm_start.multipliers
            working_set = np.concatenate([warm_start.bound_multipliers, multipliers])
        curved, fresh = model.own is None, True
        last_optimality, slow, confirmed = math.inf, 0, False
        history, lengths = [point.excess], [0.0]
        while self.whole or not point.feasible:
            self.check_limits()
            step = self.step(point, model, radius, multipliers, working_set)
            working_set = np.concatenate([step.bound_multipliers, step.multipliers])
            optimality = self.optimality(point, model, step, radius)
            optimal = optimality <= options.optimality_tolerance
            if self.whole:
                self.multipliers, self.bound_multipliers = step.multipliers, step.bound_multipliers
                if optimal and point.feasible:
                    self.best = point
                    break
            restoring = optimal and self.whole
            if restoring:
                still = _Quadratic(np.zeros(n), model.J, model.B, model.own, model.of_objective)
                step = self.step(point, still, radius, np.zeros(self.m), working_set)
            d = step.x
            change = model.J @ d
            predicted_excess = self.excess(self.violation(point.constraints + change))
            reduction = point.excess - predicted_excess
            if not point.feasible:
                if predicted_excess > 0.3 * point.excess and self.idles(history, lengths):
                    break
                if reduction <= _STATIONARY * point.excess * min(1.0, radius / 0.1):
                    if confirmed:
                        break
                    # A violation of the compliance's size vanishes with the right multipliers.
                    multipliers, confirmed = step.multipliers, True
                    continue
            if predicted_excess <= 0.1 * point.excess and self.relaxations < 5:
                # The multipliers are those of a solution, not of a contradiction: nu may have come from far away.
                needed = 2.0 * float(np.linalg.norm(step.multipliers / self.weights))
                if penalty > 5.0 * needed and not restoring:
                    penalty, self.relaxations = max(needed, 1e-3 * penalty), self.relaxations + 1
            slope = 0.0 if restoring else float(model.gradient @ d)
            gain = 0.0 if restoring else -slope - 0.5 * float(d @ (model.B @ d))
            # The constraints' curvature, which grows with nu, must not raise it in turn.
            H = model.B if model.of_objective is None else model.of_objective
            loss = 0.0 if restoring else slope + 0.5 * float(d @ (H @ d))
            if loss > 0.0 and 0.7 * penalty * reduction < loss and reduction > 0.0:
                penalty = 1.5 * loss / reduction
            multipliers = self.bounded(step.multipliers, penalty, point, change)
            if self.whole:
                self.multipliers = multipliers

            def merit(p: _Point, counted: bool = self.whole and not restoring, nu: float = penalty) -> float:
                return (p.objective if counted else 0.0) + nu * p.excess

            before = merit(point)
            rounding = 1e-14 * (abs(before) + abs(point.objective))
            predicted = max(gain + penalty * reduction, 0.0) + rounding
            if point.feasible and predicted <= 2.0 * rounding:
                raise _Stop(ReturnCode.STALLED, "the iterate no longer changes")
            trial = self.evaluate(point.x + d)
            ratio = (before - merit(trial) + rounding) / predicted
            poor = ratio < _ACCEPTED and trial.excess > predicted_excess
            corrected = ""
            if math.isfinite(trial.excess) and (poor or (optimal and not trial.feasible)):
                second = self.step(point, model, radius, multipliers, working_set, trial.constraints - change)
                better = self.evaluate(point.x + second.x)
                second_ratio = (before - merit(better) + rounding) / predicted
                if second_ratio > max(ratio, _ACCEPTED):
                    trial, ratio, corrected = better, second_ratio, "corrected"
            accepted = ratio > _ACCEPTED  # not if NaN or -inf
            length = float(np.abs(d).max(initial=0.0))
            if options.verbose:
                print(
                    f"sqp {self.iterations:3d}  objective {point.objective:11.5g}  violation {point.residual:7.1e}"
                    f"  optimality {optimality:7.1e}  radius {radius:7.1e}  step {length:7.1e}  ratio {ratio:6.2f}"
                    f"  penalty {penalty:7.1e}  {corrected if accepted else 'rejected'}"
                )
            self.iterations += 1
            if ratio > 0.75 and length > 0.99 * radius:
                radius *= 2.0
            elif not accepted:
                radius = 0.4 * length
            elif ratio < 0.25:
                radius = max(0.25 * radius, 0.5 * length)
            if not accepted:
                if radius < 1e-10 * max(1.0, float(np.abs(point.x).max(initial=0.0))):
                    if predicted < 1e-12 * max(1.0, abs(before)):
                        raise _Stop(ReturnCode.STALLED, "the iterate no longer changes")
                    raise _Stop(ReturnCode.STEP_SEARCH_FAILED, "no step keeps what the derivatives promise")
                continue
            taken = trial.x - point.x
            if not taken.any():
                raise _Stop(ReturnCode.STALLED, "the iterate no longer changes")
            slow = slow + 1 if trial.excess < 1e-2 and optimality > 0.3 * last_optimality else 0
            last_optimality, confirmed = optimality, False
            point, earlier, model = trial, model, self.model(trial.x)
            self.note(point)
            curved = curved or slow >= 2
            if curved and self.whole:
                model.B = _updated(earlier, model, taken, multipliers, fresh)
                fresh = False
            history.append(point.excess)
            lengths.append(float(np.abs(taken).max()))
        return point

    def step(
        self,
        point: _Point,
        model: _Quadratic,
        radius: float,
        multipliers: NDArray[np.float64],
        working_set: NDArray[np.float64] | None,
        constraints: NDArray[np.float64] | None = None,
    ) -> QuadraticSolution:
        """Minimiser of the model in the trust region; ``constraints`` stand in for those of the point."""
        program, rows = self.program, self.included
        c = point.constraints if constraints is None else constraints
        # The compliance is relative to the curvature: for very flat objectives, the rows would be all but rigid.
        size = float(model.B.diagonal().max(initial=0.0)) or 1.0
        shifted = c + (_COMPLIANCE / size) * multipliers / self.weights**2
        B, gradient = model.B / size, model.gradient / size
        if model.own is None:
            B[np.diag_indices(self.n)] += _LEAST_CURVATURE
        for compliance, guess in ((1.0, working_set if self.whole else None), (1.0, None), (100.0, None)):
            solution = solve_quadratic_program(
                B,
                gradient,
                model.J if self.whole else model.J[rows],
                (program.constraint_lower - shifted)[rows],
                (program.constraint_upper - shifted)[rows],
                np.maximum(program.lower - point.x, -radius),
                np.minimum(program.upper - point.x, radius),
                weights=self.weights[rows],
                compliance=compliance * _COMPLIANCE,
                working_set=guess,
            )
            if solution is not None:
                every = np.zeros(self.m)
                every[rows] = size * solution.multipliers
                return QuadraticSolution(solution.x, every, size * solution.bound_multipliers, solution.iterations)
        raise _Stop(ReturnCode.DIRECTION_FAILED, "the quadratic program could not be solved")

    def bounded(
        self, multipliers: NDArray[np.float64], penalty: float, point: _Point, change: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Multipliers of a step, unless its violation makes them huge: then the slopes of the penalty function."""
        largest = min(penalty, _LARGEST_MULTIPLIER)
        if float(np.linalg.norm(multipliers / self.weights)) <= largest:
            return multipliers
        left = self.violation(point.constraints + change)
        left[~self.included] = 0.0
        size = float(np.linalg.norm(self.weights * left))
        if size > 1e-3 * point.excess:
            return largest * self.weights**2 * left / size
        bound = largest * self.weights
        return _clipped(multipliers, -bound, bound)

    def optimality(self, point: _Point, model: _Quadratic, step: QuadraticSolution, radius: float) -> float:
        """Norm of the projected gradient of the Lagrangian, relative to the objective's gradient or 1."""
        d = step.x
        # Multipliers of the trust region's sides are no part of a solution.
        at_side = np.abs(d) >= 0.999 * radius
        at_side &= (d < self.program.upper - point.x) & (d > self.program.lower - point.x)
        rest = model.B @ d + np.where(at_side, step.bound_multipliers, 0.0)
        return float(np.abs(rest).max(initial=0.0)) / max(1.0, float(np.abs(model.gradient).max(initial=0.0)))

    def note(self, point: _Point) -> None:
        """Keeps the best point: the least objective among feasible ones, else the least violation."""
        best = self.best
        feasible = point.feasible and self.whole
        if best is None or (
            (not best.feasible or point.objective < best.objective)
            if feasible
            else not best.feasible and point.total < best.total
        ):
            self.best = point

    def idles(self, history: list[float], lengths: list[float]) -> bool:
        """Whether the violation has hardly fallen over the last steps, and not for their shortness."""
        for window, least, kept in _IDLE:
            if len(history) > window and history[-1] > least * self.options.equality_tolerance:
                fall = history[-1 - window] - history[-1]
                if history[-1] > kept * history[-1 - window] and fall < 0.3 * sum(lengths[-window:]):
                    return True
        return False

    def check_limits(self) -> None:
        """Raises _Stop when a limit is reached."""
        options = self.options
        if self.iterations >= options.max_iterations:
            raise _Stop(ReturnCode.MAX_ITERATIONS, f"not solved after {self.iterations} iterations")
        if options.time_limit is not None and time.perf_counter() - self.started > options.time_limit:
            raise _Stop(ReturnCode.TIME_LIMIT, f"not solved after {options.time_limit} s")


def _clipped(x: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest vector within bounds."""
    return np.minimum(np.maximum(x, lower), upper)


def _weights(J: NDArray[np.float64], equality: NDArray[np.bool_], of_inequalities: float) -> NDArray[np.float64]:
    """(m,) weights of the violations in the merit and in elastic constraints.

    A contact that points the wrong way satisfies the equalities (3.31)-(3.33) as the right one does, and is told from
    it by the inequalities (3.34), (3.35) only. Weighted alike, the sum of squares is constant over much of the half
    turn between the two, and a start there ends as easily at the one as at the other; with heavier inequalities it
    falls towards the right one.
    """
    norms = np.sqrt((J * J).sum(axis=1))
    return np.where(equality, 1.0, of_inequalities) / np.maximum(1.0, norms / _LARGEST_ROW)


def _updated(
    earlier: _Quadratic,
    model: _Quadratic,
    s: NDArray[np.float64],
    multipliers: NDArray[np.float64],
    first: bool,
) -> NDArray[np.float64]:
    """Damped BFGS update of the model's matrix over a step s, the objective's own part being known or not."""
    B = earlier.B
    y = (model.J - earlier.J).T @ multipliers
    if model.own is None or earlier.own is None:
        y += model.gradient - earlier.gradient
        along, across = float(s @ y), float(s @ (B @ s))
        if first and along > 0.0:
            B = B * (along / across)  # the identity takes the size of the curvature first
    else:
        B = B + (model.own - earlier.own)
        y += model.own @ s
    Bs = B @ s
    across, along = float(s @ Bs), float(s @ y)
    if across <= 0.0 or abs(along) <= 1e-10 * across:
        return B
    if along < 0.2 * across:  # keeps the matrix positive definite
        theta = 0.8 * across / (across - along)
        y = theta * y + (1.0 - theta) * Bs
        along = 0.2 * across
    B = B - np.outer(Bs, Bs / across) + np.outer(y, y / along)
    return 0.5 * (B + B.T)
