# SPDX-License-Identifier: Apache-2.0
"""From phases that were asked for to optimal control problems: ends, free states, bounds and weights put in place."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.gait.mechanism.phase_model import PhaseModel
from humanoid_planner.gait.optimal_control.effort import QuadraticEffort
from humanoid_planner.gait.optimal_control.end_state import EndState
from humanoid_planner.gait.optimal_control.phase_problem import PhaseProblem
from humanoid_planner.gait.solvers.synthesize_gait import GaitSettings, PhaseSettings, phase_problem
from humanoid_planner.gait.specification.boundary_state import BoundaryState
from humanoid_planner.gait.specification.gait_plan import GaitPlan
from humanoid_planner.gait.specification.phase_spec import PhaseKind as SpecKind
from humanoid_planner.gait.specification.phase_spec import PhaseSpec, PlannedPhase, plan_phase
from humanoid_planner.gait.specification.walker import BipWalker, RabbitWalker
from humanoid_ros.gait_generator.gait_request import AskedBounds, AskedGait, AskedPhase, AskedWeights, PhaseKind

Real = NDArray[np.float64]

SPEC_KINDS = {
    PhaseKind.DOUBLE_SUPPORT: SpecKind.DOUBLE,
    PhaseKind.BRAKE: SpecKind.DOUBLE,
    PhaseKind.SINGLE_SUPPORT: SpecKind.SINGLE,
    PhaseKind.START: SpecKind.START,
    PhaseKind.STOP: SpecKind.STOP,
}


class UnreachableError(InputError):
    """A phase whose ends don't exist.

    Attributes:
        phase: its index.
    """

    phase = -1


def bounded_walker(asked: AskedGait) -> BipWalker | RabbitWalker:
    """The walker with what its contacts keep to."""
    walker, bounds = asked.model.walker, asked.bounds
    assert walker is not None
    friction = bounds.friction if bounds.enforce_friction else math.inf
    if isinstance(walker, BipWalker):
        return dataclasses.replace(walker, friction=friction, toe_force_lower=bounds.least_normal or 0.0)
    return dataclasses.replace(walker, friction=friction)


def gait_settings(asked: AskedGait) -> GaitSettings:
    """Settings of all phases; the criterion of each comes with its problem."""
    bounds = asked.bounds
    own = PhaseSettings(
        penalties=asked.penalties,
        root_force_lower=bounds.least_normal,
        root_friction=bounds.friction if bounds.enforce_friction else math.inf,
    )
    # Obstacles are in the frame of single support; in double support no foot swings over them.
    double = dataclasses.replace(own, penalties=dataclasses.replace(asked.penalties, obstacles=()))
    return GaitSettings(double, own, bounds.friction, asked.options)


def plan_asked_gait(asked: AskedGait) -> GaitPlan:
    """Phases in a row, with the ends that were asked for.

    Raises:
        UnreachableError: an end doesn't exist: a leg is too short or would be straight.
        InputError: phases don't follow each other, or don't join.
    """
    walker = bounded_walker(asked)
    planned = []
    for index, phase in enumerate(asked.phases):
        name = f"phases[{index}]"
        if index and asked.phases[index - 1].kind.double == phase.kind.double:
            raise InputError(
                f"is {phase.kind.name} after {asked.phases[index - 1].kind.name}",
                element=f"{name}.kind",
                remedy="Let single and double support take turns",
            )
        try:
            found = plan_phase(walker, _spec(phase, phase.duration or 1.0))
        except InputError as error:
            unreachable = UnreachableError(
                error.problem, element=f"{name}: {error.element}", remedy=error.remedy
            )
            unreachable.phase = index
            raise unreachable from error
        ends = [
            state if values is None else BoundaryState(values[: found.model.n], values[found.model.n :])
            for state, values in zip((found.start, found.end), phase.ends, strict=True)
        ]
        found = dataclasses.replace(found, start=ends[0], end=ends[1])
        if phase.duration is None:
            found = dataclasses.replace(found, spec=_spec(phase, _guessed_duration(found, asked.durations, name)))
        planned.append(found)
    places = np.concatenate([[0.0], np.cumsum([phase.advance for phase in planned[:-1]])])
    plan = GaitPlan(walker, tuple(planned), np.stack([places.real, places.imag], axis=1))
    if not asked.one_problem:
        _check_free(asked)
        _check_joins(plan)
        _check_repeats(plan, asked)
    return plan


def asked_problem(asked: AskedGait, plan: GaitPlan, index: int) -> PhaseProblem:
    """The optimal control problem of one phase of a planned gait.

    Raises:
        InputError: bounds or weights don't fit the model.
    """
    phase, planned = asked.phases[index], plan.phases[index]
    models = [item.model for item in plan.phases]
    model = bounded_model(planned.model, asked.bounds, models)
    problem = phase_problem(plan.walker, dataclasses.replace(planned, model=model), gait_settings(asked))
    return _completed(problem, asked, phase, models)


def mechanism_problem(asked: AskedGait, index: int) -> PhaseProblem:
    """The optimal control problem of a phase of a mechanism that doesn't walk.

    Raises:
        InputError: states, bounds or weights don't fit the model.
    """
    phase, mechanism = asked.phases[index], asked.model.mechanism
    assert mechanism is not None
    model = bounded_model(mechanism, asked.bounds, [mechanism])
    start, end = (_end(model, values) for values in phase.ends)
    duration = phase.duration or math.sqrt(asked.durations[0] * asked.durations[1])
    problem = PhaseProblem(model, start, end, duration, penalties=asked.penalties)
    return _completed(problem, asked, phase, [mechanism])


def bounded_model(model: PhaseModel, bounds: AskedBounds, models: list[PhaseModel]) -> PhaseModel:
    """A model with the bounds of a request.

    Args:
        model: of one phase.
        bounds: as given.
        models: of all phases, which the lengths of arrays are counted by.

    Raises:
        InputError: an array has another length than what it bounds, or bounds cross.
    """
    low = _per_control(model, bounds.min_controls, models, "bounds.min_controls")
    high = _per_control(model, bounds.max_controls, models, "bounds.max_controls")
    changed = {}
    for j, name in enumerate(model.control_names):
        lower = float(model.control_lower[j]) if np.isnan(low[j]) else float(low[j])
        upper = float(model.control_upper[j]) if np.isnan(high[j]) else float(high[j])
        if lower > upper:
            raise InputError(
                f"leaves {name} nothing between {lower:g} and {upper:g}",
                element="bounds.min_controls" if not np.isnan(low[j]) else "bounds.max_controls",
                remedy="Let the lower bound be below the upper one",
            )
        changed[name] = (lower, upper)
    return _with_ranges(model.with_bounds(**changed), bounds)


def effort(model: PhaseModel, weights: AskedWeights, models: list[PhaseModel]) -> QuadraticEffort:
    """The criterion of a phase.

    Raises:
        InputError: an array has another length than what it weights.
    """
    scales = _per_control(model, weights.scales, models, "weights.control_scales")
    sizes = _per_control(model, weights.sizes, models, "weights.control_sizes")
    given: dict[str, float] = {}
    for j, name in enumerate(model.control_names):
        own = weights.torque_size if j < model.torque_count else weights.force_size
        scale = 1.0 if np.isnan(scales[j]) else float(scales[j])
        size = own if np.isnan(sizes[j]) else float(sizes[j])
        if scale != 1.0 or size != own:
            given[name] = scale * (size / own) ** 2
    return QuadraticEffort(weights.torque, weights.force, weights.torque_size, weights.force_size, given)


def _spec(phase: AskedPhase, duration: float) -> PhaseSpec:
    kind = SPEC_KINDS[phase.kind]
    if phase.kind.double:
        return PhaseSpec(kind, duration, step=phase.step)
    return PhaseSpec(kind, duration, previous=phase.step, next=phase.next_step, rest=phase.rest)


def _guessed_duration(planned: PlannedPhase, durations: tuple[float, float], name: str) -> float:
    """That of a hip that moves from one end to the other at the mean of its speeds there [s]."""
    hip = planned.model.points["hip"]
    way = float(hip.position(planned.end.q)[0] - hip.position(planned.start.q)[0])
    speeds = [float((hip.jacobian(state.q) @ state.v)[0]) for state in (planned.start, planned.end)]
    mean = 0.5 * sum(speeds)
    if mean <= 0.0 or way <= 0.0:
        raise InputError(
            "is 0, free, but the hip doesn't advance", element=f"{name}.duration", remedy="Give a duration [s]"
        )
    return float(np.clip(way / mean, 1.01 * durations[0], 0.99 * durations[1]))


def _completed(
    problem: PhaseProblem, asked: AskedGait, phase: AskedPhase, models: list[PhaseModel]
) -> PhaseProblem:
    """The problem with its criterion, free states and free duration."""
    names = problem.model.tree.coordinates
    n = len(names)

    def freed(end: EndState, mask: NDArray[np.bool_]) -> EndState:
        if not mask.any():
            return end
        free_q = tuple(name for name, free in zip(names, mask[:n], strict=True) if free)
        free_v = tuple(name for name, free in zip(names, mask[n:], strict=True) if free)
        return dataclasses.replace(end, free_q=free_q, free_v=free_v)

    return problem.replace(
        effort=effort(problem.model, asked.weights, models),
        start=freed(problem.start, phase.free[0]),
        end=freed(problem.end, phase.free[1]),
        duration_range=asked.durations if phase.duration is None else None,
    )


def _end(model: PhaseModel, values: Real | None) -> EndState:
    assert values is not None
    return EndState(values[: model.n], values[model.n :])


def _per_control(model: PhaseModel, values: Real, models: list[PhaseModel], name: str) -> Real:
    """(N,) values of a model's controls, NaN where none is given."""
    result = np.full(model.control_count, np.nan)
    if len(values) == 0:
        return result
    common = min(item.torque_count for item in models)
    total = max(item.control_count for item in models)
    if len(values) not in (common, total):
        counts = str(common) if common == total else f"{common} (torques) or {total} (torques, then contact forces)"
        raise InputError(f"has {len(values)} values", element=name, remedy=f"Give {counts}")
    count = min(len(values), model.control_count if model.cut_forces or common == total else common)
    result[:count] = values[:count]
    return result


def _with_ranges(model: PhaseModel, bounds: AskedBounds) -> PhaseModel:
    given = {
        "min_positions": bounds.min_positions,
        "max_positions": bounds.max_positions,
        "max_velocities": bounds.max_velocities,
    }
    count = len(model.joints)
    for name, values in given.items():
        if len(values) not in (0, count):
            raise InputError(
                f"has {len(values)} values",
                element=f"bounds.{name}",
                remedy=f"Give {count}: {', '.join(model.joint_names)}",
            )
    if not any(len(values) for values in given.values()):
        return model
    joints = []
    for j, joint in enumerate(model.joints):
        ends = [joint.sign * (value - joint.offset) for value in (joint.lower, joint.upper)]
        low, high = min(ends), max(ends)
        low = float(bounds.min_positions[j]) if len(bounds.min_positions) else low
        high = float(bounds.max_positions[j]) if len(bounds.max_positions) else high
        if low > high:
            raise InputError(
                f"leaves {joint.name} nothing between {low:g} and {high:g}",
                element="bounds.min_positions" if len(bounds.min_positions) else "bounds.max_positions",
                remedy="Let the lower bound be below the upper one",
            )
        ends = sorted(joint.sign * value + joint.offset for value in (low, high))
        rate = float(bounds.max_velocities[j]) if len(bounds.max_velocities) else joint.rate_limit
        joints.append(dataclasses.replace(joint, lower=ends[0], upper=ends[1], rate_limit=rate))
    return model.replace(joints=tuple(joints))


def _check_free(asked: AskedGait) -> None:
    last = len(asked.phases) - 1
    for index, phase in enumerate(asked.phases):
        for end, mask, outer in zip(("initial", "final"), phase.free, (index == 0, index == last), strict=True):
            if mask.any() and not outer:
                raise InputError(
                    "leaves states free that the neighbouring phase shares",
                    element=f"phases[{index}].free_{end}",
                    remedy="Set one_problem, or free the gait's own beginning and end only",
                )


def _check_joins(plan: GaitPlan) -> None:
    for index, jump in enumerate(plan.jumps()):
        if not jump.within():
            raise InputError(
                f"{jump.point} jumps by {jump.place:.2e} m, {jump.velocity:.2e} m/s, {jump.rate:.2e} rad/s "
                f"from phases[{index}] on",
                element=f"phases[{index + 1}]",
                remedy="Let both phases name the same step",
            )


def _check_repeats(plan: GaitPlan, asked: AskedGait) -> None:
    """Refuse cycles of a gait that doesn't end as it begins."""
    if asked.cycles == 1:
        return
    problem = "the phases begin and end with the same support"
    if plan.phases[0].double != plan.phases[-1].double:
        pair = GaitPlan(plan.walker, (plan.phases[-1], plan.phases[0]), np.stack([plan.offsets[-1], plan.next_offset]))
        jump = pair.jump(0)
        if jump.within():
            return
        problem = f"from the last phase to the first {jump.point} jumps by {jump.place:.2e} m, {jump.velocity:.2e} m/s"
    raise InputError(
        f"is {asked.cycles}, but {problem}", element="cycles", remedy="Give 1, or phases that end as they begin"
    )
