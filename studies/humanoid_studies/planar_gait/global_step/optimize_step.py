# SPDX-License-Identifier: Apache-2.0
"""One call from a walker and a speed to the best step, or from rests to the best walk, all phases in one problem."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_studies.planar_gait.global_step.global_gait import (
    Ends,
    GlobalGait,
    GlobalStatus,
    final_plan,
    final_problem,
    joined_ends,
    transcribed_gait,
)
from humanoid_studies.planar_gait.global_step.global_problem import GlobalProblem, global_problem
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimality import OptimalityProof, prove_optimality
from humanoid_studies.planar_gait.global_step.solve_global import GlobalIterate, solve_global
from humanoid_studies.planar_gait.global_step.step_guess import scaled_walk
from humanoid_studies.planar_gait.global_step.transcribed_conditions import TranscribedConditions, check_transcription
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.phase_spec import PhaseSpec, cyclic_walk
from humanoid_studies.planar_gait.specification.step_data import WalkData
from humanoid_studies.planar_gait.specification.walker import Walker

_COARSE = (12, 20)
"""Intervals of double and single support of the first solve."""
_REFINEMENTS = 2
"""Of the transcription, where its solution isn't proved or proved with large gaps."""
_INFEASIBLE = 1e-4
"""Violation that a program has to be left with to count as infeasible."""


def optimize_step(
    walker: Walker,
    speed: float | None = 0.7,
    step_length: float | None = None,
    settings: GlobalSettings | None = None,
    progress: ProgressCallback | None = None,
    *,
    step_height: float = 0.0,
    guess: WalkData | None = None,
    neighbour: GlobalGait | None = None,
    prove: bool = True,
) -> GlobalGait:
    """Return the best step of a cyclic gait: transition states, durations and step length are chosen by the optimum.

    Args:
        walker: :class:`.BipWalker` of BIP or of any biped's sagittal projection, :class:`.RabbitWalker`.
        speed: mean speed [m/s]; None chooses it too.
        step_length: [m]; None chooses it too.
        settings: criterion and limits.
        progress: told stage, greatest violation (residual) and cost after each iteration; cancels by returning True.
        step_height: of each foothold above the last one: stairs, whose treads are ``step_length`` [m].
        guess: step data to begin with; the published walk of such a robot, scaled, if left out.
        neighbour: solution of a neighbouring problem of the same walker to begin with instead.
        prove: solve each phase by Pontryagin's conditions afterwards; where they are met in all of them, at the same
            cost and within all limits, these solutions are the gait that is given back. Where they aren't, or gaps are
            large, the transcription is made finer, twice at most.

    Returns:
        The gait with its status: what didn't converge is there with its best iterate, what can't be with the reason.

    Raises:
        InputError: values that can't be or contradict each other, or steps out of the legs' reach.
    """
    chosen = settings or GlobalSettings()
    _check_reach(chosen, speed, step_length)
    if not math.isfinite(step_height):
        raise InputError(f"is {step_height}", element="step_height", remedy="Give a finite height")
    walk = guess
    if walk is None:
        walk = scaled_walk(walker, speed, step_length, step_height)
    specs = cyclic_walk(walk)
    return _optimize(walker, specs, chosen, True, speed, step_length, progress, neighbour, prove)


def optimize_walk(
    walker: Walker,
    specs: Sequence[PhaseSpec],
    speed: float | None = None,
    step_length: float | None = None,
    settings: GlobalSettings | None = None,
    progress: ProgressCallback | None = None,
    *,
    neighbour: GlobalGait | None = None,
    prove: bool = True,
) -> GlobalGait:
    """Return the best walk between two rests: all transitions, durations and step lengths are chosen by the optimum.

    Args:
        walker: the walking model.
        specs: phases in order, :func:`.walk_between_rests` for example. Rests and heights of steps are kept, all else
            of them is the guess.
        speed: mean speed from rest to rest [m/s]; None chooses it too.
        step_length: of all steps [m]; None chooses each of them.
        settings: criterion and limits. ``per_metre`` counts here as well.
        progress: as of :func:`optimize_step`.
        neighbour: likewise.
        prove: likewise.

    Raises:
        InputError: values that can't be or contradict each other, a sequence that isn't one, steps out of reach.
    """
    own = settings or GlobalSettings()
    return _optimize(walker, specs, own, False, speed, step_length, progress, neighbour, prove)


def _check_reach(settings: GlobalSettings, speed: float | None, step_length: float | None) -> None:
    """Refuse speeds that no duration and step length in their ranges give."""
    for name, value in (("speed", speed), ("step_length", step_length)):
        if value is not None and not (math.isfinite(value) and value > 0.0):
            raise InputError(f"is {value}", element=name, remedy="Give a number above 0, or None")
    if speed is None:
        return
    short, long = settings.step_length if step_length is None else (step_length, step_length)
    quickest = settings.single_support[0] + settings.double_support[0]
    slowest = settings.single_support[1] + settings.double_support[1] + settings.heel_contact[1]
    if speed * quickest > long or speed * slowest < short:
        raise InputError(
            f"of {speed:g} m/s takes steps of {speed * quickest:.3g} to {speed * slowest:.3g} m",
            element="speed",
            remedy=f"Steps are {short:g} to {long:g} m long: change their range, or that of the durations",
        )


def _optimize(
    walker: Walker,
    specs: Sequence[PhaseSpec],
    settings: GlobalSettings,
    cyclic: bool,
    speed: float | None,
    step_length: float | None,
    progress: ProgressCallback | None,
    neighbour: GlobalGait | None,
    prove: bool,
) -> GlobalGait:
    started = time.perf_counter()
    deadline = started + settings.time_limit
    log: list[str] = []
    cancelled = False

    def tell(stage: str, residual: float, cost: float) -> bool:
        nonlocal cancelled
        item = Progress(stage, residual=residual, cost=cost)
        cancelled = cancelled or (progress is not None and bool(progress(item)))
        return cancelled

    def solve(problem: GlobalProblem, name: str, near: GlobalIterate | None) -> GlobalIterate:
        def told(item: Progress) -> bool:
            return tell(f"{name}, {item.stage}", item.residual, item.cost)

        left = max(deadline - time.perf_counter(), 1e-3)
        limited = dataclasses.replace(problem, settings=problem.settings.replace(time_limit=left))
        iterate = solve_global(limited, near, told if progress is not None else None)
        log.append(
            f"{time.perf_counter() - started:7.3f} s  {name}: {iterate.status}, {iterate.iterations} iterations, "
            f"cost {iterate.objective:.6g}, violation {iterate.infeasibility:.1e}"
        )
        return iterate

    coarse = settings.replace(
        double_intervals=min(settings.double_intervals, _COARSE[0]),
        single_intervals=min(settings.single_intervals, _COARSE[1]),
    )
    problem = global_problem(walker, specs, settings, cyclic, speed, step_length)
    if neighbour is not None:
        iterate = solve(problem, "from the neighbour", neighbour.iterate)
    else:
        problem = global_problem(walker, specs, coarse, cyclic, speed, step_length)
        iterate = solve(problem, "coarse mesh", None)
        fine = global_problem(walker, specs, settings, cyclic, speed, step_length)
        if iterate.converged and not cancelled and coarse != settings:
            problem = fine
            iterate = solve(problem, "fine mesh", iterate)
    status, message = _outcome(iterate, cancelled)
    best = _Checked.of(problem, iterate, message)
    last = "Pontryagin's conditions"
    deadline = min(deadline, time.perf_counter() + settings.proof_time_limit)
    for finer in range(_REFINEMENTS + 1):
        done = status is not GlobalStatus.CONVERGED or not prove or (best.proof is not None and best.proof.close)
        late = finer > 0 and time.perf_counter() > deadline
        if done or late or tell(last, best.iterate.infeasibility, best.iterate.objective):
            break
        if finer:
            refined = global_problem(walker, specs, best.finer(), cyclic, speed, step_length)
            iterate = solve(refined, f"mesh refined {finer} times", best.iterate)
            if not iterate.converged or cancelled:
                break
            trial = _Checked.of(refined, iterate, message)
        else:
            trial = best
        trial = trial.with_conditions()
        assert trial.conditions is not None
        log.append(f"{time.perf_counter() - started:7.3f} s  {trial.conditions.report().splitlines()[1]}")
        if finer == _REFINEMENTS or not trial.conditions.coarse_phases:
            trial = trial.with_proof(deadline - time.perf_counter())
            assert trial.proof is not None
            log.append(f"{time.perf_counter() - started:7.3f} s  {trial.proof.report().splitlines()[0]}")
            if best.proof is not None and best.proof.solved and not trial.proof.solved:
                break
        best = trial
    if status is GlobalStatus.CONVERGED and prove and best.proof is None and not cancelled:
        best = best.with_conditions().with_proof(deadline - time.perf_counter())
    return GlobalGait(
        status,
        message,
        best.problem,
        best.iterate,
        best.gait,
        best.proof,
        best.conditions,
        tuple(log),
        time.perf_counter() - started,
    )


@dataclass(frozen=True, eq=False)
class _Checked:
    """An iterate as a gait, and what is known of its optimality."""

    problem: GlobalProblem
    iterate: GlobalIterate
    message: str
    gait: GaitSolution
    conditions: TranscribedConditions | None = None
    proof: OptimalityProof | None = None

    @classmethod
    def of(cls, problem: GlobalProblem, iterate: GlobalIterate, message: str) -> _Checked:
        return cls(problem, iterate, message, transcribed_gait(problem, iterate, message))

    def with_conditions(self) -> _Checked:
        """With the conditions along the transcription."""
        if self.conditions is not None:
            return self
        _, finals = self._finals()
        found = check_transcription(self.problem, self.iterate, finals, self.gait.phases)
        return dataclasses.replace(self, conditions=found)

    def with_proof(self, time_limit: float) -> _Checked:
        """With the proof, and its phases as the gait where it agrees within all limits."""
        ends, finals = self._finals()
        proof = prove_optimality(self.problem, self.iterate, finals, max(0.0, time_limit))
        gait = self.gait
        if proof.agrees and not any(phase.violations for phase in proof.phases):
            gait = GaitSolution(final_plan(self.problem, self.iterate, ends), proof.phases)
        return dataclasses.replace(self, proof=proof, gait=gait)

    def finer(self) -> GlobalSettings:
        """Twice the intervals for phases that are too coarse, or for all where nothing tells which."""
        settings, phases = self.problem.settings, self.problem.phases
        known = self.proof or self.conditions
        coarse = (known.coarse_phases if known is not None else ()) or range(len(phases))
        kinds = {phases[index].double for index in coarse}
        return settings.replace(
            double_intervals=settings.double_intervals * (2 if True in kinds else 1),
            single_intervals=settings.single_intervals * (2 if False in kinds else 1),
        )

    def _finals(self) -> tuple[tuple[Ends, ...], list[PhaseProblem]]:
        ends = joined_ends(self.problem, self.iterate)
        return ends, [final_problem(self.problem, self.iterate, i, both) for i, both in enumerate(ends)]


def _outcome(iterate: GlobalIterate, cancelled: bool) -> tuple[GlobalStatus, str]:
    if cancelled:
        return GlobalStatus.CANCELLED, "cancelled; this is the iterate reached"
    if iterate.converged:
        return GlobalStatus.CONVERGED, "converged"
    reason = f"{iterate.status}; violated most: {iterate.worst}, by {iterate.infeasibility:.2g}"
    if iterate.status == "Infeasible_Problem_Detected" and iterate.infeasibility > _INFEASIBLE:
        return GlobalStatus.INFEASIBLE, reason
    return GlobalStatus.NOT_CONVERGED, reason


