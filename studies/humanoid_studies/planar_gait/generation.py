# SPDX-License-Identifier: Apache-2.0
"""From a specification to a gait: the way in for node, command line, page and examples."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

from humanoid_model.errors import InputError
from humanoid_model.ground_profile import LEVEL
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.progress import Progress, ProgressCallback, as_part
from humanoid_studies.planar_gait.gait_result import GaitResult, outcome
from humanoid_studies.planar_gait.global_step.global_gait import GlobalGait
from humanoid_studies.planar_gait.global_step.solve_whole import solve_whole
from humanoid_studies.planar_gait.lift.level_walk import (
    level_lift,
    level_phases,
    level_settings,
    level_stride,
    level_walker,
)
from humanoid_studies.planar_gait.lift.lifted_gait import lift_gait
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.exchange_legs import exchange_legs
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize import synthesize_phase
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution, phase_problem, solve_side_by_side
from humanoid_studies.planar_gait.specification.gait_model import GaitModel, load_gait_model, load_whole_model
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan, plan_gait
from humanoid_studies.planar_gait.specification.gait_spec import GaitSpec
from humanoid_studies.planar_gait.specification.ground_profile import ground_profile
from humanoid_studies.planar_gait.specification.phase_spec import PhaseSpec
from humanoid_studies.planar_gait.specification.spec_problems import (
    UnreachableError,
    checked_phases,
    mechanism_problem,
    plan_spec,
    spec_problem,
)

LIFT = "lift: "
"""What stages of a lift begin with."""
IN_SPACE = "In its sagittal plane alone a robot in space isn't balanced: set lift"


def generate_gait(
    spec: GaitSpec, progress: ProgressCallback | None = None, executor: Executor | None = None
) -> GaitResult:
    """Generate a gait.

    Phases are solved one after the other, those that repeat once, until one of them isn't solved.

    Args:
        spec: what is wanted.
        progress: told stages, with the phase as their part (the number of phases while the gait is lifted), and what is
            solved so far, a :class:`GaitResult`, as their result; cancels by returning True.
        executor: that phases are solved on side by side; one after the other here if left out.

    Returns:
        The gait; what isn't solved is there with its best iterate and the reason.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    return _Generation(spec, progress, executor).run()


class _Generation:
    """One gait being generated."""

    def __init__(self, spec: GaitSpec, progress: ProgressCallback | None, executor: Executor | None) -> None:
        self._spec, self._progress, self._executor = spec, progress, executor
        self._model = _model(spec)
        self._phases = checked_phases(spec, self._model)
        self._started = time.perf_counter()

    def run(self) -> GaitResult:
        """Return the gait."""
        spec, model = self._spec, self._model
        if model.mechanism is not None:
            return self._mechanism()
        try:
            if spec.lift and not spec.phases:
                return self._level_walk()
            if spec.whole:
                return self._whole()
            plan = plan_spec(spec, model, self._phases)
            problems = [spec_problem(spec, self._phases, plan, index) for index in range(len(self._phases))]
            return self._phase_by_phase(plan, problems)
        except UnreachableError as error:
            return GaitResult(spec, model, False, str(error), kinds=(self._phases[error.phase].kind,))

    @property
    def _left(self) -> float:
        """Of the time limit [s]."""
        return max(self._spec.time_limit - (time.perf_counter() - self._started), 1e-3)

    def _tell(self, progress: Progress) -> bool:
        return self._progress is not None and bool(self._progress(progress))

    def _tell_solved(self, result: GaitResult) -> None:
        self._tell(Progress("solved so far", part=len(result.phases) - 1, cost=result.cost, result=result))

    # Ways -----------------------------------------------------------------------------------------------------------

    def _mechanism(self) -> GaitResult:
        def so_far(solutions: Sequence[PhaseSolution]) -> GaitResult:
            kinds = tuple(phase.kind for phase in self._phases)
            return GaitResult(self._spec, self._model, *outcome(tuple(solutions)), tuple(solutions), kinds)

        problems = [mechanism_problem(self._spec, self._model, phase) for phase in self._phases]
        solutions: list[PhaseSolution] = []
        for _ in self._solve(problems, self._phases, solutions):
            self._tell_solved(so_far(solutions))
        return so_far(solutions)

    def _level_walk(self) -> GaitResult:
        """Return the robot's own walk."""
        projection = self._model.robot
        assert isinstance(projection, SagittalProjection)
        walker, settings = level_walker(projection), level_settings(projection)
        settings = dataclasses.replace(settings, synthesis=self._spec.synthesis)
        stride = level_stride(projection, self._spec.speed, self._spec.step_length)
        plan = plan_gait(walker, level_phases(projection, self._spec.cycles, stride))
        problems = [phase_problem(walker, phase, settings) for phase in plan.phases]
        return self._phase_by_phase(plan, problems)

    def _phase_by_phase(self, plan: GaitPlan, problems: Sequence[PhaseProblem]) -> GaitResult:
        """Solve the phases of a plan, and what comes of them."""
        specs = [phase.spec for phase in plan.phases] if not self._phases else self._phases
        solutions: list[PhaseSolution] = []

        def so_far() -> GaitSolution:
            count = len(solutions)
            return GaitSolution(GaitPlan(plan.walker, plan.phases[:count], plan.offsets[:count]), tuple(solutions))

        for _ in self._solve(problems, specs, solutions):
            self._tell_solved(self._walk(so_far(), len(solutions) == len(problems)))
        if not solutions[-1].converged:
            return self._walk(so_far(), False)
        return self._complete(so_far())

    def _whole(self) -> GaitResult:
        """All phases as one problem."""

        def found(first: GlobalGait) -> None:
            self._tell_solved(self._walk(first.gait, True, one_problem=first))

        solved = solve_whole(self._spec, self._model, self._phases, self._progress, found)
        if solved.converged:
            return self._complete(solved.gait, solved)
        failed = self._walk(solved.gait, False, one_problem=solved)
        return dataclasses.replace(failed, success=False, message=f"{solved.status.value}: {solved.message}")

    def _walk(self, gait: GaitSolution, done: bool, one_problem: GlobalGait | None = None) -> GaitResult:
        """Return what there is of a walk; it is repeated once all of it is done."""
        spec = self._spec
        # Of one problem there may be more phases than were asked for: the heel lands first.
        own = not self._phases or spec.one_problem
        kinds = [phase.spec.kind for phase in gait.plan.phases] if own else [phase.kind for phase in self._phases]
        repeats = spec.cycles if done and not spec.lift else 1
        success, message = outcome(gait.phases)
        return GaitResult(
            spec, self._model, success, message, gait.phases, tuple(kinds), gait, one_problem, repeats=repeats
        )

    # Solving --------------------------------------------------------------------------------------------------------

    def _solve(
        self, problems: Sequence[PhaseProblem], specs: Sequence[PhaseSpec], solutions: list[PhaseSolution]
    ) -> Iterator[None]:
        """Solve phases into ``solutions``; comes back after each that converged, and ends with the first that didn't.

        Args:
            problems: of each phase.
            specs: of each phase; those that are equal are solved once.
            solutions: that grow.
        """
        synthesis = self._spec.synthesis
        first = [list(specs).index(spec) for spec in specs]
        side_by_side: dict[PhaseSpec, PhaseSolution] = {}
        if self._executor is not None:
            distinct = {specs[index]: problems[index] for index in sorted(set(first))}
            limited = dataclasses.replace(synthesis, time_limit=min(synthesis.time_limit, self._left))
            side_by_side = solve_side_by_side(distinct, limited, self._executor, self._progress)
        for index, (problem, same) in enumerate(zip(problems, first, strict=True)):
            if same < index:
                solutions.append(solutions[same])
                continue
            if specs[index] in side_by_side:
                solutions.append(side_by_side[specs[index]])
            else:
                self._tell(Progress(specs[index].kind.label.replace("_", " "), part=index))
                options = dataclasses.replace(synthesis, time_limit=min(synthesis.time_limit, self._left))
                solutions.append(synthesize_phase(problem, options, as_part(self._progress, index)))
            if not solutions[-1].converged:
                return
            yield

    def _complete(self, gait: GaitSolution, one_problem: GlobalGait | None = None) -> GaitResult:
        """Return the result with the trajectory of a robot that keeps its legs' masses where they change parts."""
        result = self._walk(gait, True, one_problem)
        if self._spec.lift:
            return self._lifted(result, gait)
        if self._model.robot is None:
            return result
        options = dataclasses.replace(self._spec.synthesis, time_limit=self._left)
        exchanged = exchange_legs(gait, options, self._spec.cycles, self._progress)
        result = dataclasses.replace(result, exchanged=exchanged)
        for index, phase in enumerate(exchanged.phases):
            if not phase.converged:
                reason = f"phases[{index}] with the legs in each other's parts: {phase.status.value}: {phase.message}"
                return dataclasses.replace(result, success=False, message=f"There is no trajectory: {reason}")
        return _judged(result)

    def _lifted(self, result: GaitResult, gait: GaitSolution) -> GaitResult:
        """Return the result with the whole robot's motion in space."""
        projection = self._model.robot
        assert isinstance(projection, SagittalProjection)
        limit = self._spec.time_limit

        def told(progress: Progress) -> None:
            if time.perf_counter() - self._started > limit:
                raise TimeoutError
            self._tell(dataclasses.replace(progress, stage=f"{LIFT}{progress.stage}", part=len(gait.phases)))

        settings = dataclasses.replace(
            level_lift(projection), period=1.0 / self._spec.defaults.sample_rate, friction=self._spec.friction
        )
        try:
            lifted = lift_gait(gait, projection, settings, told)
        except TimeoutError:
            reason = f"options.time_limit: {limit:g} s were not enough to lift the gait"
            return dataclasses.replace(result, success=False, message=reason)
        except InputError as error:
            return dataclasses.replace(result, success=False, message=f"The gait can't be lifted: {error}")
        return _judged(dataclasses.replace(result, lifted=lifted))


def _judged(result: GaitResult) -> GaitResult:
    """Return the result with the verdict of its whole-body motion: of two repetitions, which all others are like."""
    repeats = min(result.repeats, 2)
    motion = dataclasses.replace(result, repeats=repeats).motion
    assert motion is not None
    assert result.gait is not None
    ground = LEVEL if result.lifted is not None else ground_profile(result.gait.plan.repeated(repeats))
    verdict = judge_motion(motion, ground, result.spec.friction)
    success, message = outcome(result.phases, verdict)
    if verdict and result.lifted is None and motion.robot.base_joint is not None:
        message += f". {IN_SPACE}"
    return dataclasses.replace(result, success=success, message=message)


def _model(spec: GaitSpec) -> GaitModel:
    if isinstance(spec.model, GaitModel):
        return spec.model
    return load_whole_model(spec.name) if spec.lift else load_gait_model(spec.name, spec.defaults.feet)
