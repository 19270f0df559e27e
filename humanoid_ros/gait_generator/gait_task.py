# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for gaits, worked out in a process of their own; requests and answers travel as bytes.

Importing this module loads all that a request needs.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humanoid_stack.msg import Gait, GaitPhase, GaitRequest
from humanoid_stack.srv import ComputeGaitStates
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model import Robot
from humanoid_model.errors import InputError
from humanoid_planner.gait.global_step.global_gait import GlobalGait
from humanoid_planner.gait.lift.exceeded_limits import exceeded_limits
from humanoid_planner.gait.lift.level_walk import level_phases, level_settings, level_walker
from humanoid_planner.gait.lift.lifted_gait import LiftSettings, lift_gait
from humanoid_planner.gait.models.sagittal_projection import SagittalProjection
from humanoid_planner.gait.optimal_control.phase_problem import PhaseProblem
from humanoid_planner.gait.solvers.exchange_legs import exchange_legs
from humanoid_planner.gait.solvers.phase_solution import PhaseSolution, PhaseStatus
from humanoid_planner.gait.solvers.synthesize import Progress, synthesize_phase
from humanoid_planner.gait.solvers.synthesize_gait import GaitSolution, phase_problem
from humanoid_planner.gait.specification.gait_plan import GaitPlan, plan_gait
from humanoid_planner.gait.specification.phase_spec import PhaseKind as SpecKind
from humanoid_planner.gait.specification.phase_spec import PhaseSpec, plan_phase
from humanoid_planner.gait.trajectory import gait_trajectory
from humanoid_ros.gait_generator.gait_figure import chain_figure, gait_figure
from humanoid_ros.gait_generator.gait_lift_messages import lifted_figure, lifted_trajectory
from humanoid_ros.gait_generator.gait_messages import hip_advance, phase_message
from humanoid_ros.gait_generator.gait_models import load_gait_model
from humanoid_ros.gait_generator.gait_phase_problems import (
    UnreachableError,
    asked_problem,
    mechanism_problem,
    plan_asked_gait,
)
from humanoid_ros.gait_generator.gait_request import (
    LIFT,
    AskedGait,
    AskedLift,
    AskedPhase,
    GaitDefaults,
    PhaseKind,
    check_step_feet,
    read_gait_request,
    read_step,
)
from humanoid_ros.gait_generator.gait_trajectory_message import whole_body_trajectory
from humanoid_ros.gait_generator.gait_whole import solve_as_a_whole

WORLD = "world"
JOINS = 1e-3
"""Jump from one phase to the next that counts as none [m, rad, and per s]: phases whose transitions are unknowns of one
problem join as exactly as that is solved; phases between given states exactly."""
KINDS = {
    SpecKind.DOUBLE: PhaseKind.DOUBLE_SUPPORT,
    SpecKind.SINGLE: PhaseKind.SINGLE_SUPPORT,
    SpecKind.START: PhaseKind.START,
    SpecKind.STOP: PhaseKind.STOP,
}


@dataclass(frozen=True)
class StageNews:
    """Where the work is.

    Attributes:
        phase: that is worked on, from 0.
        stage: what was done last.
        residual: NaN while there is none.
        nodes: of the mesh.
        cost: NaN while there is none.
    """

    phase: int
    stage: str
    residual: float
    nodes: int
    cost: float


@dataclass(frozen=True)
class GaitNews:
    """What has been solved so far.

    Attributes:
        gait: serialised.
    """

    gait: bytes


@dataclass(frozen=True)
class GaitAnswer:
    """The end of the work.

    Attributes:
        success: whether all phases are solved.
        message: why not, or what isn't kept.
        gait: serialised; what is solved, and the best iterate of what isn't.
    """

    success: bool
    message: str
    gait: bytes


Tell = Callable[[StageNews | GaitNews], None]


def generate(request: bytes, defaults: GaitDefaults, tell: Tell) -> GaitAnswer:
    """Answer a request for a gait.

    Args:
        request: serialised ``GaitRequest``.
        defaults: what it may leave open.
        tell: told of stages, and of what is solved so far.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    message = deserialize_message(request, GaitRequest)
    asked = read_gait_request(message, defaults)
    if asked.model.mechanism is not None:
        return _mechanism(asked, tell)
    try:
        if asked.lift is not None and not asked.phases:
            return _level_walk(asked, asked.lift, tell)
        if asked.one_problem or not asked.phases:
            return _whole(message, asked, tell)
        return _walk(asked, tell)
    except UnreachableError as error:
        gait = Gait(model=asked.model.name)
        kind = asked.phases[error.phase].kind
        gait.phases = [GaitPhase(kind=kind, status=GaitPhase.UNREACHABLE, message=str(error))]
        return GaitAnswer(False, str(error), bytes(serialize_message(gait)))


def compute_states(request: bytes, defaults: GaitDefaults, _: Tell) -> bytes:
    """Answer a ``compute_gait_states`` request, serialised as its answer is.

    Raises:
        InputError: a field can't be used, or a leg can't reach.
    """
    asked = deserialize_message(request, ComputeGaitStates.Request)
    step = read_step(asked.step, "step")
    model = load_gait_model(asked.model or defaults.model, defaults.feet)
    if model.walker is None:
        raise InputError(f"'{model.name}' doesn't walk", element="model", remedy="Give a model with two legs")
    check_step_feet(step, model, "step")
    try:
        planned = plan_phase(model.walker, PhaseSpec(SpecKind.DOUBLE, 1.0, step=step))
    except InputError as error:
        raise InputError(error.problem, element=f"step: {error.element}", remedy=error.remedy) from error
    response = ComputeGaitStates.Response(success=True, coordinate_names=list(planned.model.tree.coordinates))
    for name, state in (("initial", planned.start), ("final", planned.end)):
        setattr(response, f"{name}_coordinates", state.q.tolist())
        setattr(response, f"{name}_rates", state.v.tolist())
        setattr(response, f"{name}_momenta", state.phase_variables(planned.model)[planned.model.n :].tolist())
    return bytes(serialize_message(response))


def _walk(asked: AskedGait, tell: Tell) -> GaitAnswer:
    plan = plan_asked_gait(asked)
    problems = [asked_problem(asked, plan, index) for index in range(len(asked.phases))]
    kinds = [phase.kind for phase in asked.phases]
    same = [_same_phase(asked.phases, index) for index in range(len(asked.phases))]
    return _phase_by_phase(asked, plan, _Phases(problems, kinds, same), tell)


def _level_walk(asked: AskedGait, lift: AskedLift, tell: Tell) -> GaitAnswer:
    """The robot's own walk."""
    projection = asked.model.robot
    assert isinstance(projection, SagittalProjection)
    walker, settings = level_walker(projection), level_settings(projection)
    plan = plan_gait(walker, level_phases(projection, lift.steady, lift.stride))
    specs = [phase.spec for phase in plan.phases]
    problems = [phase_problem(walker, phase, settings) for phase in plan.phases]
    first = [specs.index(spec) for spec in specs]
    same = [None if own == index else own for index, own in enumerate(first)]
    return _phase_by_phase(asked, plan, _Phases(problems, [KINDS[spec.kind] for spec in specs], same), tell)


def _phase_by_phase(asked: AskedGait, plan: GaitPlan, phases: _Phases, tell: Tell) -> GaitAnswer:
    """Solve the phases of a plan and answer with them and with what comes of them."""

    def so_far(solutions: list[PhaseSolution]) -> GaitSolution:
        done = GaitPlan(plan.walker, plan.phases[: len(solutions)], plan.offsets[: len(solutions)])
        return GaitSolution(done, tuple(solutions))

    def news(solutions: list[PhaseSolution]) -> None:
        cycles = asked.cycles if len(solutions) == len(plan.phases) else 1
        tell(GaitNews(bytes(serialize_message(walk_message(asked, so_far(solutions), cycles)))))

    started = time.perf_counter()
    solutions = _solve(asked, phases, news, tell)
    if not solutions[-1].converged:
        return _answer(solutions, walk_message(asked, so_far(solutions), 1))
    return _complete(asked, so_far(solutions), started, tell)


def _whole(request: GaitRequest, asked: AskedGait, tell: Tell) -> GaitAnswer:
    def feedback(stage: str, residual: float, cost: float) -> bool:
        tell(StageNews(0, stage, residual, 0, cost))
        return False

    def news(found: GlobalGait) -> None:
        tell(GaitNews(bytes(serialize_message(walk_message(asked, found.gait, asked.cycles)))))

    started = time.perf_counter()
    found = solve_as_a_whole(request, asked, feedback, news)
    if not found.converged:
        gait = walk_message(asked, found.gait, 1)
        return GaitAnswer(False, f"{found.status.value}: {found.message}", bytes(serialize_message(gait)))
    return _complete(asked, found.gait, started, tell)


def _complete(asked: AskedGait, gait: GaitSolution, started: float, tell: Tell) -> GaitAnswer:
    """The answer with the trajectory of a robot that keeps its legs' masses where they change parts."""
    if asked.lift is not None:
        return _lifted(asked, gait, asked.lift.settings, started, tell)
    if asked.model.robot is None:
        return _answer(list(gait.phases), walk_message(asked, gait, asked.cycles))

    def watch(phase: int, progress: Progress) -> bool:
        tell(StageNews(phase, f"legs exchanged: {progress.stage}", progress.residual, progress.nodes, progress.cost))
        return False

    left = asked.options.time_limit - (time.perf_counter() - started)
    options = dataclasses.replace(asked.options, time_limit=max(left, 1e-3))
    exchanged = exchange_legs(gait, options, asked.cycles, watch)
    message = walk_message(asked, gait, asked.cycles, exchanged)
    for index, phase in enumerate(exchanged.phases):
        if not phase.converged:
            reason = f"phases[{index}] with the legs in each other's parts: {phase.status.value}: {phase.message}"
            return GaitAnswer(False, f"There is no trajectory: {reason}", bytes(serialize_message(message)))
    return _answer(list(gait.phases), message)


def _lifted(asked: AskedGait, gait: GaitSolution, settings: LiftSettings, started: float, tell: Tell) -> GaitAnswer:
    """The answer with the whole robot's trajectory in space."""
    projection = asked.model.robot
    assert isinstance(projection, SagittalProjection)
    message = walk_message(asked, gait, 1)

    def watch(stage: str, error: float) -> None:
        if time.perf_counter() - started > asked.options.time_limit:
            raise TimeoutError
        tell(StageNews(len(gait.phases), f"{LIFT}{stage}", error, 0, math.nan))

    try:
        lifted = lift_gait(gait, projection, settings, watch)
    except TimeoutError:
        reason = f"options.time_limit: {asked.options.time_limit:g} s were not enough to lift the gait"
        return GaitAnswer(False, reason, bytes(serialize_message(message)))
    except InputError as error:
        return GaitAnswer(False, f"The gait can't be lifted: {error}", bytes(serialize_message(message)))
    message.trajectory = lifted_trajectory(lifted, asked.bounds.friction, WORLD)
    message.figure = lifted_figure(lifted, projection)
    message.margin = lifted.margin
    return _answer(list(gait.phases), message, exceeded_limits(lifted))


def _mechanism(asked: AskedGait, tell: Tell) -> GaitAnswer:
    problems = [mechanism_problem(asked, index) for index in range(len(asked.phases))]

    def so_far(solutions: list[PhaseSolution]) -> Gait:
        gait = Gait(model=asked.model.name)
        _fill_phases(gait, kinds, solutions, [0.0] * len(solutions))
        gait.figure = chain_figure(solutions, asked.model.chain)
        return gait

    kinds = [phase.kind for phase in asked.phases]
    phases = _Phases(problems, kinds, [_same_phase(asked.phases, index) for index in range(len(kinds))])
    solutions = _solve(asked, phases, lambda done: tell(GaitNews(bytes(serialize_message(so_far(done))))), tell)
    return _answer(solutions, so_far(solutions))


@dataclass(frozen=True)
class _Phases:
    """Phases to be solved one after the other.

    Attributes:
        problems: of each.
        kinds: of each.
        same: index of an earlier phase that is the very same, None where there is none.
    """

    problems: list[PhaseProblem]
    kinds: list[PhaseKind]
    same: list[int | None]


def _solve(
    asked: AskedGait, phases: _Phases, done: Callable[[list[PhaseSolution]], None], tell: Tell
) -> list[PhaseSolution]:
    """Solve phases one after the other, those that repeat once; the last one may be the first that isn't solved."""
    deadline = time.perf_counter() + asked.options.time_limit
    solutions: list[PhaseSolution] = []
    for index, (problem, kind, same) in enumerate(zip(phases.problems, phases.kinds, phases.same, strict=True)):
        if same is not None:
            solutions.append(solutions[same])
            continue
        tell(StageNews(index, f"{kind.name.lower().replace('_', ' ')}", math.nan, 0, math.nan))
        left = deadline - time.perf_counter()
        options = dataclasses.replace(asked.options, time_limit=max(left, 1e-3))

        def watch(progress: Progress, phase: int = index) -> bool:
            tell(StageNews(phase, progress.stage, progress.residual, progress.nodes, progress.cost))
            return False

        solutions.append(synthesize_phase(problem, options, watch=watch))
        if not solutions[-1].converged:
            break
        done(solutions)
    return solutions


def _same_phase(phases: tuple[AskedPhase, ...], index: int) -> int | None:
    """An earlier phase with the very same data."""
    own = phases[index]
    for other in range(index):
        item = phases[other]
        data = (item.kind, item.duration, item.step, item.next_step, item.rest)
        plain = all(values is None for phase in (own, item) for values in phase.ends)
        fixed = not any(mask.any() for phase in (own, item) for mask in phase.free)
        if plain and fixed and data == (own.kind, own.duration, own.step, own.next_step, own.rest):
            return other
    return None


def walk_message(asked: AskedGait, gait: GaitSolution, cycles: int, exchanged: GaitSolution | None = None) -> Gait:
    """Message of solved phases; the trajectory is there once they are solved for either leg.

    Args:
        asked: what was asked for.
        gait: its solution, or the first phases of it.
        cycles: how often trajectory and figure repeat it.
        exchanged: the same gait with the legs' data exchanged, as :func:`exchange_legs` gives it.
    """
    message = Gait(model=asked.model.name)
    message.header.frame_id = WORLD
    kinds = [phase.kind for phase in asked.phases]
    if asked.one_problem or not kinds:  # there may be more phases than were asked for: the heel lands first
        kinds = [KINDS[phase.spec.kind] for phase in gait.plan.phases]
    _fill_phases(message, kinds, list(gait.phases), [float(offset[0]) for offset in gait.plan.offsets])
    jumps = gait.jumps()
    message.max_velocity_jump = max((jump.rate for jump in jumps), default=0.0)
    robot = asked.model.robot
    whole = exchanged is not None and exchanged.converged
    message.figure = gait_figure(gait, cycles, exchanged if whole else None)
    if whole and robot is not None:
        trajectory = gait_trajectory(
            gait, robot, asked.sample_rate, cycles=cycles, exchanged=exchanged, tolerance=JOINS
        )
        model = robot if isinstance(robot, Robot) else robot.robot
        message.trajectory = whole_body_trajectory(trajectory, model, asked.bounds.friction, WORLD)
    return message


def _fill_phases(
    message: Gait, kinds: Sequence[PhaseKind], solutions: list[PhaseSolution], offsets: list[float]
) -> None:
    start = 0.0
    for solution, kind, offset in zip(solutions, kinds, offsets, strict=False):
        message.phases.append(phase_message(kind, solution, start, offset))
        start += solution.duration
    message.duration = float(start)
    message.distance = sum(hip_advance(solution) for solution in solutions)
    message.speed = message.distance / message.duration if message.duration > 0.0 else 0.0
    message.cost = float(sum(solution.cost for solution in solutions))
    # Single support leaves the stance foot out of its tree; double support has all of the robot.
    weight = max(solution.problem.model.tree.mass * solution.problem.model.tree.gravity for solution in solutions)
    energy = sum(solution.energies.total for solution in solutions)
    message.cost_of_transport = energy / (weight * message.distance) if weight * message.distance > 0.0 else math.nan


def _answer(solutions: list[PhaseSolution], gait: Gait, beyond: Sequence[str] = ()) -> GaitAnswer:
    """The answer with phases that are solved but for the last one; ``beyond`` tells what else isn't kept."""
    last = solutions[-1]
    if not last.converged:
        index = len(solutions) - 1
        message = f"phases[{index}]: {last.status.value}: {last.message}"
        return GaitAnswer(False, message, bytes(serialize_message(gait)))
    broken = [
        f"phases[{index}]: {solution.status.value}: {solution.message}"
        for index, solution in enumerate(solutions)
        if solution.status is not PhaseStatus.CONVERGED
    ]
    return GaitAnswer(True, "; ".join([*broken, *beyond]), bytes(serialize_message(gait)))
