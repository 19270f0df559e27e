# SPDX-License-Identifier: Apache-2.0
"""Sequential quadratic programming with a trust region and elastic constraints: the fast default for postures."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import (
    Clock,
    NonlinearProgram,
    ReturnCode,
    SolverOptions,
    SolverResult,
    contradiction,
    share_of_equalities,
    tolerances,
    violation,
)
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, QuadraticSolution, solve_quadratic_program

_COMPLIANCE = 1e-8
"""Of elastic constraints, relative to the Hessian: one is missed by this times its multiplier."""
_FAR, _SOFT = 0.3, 1e-2
"""Violation beyond which constraints are as compliant as that: far away, linearisations that contradict each other are
settled better by a compromise that stays near than by the last bit of one that doesn't. Needs the true Hessian."""
_PROXIMAL = 1e-3
"""Added to the Hessian's diagonal: it may be singular, as for a floating base that no criterion holds."""
_FIRST_RADIUS, _MAX_RADIUS, _MIN_RADIUS = 0.5, 2.0, 1e-9
"""Of the trust region, for variables of size one (rad, m), and times a tenth of the largest variable or violation at
the start beyond that."""
_ACCEPTED = 0.05
"""Least ratio of actual to predicted decrease of the merit for a whole step."""
_FRACTIONS = (0.5, 0.2, 0.06)
"""Of a refused step that are tried along it, which costs no quadratic program."""
_GAIN = 10.0
"""Expected gain at an optimum, relative to the objective and in squares of the tolerance on its gradient."""
_RESTORED = 0.7
"""Part of the violation that a restoring step may leave at most."""
_NEARLY_OPTIMAL = 0.1
"""Violation from which an optimal point is only restored."""
_INSIDE, _INSIDE_OPTIMUM = 100.0, 0.1
"""Inequalities aim inside their bounds by so many of their tolerances, but not more than that part of the objective's:
then curvature alone doesn't violate them."""
_SHORT = 1e-3
"""Radius of the trust region at which a violation is taken for final."""
_STATIONARY = 1e-3
"""Relative predicted decrease of the violation, for a step of 0.1, below which there is none."""
_TROUBLE, _HOPELESS, _LARGE = 3.0, 0.5, 0.05
"""A model that leaves more than that part of a violation of more than that, and whose step can't be taken whole, is one
trouble; half a trouble is forgotten where it can, all where a model leaves less. On a long way steps are taken
whole."""
_WINDOW, _LEARNING, _KEPT, _WAY = 3, 3, 0.8, 0.1
"""Steps without progress: after so many, more than this part of the violation is left, and it fell by less than that a
step: on a way of many metres a good step is a small part. BFGS gets some more steps."""


class _Stop(Exception):  # noqa: N818
    """Carries the code and the words up from wherever the solution ends without success."""

    def __init__(self, code: ReturnCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class _Point:
    """Values at a point."""

    x: NDArray[np.float64]
    objective: float
    constraints: NDArray[np.float64]
    excess: float  # 2-norm of the violations
    residual: float  # largest violation
    feasible: bool  # all constraints are within their tolerances


@dataclass
class _Model:
    """Derivatives at a point."""

    gradient: NDArray[np.float64]
    J: NDArray[np.float64]
    H: NDArray[np.float64]  # of the objective, regularised, or of the Lagrangian by BFGS
    exact: bool  # the former


def solve_sqp(
    program: NonlinearProgram,
    x0: NDArray[np.float64],
    options: SolverOptions,
    warm_start: SolverResult | None = None,
) -> SolverResult:
    r"""Local minimiser of a program, or the least-violating point met on the way.

    Each iteration minimises a quadratic model over the linearised constraints, a box around the iterate (the trust
    region) and the variables' bounds; iterates never leave the latter. Constraints are elastic with a steep quadratic
    cost, so that contradicting linearisations and dependent constraints are no failure: the step then is the one that
    violates least, and among those the best; far from all constraints, the cost is less steep. A step, or a part of
    it, is accepted by the penalty function f + rho \\|v\\|, v being the violations. Once the objective has no more to
    gain, steps only restore feasibility, by the shortest way.

    Inequalities aim inside their bounds by a hundred tolerances, so that a step's curvature doesn't leave them violated
    again and again. The Hessian is the program's (Gauss-Newton), the curvature of constraints that the program knows
    under their multipliers, and its damping; without one, damped BFGS of the Lagrangian.

    Where even the model can't reduce the violation, or some steps in a row hardly do, the constraints contradict each
    other nearby.

    Sources: trust region with elastic constraints and l2 penalty after Byrd and Omojokun (Nocedal & Wright 2006,
    section 18.5), penalty update (18.36), damped BFGS (procedure 18.2).

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
        self.clock = Clock(options.time_limit, options.stop)
        self.n, self.m = program.size, len(program.constraint_lower)
        self.tolerance = tolerances(program, options)
        self.pattern = program.nonzeros
        self.iterations = self.evaluations = self.jacobian_evaluations = 0
        self.best: _Point | None = None
        self.working_set: NDArray[np.float64] | None = None
        self.H: NDArray[np.float64] = np.zeros((0, 0))
        self.multipliers: NDArray[np.float64] = np.zeros(self.m)
        self.bound_multipliers: NDArray[np.float64] = np.zeros(self.n)
        self.damping: NDArray[np.float64] = np.full(self.n, _PROXIMAL)
        damping = program.damping
        #: Damped variables need no trust region.
        self.trusted: NDArray[np.bool_] = np.ones(self.n, bool)
        if damping is not None:
            self.damping += damping
            self.trusted = damping == 0.0
        equality = program.constraint_lower == program.constraint_upper
        width = program.constraint_upper - program.constraint_lower
        depth = min(_INSIDE * options.inequality_tolerance, _INSIDE_OPTIMUM * options.optimality_tolerance)
        inside = np.where(equality, 0.0, np.minimum(depth, 0.1 * width))
        self.inside: NDArray[np.float64] = np.where(program.linear, 0.0, inside)

    # Evaluation of the program

    def evaluate(self, x: NDArray[np.float64]) -> _Point:
        """Values at a point within the bounds; the excess is infinite where any is not finite."""
        x = _clipped(x, self.program.lower, self.program.upper)
        self.evaluations += 1
        objective = float(self.program.objective(x))
        constraints = np.array(self.program.constraints(x), dtype=float)
        if not (math.isfinite(objective) and np.isfinite(constraints).all()):
            return _Point(x, objective, constraints, math.inf, math.inf, False)
        size = np.abs(violation(self.program, constraints))
        return _Point(
            x,
            objective,
            constraints,
            math.sqrt(size @ size),
            float(size.max(initial=0.0)),
            bool((size <= self.tolerance).all()),
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

    def model(self, x: NDArray[np.float64], earlier: _Model | None, step: NDArray[np.float64] | None) -> _Model:
        """Return derivatives at a point; without a Hessian of the program's, BFGS goes on from the earlier point's."""
        J = self.jacobian(x)
        gradient = np.array(self.program.objective_gradient(x), dtype=float)
        own = self.program.objective_hessian(x)
        if not np.isfinite(gradient).all() or (own is not None and not np.isfinite(own).all()):
            raise _Stop(ReturnCode.STEP_SEARCH_FAILED, "the derivatives of the objective are not finite")
        if own is not None:
            H = np.array(own, dtype=float)
            H[np.diag_indices(self.n)] += self.damping
        elif earlier is None or step is None:
            H = np.eye(self.n)
        else:
            y = gradient - earlier.gradient + (J - earlier.J).T @ self.multipliers
            H = _damped_bfgs(earlier.H, step, y, self.jacobian_evaluations == 2)
        return _Model(gradient, J, H, own is not None)

    # The whole solution

    def solve(self, x0: NDArray[np.float64], warm_start: SolverResult | None) -> SolverResult:
        """Return result, whatever the end."""
        x = _clipped(np.asarray(x0, dtype=float), self.program.lower, self.program.upper)
        code, message = ReturnCode.SUCCESS, "solved"
        try:
            self.minimise(self.satisfy_linear(x), warm_start)
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

    def satisfy_linear(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Nearest point that satisfies the linear constraints and the bounds (phase 1a of section 4.3.2)."""
        program, linear = self.program, np.asarray(self.program.linear, bool)
        if (program.lower > program.upper).any() or (program.constraint_lower > program.constraint_upper).any():
            raise _Stop(ReturnCode.LINEAR_INFEASIBLE, "a lower bound is above its upper bound")
        if not linear.any():
            return x
        self.evaluations += 1
        c = np.array(program.constraints(x), dtype=float)
        if not np.isfinite(c[linear]).all() or (np.abs(violation(program, c)) <= self.tolerance)[linear].all():
            return x
        step = solve_quadratic_program(
            QuadraticProgram(
                np.eye(self.n),
                np.zeros(self.n),
                self.jacobian(x)[linear],
                (program.constraint_lower - c)[linear],
                (program.constraint_upper - c)[linear],
                program.lower - x,
                program.upper - x,
            )
        )
        if step is None:
            raise _Stop(ReturnCode.LINEAR_INFEASIBLE, "no point satisfies the linear constraints and the bounds")
        return _clipped(x + step.x, program.lower, program.upper)

    def minimise(self, x: NDArray[np.float64], warm_start: SolverResult | None) -> None:
        """Iterate to a solution; raises _Stop at any other end."""
        point = self.evaluate(x)
        if not math.isfinite(point.excess):
            finite = np.isfinite(point.constraints)
            row = int(np.argmin(finite))
            what = (
                f"objective is {point.objective}" if finite.all() else f"constraint {row} is {point.constraints[row]}"
            )
            raise InputError(f"the {what} there", element="x0", remedy="Start where all functions are defined")
        self.best = point
        if warm_start is not None:
            self.multipliers = np.array(warm_start.multipliers)
            self.working_set = np.concatenate([warm_start.bound_multipliers, warm_start.multipliers])
        # A way to go counts as a large variable does: in steps of a metre it would look like standing still.
        size = max(1.0, 0.1 * max(float(np.abs(point.x).max(initial=0.0)), point.residual))
        radius, penalty, restoring, nearly = _FIRST_RADIUS * size, 1.0, False, _NEARLY_OPTIMAL
        history = [point.excess]
        idle, trouble = 0, 0.0
        model = self.model(point.x, None, None)
        while True:
            self.check_limits()
            step = self.step(point, model, radius, restoring)
            d = step.x
            left = violation(self.program, point.constraints + model.J @ d)
            predicted_excess = math.sqrt(left @ left)
            if restoring:
                self.iterations += 1
                trial = self.evaluate(point.x + d)
                self.show(point, radius, d, "restored")
                if trial.excess < _RESTORED * point.excess:
                    point, model = trial, self.model(trial.x, model, None)
                    self.note(point)
                    if point.feasible:
                        return
                else:
                    restoring, nearly = False, 0.3 * nearly
                    self.inside = 0.1 * self.inside
                continue
            reduction = point.excess - predicted_excess
            consistent = predicted_excess <= 1e-3 * max(point.excess, 0.1)
            if consistent:
                self.multipliers, self.bound_multipliers = step.multipliers, step.bound_multipliers
            gain = -float(model.gradient @ d + 0.5 * d @ (self.H @ d))
            tolerance = self.options.optimality_tolerance
            # What a gradient of the tolerance's size could still gain, or less; the curvature by BFGS can't tell.
            length = float(np.abs(d[self.trusted]).max(initial=0.0))
            allowed = _GAIN * tolerance**2 * max(0.1, abs(point.objective))
            negligible_gain = model.exact and length < 0.99 * radius and abs(gain) <= allowed
            optimal = negligible_gain or self.optimality(point, model, step, radius) <= tolerance
            if point.feasible and optimal:
                self.best = point
                return
            if not point.feasible:
                idle = idle + 1 if reduction <= _STATIONARY * point.excess * min(1.0, radius / 0.1) else 0
                if idle >= 2 or trouble >= _TROUBLE or self.idles(history, predicted_excess, model.exact):
                    if self.inside.any() and point.excess < 100.0 * float(self.inside.max()):
                        # Perhaps there is no room to aim inside.
                        self.inside, idle, trouble, history = 0.0 * self.inside, 0, 0.0, [point.excess]
                        continue
                    raise _Stop(*contradiction(self.share(point)))
            if reduction > 0.0 and point.excess > 1e-9:
                penalty = max(0.7 * penalty, -gain / (0.7 * reduction) + 0.1 if gain < 0.0 else 1.0)
            predicted = gain + penalty * reduction
            if point.feasible and predicted <= 1e-15 * max(1.0, abs(point.objective)):
                if predicted <= 0.0:
                    # What is left to gain is less than what the tolerated violation costs.
                    self.best = point
                    return
                raise _Stop(ReturnCode.STALLED, "the iterate no longer changes")
            negligible = predicted <= 1e-12 * max(1.0, abs(point.objective))

            def merit(p: _Point, rho: float = penalty) -> float:
                return p.objective + rho * p.excess

            self.iterations += 1
            before = merit(point)
            trial = self.evaluate(point.x + d)
            ratio = (before - merit(trial)) / max(predicted, 1e-16)
            accepted = ratio > _ACCEPTED or negligible
            if predicted_excess <= _HOPELESS * point.excess or point.excess < _LARGE:
                trouble = 0.0
            else:
                trouble = max(0.0, trouble - 0.5) if accepted else trouble + 1.0
            if not accepted:
                for fraction in _FRACTIONS:
                    part = self.evaluate(point.x + fraction * d)
                    if before - merit(part) > 0.1 * fraction * predicted:
                        trial, ratio, accepted = part, 0.5, True
                        radius = max(min(radius, 2.0 * fraction * length), 1e-3)
                        break
            self.show(point, radius, d, f"ratio {ratio:8.2g}{'' if accepted else ' rejected'}")
            if not accepted:
                radius = 0.35 * min(radius, float(np.abs(d).max()))
                if radius < _SHORT * size and point.excess > 1e3 * self.options.equality_tolerance:
                    # A kink of the merit, where every step trades one violation for another.
                    raise _Stop(*contradiction(self.share(point)))
                if radius < _MIN_RADIUS * size:
                    raise _Stop(ReturnCode.STEP_SEARCH_FAILED, "no step keeps what the derivatives promise")
                continue
            if ratio > 0.7 and length > 0.9 * radius:
                radius = min(2.0 * radius, _MAX_RADIUS * size)
            elif ratio < 0.25:
                radius = max(0.5 * radius, 1e-6)
            taken = trial.x - point.x
            if not taken.any():
                raise _Stop(ReturnCode.STALLED, "the iterate no longer changes")
            point, model = trial, self.model(trial.x, model, taken)
            self.note(point)
            history.append(point.excess)
            if optimal and consistent and not point.feasible and point.excess < nearly:
                restoring = True

    def step(self, point: _Point, model: _Model, radius: float, restoring: bool) -> QuadraticSolution:
        """Return the minimiser of the model in the trust region; of the step's length alone when only restoring."""
        program = self.program
        H, gradient = model.H, model.gradient
        if restoring:
            H, gradient = np.eye(self.n), np.zeros(self.n)
        else:
            curvature = program.constraint_curvature(point.x, self.multipliers)
            if curvature is not None:
                H = H + curvature
        self.H = H
        base = _SOFT if model.exact and point.excess > _FAR and not restoring else _COMPLIANCE
        # A steep elastic row is missed by its compliance times its multiplier: it aims that much farther.
        c = point.constraints + _COMPLIANCE * self.multipliers
        inside = 0.0 if point.feasible else self.inside
        reach = np.where(self.trusted, radius, np.inf)
        ridge = max(1.0, float(H.diagonal().max(initial=0.0)))
        for factor, stiffening, guess in (
            (1.0, 0.0, self.working_set),
            (1.0, 0.0, None),
            (100.0, 1e-6, None),
            (1e4, 1e-3, None),
        ):
            self.check_time()
            quadratic = QuadraticProgram(
                H + stiffening * ridge * np.eye(self.n) if stiffening else H,
                gradient,
                model.J,
                program.constraint_lower + inside - c,
                program.constraint_upper - inside - c,
                np.maximum(program.lower - point.x, -reach),
                np.minimum(program.upper - point.x, reach),
            )
            solution = solve_quadratic_program(
                quadratic,
                weights=np.ones(self.m),
                compliance=factor * base,
                working_set=guess,
                time_limit=self.clock.left,
            )
            if solution is not None:
                self.working_set = np.concatenate([solution.bound_multipliers, solution.multipliers])
                return solution
        self.check_time()
        raise _Stop(ReturnCode.DIRECTION_FAILED, "the quadratic program could not be solved")

    def optimality(self, point: _Point, model: _Model, step: QuadraticSolution, radius: float) -> float:
        """Return the norm of the projected gradient of the Lagrangian, relative to the objective's gradient or 1."""
        d = step.x
        # Multipliers of the trust region's sides are no part of a solution.
        at_side = self.trusted & (np.abs(d) >= 0.999 * radius)
        at_side &= (d < self.program.upper - point.x) & (d > self.program.lower - point.x)
        rest = self.H @ d + np.where(at_side, step.bound_multipliers, 0.0)
        return float(np.abs(rest).max(initial=0.0)) / max(1.0, float(np.abs(model.gradient).max(initial=0.0)))

    def share(self, point: _Point) -> float:
        """Return the part of a point's violation that is the equalities'."""
        return share_of_equalities(self.program, violation(self.program, point.constraints), self.tolerance)

    def note(self, point: _Point) -> None:
        """Keep the best point: the least objective among feasible ones, else the least violation."""
        best = self.best
        if best is None or (
            (not best.feasible or point.objective < best.objective)
            if point.feasible
            else not best.feasible and point.excess < best.excess
        ):
            self.best = point

    def idles(self, history: list[float], predicted_excess: float, exact: bool) -> bool:
        """Whether the violation has hardly fallen over the last steps, and the model doesn't promise that it will."""
        window = _WINDOW if exact else _WINDOW + _LEARNING
        if len(history) <= window or history[-1] < 1e3 * self.options.equality_tolerance:
            return False
        before = history[-1 - window]
        slow = history[-1] > max(_KEPT * before, before - _WAY * window)
        return slow and predicted_excess > 0.3 * history[-1]

    def check_limits(self) -> None:
        """Raise _Stop when a limit is reached."""
        options = self.options
        if self.iterations >= options.max_iterations:
            raise _Stop(ReturnCode.MAX_ITERATIONS, f"not solved after {self.iterations} iterations")
        self.check_time()

    def check_time(self) -> None:
        """Raise _Stop when the time is up."""
        if self.clock.over:
            raise _Stop(ReturnCode.TIME_LIMIT, f"not solved after {time.perf_counter() - self.started:.3g} s")

    def show(self, point: _Point, radius: float, d: NDArray[np.float64], what: str) -> None:
        """Print a line when asked to."""
        if self.options.verbose:
            print(
                f"sqp {self.iterations:3d}  objective {point.objective:11.5g}  violation {point.residual:7.1e}"
                f"  radius {radius:7.1e}  step {float(np.abs(d).max(initial=0.0)):7.1e}  {what}"
            )


def _clipped(x: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest vector within bounds."""
    return np.minimum(np.maximum(x, lower), upper)


def _damped_bfgs(
    B: NDArray[np.float64], s: NDArray[np.float64], y: NDArray[np.float64], first: bool
) -> NDArray[np.float64]:
    """Powell's damped update over a step s that changes the Lagrangian's gradient by y."""
    along, Bs = float(s @ y), B @ s
    across = float(s @ Bs)
    if across <= 0.0:
        return B
    if first and along > 0.0:
        # The identity takes the size of the curvature first.
        scale = float(y @ y) / along
        B = scale * np.eye(len(s))
        Bs = B @ s
        across = float(s @ Bs)
    theta = 1.0 if along >= 0.2 * across else 0.8 * across / (across - along)
    r = theta * y + (1.0 - theta) * Bs
    return np.asarray(B - np.outer(Bs, Bs) / across + np.outer(r, r) / float(s @ r))
