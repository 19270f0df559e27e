# SPDX-License-Identifier: Apache-2.0
"""One call from a phase problem to a solution of Pontryagin's conditions: direct, costates, boundary value problem."""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass, field

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_studies.planar_gait.optimal_control.control_rows import evaluate_rows
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.optimal_control.impulse_balance import impulse_conflict
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueResult
from humanoid_studies.planar_gait.solvers.collocation import CollocationOptions, solve_collocation
from humanoid_studies.planar_gait.solvers.continuation import Stage, follow, with_parameters
from humanoid_studies.planar_gait.solvers.direct import (
    TIME_LIMIT,
    DirectOptions,
    DirectResult,
    check_size,
    max_intervals_in_memory,
    solve_direct,
)
from humanoid_studies.planar_gait.solvers.phase_solution import (
    PhaseSamples,
    PhaseSolution,
    PhaseStatus,
    SolverOutcome,
    Tolerances,
    solution_from_samples,
)
from humanoid_studies.planar_gait.solvers.shooting import ShootingOptions, solve_shooting


@dataclass(frozen=True)
class SynthesisOptions:
    """How a phase is solved.

    Attributes:
        method: ``pontryagin``; ``shooting`` for the same conditions by multiple shooting; ``direct`` for the
            transcription alone.
        direct: settings of the transcription.
        collocation: settings of the boundary value problem.
        shooting: settings of shooting.
        schedule: continuation to the problem from that of the first values; the latter is what is transcribed then.
        tolerances: of the checks afterwards.
        rescue: give back the transcribed solution as the result where Pontryagin's conditions can't be solved.
        time_limit: kept within iterations of every solver, to within one of them [s].
        samples: equidistant times that the solution is given at, beside the mesh's own.
    """

    method: str = "pontryagin"
    direct: DirectOptions = field(default_factory=DirectOptions)
    collocation: CollocationOptions = field(default_factory=CollocationOptions)
    shooting: ShootingOptions = field(default_factory=ShootingOptions)
    schedule: tuple[Stage, ...] = ()
    tolerances: Tolerances = field(default_factory=Tolerances)
    rescue: bool = False
    time_limit: float = TIME_LIMIT
    samples: int = 201

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            InputError: an unknown method, a continuation of a mere transcription, a time limit that isn't above 0, or
                fewer than three samples or more than :data:`MAX_SAMPLES`.
        """
        if self.method not in METHODS:
            raise InputError(f"is '{self.method}'", element="method", remedy=f"Use one of {', '.join(METHODS)}")
        if self.schedule and self.method == "direct":
            raise InputError("isn't empty", element="schedule", remedy="Use another method than direct with it")
        if not self.time_limit > 0.0:
            raise InputError(f"is {self.time_limit} s", element="time_limit", remedy="Give more than 0")
        if not (isinstance(self.samples, (int, np.integer)) and 3 <= self.samples <= MAX_SAMPLES):
            raise InputError(
                f"is {self.samples}", element="samples", remedy=f"Give a whole number from 3 to {MAX_SAMPLES}"
            )


METHODS = ("pontryagin", "shooting", "direct")
MAX_SAMPLES = 20_000


def synthesize_phase(
    problem: PhaseProblem,
    options: SynthesisOptions | None = None,
    progress: ProgressCallback | None = None,
) -> PhaseSolution:
    """Solves a phase from nothing but its data.

    The transcription starts from cubic angles. Its multipliers give the costates, and the boundary value problem of
    Pontryagin's conditions is solved from there. Where either fails, masses are reduced and raised again (section
    2.26.1) for another transcription, on as many intervals and on twice as many; then rows of constraints are left out
    and tightened step by step, the boundary value problem following them; at last come finer transcriptions. The log
    tells all of it.

    Args:
        problem: the phase.
        options: settings.
        progress: told between stages and on each mesh of the boundary value problem; cancels by returning True.

    Returns:
        The solution with its status; the best iterate where there is no solution.

    Raises:
        InputError: the problem contradicts itself, or a mesh doesn't fit into memory.
    """
    options = options or SynthesisOptions()
    shape = phase_parameters(problem).shape
    check_size(shape, options.direct.intervals, "direct.intervals")
    run = _Run(problem, options, progress)
    open_end = _unreachable(problem)
    if open_end:
        return run.without_motion(PhaseStatus.UNREACHABLE, open_end)
    direct: DirectResult | None = None
    by_transcription = options.method == "direct" or problem.hard_inequalities
    follows = problem.rows and options.method == "pontryagin" and not options.schedule and not by_transcription
    for attempt in _ATTEMPTS:
        if follows and attempt.rows_before:
            tightened = run.tighten_rows()
            if tightened is not None:
                return run.from_pontryagin(tightened, math.nan)
            if run.stopped:
                break
        intervals = attempt.refinement * options.direct.intervals
        most = min((options.collocation.max_nodes - 1) // 2, max_intervals_in_memory(shape))
        if attempt.refinement > 1 and intervals > most:
            break
        hasty = attempt.hasty and not by_transcription
        solved = (run.by_masses if attempt.by_masses else run.direct)(intervals, hasty)
        if solved.converged or direct is None:
            direct = solved
        if run.stopped:
            break
        if solved.converged:
            if by_transcription:
                return run.from_direct(direct, True, "transcription converged")
            newton = run.collocation_settings(hasty, second_chance=attempt.by_masses)
            result = run.pontryagin(direct, newton)
            if result.converged:
                return run.from_pontryagin(result, math.nan if options.schedule else direct.cost)
            if run.stopped:
                break
    assert direct is not None
    if run.stopped:
        reason = f"stopped: the time limit of {options.time_limit:g} s is over" if run.late else "stopped"
    elif direct.converged:
        reason = f"Pontryagin's conditions not met: {run.last_message}"
    else:
        reason = f"transcription: {direct.status}"
    return run.from_direct(direct, direct.converged and options.rescue, reason)


class _Run:
    """State of one synthesis."""

    def __init__(
        self, problem: PhaseProblem, options: SynthesisOptions, progress: ProgressCallback | None
    ) -> None:
        self.problem, self.options, self.progress = problem, options, progress
        first = {stage.parameter: stage.values[0] for stage in reversed(options.schedule)}
        self.transcribed = with_parameters(problem, first) if first else problem
        self.started = time.perf_counter()
        self.log: list[str] = []
        self.stopped = self.late = False
        self.last_message = ""
        self.extremal = ExtremalProblem(problem)

    def tell(self, stage: str, residual: float, nodes: int, cost: float) -> None:
        """Note a stage, passes it on, and sees whether to stop."""
        self.log.append(f"{time.perf_counter() - self.started:7.3f} s  {stage}")
        self.look(Progress(stage, residual=residual, nodes=nodes, cost=cost))
        if time.perf_counter() > self.started + self.options.time_limit:
            self.stopped = self.late = True

    def look(self, progress: Progress) -> bool:
        """Pass on what isn't a stage of its own; True to stop."""
        if self.progress is not None and self.progress(progress):
            self.stopped = True
        return self.stopped

    def direct(self, intervals: int, hasty: bool) -> DirectResult:
        """Transcribe."""
        result = solve_direct(self.transcribed, self._direct_settings(intervals, hasty))
        self.tell(_direct_line(result, intervals, 1.0), math.nan, len(result.s), result.cost)
        return result

    def by_masses(self, intervals: int, hasty: bool) -> DirectResult:
        """Transcribe with reduced masses, which are raised again from solution to solution."""
        settings = self._direct_settings(intervals, hasty)
        warm: DirectResult | None = None
        for scale in _MASS_SCALES:
            lighter = self.transcribed.replace(mass_scale=scale * self.transcribed.mass_scale)
            result = solve_direct(lighter, settings, warm_start=warm)
            self.tell(_direct_line(result, intervals, scale), math.nan, len(result.s), result.cost)
            if self.stopped:
                break
            if result.converged:
                warm = result
        return result if scale == 1.0 else dataclasses.replace(result, converged=False)

    def _direct_settings(self, intervals: int, hasty: bool = False) -> DirectOptions:
        """Return settings of a transcription that keeps to the time that is left, and is given up early if hasty."""
        left = self.options.time_limit - (time.perf_counter() - self.started)
        limit = min(self.options.direct.time_limit, max(left, 1e-3))
        settings = dataclasses.replace(self.options.direct, intervals=intervals, time_limit=limit)
        if hasty:
            settings = dataclasses.replace(settings, max_iterations=min(settings.max_iterations, _HASTY_ITERATIONS))
        return settings

    def collocation_settings(self, hasty: bool, second_chance: bool) -> CollocationOptions:
        """Return settings of a boundary value problem; if hasty with fewer Newton steps, on finer meshes where told."""
        settings = self.options.collocation
        if not hasty:
            return settings
        chances = settings.second_chances if second_chance else 0
        newton = min(settings.max_newton, _HASTY_NEWTON)
        return dataclasses.replace(settings, max_newton=newton, second_chances=chances)

    def pontryagin(self, direct: DirectResult, settings: CollocationOptions) -> BoundaryValueResult:
        """Boundary value problem from a transcribed solution."""
        x = np.concatenate([direct.q, direct.p], axis=1)
        y = self.extremal.pack(x, direct.costates, direct.duration)
        if not self.options.schedule:
            result = self.boundary_value_problem(self.extremal, direct.s, y, direct.cost, settings)
            self.last_message = result.message
        else:

            def solve(problem: PhaseProblem, mesh: Reals, guess: Reals) -> BoundaryValueResult:
                extremal = self.extremal if problem is self.problem else ExtremalProblem(problem)
                return self.boundary_value_problem(extremal, mesh, guess, direct.cost, self.options.collocation)

            def stage(step: Progress) -> bool:
                self.tell(f"continuation, {step.stage}", math.nan, 0, direct.cost)
                return self.stopped

            path = follow(self.problem, self.options.schedule, solve, direct.s, y, progress=stage)
            result = path.result if path.converged else dataclasses.replace(path.result, converged=False)
            self.last_message = path.message
        self.tell(
            f"boundary value problem: {result.message}, {len(result.mesh)} nodes, {result.newton_steps} Newton steps, "
            f"residual {result.residual:.1e}",
            result.residual,
            len(result.mesh),
            direct.cost,
        )
        return result

    def boundary_value_problem(
        self, extremal: ExtremalProblem, mesh: Reals, y: Reals, cost: float, settings: CollocationOptions
    ) -> BoundaryValueResult:
        """Solves one by the method that was asked for."""
        deadline = self.started + self.options.time_limit
        if self.options.method == "shooting":
            return solve_shooting(extremal, mesh, y, self.options.shooting, deadline)

        def look(progress: Progress) -> bool:
            return self.look(dataclasses.replace(progress, cost=cost))

        return solve_collocation(extremal, mesh, y, settings, look, deadline)

    def tighten_rows(self) -> BoundaryValueResult | None:
        """From the problem without rows to the one with them, in steps of what the rows may be violated by.

        Near what the ground can just give, transcriptions end in motions that wave about at many times the least cost;
        an extremal that is followed stays with the motion that it came from.

        Returns:
            The solution; None where a step isn't solved.
        """
        settings = self._direct_settings(self.options.direct.intervals)
        free = solve_direct(self.problem.replace(rows=()), settings)
        self.tell(f"rows left out: {_direct_line(free, settings.intervals, 1.0)}", math.nan, len(free.s), free.cost)
        if self.stopped or not free.converged:
            return None
        worst = -float(evaluate_rows(self.problem.scaled_model, self.problem.rows, free.q, free.v, free.u).min())
        loosest = 1.05 * max(worst, 0.0)
        values = tuple(loosest * share for share in _ROW_SHARES) if loosest > 0.0 else (0.0,)
        first = ExtremalProblem(with_parameters(self.problem, {"rows": loosest}))
        y = first.pack(np.concatenate([free.q, free.p], axis=1), free.costates, free.duration)
        deadline = self.started + self.options.time_limit
        patient = self.options.collocation
        hasty = dataclasses.replace(
            patient,
            max_nodes=min(patient.max_nodes, _NODES_ON_THE_WAY),
            max_meshes=min(patient.max_meshes, _MESHES_ON_THE_WAY),
        )

        def look(progress: Progress) -> bool:
            return self.look(dataclasses.replace(progress, stage="rows tightened", cost=free.cost))

        def solve(problem: PhaseProblem, mesh: Reals, guess: Reals) -> BoundaryValueResult:
            options = patient if problem.rows == self.problem.rows else hasty
            return solve_collocation(ExtremalProblem(problem), mesh, guess, options, look, deadline)

        def stage(step: Progress) -> bool:
            self.tell(f"rows tightened [N]: {step.stage}", math.nan, 0, free.cost)
            return self.stopped

        path = follow(self.problem, (Stage("rows", values),), solve, free.s, y, max_halvings=2, progress=stage)
        if not path.converged:
            self.last_message = path.message
            return None
        return path.result

    def from_pontryagin(self, result: BoundaryValueResult, direct_cost: float) -> PhaseSolution:
        """Return the solution of the boundary value problem."""
        T = self.extremal.duration(result.y)
        x, w = self.extremal.split(result.y)
        middles = 0.5 * (result.mesh[1:] + result.mesh[:-1])
        xm, wm = self.extremal.split(result.at(middles))
        system = self.extremal.system
        at_nodes, at_middles = system.evaluate(x, w), system.evaluate(xm, wm)
        running = at_nodes.running_cost[:-1] + 4.0 * at_middles.running_cost + at_nodes.running_cost[1:]
        cost = float(T / 6.0 * (np.diff(result.mesh) * running).sum())
        s = np.linspace(0.0, 1.0, self.options.samples)
        x, w = self.extremal.split(result.at(s))
        outcome = SolverOutcome(self.options.method, True, "converged", result.residual, cost, direct_cost)
        return self._solution(PhaseSamples(T * s, x, w), outcome)

    def from_direct(self, direct: DirectResult, solved: bool, message: str) -> PhaseSolution:
        """Return the transcribed solution."""
        x = np.concatenate([direct.q, direct.p], axis=1)
        t = direct.duration * direct.s
        outcome = SolverOutcome("direct", solved, message, direct.infeasibility, direct.cost, direct.cost)
        return self._solution(PhaseSamples(t, x, direct.costates, direct.u), outcome)

    def without_motion(self, status: PhaseStatus, message: str) -> PhaseSolution:
        """Return a refusal: the two ends and nothing between them."""
        problem = self.problem
        model = problem.scaled_model
        x = np.stack([model.state(problem.start.q, problem.start.v), model.state(problem.end.q, problem.end.v)])
        t = np.array([0.0, problem.duration])
        zero = np.zeros((2, model.control_count))
        outcome = SolverOutcome("none", False, message, math.inf, math.nan, math.nan)
        empty = self._solution(PhaseSamples(t, x, np.zeros_like(x), zero), outcome)
        return dataclasses.replace(empty, status=status)

    def _solution(self, samples: PhaseSamples, outcome: SolverOutcome) -> PhaseSolution:
        return solution_from_samples(
            self.problem,
            self.extremal.system,
            samples,
            outcome,
            tuple(self.log),
            time.perf_counter() - self.started,
            self.options.tolerances,
        )


@dataclass(frozen=True)
class _Attempt:
    """A transcription and the boundary value problem from it.

    Attributes:
        refinement: of the transcription's intervals.
        by_masses: over reduced masses.
        hasty: given up early, where another way is quicker than patience.
        rows_before: rows are tightened step by step before it.
    """

    refinement: int
    by_masses: bool
    hasty: bool
    rows_before: bool = False


_ATTEMPTS = (
    _Attempt(1, by_masses=False, hasty=True),
    _Attempt(1, by_masses=True, hasty=True),
    _Attempt(2, by_masses=True, hasty=True),
    _Attempt(2, by_masses=False, hasty=False),
    _Attempt(4, by_masses=False, hasty=False, rows_before=True),
    _Attempt(4, by_masses=True, hasty=False),
)
"""Until one succeeds. A transcription whose extremal isn't found has mostly ended in a motion that waves about. Over
reduced masses it ends in a calmer one; finer intervals and more of Newton's steps don't mend it."""
_HASTY_ITERATIONS, _HASTY_NEWTON = 200, 15
"""Of IPOPT, and of Newton's method on one mesh: more are seldom needed where an extremal is found."""
_MASS_SCALES = (0.1, 0.3, 0.6, 1.0)
_ROW_SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
_NODES_ON_THE_WAY, _MESHES_ON_THE_WAY = 600, 6
"""Where a step takes more, halving it is quicker."""


def _direct_line(result: DirectResult, intervals: int, scale: float) -> str:
    masses = "" if scale == 1.0 else f", masses scaled by {scale:g}"
    outcome = f"{result.status}, {result.iterations} iterations, J = {result.cost:.6g}"
    return f"transcription, {intervals} intervals{masses}: {outcome}"


_OPEN = 1e-6


def _unreachable(problem: PhaseProblem) -> str:
    """Why no motion can join the ends; empty where it isn't known to be so."""
    model = problem.scaled_model
    for name, end in (("start", problem.start), ("end", problem.end)):
        if not end.fixed or not model.point_closures:
            continue
        gap = float(np.abs(model.closure(end.q)).max())
        if gap > _OPEN:
            return f"the {name} leaves the loop open by {gap:.3g} m"
        rate = float(np.abs(model.closure_jacobian(end.q) @ np.asarray(end.v)).max())
        if rate > _OPEN:
            return f"the {name} moves the closing point by {rate:.3g} m/s"
    return impulse_conflict(problem)
