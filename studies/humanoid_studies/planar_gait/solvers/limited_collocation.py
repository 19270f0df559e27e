# SPDX-License-Identifier: Apache-2.0
"""Pontryagin's conditions of a phase with state limits: boundary value problems, their multipliers improved in turn.

The method of multipliers on :class:`.LimitedExtremalProblem`. Estimates come from the transcription; after each
solution they are improved, and the penalty is made stiffer, by less where Newton's method fails. It ends where neither
changes of the cost nor the excess over any limit matter any more.
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass, field

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.optimal_control.limited_extremal import LimitedExtremalProblem
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.state_multipliers import StateMultipliers
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueResult
from humanoid_studies.planar_gait.solvers.collocation import CollocationOptions, solve_collocation


@dataclass(frozen=True)
class LimitOptions:
    """How the multipliers are improved.

    Attributes:
        first: penalty factor to begin with, of angles and heights [1/(rad² s)] and [1/(m² s)].
        rate_weight: share of it for rates [s²]: 1 rad/s counts as 10 mrad.
        stiffer: factor on the penalty from one solution to the next.
        settled: relative change of the cost that doesn't matter any more: what is left is a small part of it.
        excess: over a limit that doesn't, of rates 1 / sqrt(rate_weight) times as much [rad], [m] and [rad/s].
        acceptable: (change, excess) up to which the last solution still counts where no better one is found.
        rounds: solutions at most.
        halvings: of a step that fails, on a logarithmic scale.
        collocation: settings of each boundary value problem.
    """

    first: float = 1e3
    rate_weight: float = 1e-4
    stiffer: float = 10.0
    settled: float = 1e-4
    excess: float = 1e-5
    acceptable: tuple[float, float] = (5e-4, 2e-4)
    rounds: int = 8
    halvings: int = 3
    collocation: CollocationOptions = field(default_factory=lambda: CollocationOptions(max_nodes=1000, max_newton=15))


@dataclass(frozen=True, eq=False)
class LimitedResult:
    """An extremal within state limits.

    Attributes:
        converged: whether the conditions are solved, the limits kept and the cost settled.
        message: why not.
        extremal: the last problem that was solved, or the first one that wasn't.
        result: its solution.
        cost: augmented Lagrangian, which differs from the criterion within the limits by the square of what the
            multipliers are off; NaN without a solution.
        log: a line for each problem.
    """

    converged: bool
    message: str
    extremal: LimitedExtremalProblem
    result: BoundaryValueResult
    cost: float
    log: tuple[str, ...]


def solve_limited(
    problem: PhaseProblem,
    mesh: Reals,
    x: Reals,
    w: Reals,
    multipliers: StateMultipliers,
    options: LimitOptions | None = None,
    deadline: float = math.inf,
) -> LimitedResult:
    """Solves a phase within its state limits from a transcribed motion.

    Args:
        problem: the phase between given ends; its penalties on state inequalities are replaced.
        mesh: (K,) nodes of the guess.
        x: (K, 2n) states.
        w: (K, 2n) costates.
        multipliers: estimates.
        options: settings.
        deadline: value of ``time.perf_counter`` at which to stop.
    """
    options = options or LimitOptions()
    penalties = dataclasses.replace(
        problem.penalties,
        inequality=options.first,
        range_weight=1.0,
        rate_weight=options.rate_weight,
        clearance_weight=1.0,
    )
    extremal = LimitedExtremalProblem(problem.replace(hard_inequalities=False, penalties=penalties), multipliers)
    y = extremal.pack(x, w, mesh)
    log: list[str] = []
    best: _Solved | None = None
    stiffer, halvings = options.stiffer, 0
    message = f"not settled after {options.rounds} rounds"
    for _ in range(options.rounds):
        result = solve_collocation(extremal, mesh, y, options.collocation, deadline=deadline)
        line = f"penalty factor {extremal.problem.penalties.inequality:.3g}: {result.message}, {len(result.mesh)} nodes"
        if result.converged:
            cost, excess = _cost(extremal, result), extremal.excess(result.y)
            change = abs(cost - best.cost) / abs(cost) if best is not None else math.inf
            best = _Solved(extremal, result, cost, change, excess)
            log.append(f"{line}, cost {cost:.7g}, excess {excess:.1e}")
            if change <= options.settled and excess <= options.excess:
                break
            mesh, y = result.mesh, result.y
        else:
            log.append(line)
            message = result.message
            stiff = 10.0 * options.first
            if best is None and extremal.problem.penalties.inequality < stiff:
                # Where the estimates are good, a stiffer penalty keeps the motion nearer to the transcribed one.
                extremal = extremal.with_multipliers(multipliers, 10.0)
                continue
            halvings += 1
            stiffer = math.sqrt(stiffer)
            if best is None or halvings > options.halvings or time.perf_counter() > deadline:
                break
        extremal = best.extremal.with_multipliers(_improved(best.extremal, best.result), stiffer)
    if best is None:
        return LimitedResult(False, message, extremal, result, math.nan, tuple(log))
    converged = best.change <= options.acceptable[0] and best.excess <= options.acceptable[1]
    return LimitedResult(
        converged, "converged" if converged else message, best.extremal, best.result, best.cost, tuple(log)
    )


@dataclass(frozen=True, eq=False)
class _Solved:
    extremal: LimitedExtremalProblem
    result: BoundaryValueResult
    cost: float
    change: float
    excess: float


def _cost(extremal: LimitedExtremalProblem, result: BoundaryValueResult) -> float:
    """Augmented Lagrangian by Simpson's rule on the solution's own mesh."""
    middles = 0.5 * (result.mesh[1:] + result.mesh[:-1])
    nodes, between = extremal.running_cost(result.y), extremal.running_cost(result.at(middles))
    running = nodes[:-1] + 4.0 * between + nodes[1:]
    return float(extremal.problem.duration / 6.0 * (np.diff(result.mesh) * running).sum())


def _improved(extremal: LimitedExtremalProblem, result: BoundaryValueResult) -> StateMultipliers:
    """Better estimates from a solution."""
    return extremal.improved(result.mesh, result.y, result.at(0.5 * (result.mesh[1:] + result.mesh[:-1])))
