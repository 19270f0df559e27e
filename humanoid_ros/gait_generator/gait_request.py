# SPDX-License-Identifier: Apache-2.0
"""A request for a gait in the library's terms; whatever can't be honoured is refused here, field by field."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from humanoid_stack.msg import (
    GaitBounds,
    GaitObstacle,
    GaitPhaseRequest,
    GaitRequest,
    GaitRest,
    GaitSolverOptions,
    GaitStage,
    GaitStep,
)
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.gait.lift.level_walk import level_lift
from humanoid_planner.gait.lift.lifted_gait import LiftSettings
from humanoid_planner.gait.models.sagittal_projection import SagittalProjection
from humanoid_planner.gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_planner.gait.solvers.collocation import CollocationOptions
from humanoid_planner.gait.solvers.continuation import Stage
from humanoid_planner.gait.solvers.direct import DirectOptions
from humanoid_planner.gait.solvers.shooting import ShootingOptions
from humanoid_planner.gait.solvers.synthesize import SynthesisOptions
from humanoid_planner.gait.specification.step_data import RestData, StepData
from humanoid_ros.gait_generator.gait_lift_request import check_lift, level_stride
from humanoid_ros.gait_generator.gait_models import FootSizes, GaitModel, load_gait_model, load_whole_model
from humanoid_ros.messages.conversions import array, seconds
from humanoid_ros.node.request_fields import check_numbers, enumerated, finite, known_name, not_negative

Real = NDArray[np.float64]


class PhaseKind(IntEnum):
    """Phases of a gait as requests have them."""

    DOUBLE_SUPPORT = GaitPhaseRequest.DOUBLE_SUPPORT
    SINGLE_SUPPORT = GaitPhaseRequest.SINGLE_SUPPORT
    START = GaitPhaseRequest.START
    BRAKE = GaitPhaseRequest.BRAKE
    STOP = GaitPhaseRequest.STOP

    @property
    def double(self) -> bool:
        """Whether both feet bear."""
        return self in (PhaseKind.DOUBLE_SUPPORT, PhaseKind.BRAKE)


class StageQuantity(IntEnum):
    """What a continuation changes."""

    CLOSURE = GaitStage.CLOSURE
    SOLE_ANGLE = GaitStage.SOLE_ANGLE
    CLEARANCE = GaitStage.CLEARANCE
    INERTIA = GaitStage.INERTIA
    TRUNK_MASS = GaitStage.TRUNK_MASS
    BOUNDS = GaitStage.BOUNDS


INDIRECT, DIRECT, SHOOTING = "indirect", "direct", "shooting"
METHODS = {INDIRECT: "pontryagin", DIRECT: "direct", SHOOTING: "shooting"}
"""Methods of requests, and what the library calls them."""
LIFT = "lift: "
"""What stages of a lift begin with."""
LIFT_RANGE = 1.0
"""Penalty on joint ranges, reserves included, of gaits to be lifted, where neither request nor node gives one."""
LEAST_NODES, MOST_NODES, MOST_CYCLES = 11, 100000, 1000
SLOWEST, FASTEST = 0.01, 5.0
"""Speeds that are no mistake [m/s]."""


@dataclass(frozen=True)
class GaitDefaults:
    """What a request leaves open: the node's parameters.

    Attributes:
        model: name of the model.
        feet: of models that leave them open.
        method: of :data:`METHODS`.
        tolerance: of the method; 0 for its own.
        max_nodes: of its mesh; 0 for its own.
        time_limit: of a request [s].
        friction: of the ground.
        torque_weight: mu_c.
        force_weight: mu_f.
        torque_size: gamma of torques [1/(N m)].
        force_size: gamma of forces [1/N].
        closure: r_d [1/(m² s)].
        sole_angle: r_a [1/(rad² s)].
        clearance: r_2 [1/(m² s)].
        range: penalty on joint ranges, relative to r_2.
        rate: on joint rates, likewise.
        durations: least and greatest of free ones [s].
        sample_rate: of trajectories [Hz].
    """

    model: str = "bip"
    feet: FootSizes = field(default_factory=FootSizes)
    method: str = INDIRECT
    tolerance: float = 0.0
    max_nodes: int = 0
    time_limit: float = 60.0
    friction: float = 0.6
    torque_weight: float = 1.0
    force_weight: float = 1.0
    torque_size: float = 1e-2
    force_size: float = 1e-3
    closure: float = Penalties.closure
    sole_angle: float = Penalties.slap
    clearance: float = Penalties.inequality
    range: float = 0.0
    rate: float = 0.0
    durations: tuple[float, float] = (0.05, 2.0)
    sample_rate: float = 200.0


@dataclass(frozen=True, eq=False)
class AskedPhase:
    """A phase as it was asked for.

    Attributes:
        kind: of the phase.
        duration: [s]; None where it is free.
        step: of a double support, or before a single support or a stop.
        next_step: after a single support or a start.
        rest: before a start or after a stop.
        ends: initial and final state, angles and rates; None where the step says it.
        free: which of their components are free; empty for none.
    """

    kind: PhaseKind
    duration: float | None
    step: StepData | None
    next_step: StepData | None
    rest: RestData | None
    ends: tuple[Real | None, Real | None]
    free: tuple[NDArray[np.bool_], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class AskedWeights:
    """Weights of the criterion.

    Attributes:
        torque: mu_c.
        force: mu_f.
        torque_size: gamma of torques [1/(N m)].
        force_size: gamma of forces [1/N].
        scales: xi per control; empty for ones.
        sizes: gamma per control; empty for those above.
    """

    torque: float
    force: float
    torque_size: float
    force_size: float
    scales: Real
    sizes: Real


@dataclass(frozen=True, eq=False)
class AskedBounds:
    """Bounds; arrays are empty where the model's own count.

    Attributes:
        min_controls: [N m or N].
        max_controls: likewise.
        min_positions: as the robot counts [rad].
        max_positions: likewise.
        max_velocities: [rad/s].
        friction: of both feet.
        enforce_friction: whether the controls keep to it.
        least_normal: normal force that the controls keep under every foot [N]; None leaves it to the check afterwards.
    """

    min_controls: Real
    max_controls: Real
    min_positions: Real
    max_positions: Real
    max_velocities: Real
    friction: float
    enforce_friction: bool
    least_normal: float | None


@dataclass(frozen=True)
class AskedLift:
    """What is asked for of a lift.

    Attributes:
        settings: how the gait is lifted.
        steady: steady steps of the robot's own level walk, where no phases are given.
        stride: its strides, as of :func:`~humanoid_planner.gait.lift.level_walk.level_walk`.
    """

    settings: LiftSettings
    steady: int
    stride: float


@dataclass(frozen=True, eq=False)
class AskedGait:
    """A request in the library's terms.

    Attributes:
        model: that moves.
        phases: in order; empty for a step of a speed.
        speed: of that step [m/s].
        step_length: of that step [m]; None where it is free.
        cycles: how often the gait is repeated.
        one_problem: whether all phases are one problem.
        weights: of the criterion.
        penalties: of all phases.
        bounds: of all phases.
        options: of the solver; their time limit is that of the whole.
        durations: least and greatest of free ones [s].
        sample_rate: of the trajectory [Hz].
        lift: to the whole robot; None leaves the gait in the plane.
    """

    model: GaitModel
    phases: tuple[AskedPhase, ...]
    speed: float
    step_length: float | None
    cycles: int
    one_problem: bool
    weights: AskedWeights
    penalties: Penalties
    bounds: AskedBounds
    options: SynthesisOptions
    durations: tuple[float, float]
    sample_rate: float
    lift: AskedLift | None


def read_gait_request(request: GaitRequest, defaults: GaitDefaults) -> AskedGait:
    """What a request asks for.

    Raises:
        InputError: a field can't be used; the message names it, its value, and what would be right.
    """
    phases = [_read_phase_numbers(phase, f"phases[{i}]") for i, phase in enumerate(request.phases)]
    if request.lift:
        defaults = dataclasses.replace(defaults, range=defaults.range or LIFT_RANGE)
    weights = _weights(request, defaults)
    penalties = _penalties(request, defaults)
    bounds = _bounds(request.bounds, defaults)
    options = _options(request.options, defaults, penalties)
    speed, step_length = (0.0, None) if request.lift and not request.phases else _speed(request)
    cycles = int(request.cycles) or 1
    if cycles > MOST_CYCLES:
        raise InputError(f"is {cycles}", element="cycles", remedy=f"Give at most {MOST_CYCLES}")
    lift = None
    if request.lift:
        model = load_whole_model(request.model or defaults.model)
        projection = model.robot
        assert isinstance(projection, SagittalProjection)
        check_lift(request)
        stride = 1.0 if request.phases else level_stride(request, projection)
        settings = dataclasses.replace(
            level_lift(projection), period=1.0 / defaults.sample_rate, friction=bounds.friction
        )
        lift, cycles = AskedLift(settings, cycles, stride), 1
    else:
        model = load_gait_model(request.model or defaults.model, defaults.feet)
        _check_feet(request, model)
    return AskedGait(
        model,
        tuple(
            _phase(message, phase, model, f"phases[{i}]")
            for i, (message, phase) in enumerate(zip(request.phases, phases, strict=True))
        ),
        speed,
        step_length,
        cycles,
        bool(request.one_problem),
        weights,
        penalties,
        bounds,
        options,
        defaults.durations,
        defaults.sample_rate,
        lift,
    )


def read_step(message: GaitStep, name: str) -> StepData:
    """Data of a step.

    Raises:
        InputError: a number isn't finite, or can't be of a step.
    """
    def plane(value: Point | Vector3, field_name: str) -> complex:
        x, y, z = array(value).tolist()
        check_numbers(np.array([x, y, z]), f"{name}.{field_name}")
        if y != 0.0:
            raise InputError(f"has y = {y:g}", element=f"{name}.{field_name}", remedy="Leave y at 0: it is a plane")
        return complex(x, z)

    try:
        return StepData(
            finite(message.step_length, f"{name}.step_length"),
            plane(message.initial_hip, "initial_hip"),
            plane(message.final_hip, "final_hip"),
            plane(message.initial_hip_velocity, "initial_hip_velocity"),
            plane(message.final_hip_velocity, "final_hip_velocity"),
            finite(message.initial_trunk_angle, f"{name}.initial_trunk_angle"),
            finite(message.final_trunk_angle, f"{name}.final_trunk_angle"),
            finite(message.initial_sole_angle, f"{name}.initial_sole_angle"),
            finite(message.final_rear_foot_angle, f"{name}.final_rear_foot_angle"),
            finite(message.final_rear_foot_rate, f"{name}.final_rear_foot_rate"),
            finite(message.step_height, f"{name}.step_height"),
        )
    except InputError as error:
        own, _, field_name = (error.element or "").partition(".")
        if own != "step":
            raise
        said = {
            "hip_start": "initial_hip",
            "hip_end": "final_hip",
            "sole_angle": "initial_sole_angle",
            "rear_foot_turn": "final_rear_foot_angle",
        }
        raise InputError(
            error.problem, element=f"{name}.{said.get(field_name, field_name)}", remedy=error.remedy
        ) from None


def check_step_feet(step: StepData, model: GaitModel, name: str) -> None:
    """Refuse angles of feet that a model doesn't have.

    Raises:
        InputError: there is one.
    """
    if model.walker is not None and model.walker.foot_length > 0.0:
        return
    for value, field_name in ((step.sole_angle, "initial_sole_angle"), (step.rear_foot_rate, "final_rear_foot_rate")):
        if value != 0.0:
            raise InputError(
                f"is {value:g}, but '{model.name}' has no feet", element=f"{name}.{field_name}", remedy="Leave it at 0"
            )


# Phases -----------------------------------------------------------------------------------------------------------

_NEEDS = {
    PhaseKind.DOUBLE_SUPPORT: ("step",),
    PhaseKind.BRAKE: ("step",),
    PhaseKind.SINGLE_SUPPORT: ("step", "next_step"),
    PhaseKind.START: ("rest", "next_step"),
    PhaseKind.STOP: ("step", "rest"),
}
_EMPTY = {"step": GaitStep(), "next_step": GaitStep(), "rest": GaitRest()}


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Of a phase, what doesn't depend on the model."""

    kind: PhaseKind
    duration: float | None
    steps: dict[str, StepData]
    ends: tuple[Real | None, Real | None]


def _read_phase_numbers(message: GaitPhaseRequest, name: str) -> _Numbers:
    kind = enumerated(message.kind, PhaseKind, f"{name}.kind")
    duration = not_negative(message.duration, f"{name}.duration", "s; 0: free")
    ends = []
    for end in ("initial_state", "final_state"):
        values = np.array(getattr(message, end), dtype=float)
        check_numbers(values, f"{name}.{end}")
        ends.append(values if len(values) else None)
    steps = {}
    for part in ("step", "next_step"):
        given = getattr(message, part)
        if given != _EMPTY[part]:
            steps[part] = read_step(given, f"{name}.{part}")
    return _Numbers(kind, duration or None, steps, (ends[0], ends[1]))


def _phase(message: GaitPhaseRequest, numbers: _Numbers, model: GaitModel, name: str) -> AskedPhase:
    kind = numbers.kind
    needed = _NEEDS[kind] if model.walker is not None else ()
    for part in ("step", "next_step", "rest"):
        given = getattr(message, part) != _EMPTY[part]
        if given and part not in needed:
            what = f"'{model.name}', which doesn't walk," if model.walker is None else f"a phase of kind {kind.name}"
            raise InputError(f"is given, but {what} has none", element=f"{name}.{part}", remedy="Leave it empty")
        if not given and part in needed and part != "rest":
            raise InputError(
                f"is empty, but a phase of kind {kind.name} needs it",
                element=f"{name}.{part}",
                remedy="Give step length, hips and their velocities",
            )
    for part, data in numbers.steps.items():
        check_step_feet(data, model, f"{name}.{part}")
    step = numbers.steps.get("step")
    if kind is PhaseKind.BRAKE and step is not None and step.hip_velocity_end.real >= step.hip_velocity_start.real:
        raise InputError(
            f"is {step.hip_velocity_end.real:g} m/s, not below {step.hip_velocity_start.real:g} m/s at the beginning",
            element=f"{name}.step.final_hip_velocity.x",
            remedy="Give a lower one, or kind 0 (DOUBLE_SUPPORT)",
        )
    if model.mechanism is not None and kind is not PhaseKind.DOUBLE_SUPPORT:
        raise InputError(
            f"is {kind.value} ({kind.name}), but '{model.name}' doesn't walk",
            element=f"{name}.kind",
            remedy="Give 0 (DOUBLE_SUPPORT): a closed chain",
        )
    rest = _rest(message.rest, kind, model, f"{name}.rest") if "rest" in needed else None
    size = 2 * _coordinates(kind, model)
    ends: list[Real | None] = []
    free: list[NDArray[np.bool_]] = []
    for end, values in zip(("initial", "final"), numbers.ends, strict=True):
        if values is None and model.mechanism is not None:
            raise InputError(
                f"is empty, but '{model.name}' doesn't walk and has no steps",
                element=f"{name}.{end}_state",
                remedy=f"Give {size} values: angles, then rates",
            )
        if values is not None and len(values) != size:
            raise InputError(
                f"has {len(values)} values", element=f"{name}.{end}_state", remedy=f"Give {size}: angles, then rates"
            )
        mask = np.array(getattr(message, f"free_{end}"), dtype=bool)
        if len(mask) not in (0, size):
            raise InputError(
                f"has {len(mask)} values", element=f"{name}.free_{end}", remedy=f"Give {size}: angles, then rates"
            )
        ends.append(values)
        free.append(mask)
    return AskedPhase(
        kind, numbers.duration, step, numbers.steps.get("next_step"), rest, (ends[0], ends[1]), (free[0], free[1])
    )


def _coordinates(kind: PhaseKind, model: GaitModel) -> int:
    if model.mechanism is not None:
        return model.mechanism.n
    assert model.walker is not None
    single = model.walker.single_support().n
    return single + 1 if kind.double and model.walker.foot_length > 0.0 else single


def _rest(message: GaitRest, kind: PhaseKind, model: GaitModel, name: str) -> RestData:
    for part in ("hip_height", "hip_ahead", "trunk_angle"):
        finite(getattr(message, part), f"{name}.{part}")
    if message.hip_height == 0.0:
        own = model.start_rest if kind is PhaseKind.START else model.stop_rest
        if own is None:
            raise InputError(
                f"is 0, but it isn't known how '{model.name}' rests",
                element=f"{name}.hip_height",
                remedy="Give the height of the hips [m]",
            )
        return own
    if message.hip_height < 0.0:
        raise InputError(f"is {message.hip_height:g} m", element=f"{name}.hip_height", remedy="Give more than 0")
    return RestData(message.hip_height, message.hip_ahead, message.trunk_angle)


# Criterion, bounds, options ---------------------------------------------------------------------------------------


def _weights(request: GaitRequest, defaults: GaitDefaults) -> AskedWeights:
    given = request.weights
    arrays = {}
    for name in ("control_scales", "control_sizes"):
        values = np.array(getattr(given, name), dtype=float)
        if len(values) and not (np.isfinite(values).all() and (values > 0.0).all()):
            raise InputError(f"is {values.tolist()}", element=f"weights.{name}", remedy="Give finite numbers above 0")
        arrays[name] = values
    return AskedWeights(
        _or_default(given.torque, defaults.torque_weight, "weights.torque"),
        _or_default(given.force, defaults.force_weight, "weights.force"),
        defaults.torque_size,
        defaults.force_size,
        arrays["control_scales"],
        arrays["control_sizes"],
    )


def _penalties(request: GaitRequest, defaults: GaitDefaults) -> Penalties:
    given, bounds = request.weights, request.bounds
    obstacles = tuple(_obstacle(item, f"bounds.obstacles[{i}]") for i, item in enumerate(bounds.obstacles))
    if obstacles and request.phases and all(item.kind in (0, 3) for item in request.phases):
        raise InputError(
            "are given, but no phase has a swinging foot", element="bounds.obstacles", remedy="Leave them out"
        )
    return Penalties(
        closure=_or_default(given.closure, defaults.closure, "weights.closure"),
        slap=_or_default(given.sole_angle, defaults.sole_angle, "weights.sole_angle"),
        inequality=_or_default(given.clearance, defaults.clearance, "weights.clearance"),
        range_weight=_or_default(given.range, defaults.range, "weights.range"),
        rate_weight=_or_default(given.rate, defaults.rate, "weights.rate"),
        clearance=not_negative(bounds.clearance, "bounds.clearance", "m"),
        obstacles=obstacles,
    )


def _obstacle(message: GaitObstacle, name: str) -> Obstacle:
    centre = finite(message.centre, f"{name}.centre")
    sizes = {}
    for part, standard in (("width", None), ("height", None), ("margin", Obstacle.margin)):
        value = not_negative(getattr(message, part), f"{name}.{part}", "m")
        if value == 0.0 and standard is None:
            raise InputError("is 0", element=f"{name}.{part}", remedy="Give more than 0 [m]")
        sizes[part] = value or float(standard or 0.0)
    return Obstacle(centre, **sizes)


def _bounds(message: GaitBounds, defaults: GaitDefaults) -> AskedBounds:
    arrays = {}
    for name in ("min_controls", "max_controls", "min_positions", "max_positions", "max_velocities"):
        values = np.array(getattr(message, name), dtype=float)
        if np.isnan(values).any():
            raise InputError(
                f"is {values.tolist()}", element=f"bounds.{name}", remedy="Give numbers, infinite where nothing bounds"
            )
        arrays[name] = values
    if len(arrays["max_velocities"]) and not (arrays["max_velocities"] > 0.0).all():
        raise InputError(
            f"is {arrays['max_velocities'].tolist()}", element="bounds.max_velocities", remedy="Give numbers above 0"
        )
    for kind in ("controls", "positions"):
        low, high = arrays[f"min_{kind}"], arrays[f"max_{kind}"]
        if len(low) == len(high) and (low > high).any():
            at = int(np.argmax(low > high))
            raise InputError(
                f"is {low[at]:g}, above {high[at]:g} in bounds.max_{kind}[{at}]",
                element=f"bounds.min_{kind}[{at}]",
                remedy="Let the lower bound be below the upper one",
            )
    least = not_negative(message.min_normal_force, "bounds.min_normal_force", "N")
    if least > 0.0 and not message.enforce_unilateral:
        raise InputError(
            f"is {least:g}, but enforce_unilateral is false",
            element="bounds.min_normal_force",
            remedy="Set enforce_unilateral, or leave it at 0",
        )
    return AskedBounds(
        **arrays,
        friction=_or_default(message.friction, defaults.friction, "bounds.friction"),
        enforce_friction=bool(message.enforce_friction),
        least_normal=least if message.enforce_unilateral else None,
    )


def _options(message: GaitSolverOptions, defaults: GaitDefaults, penalties: Penalties) -> SynthesisOptions:
    method = known_name(message.method or defaults.method, METHODS, "options.method", "method")
    tolerance = _or_default(message.tolerance, defaults.tolerance, "options.tolerance")
    if tolerance >= 1.0:
        raise InputError(f"is {tolerance:g}", element="options.tolerance", remedy="Give a number below 1")
    nodes = int(message.max_nodes) or defaults.max_nodes
    if nodes and not LEAST_NODES <= nodes <= MOST_NODES:
        raise InputError(
            f"is {nodes}", element="options.max_nodes", remedy=f"Give a number from {LEAST_NODES} to {MOST_NODES}"
        )
    schedule = tuple(_stage(stage, penalties, f"options.stages[{i}]") for i, stage in enumerate(message.stages))
    if schedule and method == DIRECT:
        raise InputError(
            "are given, but the method is 'direct'",
            element="options.stages",
            remedy="Leave them out, or give 'indirect' or 'shooting'",
        )
    collocation, direct, shooting = CollocationOptions(), DirectOptions(), ShootingOptions()
    if nodes:
        intervals = (nodes - 1) // 2
        direct = DirectOptions(intervals=intervals if method == DIRECT else min(direct.intervals, intervals))
        collocation = CollocationOptions(max_nodes=nodes)
        shooting = ShootingOptions(steps_per_segment=(nodes - 1) // shooting.segments)
    if tolerance and method == DIRECT:
        direct = DirectOptions(intervals=direct.intervals, tolerance=tolerance)
    elif tolerance:
        collocation = CollocationOptions(tolerance=tolerance, max_nodes=collocation.max_nodes)
        shooting = ShootingOptions(tolerance=tolerance, steps_per_segment=shooting.steps_per_segment)
    return SynthesisOptions(
        METHODS[method],
        direct,
        collocation,
        shooting,
        schedule,
        time_limit=_time_limit(message.time_limit, defaults),
    )


def _stage(message: GaitStage, penalties: Penalties, name: str) -> Stage:
    quantity = enumerated(message.quantity, StageQuantity, f"{name}.quantity")
    values = np.array(message.values, dtype=float)
    if len(values) == 0 or not (np.isfinite(values).all() and (values > 0.0).all()):
        raise InputError(f"is {values.tolist()}", element=f"{name}.values", remedy="Give finite numbers above 0")
    own = {
        StageQuantity.CLOSURE: ("closure", penalties.closure),
        StageQuantity.SOLE_ANGLE: ("slap", penalties.slap),
        StageQuantity.CLEARANCE: ("inequality", penalties.inequality),
    }
    if quantity in own:
        parameter, factor = own[quantity]
        return Stage(parameter, tuple((values / factor).tolist()))
    if quantity is StageQuantity.BOUNDS:
        if (values < 1.0).any():
            raise InputError(f"is {values.tolist()}", element=f"{name}.values", remedy="Give scales of 1 or more")
        return Stage("bounds", tuple((values - 1.0).tolist()))
    return Stage("mass_scale" if quantity is StageQuantity.INERTIA else "body:trunk", tuple(values.tolist()))


def _time_limit(message: Duration, defaults: GaitDefaults) -> float:
    limit = seconds(message)
    if limit < 0.0:
        raise InputError(
            f"is {limit:g} s", element="options.time_limit", remedy="Give one above 0, or 0 for the node's default"
        )
    return limit or defaults.time_limit


def _speed(request: GaitRequest) -> tuple[float, float | None]:
    speed = finite(request.speed, "speed")
    length = not_negative(request.step_length, "step_length", "m; 0: free")
    if request.phases:
        for name, value in (("speed", speed), ("step_length", length)):
            if value != 0.0:
                raise InputError(
                    f"is {value:g}, but phases are given, which fix it", element=name, remedy="Leave it, or them, out"
                )
    elif not SLOWEST <= speed <= FASTEST:
        raise InputError(
            f"is {speed:g} m/s", element="speed", remedy=f"Give one from {SLOWEST:g} to {FASTEST:g} m/s, or phases"
        )
    return speed, length or None


def _check_feet(request: GaitRequest, model: GaitModel) -> None:
    """Refuse what only walkers have of mechanisms that don't walk."""
    if model.mechanism is None:
        return
    bounds: Sequence[tuple[str, bool]] = (
        ("phases", not request.phases),
        ("one_problem", request.one_problem),
        ("cycles", request.cycles > 1),
        ("bounds.friction", request.bounds.friction != 0.0),
        ("bounds.enforce_friction", request.bounds.enforce_friction),
        ("bounds.enforce_unilateral", request.bounds.enforce_unilateral),
        ("bounds.clearance", request.bounds.clearance != 0.0),
        ("bounds.obstacles", bool(request.bounds.obstacles)),
    )
    for name, wrong in bounds:
        if wrong and name == "phases":
            raise InputError(
                f"is empty, but '{model.name}' doesn't walk", element=name, remedy="Give a phase with both its states"
            )
        if wrong:
            raise InputError(
                f"is given, but '{model.name}' doesn't walk", element=name, remedy="Leave it as in an empty message"
            )


def _or_default(value: float, default: float, name: str) -> float:
    """A number of a request, the node's default for 0."""
    if not (math.isfinite(value) and value >= 0.0):
        raise InputError(f"is {value:g}", element=name, remedy="Give a finite number above 0, 0 for the default")
    return float(value) or default
