# SPDX-License-Identifier: Apache-2.0
"""How well a gait that was solved as a whole fulfils Pontryagin's conditions (003 sections 2.21 and 2.24).

1. Each phase is solved again by itself: the boundary value problem of Pontryagin's conditions between the ends and in
   the time that were found. Its cost has to be the transcription's. State limits that the motion touches hold by an
   augmented Lagrangian there, whose multipliers begin with the transcription's, to some 1e-5.
2. Transversality (:mod:`.transversality`). The costates here are those of the boundary value problems, which know
   nothing of links or of each other.
3. Durations. H is the same in all phases whose duration isn't at a bound, where a mean speed is asked; zero else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.global_step.global_problem import GlobalProblem
from humanoid_studies.planar_gait.global_step.solve_global import GlobalIterate
from humanoid_studies.planar_gait.global_step.transversality import (
    TOUCHED,
    bound_multipliers,
    gait_distance,
    limit_multipliers,
    transversality,
)
from humanoid_studies.planar_gait.mechanism.phase_model import Joint
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem
from humanoid_studies.planar_gait.optimal_control.state_multipliers import StateMultipliers
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueResult
from humanoid_studies.planar_gait.solvers.collocation import solve_collocation
from humanoid_studies.planar_gait.solvers.limited_collocation import solve_limited
from humanoid_studies.planar_gait.solvers.phase_solution import (
    PhaseSamples,
    PhaseSolution,
    SolverOutcome,
    solution_from_samples,
)
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions

_AGREED = 5e-3
"""Relative difference of cost beyond which both solutions aren't the same one."""
_CLOSE_COST, _CLOSE = 3e-4, 1e-2
"""Relative differences of a phase's cost, and of costates and H, below which the transcription is fine enough."""


@dataclass(frozen=True, eq=False)
class OptimalityProof:
    """Residuals of the conditions of optimality.

    Attributes:
        phases: each phase as Pontryagin's conditions give it.
        cost_gaps: (P,) relative difference of each phase's cost to the transcription's.
        cost_gap: of the sum.
        touched: names of the state limits that each phase touches, which are penalties in ``phases``.
        hamiltonians: (P,) H of each phase, of its own cost.
        free_durations: (P,) whether the duration is at neither bound.
        hamiltonian_gap: greatest difference of H between free durations (with a speed asked), or of H from zero, over
            the mean rate of cost |J| / T or the greatest |H|, whichever is greater.
        jumps: (transitions,) of the costates at each transition what links don't account for, over their size. This and
            the other gaps are NaN where a phase isn't solved.
        length_gap: what they don't account for in the step lengths, over F.
        seconds: time of it all.
    """

    phases: tuple[PhaseSolution, ...]
    cost_gaps: Reals
    cost_gap: float
    touched: tuple[tuple[str, ...], ...]
    hamiltonians: Reals
    free_durations: NDArray[np.bool_]
    hamiltonian_gap: float
    jumps: Reals
    length_gap: float
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether Pontryagin's conditions were solved in every phase."""
        return all(phase.converged for phase in self.phases)

    @property
    def agrees(self) -> bool:
        """Whether they were, and give the transcription's cost to within half a percent."""
        return self.solved and self.cost_gap <= _AGREED

    @property
    def close(self) -> bool:
        """Whether a finer transcription isn't worth while: all gaps are small, and all limits kept."""
        return (
            self.agrees
            and not self.coarse_phases
            and max(self.hamiltonian_gap, float(self.jumps.max(initial=0.0)), self.length_gap) <= _CLOSE
        )

    @property
    def coarse_phases(self) -> tuple[int, ...]:
        """Phases whose transcription is too coarse: without an extremal within the limits at about the same cost."""
        return tuple(
            index
            for index, (phase, gap) in enumerate(zip(self.phases, self.cost_gaps, strict=True))
            if not (phase.converged and gap <= _CLOSE_COST) or phase.violations
        )

    def report(self) -> str:
        """Return a few lines."""
        touched = sorted({name for names in self.touched for name in names})
        H = ", ".join(
            f"{value:.4f}{'' if free else ' (duration at a bound)'}"
            for value, free in zip(self.hamiltonians, self.free_durations, strict=True)
        )
        return "\n".join(
            [
                f"Pontryagin's conditions {'met' if self.solved else 'not met'} in each phase, "
                f"cost {self.cost_gap:.1e} off, by phase {', '.join(f'{gap:.1e}' for gap in self.cost_gaps)}",
                f"H {H}; gap {self.hamiltonian_gap:.1e}",
                f"costates at transitions {', '.join(f'{jump:.1e}' for jump in self.jumps)} off, "
                f"step lengths {self.length_gap:.1e}",
                f"limits touched: {', '.join(touched) or 'none'}",
            ]
        )


def prove_optimality(
    problem: GlobalProblem,
    iterate: GlobalIterate,
    finals: Sequence[PhaseProblem],
    time_limit: float = math.inf,
) -> OptimalityProof:
    """Solves each phase by Pontryagin's conditions and compares.

    Args:
        problem: that was solved.
        iterate: its solution.
        finals: its phases by themselves, between the ends that were found.
        time_limit: [s].
    """
    started = time.perf_counter()
    touched = tuple(_touched(problem, iterate, i) for i in range(len(finals)))
    phases = tuple(
        _extremal(problem, iterate, i, own, bool(names), started + time_limit)
        for i, (own, names) in enumerate(zip(finals, touched, strict=True))
    )
    costs = np.array([motion.cost for motion in iterate.phases])
    found = np.array([phase.cost for phase in phases])
    H = np.array([float(phase.hamiltonian.mean()) for phase in phases])
    T = np.array([motion.duration for motion in iterate.phases])
    ranges = np.array([phase.problem.duration_range for phase in problem.phases])
    free = (T - ranges[:, 0] > 1e-3 * T) & (ranges[:, 1] - T > 1e-3 * T)
    scale = max(float(np.abs(H).max()), float(costs.sum() / T.sum()))
    inner = H[free]
    spread = 0.0
    if len(inner):
        spread = float(np.ptp(inner)) if problem.speed is not None else float(np.abs(inner).max())
    jumps, length_gap = transversality(problem, iterate, finals, phases, H)
    solved = np.array([phase.converged for phase in phases])
    jumps[~(solved & np.roll(solved, -1))[: len(jumps)]] = math.nan
    if not solved.all():
        length_gap = math.nan
    if not solved[free].all():
        spread = math.nan
    return OptimalityProof(
        phases,
        np.abs(found / costs - 1.0),
        float(abs(found.sum() / costs.sum() - 1.0)),
        touched,
        H,
        free,
        spread / scale,
        jumps,
        length_gap,
        time.perf_counter() - started,
    )


def _touched(problem: GlobalProblem, iterate: GlobalIterate, index: int) -> tuple[str, ...]:
    """State limits with a multiplier between the ends of a phase, where no link or fixed end keeps them."""
    multipliers = np.abs(limit_multipliers(problem, iterate, index)[1:-1]).max(axis=0)
    phase = problem.phases[index]
    shape, model = phase_parameters(phase.problem).shape, phase.problem.model
    names = [f"least angle of {model.joint_names[j]}" for j in shape.lower_joints]
    names += [f"greatest angle of {model.joint_names[j]}" for j in shape.upper_joints]
    names += [f"rate of {model.joint_names[j]}" for j in shape.rated_joints] * 2
    names += [f"clearance of {name}" for name in shape.clear_points]
    found = [name for name, value in zip(names, multipliers, strict=True) if value > TOUCHED]
    found += [f"angle of {model.tree.coordinates[j]}" for j in _touched_coordinates(problem, iterate, index)]
    return tuple(dict.fromkeys(found))


def _touched_coordinates(problem: GlobalProblem, iterate: GlobalIterate, index: int) -> NDArray[np.int64]:
    """Coordinates, of the trunk or of a foot that would turn into the ground, whose own bounds are touched."""
    multipliers = np.abs(bound_multipliers(problem, iterate, index)[1:-1]).max(axis=0)
    return np.flatnonzero(multipliers > TOUCHED)


def _with_bounds(problem: GlobalProblem, iterate: GlobalIterate, index: int, own: PhaseProblem) -> PhaseProblem:
    """Return the phase with touched bounds of coordinates as ranges of joints to the base, which come last."""
    program, offset = problem.phases[index].program, problem.program().offsets[index] + 1
    lower, upper, _, _ = problem.bounds(problem.program())
    inner = slice(offset + program.width, offset + program.width + own.model.n)
    names = own.model.tree.coordinates
    joints = tuple(
        Joint(f"{names[j]} to the base", names[j], None, lower[inner][j], upper[inner][j])
        for j in _touched_coordinates(problem, iterate, index)
    )
    return own.replace(model=own.model.replace(joints=(*own.model.joints, *joints))) if joints else own


def _estimates(problem: GlobalProblem, iterate: GlobalIterate, index: int) -> StateMultipliers:
    """Return multipliers of the limits along a phase of its own cost, from the transcription's.

    Each point's is spread over what lies nearer to it than to others. Along a limit that is kept for longer they take
    turns then, 4/3 and 2/3 of the true value at middles and nodes, as Simpson's weights do: a mean over neighbours is
    what evens them out, and keeps the whole of impulses.
    """
    motion = iterate.phases[index]
    own_cost = gait_distance(problem, iterate) if problem.settings.per_metre else 1.0
    widths = motion.duration * np.gradient(motion.s)
    shape = phase_parameters(problem.phases[index].problem).shape
    ranges = np.cumsum([len(shape.lower_joints), len(shape.upper_joints)])
    low, high, rest = np.split(limit_multipliers(problem, iterate, index), ranges, axis=1)
    bounds = bound_multipliers(problem, iterate, index)[:, _touched_coordinates(problem, iterate, index)]
    every = np.concatenate([low, -bounds, high, bounds, rest], axis=1)
    values = own_cost * np.maximum(every, 0.0) / widths[:, None]
    values[[0, -1]] = 0.0  # at ends the given states keep the limits
    values[1:-1] = 0.25 * values[:-2] + 0.5 * values[1:-1] + 0.25 * values[2:]
    return StateMultipliers(motion.s, values)


def _extremal(
    problem: GlobalProblem, iterate: GlobalIterate, index: int, own: PhaseProblem, touches: bool, deadline: float
) -> PhaseSolution:
    """Return a phase by Pontryagin's conditions, from the transcribed motion, costates and multipliers."""
    started = time.perf_counter()
    motion = iterate.phases[index]
    x = np.concatenate([motion.q, own.tree.momentum(motion.q, motion.v)], axis=1)
    s = np.linspace(0.0, 1.0, SynthesisOptions().samples)
    if not touches:
        extremal = ExtremalProblem(own)
        result = solve_collocation(
            extremal, motion.s, extremal.pack(x, motion.costates, motion.duration), deadline=deadline
        )
        solved, message = result.converged, result.message
        log: tuple[str, ...] = (f"no limits touched: {message}, {len(result.mesh)} nodes",)
        cost = _cost(extremal, result, motion.duration) if solved else math.nan
        x, w = extremal.split(result.at(s))
    else:
        bounded, estimates = _with_bounds(problem, iterate, index, own), _estimates(problem, iterate, index)
        limited = solve_limited(bounded, motion.s, x, motion.costates, estimates, deadline=deadline)
        solved, message, result = limited.converged, limited.message, limited.result
        log, cost = limited.log, limited.cost
        x, w = limited.extremal.split(result.at(s))
    outcome = SolverOutcome(
        "pontryagin", solved, "converged" if solved else message, result.residual, cost, motion.cost
    )
    samples = PhaseSamples(motion.duration * s, x, w)
    return solution_from_samples(
        own, PontryaginSystem(own), samples, outcome, log, seconds=time.perf_counter() - started
    )


def _cost(extremal: ExtremalProblem, result: BoundaryValueResult, duration: float) -> float:
    """Criterion by Simpson's rule on the solution's own mesh."""
    middles = 0.5 * (result.mesh[1:] + result.mesh[:-1])
    nodes, between = (
        extremal.system.evaluate(*extremal.split(y)).running_cost for y in (result.y, result.at(middles))
    )
    return float(duration / 6.0 * (np.diff(result.mesh) * (nodes[:-1] + 4.0 * between + nodes[1:])).sum())
