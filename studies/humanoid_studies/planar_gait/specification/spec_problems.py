# SPDX-License-Identifier: Apache-2.0
"""From a specification to optimal control problems: ends, free states, bounds and weights put in place."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSettings, PhaseSettings, phase_problem
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.gait_model import GaitModel
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan
from humanoid_studies.planar_gait.specification.gait_spec import GaitBounds, GaitSpec
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, PhaseSpec, PlannedPhase, plan_phase
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker


class UnreachableError(InputError):
    """A phase whose ends don't exist.

    Attributes:
        phase: its index.
    """

    phase = -1


def checked_phases(spec: GaitSpec, model: GaitModel) -> tuple[PhaseSpec, ...]:
    """Return the phases of a specification as its model has them, rests that are left open filled in.

    Raises:
        InputError: a phase has what the model doesn't, or lacks what it needs.
    """
    if model.mechanism is not None:
        _check_mechanism(spec, model)
    return tuple(_checked(phase, model, f"phases[{index}]") for index, phase in enumerate(spec.phases))


def bounded_walker(spec: GaitSpec, model: GaitModel) -> BipWalker | RabbitWalker:
    """Return the walker with what its contacts keep to; as it was made where settings say the rest."""
    walker = model.walking()
    if spec.settings is not None:
        return walker
    friction = spec.friction if spec.bounds.enforce_friction else math.inf
    if isinstance(walker, BipWalker):
        return dataclasses.replace(walker, friction=friction, min_toe_force=spec.min_normal or 0.0)
    return dataclasses.replace(walker, friction=friction)


def gait_settings(spec: GaitSpec) -> GaitSettings:
    """Return settings of all phases; the criterion of each comes with its problem."""
    if isinstance(spec.settings, GaitSettings):
        return spec.settings
    own = PhaseSettings(
        penalties=spec.penalties,
        min_root_force=spec.min_normal,
        root_friction=spec.friction if spec.bounds.enforce_friction else math.inf,
    )
    # Obstacles are in the frame of single support; in double support no foot swings over them.
    double = dataclasses.replace(own, penalties=dataclasses.replace(spec.penalties, obstacles=()))
    return GaitSettings(double, own, spec.friction, spec.synthesis)


def plan_spec(spec: GaitSpec, model: GaitModel, phases: Sequence[PhaseSpec]) -> GaitPlan:
    """Phases in a row, with the ends that are wanted.

    Args:
        spec: that wants them.
        model: that walks.
        phases: as :func:`checked_phases` gives them.

    Raises:
        UnreachableError: an end doesn't exist: a leg is too short or would be straight.
        InputError: phases don't follow each other, or don't join.
    """
    walker = bounded_walker(spec, model)
    planned = []
    for index, phase in enumerate(phases):
        name = f"phases[{index}]"
        if index and phases[index - 1].kind.double == phase.kind.double:
            raise InputError(
                f"is {phase.kind.name} after {phases[index - 1].kind.name}",
                element=f"{name}.kind",
                remedy="Let single and double support take turns",
            )
        try:
            found = plan_phase(walker, phase)
        except InputError as error:
            unreachable = UnreachableError(error.problem, element=f"{name}: {error.element}", remedy=error.remedy)
            unreachable.phase = index
            raise unreachable from error
        ends = [
            BoundaryState(np.array(values[: found.model.n]), np.array(values[found.model.n :])) if values else state
            for state, values in ((found.start, phase.initial_state), (found.end, phase.final_state))
        ]
        found = dataclasses.replace(found, start=ends[0], end=ends[1])
        if phase.duration == 0.0:
            guess = _guessed_duration(found, spec.defaults.durations, name)
            found = dataclasses.replace(found, spec=dataclasses.replace(phase, duration=guess))
        planned.append(found)
    places = np.concatenate([[0.0], np.cumsum([phase.advance for phase in planned[:-1]])])
    plan = GaitPlan(walker, tuple(planned), np.stack([places.real, places.imag], axis=1))
    if not spec.one_problem:
        _check_free(phases)
        _check_joins(plan)
        _check_repeats(plan, spec.cycles)
    return plan


def spec_problem(spec: GaitSpec, phases: Sequence[PhaseSpec], plan: GaitPlan, index: int) -> PhaseProblem:
    """Return the optimal control problem of one phase of a planned gait.

    Raises:
        InputError: bounds or weights don't fit the model.
    """
    planned = plan.phases[index]
    models = [item.model for item in plan.phases]
    model = bounded_model(planned.model, spec.bounds, models)
    problem = phase_problem(plan.walker, dataclasses.replace(planned, model=model), gait_settings(spec))
    return _completed(problem, spec, phases[index], models)


def mechanism_problem(spec: GaitSpec, model: GaitModel, phase: PhaseSpec) -> PhaseProblem:
    """Return the optimal control problem of a phase of a mechanism that doesn't walk.

    Raises:
        InputError: states, bounds or weights don't fit the model.
    """
    mechanism, n = model.mechanism, model.coordinates(phase.kind)
    assert mechanism is not None
    bounded = bounded_model(mechanism, spec.bounds, [mechanism])
    start, end = (
        EndState(np.array(values[:n]), np.array(values[n:])) for values in (phase.initial_state, phase.final_state)
    )
    least, greatest = spec.defaults.durations
    duration = phase.duration or math.sqrt(least * greatest)
    problem = PhaseProblem(bounded, start, end, duration, penalties=spec.penalties)
    return _completed(problem, spec, phase, [mechanism])


def bounded_model(model: PhaseModel, bounds: GaitBounds, models: Sequence[PhaseModel]) -> PhaseModel:
    """Return a model with bounds.

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


def spec_effort(model: PhaseModel, spec: GaitSpec, models: Sequence[PhaseModel]) -> QuadraticEffort:
    """Return the criterion of a phase.

    Args:
        model: of the phase.
        spec: with the weights.
        models: of all phases, which the lengths of arrays are counted by.

    Raises:
        InputError: an array has another length than what it weights.
    """
    weights, own = spec.weights, spec.defaults
    scales = _per_control(model, weights.control_scales, models, "weights.control_scales")
    sizes = _per_control(model, weights.control_sizes, models, "weights.control_sizes")
    given: dict[str, float] = {}
    for j, name in enumerate(model.control_names):
        standard = own.torque_size if j < model.torque_count else own.force_size
        scale = 1.0 if np.isnan(scales[j]) else float(scales[j])
        size = standard if np.isnan(sizes[j]) else float(sizes[j])
        if scale != 1.0 or size != standard:
            given[name] = scale * (size / standard) ** 2
    torque, force = weights.torque or own.torque_weight, weights.force or own.force_weight
    return QuadraticEffort(torque, force, own.torque_size, own.force_size, given)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_mechanism(spec: GaitSpec, model: GaitModel) -> None:
    """Refuse what only walkers have of a mechanism that doesn't walk."""
    bounds = spec.bounds
    if spec.lift or not spec.phases:
        raise InputError(
            f"is empty, but '{model.name}' doesn't walk", element="phases", remedy="Give a phase with both its states"
        )
    for name, given in (
        ("one_problem", spec.one_problem),
        ("cycles", spec.cycles > 1),
        ("settings", spec.settings is not None),
        ("bounds.friction", bounds.friction != 0.0),
        ("bounds.enforce_friction", bounds.enforce_friction),
        ("bounds.enforce_unilateral", bounds.enforce_unilateral),
        ("bounds.clearance", bounds.clearance != 0.0),
        ("bounds.obstacles", bool(bounds.obstacles)),
    ):
        if given:
            raise InputError(
                f"is given, but '{model.name}' doesn't walk", element=name, remedy="Leave it as in an empty message"
            )


def _checked(phase: PhaseSpec, model: GaitModel, name: str) -> PhaseSpec:
    """Return a phase with the rest that it leaves open."""
    if model.mechanism is not None:
        _check_closed_chain(phase, model, name)
    else:
        for part in ("step", "next_step"):
            step = getattr(phase, part)
            if step is not None:
                model.check_feet(step, f"{name}.{part}")
        if phase.rest is None:
            own = {PhaseKind.START: model.start_rest, PhaseKind.STOP: model.stop_rest}.get(phase.kind)
            if own is None and phase.kind in (PhaseKind.START, PhaseKind.STOP):
                raise InputError(
                    f"is 0, but it isn't known how '{model.name}' rests",
                    element=f"{name}.rest.hip_height",
                    remedy="Give the height of the hips [m]",
                )
            phase = dataclasses.replace(phase, rest=own)
        try:
            phase.check_data()
        except InputError as error:
            raise InputError(error.problem, element=f"{name}.{error.element}", remedy=error.remedy) from None
    size = 2 * model.coordinates(phase.kind)
    for own_field in ("initial_state", "final_state", "free_initial", "free_final"):
        count = len(getattr(phase, own_field))
        if count not in (0, size):
            raise InputError(
                f"has {count} values", element=f"{name}.{own_field}", remedy=f"Give {size}: angles, then rates"
            )
    return phase


def _check_closed_chain(phase: PhaseSpec, model: GaitModel, name: str) -> None:
    if phase.kind is not PhaseKind.DOUBLE_SUPPORT:
        raise InputError(
            f"is {phase.kind.value} ({phase.kind.name}), but '{model.name}' doesn't walk",
            element=f"{name}.kind",
            remedy="Give 0 (DOUBLE_SUPPORT): a closed chain",
        )
    if phase.step is not None:
        raise InputError(
            f"is given, but '{model.name}', which doesn't walk, has none",
            element=f"{name}.step",
            remedy="Leave it empty",
        )
    for end in ("initial_state", "final_state"):
        if not getattr(phase, end):
            raise InputError(
                f"is empty, but '{model.name}' doesn't walk and has no steps",
                element=f"{name}.{end}",
                remedy=f"Give {2 * model.coordinates(phase.kind)} values: angles, then rates",
            )


def _check_free(phases: Sequence[PhaseSpec]) -> None:
    for index, phase in enumerate(phases):
        for name, outer in (("free_initial", index == 0), ("free_final", index == len(phases) - 1)):
            if any(getattr(phase, name)) and not outer:
                raise InputError(
                    "leaves states free that the neighbouring phase shares",
                    element=f"phases[{index}].{name}",
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


def _check_repeats(plan: GaitPlan, cycles: int) -> None:
    """Refuse cycles of a gait that doesn't end as it begins."""
    if cycles == 1:
        return
    problem = "the phases begin and end with the same support"
    if plan.phases[0].double != plan.phases[-1].double:
        pair = GaitPlan(plan.walker, (plan.phases[-1], plan.phases[0]), np.stack([plan.offsets[-1], plan.next_offset]))
        jump = pair.jump(0)
        if jump.within():
            return
        problem = f"from the last phase to the first {jump.point} jumps by {jump.place:.2e} m, {jump.velocity:.2e} m/s"
    raise InputError(f"is {cycles}, but {problem}", element="cycles", remedy="Give 1, or phases that end as they begin")


# Problems -------------------------------------------------------------------------------------------------------------


def _guessed_duration(planned: PlannedPhase, durations: tuple[float, float], name: str) -> float:
    """Return the return that of a hip that moves from one end to the other at the mean of its speeds there [s]."""
    hip = planned.model.points["hip"]
    way = float(hip.position(planned.end.q)[0] - hip.position(planned.start.q)[0])
    speeds = [float((hip.jacobian(state.q) @ state.v)[0]) for state in (planned.start, planned.end)]
    mean = 0.5 * sum(speeds)
    if mean <= 0.0 or way <= 0.0:
        raise InputError(
            "is 0, free, but the hip doesn't advance", element=f"{name}.duration", remedy="Give a duration [s]"
        )
    return float(np.clip(way / mean, 1.01 * durations[0], 0.99 * durations[1]))


def _completed(problem: PhaseProblem, spec: GaitSpec, phase: PhaseSpec, models: Sequence[PhaseModel]) -> PhaseProblem:
    """Return the problem with its criterion, free states and free duration."""
    names = problem.model.tree.coordinates
    n = len(names)

    def freed(end: EndState, mask: Sequence[bool]) -> EndState:
        if not any(mask):
            return end
        free_q = tuple(name for name, free in zip(names, mask[:n], strict=True) if free)
        free_v = tuple(name for name, free in zip(names, mask[n:], strict=True) if free)
        return dataclasses.replace(end, free_q=free_q, free_v=free_v)

    return problem.replace(
        effort=problem.effort if spec.settings is not None else spec_effort(problem.model, spec, models),
        start=freed(problem.start, phase.free_initial),
        end=freed(problem.end, phase.free_final),
        duration_range=spec.defaults.durations if phase.duration == 0.0 else None,
    )


def _per_control(model: PhaseModel, values: Sequence[float], models: Sequence[PhaseModel], name: str) -> Array:
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


def _with_ranges(model: PhaseModel, bounds: GaitBounds) -> PhaseModel:
    count = len(model.joints)
    names = ("min_positions", "max_positions", "max_velocities")
    for name in names:
        if len(getattr(bounds, name)) not in (0, count):
            raise InputError(
                f"has {len(getattr(bounds, name))} values",
                element=f"bounds.{name}",
                remedy=f"Give {count}: {', '.join(model.joint_names)}",
            )
    if not any(getattr(bounds, name) for name in names):
        return model
    joints = []
    for j, joint in enumerate(model.joints):
        ends = [joint.sign * (value - joint.offset) for value in (joint.lower, joint.upper)]
        low, high = min(ends), max(ends)
        low = float(bounds.min_positions[j]) if bounds.min_positions else low
        high = float(bounds.max_positions[j]) if bounds.max_positions else high
        if low > high:
            raise InputError(
                f"leaves {joint.name} nothing between {low:g} and {high:g}",
                element="bounds.min_positions" if bounds.min_positions else "bounds.max_positions",
                remedy="Let the lower bound be below the upper one",
            )
        ends = sorted(joint.sign * value + joint.offset for value in (low, high))
        rate = float(bounds.max_velocities[j]) if bounds.max_velocities else joint.rate_limit
        joints.append(dataclasses.replace(joint, lower=ends[0], upper=ends[1], rate_limit=rate))
    return model.replace(joints=tuple(joints))
