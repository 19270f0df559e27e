# SPDX-License-Identifier: Apache-2.0
"""A primal-dual interior-point method with a filter, on programs of stages.

Steps are Newton's of the barrier problem with exact Hessians, made convex where they aren't, and accepted by a filter
of infeasibility and barrier function (A. Wächter, L.T. Biegler, On the implementation of an interior-point filter
line-search algorithm for large-scale nonlinear programming, Math. Program. 106, 2006; letters are theirs). Theirs
restores feasibility, and corrects steps to the second order, where the filter lets nothing; this one ends there.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from humanoid_gait.program_solution import ProgramSolution, SolverOptions
from humanoid_gait.riccati import Stage, solve_stages
from humanoid_gait.stages import Linearised, Stages
from humanoid_model.arrays import Array
from humanoid_model.progress import Progress, Watch

_PUSH = 1e-2
_RELAX = 1e-8
"""By which bounds are wider than given, relative to them."""
_SAFE = 1e10
"""Factor by which bounds' multipliers may be off from the barrier's."""
_FIRST_SHIFT, _LEAST_SHIFT, _MOST_SHIFT = 1e-6, 1e-8, 1e6
"""Added to the Hessian's diagonal where it isn't convex: the first try, and its range."""
_SHORTEST = 1e-4
"""Least share of a step that is tried."""


class _Bounds:
    """Values with bounds, their distances from them, and the multipliers of these."""

    def __init__(self, lower: Array, upper: Array) -> None:
        wide = _RELAX * np.maximum(1.0, np.abs(np.where(np.isfinite(lower), lower, 0.0)))
        self.lower, self.upper = lower - wide, upper + _RELAX * np.maximum(
            1.0, np.abs(np.where(np.isfinite(upper), upper, 0.0))
        )
        self.has_lower, self.has_upper = np.isfinite(lower), np.isfinite(upper)

    def inside(self, values: Array, push: float) -> Array:
        """Return the values, those near a bound or beyond it moved inside."""
        width = np.where(self.has_lower & self.has_upper, self.upper - self.lower, np.inf)
        low = np.where(self.has_lower, self.lower, 0.0)
        high = np.where(self.has_upper, self.upper, 0.0)
        low += np.minimum(push * np.maximum(1.0, np.abs(low)), push * width)
        high -= np.minimum(push * np.maximum(1.0, np.abs(high)), push * width)
        found = np.where(self.has_lower, np.maximum(values, low), values)
        return np.where(self.has_upper, np.minimum(found, high), found)

    def distances(self, values: Array) -> tuple[Array, Array]:
        """Return those from the lower and the upper bounds; 1 where there is none."""
        below = np.where(self.has_lower, values - self.lower, 1.0)
        return below, np.where(self.has_upper, self.upper - values, 1.0)


@dataclass(eq=False)
class _Iterate:
    """Unknowns, slacks of inequality rows, multipliers of rows and of both kinds' bounds, and what they give."""

    x: Array
    slack: Array
    multipliers: Array
    lower: tuple[Array, Array]
    upper: tuple[Array, Array]
    cost: float = 0.0
    rows: Array = field(default_factory=lambda: np.zeros(0))


class InteriorPoint:
    """Solver of a transcription's program.

    Attributes:
        stages: values and derivatives.
        options: tolerance, iterations.
    """

    def __init__(self, stages: Stages, options: SolverOptions) -> None:
        """Sort the rows."""
        self.stages, self.options = stages, options
        t = stages.transcription
        self._equal = t.row_lower == t.row_upper
        self._free = np.flatnonzero(~self._equal)
        self._target = np.where(self._equal, t.row_lower, 0.0)
        self._of_x = _Bounds(t.lower, t.upper)
        self._of_slack = _Bounds(t.row_lower[self._free], t.row_upper[self._free])
        self._last_shift = 0.0
        layout = t.layout
        self._stage = [(index, k - int(layout.first[index])) for k, index in enumerate(layout.phase_of.tolist())]
        self._path_equal = [self._equal[path[0]] for path in t.paths]

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
        began = time.perf_counter()
        mu, tolerance = barrier, self.options.tolerance
        near = multipliers is not None
        it = self._begin(x, mu, multipliers, bound_multipliers, 1e-6 if near else _PUSH)
        filter_: list[tuple[float, float]] = []
        least = 1e-4 * max(1.0, self._infeasibility(it))
        status, count = "iterations are used up", 0
        for count in range(self.options.iterations + 1):
            if count == self.options.iterations:
                break
            at = self.stages.linearised(it.x)
            pulls = self._pull(at, it.multipliers)
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
                filter_ = []
            step = self._step(it, at, mu)
            if step is None:
                status = "no convex model of it"
                break
            if not self._search(it, step, at, mu, filter_, least):
                status = "no step makes it better"
                break
        pull = it.upper[0] - it.lower[0]
        return ProgramSolution(
            it.x, it.multipliers, pull, it.cost, status == "solved", status, count, time.perf_counter() - began
        )

    def _begin(
        self, x: Array, mu: float, multipliers: Array | None, bound_multipliers: Array | None, push: float
    ) -> _Iterate:
        x = self._of_x.inside(x, push)
        cost, rows = self.stages.values(x)
        slack = self._of_slack.inside(rows[self._free], push)
        found: Array = np.zeros(len(rows)) if multipliers is None else multipliers.copy()
        pairs = []
        own = (np.zeros(len(x)) if bound_multipliers is None else bound_multipliers, found[self._free])
        for bounds, values, known in ((self._of_x, x, own[0]), (self._of_slack, slack, own[1])):
            below, above = bounds.distances(values)
            pairs.append((
                np.where(bounds.has_lower, np.maximum(np.maximum(-known, 0.0), mu / below), 0.0),
                np.where(bounds.has_upper, np.maximum(np.maximum(known, 0.0), mu / above), 0.0),
            ))  # fmt: skip
        return _Iterate(x, slack, found, (pairs[0][0], pairs[1][0]), (pairs[0][1], pairs[1][1]), cost, rows)

    def _residual(self, it: _Iterate) -> Array:
        """(R,) of the rows: from their values, or from their slacks."""
        found = it.rows - self._target
        found[self._free] -= it.slack
        return found

    def _infeasibility(self, it: _Iterate) -> float:
        return float(np.abs(self._residual(it)).sum())

    def _pull(self, at: Linearised, multipliers: Array) -> Array:
        """(V,) the rows' Jacobian transposed, times multipliers (R,)."""
        t = self.stages.transcription
        layout = t.layout
        found, states = np.zeros(layout.unknowns), layout.states()
        for index in range(len(t.points)):
            nodes = slice(layout.first[index], layout.first[index + 1])
            own = np.einsum("krw,kr->kw", at.paths[index], multipliers[t.paths[index]])
            own -= np.einsum("krw,kr->kw", at.dynamics[index], multipliers[t.gaps[nodes]])
            found[layout.stages(index)] += own
            found[states[layout.first[index] + 1 : layout.first[index + 1] + 1]] += multipliers[t.gaps[nodes]]
        for k, rows in enumerate(at.nodes):
            for part in rows:
                found[states[k]] += part.jacobian.T @ multipliers[part.rows]
        return found

    def _error(self, it: _Iterate, at: Linearised, pulls: Array, mu: float) -> float:
        """Greatest of what optimality asks to be zero, with complementarity mu."""
        of_x = at.gradient + pulls - it.lower[0] + it.upper[0]
        of_slack = -it.multipliers[self._free] - it.lower[1] + it.upper[1]
        worst = max(np.abs(of_x).max(), np.abs(of_slack).max(initial=0.0), np.abs(self._residual(it)).max(initial=0.0))
        for i, (bounds, values) in enumerate(((self._of_x, it.x), (self._of_slack, it.slack))):
            below, above = bounds.distances(values)
            for has, distance, z in ((bounds.has_lower, below, it.lower[i]), (bounds.has_upper, above, it.upper[i])):
                worst = max(worst, np.abs(distance * z - mu)[has].max(initial=0.0))
        return float(worst)

    # Steps ----------------------------------------------------------------------------------------------------------

    def _step(self, it: _Iterate, at: Linearised, mu: float) -> _Step | None:
        """Return Newton's step, None where no shift makes it one downhill."""
        barriers, stiff = [], []
        for i, (bounds, values) in enumerate(((self._of_x, it.x), (self._of_slack, it.slack))):
            below, above = bounds.distances(values)
            barriers.append(mu * (bounds.has_lower / below - bounds.has_upper / above))
            stiff.append(it.lower[i] / below + it.upper[i] / above)
        stiffness = np.zeros(len(it.rows))
        stiffness[self._free] = stiff[1]
        H = self.stages.hessian(it.x, at, it.multipliers, stiffness)
        residual = self._residual(it)
        forces = np.zeros(len(it.rows))
        forces[self._free] = stiff[1] * residual[self._free] - barriers[1]
        q = at.gradient - barriers[0] + self._pull(at, forces)
        # Where the last step needed a shift this one will; it falls to none as long as steps are convex.
        shift = 0.1 * self._last_shift if self._last_shift > _LEAST_SHIFT else 0.0
        while (found := solve_stages(self._linear(at, H, q, stiff[0] + shift, stiffness, residual))) is None:
            shift = 10.0 * shift if shift else _FIRST_SHIFT
            if shift > _MOST_SHIFT:
                return None
        self._last_shift = shift
        dx, multipliers = self._gathered(at, found)
        change = self._rows_change(at, dx)[self._free]
        d_slack = change + residual[self._free]
        multipliers[self._free] = stiff[1] * d_slack - barriers[1]
        slope = float((at.gradient - barriers[0]) @ dx - barriers[1] @ d_slack)
        return _Step(dx, d_slack, multipliers, slope)

    def _linear(
        self, at: Linearised, H: list[Array], q: Array, diagonal: Array, stiffness: Array, residual: Array
    ) -> list[Stage]:
        """Return the stages of Newton's equations."""
        t = self.stages.transcription
        layout, size = t.layout, t.layout.state
        found = []
        for k in range(len(layout.starts)):
            own = at.nodes[k]
            E: list[Array] = [np.zeros((0, size))]
            e: list[Array] = [np.zeros(0)]
            last = k == len(layout.starts) - 1
            index, i = (len(t.points), 0) if last else self._stage[k]
            first = int(layout.starts[k])
            places = slice(first, first + H[index].shape[1])
            Q = H[index][i].copy()
            np.einsum("ii->i", Q)[:] += diagonal[places]
            for part in own:
                equal = self._equal[part.rows]
                if equal.all():
                    E.append(part.jacobian)
                    e.append(residual[part.rows])
                else:
                    Q[:size, :size] += part.jacobian.T @ (stiffness[part.rows][:, None] * part.jacobian)
            if last:
                D, C, c, d = None, np.zeros((0, size)), np.zeros(0), np.zeros(0)
            else:
                equal = self._path_equal[index]
                D, d = at.dynamics[index][i], -residual[t.gaps[k]]
                C, c = at.paths[index][i][equal], residual[t.paths[index][i][equal]]
            found.append(Stage(Q, q[places], D, d, C, c, np.vstack(E), np.concatenate(e)))
        return found

    def _gathered(
        self, at: Linearised, found: tuple[list[Array], list[Array], list[Array]]
    ) -> tuple[Array, Array]:
        """Return unknowns (V,) and multipliers (R,) of what stages give."""
        t = self.stages.transcription
        unknowns, costates, rows = found
        multipliers = np.zeros(len(self._equal))
        for k, own in enumerate(rows):
            at_node = [part.rows for part in at.nodes[k] if self._equal[part.rows].all()]
            if k < len(costates):
                multipliers[t.gaps[k]] = costates[k]
                index, i = self._stage[k]
                at_node.insert(0, t.paths[index][i][self._path_equal[index]])
            if at_node:
                multipliers[np.concatenate(at_node)] = own
        return np.concatenate(unknowns), multipliers

    def _rows_change(self, at: Linearised, dx: Array) -> Array:
        """(R,) first change of all rows but those of the dynamics."""
        t = self.stages.transcription
        layout, found = t.layout, np.zeros(len(self._equal))
        for index, J in enumerate(at.paths):
            found[t.paths[index]] = np.einsum("krw,kw->kr", J, dx[layout.stages(index)])
        states = dx[layout.states()]
        for k, rows in enumerate(at.nodes):
            for part in rows:
                found[part.rows] = part.jacobian @ states[k]
        return found

    def _search(
        self, it: _Iterate, step: _Step, at: Linearised, mu: float, filter_: list[tuple[float, float]], least: float
    ) -> bool:
        """Go as far along a step as the filter lets; False where it lets nothing."""
        keep = max(0.99, 1.0 - mu)
        longest, dual, z_steps = 1.0, 1.0, []
        for i, (bounds, values, change) in enumerate(
            ((self._of_x, it.x, step.x), (self._of_slack, it.slack, step.slack))
        ):
            below, above = bounds.distances(values)
            longest = min(longest, _reach(below, change * bounds.has_lower, keep))
            longest = min(longest, _reach(above, -change * bounds.has_upper, keep))
            for has, distance, z, sign in (
                (bounds.has_lower, below, it.lower[i], 1.0), (bounds.has_upper, above, it.upper[i], -1.0)
            ):  # fmt: skip
                dz = np.where(has, mu / distance - z - sign * z / distance * change, 0.0)
                dual = min(dual, _reach(np.where(has, z, 1.0), dz, keep))
                z_steps.append(dz)
        theta, phi = self._infeasibility(it), it.cost - mu * self._logarithms(it.x, it.slack)
        alpha = longest
        while alpha >= _SHORTEST * longest:
            x, slack = it.x + alpha * step.x, it.slack + alpha * step.slack
            cost, rows = self.stages.values(x)
            new = _Iterate(x, slack, it.multipliers, it.lower, it.upper, cost, rows)
            if math.isfinite(cost) and np.isfinite(rows).all():
                theta_new, phi_new = self._infeasibility(new), cost - mu * self._logarithms(x, slack)
                tiny = 1e-13 * abs(phi)
                descends = step.slope < 0.0 and alpha * (-step.slope) ** 2.3 > theta**1.1
                passes = all(theta_new <= 0.99999 * a or phi_new <= b - 1e-8 * a for a, b in filter_)
                if passes and theta <= least and descends:
                    if phi_new <= phi + 1e-8 * alpha * step.slope + tiny:
                        break
                elif passes and (theta_new <= 0.99999 * theta or phi_new <= phi - 1e-8 * theta + tiny):
                    filter_.append((0.99999 * theta, phi - 1e-8 * theta))
                    break
            alpha *= 0.5
        else:
            return False
        it.x, it.slack, it.cost, it.rows = x, slack, cost, rows
        it.multipliers = it.multipliers + alpha * (step.multipliers - it.multipliers)
        pairs = []
        for i, (bounds, values) in enumerate(((self._of_x, x), (self._of_slack, slack))):
            below, above = bounds.distances(values)
            pairs.append(tuple(
                np.where(has, np.clip(z + dual * dz, mu / distance / _SAFE, mu / distance * _SAFE), 0.0)
                for has, distance, z, dz in (
                    (bounds.has_lower, below, it.lower[i], z_steps[2 * i]),
                    (bounds.has_upper, above, it.upper[i], z_steps[2 * i + 1]),
                )
            ))  # fmt: skip
        it.lower, it.upper = (pairs[0][0], pairs[1][0]), (pairs[0][1], pairs[1][1])
        return True

    def _logarithms(self, x: Array, slack: Array) -> float:
        total = 0.0
        for bounds, values in ((self._of_x, x), (self._of_slack, slack)):
            below, above = bounds.distances(values)
            total += float(np.log(below).sum() + np.log(above).sum())
        return total


@dataclass(frozen=True, eq=False)
class _Step:
    """Changes of unknowns and slacks, new multipliers, and how the barrier function changes."""

    x: Array
    slack: Array
    multipliers: Array
    slope: float


def _reach(distance: Array, change: Array, keep: float) -> float:
    """Longest step up to 1 that leaves a share of the distances."""
    closing = change < 0.0
    return float(min(1.0, (-keep * distance[closing] / change[closing]).min(initial=1.0)))
