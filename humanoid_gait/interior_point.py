# SPDX-License-Identifier: Apache-2.0
"""A primal-dual interior-point method with a filter, on programs of stages.

Steps are Newton's of the barrier problem with exact Hessians, made convex where they aren't, and accepted by a filter
of infeasibility and barrier function (A. Wächter, L.T. Biegler, On the implementation of an interior-point filter
line-search algorithm for large-scale nonlinear programming, Math. Program. 106, 2006; letters are theirs). Where the
filter lets nothing, rows are brought nearer to what they have to be (:mod:`humanoid_gait.restoration`). The barrier
parameter falls as theirs does, and further where bounds' products are smaller already (J. Nocedal, A. Wächter, R.A.
Waltz, Adaptive barrier update strategies for nonlinear interior methods, SIAM J. Optim. 19, 2009): half as many steps.
Theirs corrects steps to the second order too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_gait.barrier import BarrierProgram, Iterate
from humanoid_gait.newton_equations import NewtonEquations
from humanoid_gait.program_solution import ProgramSolution, SolverOptions
from humanoid_gait.restoration import Restoration
from humanoid_gait.stages import Linearised, Stages
from humanoid_model.arrays import Array
from humanoid_model.progress import Progress, Watch

_CENTRING = 0.3
"""Share of the mean product of distances and multipliers that the barrier parameter falls to."""
_LONG = 0.5
"""Share of a step behind which it may do so."""
_PUSH = 1e-2
_FIRST_SHIFT, _LEAST_SHIFT, _MOST_SHIFT = 1e-6, 1e-8, 1e6
"""Added to the Hessian's diagonal where it isn't convex: the first try, and its range."""
_SHORTEST = 1e-4
"""Least share of a step that is tried."""
_CRAWL, _CRAWLS = 0.01, 5
"""So many steps in a row, each shorter than this share, lead nowhere."""
_THETA, _PHI = 1e-5, 1e-8
"""Shares of infeasibility by which this, or the barrier function, has to fall."""


class Filter:
    """Pairs of infeasibility and barrier function, either of which a new iterate has to be below."""

    def __init__(self) -> None:
        self._pairs: list[tuple[float, float]] = []

    def lets(self, theta: float, phi: float) -> bool:
        """Whether a pair is below every one that is there, in one or the other."""
        return all(theta <= (1.0 - _THETA) * a or phi <= b - _PHI * a for a, b in self._pairs)

    def add(self, theta: float, phi: float) -> None:
        """Keep later iterates away from a pair."""
        self._pairs.append(((1.0 - _THETA) * theta, phi - _PHI * theta))


class InteriorPoint:
    """Solver of a transcription's program.

    Attributes:
        stages: values and derivatives.
        options: tolerance, iterations.
    """

    def __init__(self, stages: Stages, options: SolverOptions) -> None:
        """Sort the rows."""
        self.stages, self.options = stages, options
        self._program = BarrierProgram(stages)
        self._newton = NewtonEquations(stages, self._program.equal)
        self._last_shift = 0.0

    # Iterations -----------------------------------------------------------------------------------------------------

    def solve(
        self, x: Array, barrier: float, multipliers: Array | None = None, bound_multipliers: Array | None = None,
        watch: Watch | None = None,
    ) -> ProgramSolution:  # fmt: skip
        """Solve from a start, near a solution if it has multipliers.

        Args:
            x: (V,) unknowns.
            barrier: first barrier parameter.
            multipliers: (R,) of the rows.
            bound_multipliers: (V,) of the unknowns' bounds, those of upper ones positive.
            watch: ends the work and is told of it.
        """
        began, program = time.perf_counter(), self._program
        mu, tolerance = barrier, self.options.tolerance
        near = multipliers is not None
        it = program.begin(x, mu, multipliers, bound_multipliers, 1e-6 if near else _PUSH)
        filter_ = Filter()
        least = 1e-4 * max(1.0, program.infeasibility(it))
        restoration: Restoration | None = None
        status, count, crawls, alpha = "iterations are used up", 0, 0, 1.0
        while count < self.options.iterations:
            at = self.stages.linearised(it.x)
            pulls = self._newton.pull(at, it.multipliers)
            error = self._error(it, at, pulls, 0.0)
            if error <= tolerance:
                status = "solved"
                break
            if watch is not None:
                watch.now = Progress("iterates", residual=error, cost=it.cost, iteration=count)
                if watch.over():
                    status = watch.why
                    break
            while mu > tolerance / 10.0 and self._error(it, at, pulls, mu) <= 10.0 * mu:
                mu = max(tolerance / 10.0, min(0.2 * mu, mu**1.5))
                filter_ = Filter()
            nearer = max(tolerance / 10.0, _CENTRING * program.complementarity(it))
            if nearer < 0.99 * mu and alpha > _LONG:
                mu, filter_ = nearer, Filter()
            count += 1
            step = self._step(it, at, mu)
            alpha = 0.0 if step is None else self._search(it, step, mu, filter_, least)
            crawls = crawls + 1 if alpha < _CRAWL else 0
            kept = float(np.abs(program.residual(it)).max(initial=0.0)) <= tolerance
            if alpha > 0.0 and (crawls < _CRAWLS or kept):
                continue
            if kept:
                status = "no step makes it better"
                break
            filter_.add(program.infeasibility(it), self._barrier_function(it, mu))
            restoration = restoration or Restoration(program, tolerance)
            accepts = self._acceptance(filter_, mu)
            why, taken = restoration.restore(it, mu, accepts, self.options.iterations - count, watch)
            count += taken
            self._last_shift, crawls = 0.0, 0
            if why:
                status = why
                break
        pull = it.upper[0] - it.lower[0]
        return ProgramSolution(
            it.x, it.multipliers, pull, it.cost, status == "solved", status, count, time.perf_counter() - began,
            watch is not None and bool(watch.why),
        )  # fmt: skip

    def _acceptance(self, filter_: Filter, mu: float) -> Callable[[Iterate], bool]:
        return lambda it: filter_.lets(self._program.infeasibility(it), self._barrier_function(it, mu))

    def _barrier_function(self, it: Iterate, mu: float) -> float:
        return it.cost - mu * self._program.logarithms(it)

    def _error(self, it: Iterate, at: Linearised, pulls: Array, mu: float) -> float:
        """Greatest of what optimality asks to be zero, with complementarity mu."""
        program = self._program
        of_x = at.gradient + pulls - it.lower[0] + it.upper[0]
        of_slack = -it.multipliers[program.free] - it.lower[1] + it.upper[1]
        rows = program.residual(it)
        worst = max(np.abs(of_x).max(), np.abs(of_slack).max(initial=0.0), np.abs(rows).max(initial=0.0))
        for i, (bounds, values) in enumerate(zip(program.bounds, (it.x, it.slack), strict=True)):
            below, above = bounds.distances(values)
            for has, distance, z in ((bounds.has_lower, below, it.lower[i]), (bounds.has_upper, above, it.upper[i])):
                worst = max(worst, np.abs(distance * z - mu)[has].max(initial=0.0))
        return float(worst)

    # Steps ----------------------------------------------------------------------------------------------------------

    def _step(self, it: Iterate, at: Linearised, mu: float) -> _Step | None:
        """Return Newton's step, None where no shift makes it one downhill."""
        program, free = self._program, self._program.free
        pushes, stiff = program.barriers(it, mu)
        stiffness, forces = np.zeros(len(it.rows)), np.zeros(len(it.rows))
        residual = program.residual(it)
        stiffness[free], forces[free] = stiff[1], stiff[1] * residual[free] - pushes[1]
        H = self.stages.hessian(it.x, at, it.multipliers, stiffness)
        q = at.gradient - pushes[0] + self._newton.pull(at, forces)
        # Where the last step needed a shift this one will; it falls to none as long as steps are convex.
        shift = 0.1 * self._last_shift if self._last_shift > _LEAST_SHIFT else 0.0
        while (found := self._newton.solve(at, H, q, stiff[0] + shift, stiffness, residual)) is None:
            shift = 10.0 * shift if shift else _FIRST_SHIFT
            if shift > _MOST_SHIFT:
                return None
        self._last_shift = shift
        dx, multipliers = found
        d_slack = self._newton.change(at, dx)[free] + residual[free]
        multipliers[free] = stiff[1] * d_slack - pushes[1]
        slope = float((at.gradient - pushes[0]) @ dx - pushes[1] @ d_slack)
        return _Step(dx, d_slack, multipliers, slope)

    def _search(self, it: Iterate, step: _Step, mu: float, filter_: Filter, least: float) -> float:
        """Go as far along a step as the filter lets; return how far, 0 where it lets nothing."""
        program = self._program
        longest, dual, z_steps = program.reach(it, step.x, step.slack, mu)
        theta, phi = program.infeasibility(it), self._barrier_function(it, mu)
        tiny, alpha = 1e-13 * abs(phi), longest
        while alpha >= _SHORTEST * longest:
            new = program.moved(it, step.x, step.slack, alpha)
            if math.isfinite(new.cost) and np.isfinite(new.rows).all():
                theta_new, phi_new = program.infeasibility(new), self._barrier_function(new, mu)
                descends = step.slope < 0.0 and alpha * (-step.slope) ** 2.3 > theta**1.1
                if filter_.lets(theta_new, phi_new):
                    if theta <= least and descends:
                        if phi_new <= phi + 1e-8 * alpha * step.slope + tiny:
                            break
                    elif theta_new <= (1.0 - _THETA) * theta or phi_new <= phi - _PHI * theta + tiny:
                        filter_.add(theta, phi)
                        break
            alpha *= 0.5
        else:
            return 0.0
        program.go(it, new, dual, z_steps, mu)
        it.multipliers = it.multipliers + alpha * (step.multipliers - it.multipliers)
        return alpha


@dataclass(frozen=True, eq=False)
class _Step:
    """Changes of unknowns and slacks, new multipliers, and how the barrier function changes."""

    x: Array
    slack: Array
    multipliers: Array
    slope: float
