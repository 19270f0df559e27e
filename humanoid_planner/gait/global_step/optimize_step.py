# SPDX-License-Identifier: Apache-2.0
"""One call from a walker and a speed to the best step, or from rests to the best walk, all phases in one problem."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence

from humanoid_model.errors import InputError
from humanoid_planner.gait.boundary.step_data import WalkData
from humanoid_planner.gait.global_step.global_gait import (
    GlobalGait,
    GlobalStatus,
    final_plan,
    final_problem,
    joined_ends,
    transcribed_gait,
)
from humanoid_planner.gait.global_step.global_problem import GlobalProblem, global_problem
from humanoid_planner.gait.global_step.global_settings import GlobalSettings
from humanoid_planner.gait.global_step.optimality import OptimalityProof, prove_optimality
from humanoid_planner.gait.global_step.solve_global import GlobalIterate, solve_global
from humanoid_planner.gait.global_step.step_guess import scaled_walk
from humanoid_planner.gait.phases.phase_spec import PhaseSpec, cyclic_walk
from humanoid_planner.gait.phases.synthesize_gait import GaitSolution
from humanoid_planner.gait.phases.walker import Walker
from humanoid_planner.gait.solvers.synthesize import Feedback

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
    feedback: Feedback | None = None,
    *,
    step_height: float = 0.0,
    guess: WalkData | None = None,
    neighbour: GlobalGait | None = None,
    prove: bool = True,
) -> GlobalGait:
    """The best step of a cyclic gait: transition states, durations and step length are chosen by the optimum.

    Args:
        walker: who walks: :class:`.BipWalker` of BIP or of any biped's sagittal projection, :class:`.RabbitWalker`.
        speed: mean speed [m/s]; None chooses it too.
        step_length: [m]; None chooses it too.
        settings: criterion and limits.
        feedback: told stage, greatest violation and cost after each iteration; cancels by returning True.
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
    return _optimize(walker, specs, chosen, True, speed, step_length, feedback, neighbour, prove)


def optimize_walk(
    walker: Walker,
    specs: Sequence[PhaseSpec],
    speed: float | None = None,
    step_length: float | None = None,
    settings: GlobalSettings | None = None,
    feedback: Feedback | None = None,
    *,
    prove: bool = True,
) -> GlobalGait:
    """The best walk between two rests: all transitions, durations and step lengths are chosen by the optimum.

    Args:
        walker: who walks.
        specs: phases in order, :func:`.walk_between_rests` for example. Rests and heights of steps are kept, all else
            of them is the guess.
        speed: mean speed from rest to rest [m/s]; None chooses it too.
        step_length: of all steps [m]; None chooses each of them.
        settings: criterion and limits. ``per_metre`` counts here as well.
        feedback: as of :func:`optimize_step`.
        prove: likewise.

    Raises:
        InputError: values that can't be or contradict each other, a sequence that isn't one, steps out of reach.
    """
    return _optimize(walker, specs, settings or GlobalSettings(), False, speed, step_length, feedback, None, prove)


def _check_reach(settings: GlobalSettings, speed: float | None, step_length: float | None) -> None:
    """Refuses speeds that no duration and step length in their ranges give."""
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
    feedback: Feedback | None,
    neighbour: GlobalGait | None,
    prove: bool,
) -> GlobalGait:
    started = time.perf_counter()
    log: list[str] = []
    cancelled = False

    def tell(stage: str, residual: float, cost: float) -> bool:
        nonlocal cancelled
        cancelled = cancelled or (feedback is not None and feedback(stage, residual, cost))
        return cancelled

    def solve(problem: GlobalProblem, name: str, near: GlobalIterate | None) -> GlobalIterate:
        def watch(iteration: int, violation: float, cost: float) -> bool:
            return tell(f"{name}, iteration {iteration}", violation, cost)

        left = settings.time_limit - (time.perf_counter() - started)
        limited = dataclasses.replace(problem, settings=problem.settings.replace(time_limit=max(left, 1e-3)))
        iterate = solve_global(limited, near, watch if feedback is not None else None)
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
    gait = transcribed_gait(problem, iterate, message)
    proof: OptimalityProof | None = None
    last = "Pontryagin's conditions"
    for finer in range(_REFINEMENTS + 1):
        stop = status is not GlobalStatus.CONVERGED or not prove or (proof is not None and proof.close)
        if stop or tell(last, iterate.infeasibility, iterate.objective):
            break
        if finer:
            assert proof is not None
            trial_problem = global_problem(
                walker, specs, _finer(problem, proof), cyclic, speed, step_length
            )
            trial = solve(trial_problem, f"mesh refined {finer} times", iterate)
            if not trial.converged or cancelled:
                break
        else:
            trial_problem, trial = problem, iterate
        ends = joined_ends(trial_problem, trial)
        finals = [final_problem(trial_problem, trial, i, both) for i, both in enumerate(ends)]
        left = settings.time_limit - (time.perf_counter() - started)
        found = prove_optimality(trial_problem, trial, finals, max(0.0, left))
        log.append(f"{time.perf_counter() - started:7.3f} s  {found.report().splitlines()[0]}")
        if proof is not None and proof.solved and not found.solved:
            break
        problem, iterate, proof = trial_problem, trial, found
        gait = transcribed_gait(problem, iterate, message)
        if proof.agrees and not any(phase.violations for phase in proof.phases):
            gait = GaitSolution(final_plan(problem, iterate, ends), proof.phases)
    return GlobalGait(
        status, message, problem, iterate, gait, proof, tuple(log), time.perf_counter() - started
    )


def _finer(problem: GlobalProblem, proof: OptimalityProof) -> GlobalSettings:
    """Twice the intervals for phases that the proof finds too coarse, or for all where it can't tell which."""
    settings = problem.settings
    coarse = proof.coarse_phases or range(len(problem.phases))
    kinds = {problem.phases[index].double for index in coarse}
    return settings.replace(
        double_intervals=settings.double_intervals * (2 if True in kinds else 1),
        single_intervals=settings.single_intervals * (2 if False in kinds else 1),
    )


def _outcome(iterate: GlobalIterate, cancelled: bool) -> tuple[GlobalStatus, str]:
    if cancelled:
        return GlobalStatus.CANCELLED, "cancelled; this is the iterate reached"
    if iterate.converged:
        return GlobalStatus.CONVERGED, "converged"
    reason = f"{iterate.status}; violated most: {iterate.worst}, by {iterate.infeasibility:.2g}"
    if iterate.status == "Infeasible_Problem_Detected" and iterate.infeasibility > _INFEASIBLE:
        return GlobalStatus.INFEASIBLE, reason
    return GlobalStatus.NOT_CONVERGED, reason


