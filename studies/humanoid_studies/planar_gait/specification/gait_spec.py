# SPDX-License-Identifier: Apache-2.0
"""What a gait is wanted for: model, phases or a speed, criterion, bounds and solver, named as in messages.

What is 0 or empty is left open and comes from :class:`GaitDefaults`. Refusals name the field; those that depend on the
model come from :func:`.generate_gait`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from humanoid_model.checks import check_finite, check_known, check_not_negative, is_finite, shown
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, choice, count, flag, number, text
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_studies.planar_gait.solvers.collocation import CollocationOptions
from humanoid_studies.planar_gait.solvers.continuation import Stage
from humanoid_studies.planar_gait.solvers.direct import DirectOptions
from humanoid_studies.planar_gait.solvers.shooting import ShootingOptions
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSettings
from humanoid_studies.planar_gait.specification.gait_model import FootSizes, GaitModel
from humanoid_studies.planar_gait.specification.phase_spec import MAX_CYCLES, PhaseSpec

INDIRECT, DIRECT, SHOOTING = "indirect", "direct", "shooting"
METHODS = {INDIRECT: "pontryagin", DIRECT: "direct", SHOOTING: "shooting"}
"""Methods of gaits, and what :class:`.SynthesisOptions` calls them."""
LIFT_RANGE = 1.0
"""Penalty on joint ranges, reserves included, of gaits to be lifted, where that is left open."""
LIFT_CLEARANCE = 5e-3
"""Height of the swinging foot of gaits to be lifted, where that is left open [m]: a foot that skims the ground
stumbles."""
MIN_NODES, MAX_NODES = 11, 100000
SLOWEST, FASTEST = 0.01, 5.0
"""Speeds that are no mistake [m/s]."""


class StageQuantity(IntEnum):
    """What a continuation changes, numbered as in messages."""

    CLOSURE = 0
    SOLE_ANGLE = 1
    CLEARANCE = 2
    INERTIA = 3
    TRUNK_MASS = 4
    BOUNDS = 5


@dataclass(frozen=True)
class GaitDefaults(Described):
    """What stands for what a specification leaves open.

    Attributes:
        feet: of models that leave them open.
    """

    model: str = text("bip", "model of requests that name none: bip, rabbit, five_bar, file or robot")
    feet: FootSizes = field(default_factory=FootSizes)
    method: str = choice(INDIRECT, METHODS, "method of requests that name none")
    tolerance: float = number(0.0, "tolerance of requests that give 0; 0: the method's", low=0.0, high=0.1)
    max_nodes: int = count(0, "nodes of requests that give 0; 0: the method's own", high=MAX_NODES)
    time_limit: float = number(60.0, "wall-clock time of requests that give 0", "s", low=0.1, high=86400.0)
    friction: float = number(0.6, "friction of requests that give 0", "-", low=1e-3, high=10.0)
    torque_weight: float = number(1.0, "weight mu_c of torques, for 0", "-", low=1e-9, high=1e9)
    force_weight: float = number(1.0, "weight mu_f of contact forces, for 0", "-", low=1e-9, high=1e9)
    torque_size: float = number(1e-2, "inverse of a torque's expected size, gamma", "1/(N m)", low=1e-9, high=1e3)
    force_size: float = number(1e-3, "inverse of a force's expected size, gamma", "1/N", low=1e-9, high=1e3)
    closure: float = number(Penalties.closure, "penalty r_d on open loops, for 0", "1/(m^2 s)", low=1.0, high=1e12)
    sole_angle: float = number(
        Penalties.slap, "penalty r_a on the front sole, for 0", "1/(rad^2 s)", low=0.0, high=1e12
    )
    clearance: float = number(
        Penalties.inequality, "penalty r_2 on feet in the ground, for 0", "1/(m^2 s)", low=0.0, high=1e12
    )
    range: float = number(0.0, "penalty on joint ranges, relative to r_2, for 0", "m^2/rad^2", low=0.0, high=1e6)
    rate: float = number(0.0, "penalty on joint rates, likewise, for 0", "m^2 s^2/rad^2", low=0.0, high=1e6)
    min_duration: float = number(0.05, "least duration of a phase that is free", "s", low=1e-3, high=10.0)
    max_duration: float = number(2.0, "greatest duration of such a phase", "s", low=1e-2, high=100.0)
    sample_rate: float = number(200.0, "points of a trajectory per second", "Hz", low=10.0, high=2000.0)

    @property
    def durations(self) -> tuple[float, float]:
        """Least and greatest of free phases [s]."""
        return self.min_duration, self.max_duration


@dataclass(frozen=True)
class GaitWeights(Described):
    """Weights of the criterion; 0 or empty: the default's, ones, and the default's sizes.

    Attributes:
        control_scales: xi per control: torques alone, or torques and the forces at the front contact.
        control_sizes: gamma per control, inverse of its expected size, likewise [1/(N m) or 1/N].
    """

    part_of = "weights."
    torque: float = number(0.0, "mu_c, of all joint torques", low=0.0, high=math.inf)
    force: float = number(0.0, "mu_f, of all contact forces", low=0.0, high=math.inf)
    control_scales: tuple[float, ...] = ()
    control_sizes: tuple[float, ...] = ()
    closure: float = number(0.0, "r_d, penalty on the opening of the loop", "1/(m² s)", low=0.0, high=math.inf)
    sole_angle: float = number(
        0.0, "r_a, penalty on the angle of the front sole", "1/(rad² s)", low=0.0, high=math.inf
    )
    clearance: float = number(
        0.0, "r_2, penalty on feet below the ground, and on ranges and rates that have a weight", "1/(m² s)", low=0.0,
        high=math.inf,
    )  # fmt: skip
    range: float = number(
        0.0, "penalty on joint ranges, relative to that on clearance", "m²/rad²", low=0.0, high=math.inf
    )
    rate: float = number(0.0, "penalty on joint rates, likewise", "m² s²/rad²", low=0.0, high=math.inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("control_scales", "control_sizes"):
            values = _numbers(getattr(self, name), f"weights.{name}")
            if len(values) and not (np.isfinite(values).all() and (values > 0.0).all()):
                raise InputError(
                    f"is {values.tolist()}", element=f"weights.{name}", remedy="Give finite numbers above 0"
                )


@dataclass(frozen=True)
class GaitBounds(Described):
    """Bounds of a gait; arrays are empty where the model's own count, numbers infinite where nothing bounds.

    Attributes:
        min_controls: joint torques [N m], or these and then the forces at the front contact [N].
        max_controls: likewise.
        min_positions: joint angles as the robot counts them, kept by the penalty ``range``, else only reported [rad].
        max_positions: likewise [rad].
        max_velocities: joint rates, kept by the penalty ``rate``, else only reported [rad/s].
        obstacles: to step over in single support.
    """

    part_of = "bounds."
    min_controls: tuple[float, ...] = ()
    max_controls: tuple[float, ...] = ()
    min_positions: tuple[float, ...] = ()
    max_positions: tuple[float, ...] = ()
    max_velocities: tuple[float, ...] = ()
    friction: float = number(0.0, "coefficient of both feet; 0: the default's", low=0.0)
    enforce_friction: bool = flag(False, "whether the controls keep to it; else it is only reported")
    enforce_unilateral: bool = flag(False, "whether the controls keep feet from pulling")
    min_normal_force: float = number(
        0.0, "least normal force at heel and at toe, with ``enforce_unilateral``", "N", low=0.0
    )
    clearance: float = number(
        0.0, "least height of the swinging foot between its contacts; 0: none, of gaits to be lifted 5 mm", "m", low=0.0
    )
    obstacles: tuple[Obstacle, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        arrays = {
            name: _numbers(getattr(self, name), f"bounds.{name}")
            for name in ("min_controls", "max_controls", "min_positions", "max_positions", "max_velocities")
        }
        for name, values in arrays.items():
            if np.isnan(values).any():
                raise InputError(
                    f"is {values.tolist()}",
                    element=f"bounds.{name}",
                    remedy="Give numbers, infinite where nothing bounds",
                )
        fastest = arrays["max_velocities"]
        if len(fastest) and not (fastest > 0.0).all():
            raise InputError(f"is {fastest.tolist()}", element="bounds.max_velocities", remedy="Give numbers above 0")
        for kind in ("controls", "positions"):
            low, high = arrays[f"min_{kind}"], arrays[f"max_{kind}"]
            if len(low) == len(high) and (low > high).any():
                at = int(np.argmax(low > high))
                raise InputError(
                    f"is {low[at]:g}, above {high[at]:g} in bounds.max_{kind}[{at}]",
                    element=f"bounds.min_{kind}[{at}]",
                    remedy="Let the lower bound be below the upper one",
                )
        least = self.min_normal_force
        if least > 0.0 and not self.enforce_unilateral:
            raise InputError(
                f"is {least:g}, but enforce_unilateral is false",
                element="bounds.min_normal_force",
                remedy="Set enforce_unilateral, or leave it at 0",
            )
        _check_items(self.obstacles, Obstacle, "bounds.obstacles")


@dataclass(frozen=True)
class GaitStage:
    """A stage of a continuation: a quantity goes through values, each solution starting the next.

    Attributes:
        quantity: that changes.
        values: that it goes through, in its own unit; of inertia, trunk mass and bounds a scale.
    """

    quantity: StageQuantity
    values: tuple[float, ...]

    def checked(self, name: str) -> NDArray[np.float64]:
        """Its values.

        Args:
            name: of the stage, for errors.

        Raises:
            InputError: there are none, or one can't be.
        """
        values = _numbers(self.values, f"{name}.values")
        if len(values) == 0 or not (np.isfinite(values).all() and (values > 0.0).all()):
            raise InputError(f"is {values.tolist()}", element=f"{name}.values", remedy="Give finite numbers above 0")
        if self.quantity is StageQuantity.BOUNDS and (values < 1.0).any():
            raise InputError(f"is {values.tolist()}", element=f"{name}.values", remedy="Give scales of 1 or more")
        return values


@dataclass(frozen=True)
class GaitSolverOptions:
    """How a gait is computed; 0 or empty: the default's.

    Attributes:
        method: ``indirect``: direct transcription, costates, then the boundary value problem of Pontryagin's principle;
            ``direct``: transcription only; ``shooting``: multiple shooting on the costates.
        tolerance: relative residual of the boundary value problem, or IPOPT's of a transcription.
        max_nodes: of the mesh; a transcription or shooting takes as many as that if it is given.
        stages: continuation to what is asked, of ``indirect`` and ``shooting``.
        time_limit: of the whole gait, wall-clock [s].
    """

    method: str = ""
    tolerance: float = 0.0
    max_nodes: int = 0
    stages: tuple[GaitStage, ...] = ()
    time_limit: float = 0.0


@dataclass(frozen=True)
class GaitSpec:
    """A gait as it is wanted.

    Attributes:
        model: "bip", "rabbit", "five_bar", the path of such a model's file, or a robot (its name or the path of its
            URDF) to be walked in its sagittal plane; empty: the default's. Or a model that has been loaded.
        phases: in order; empty: one cyclic step of the speed and length below, or ``lift``.
        speed: mean speed of a cyclic step, where no phases are given [m/s].
        step_length: likewise; 0: free, of a level walk its longest [m].
        cycles: how often the phases are repeated in the trajectory; steady steps of a level walk.
        one_problem: all phases in one problem, transition states and durations free, step length kept, and mean speed
            where all durations are given: a cycle, or a walk from START to STOP.
        lift: the whole robot's gait in space, from rest to rest. Without phases it is the robot's own level walk with
            ``cycles`` steady steps; else phases from START to STOP on level ground.
        weights: of the criterion.
        bounds: of all phases.
        options: of the solver.
        settings: criterion, limits and solver in full, in place of weights, bounds and options: of phases
            :class:`.GaitSettings`, of one problem :class:`.GlobalSettings`.
        defaults: what stands for what is left open.
    """

    model: str | GaitModel = ""
    phases: tuple[PhaseSpec, ...] = ()
    speed: float = 0.0
    step_length: float = 0.0
    cycles: int = 1
    one_problem: bool = False
    lift: bool = False
    weights: GaitWeights = field(default_factory=GaitWeights)
    bounds: GaitBounds = field(default_factory=GaitBounds)
    options: GaitSolverOptions = field(default_factory=GaitSolverOptions)
    settings: GaitSettings | GlobalSettings | None = None
    defaults: GaitDefaults = field(default_factory=GaitDefaults)

    def __post_init__(self) -> None:
        """Check what doesn't depend on the model.

        Raises:
            InputError: a field can't be honoured; the message names it, its value, and what would be right.
        """
        self._check_kinds()
        self._check_obstacles()
        self._check_options()
        self._check_settings()
        check_finite(self.speed, "speed")
        check_not_negative(self.step_length, "step_length", "m; 0: free")
        if not self.lift or self.phases:
            self._check_speed()
        if not 1 <= _whole_number(self.cycles, "cycles") <= MAX_CYCLES:
            raise InputError(f"is {self.cycles}", element="cycles", remedy=f"Give at most {MAX_CYCLES}, at least 1")
        if self.lift:
            self._check_lift()

    # What is left open comes from the defaults ------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of the model."""
        return self.model.name if isinstance(self.model, GaitModel) else self.model or self.defaults.model

    @property
    def whole(self) -> bool:
        """Whether all phases are one problem."""
        return self.one_problem or not (self.phases or self.lift)

    @property
    def friction(self) -> float:
        """Coefficient of the ground."""
        if self.settings is not None:
            return self.settings.friction
        return self.bounds.friction or self.defaults.friction

    @property
    def min_normal(self) -> float | None:
        """Normal force that the controls keep under every foot [N]; None leaves it to the check afterwards."""
        return self.bounds.min_normal_force if self.bounds.enforce_unilateral else None

    @property
    def method(self) -> str:
        """One of :data:`METHODS`."""
        return self.options.method or self.defaults.method

    @property
    def time_limit(self) -> float:
        """Of the whole gait [s]; with settings of phases, each of which has one of its own, infinite unless given."""
        if self.options.time_limit or self.settings is None:
            return self.options.time_limit or self.defaults.time_limit
        return self.settings.time_limit if isinstance(self.settings, GlobalSettings) else math.inf

    @property
    def penalties(self) -> Penalties:
        """Of all phases."""
        weights, own = self.weights, self.defaults
        return Penalties(
            closure=weights.closure or own.closure,
            slap=weights.sole_angle or own.sole_angle,
            inequality=weights.clearance or own.clearance,
            range_weight=weights.range or own.range or (LIFT_RANGE if self.lift else 0.0),
            rate_weight=weights.rate or own.rate,
            clearance=self.bounds.clearance or (LIFT_CLEARANCE if self.lift else 0.0),
            obstacles=self.bounds.obstacles,
        )

    @property
    def synthesis(self) -> SynthesisOptions:
        """How each phase is solved."""
        if isinstance(self.settings, GaitSettings):
            return self.settings.synthesis
        method, tolerance = self.method, self.options.tolerance or self.defaults.tolerance
        nodes = self.options.max_nodes or self.defaults.max_nodes
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
        schedule = tuple(self._stage(index) for index in range(len(self.options.stages)))
        return SynthesisOptions(METHODS[method], direct, collocation, shooting, schedule, time_limit=self.time_limit)

    def _stage(self, index: int) -> Stage:
        """Return a stage as solvers have it: scales of what the specification ends with."""
        stage, penalties = self.options.stages[index], self.penalties
        values = stage.checked(f"options.stages[{index}]")
        own = {
            StageQuantity.CLOSURE: ("closure", penalties.closure),
            StageQuantity.SOLE_ANGLE: ("slap", penalties.slap),
            StageQuantity.CLEARANCE: ("inequality", penalties.inequality),
        }
        if stage.quantity in own:
            parameter, factor = own[stage.quantity]
            return Stage(parameter, tuple((values / factor).tolist()))
        if stage.quantity is StageQuantity.BOUNDS:
            return Stage("bounds", tuple((values - 1.0).tolist()))
        parameter = "mass_scale" if stage.quantity is StageQuantity.INERTIA else "body:trunk"
        return Stage(parameter, tuple(values.tolist()))

    # Checks ---------------------------------------------------------------------------------------------------------

    def _check_kinds(self) -> None:
        for name, kinds in (
            ("model", (str, GaitModel)),
            ("one_problem", (bool, np.bool_)),
            ("lift", (bool, np.bool_)),
            ("weights", (GaitWeights,)),
            ("bounds", (GaitBounds,)),
            ("options", (GaitSolverOptions,)),
            ("defaults", (GaitDefaults,)),
        ):
            _check_kind(getattr(self, name), kinds, name)
        _check_items(self.phases, PhaseSpec, "phases")
        _check_items(self.options.stages, GaitStage, "options.stages")

    def _check_obstacles(self) -> None:
        if self.bounds.obstacles and self.phases and all(phase.kind.double for phase in self.phases):
            raise InputError(
                "are given, but no phase has a swinging foot", element="bounds.obstacles", remedy="Leave them out"
            )

    def _check_options(self) -> None:
        method = check_known(self.method, METHODS, "options.method", "method")
        _check_open(self.options.tolerance, "options.tolerance")
        if self.options.tolerance >= 1.0:
            raise InputError(
                f"is {self.options.tolerance:g}", element="options.tolerance", remedy="Give a number below 1"
            )
        nodes = _whole_number(self.options.max_nodes, "options.max_nodes") or self.defaults.max_nodes
        if nodes and not MIN_NODES <= nodes <= MAX_NODES:
            raise InputError(
                f"is {nodes}", element="options.max_nodes", remedy=f"Give a number from {MIN_NODES} to {MAX_NODES}"
            )
        for index, stage in enumerate(self.options.stages):
            stage.checked(f"options.stages[{index}]")
        if self.options.stages and method == DIRECT:
            raise InputError(
                "are given, but the method is 'direct'",
                element="options.stages",
                remedy=f"Leave them out, or give '{INDIRECT}' or '{SHOOTING}'",
            )
        limit = self.options.time_limit
        if not (isinstance(limit, Real) and limit >= 0.0):
            raise InputError(
                f"is {shown(limit)} s", element="options.time_limit", remedy="Give one above 0, or 0 for the default"
            )

    def _check_settings(self) -> None:
        if self.settings is None:
            return
        for name in ("weights", "bounds"):
            for own in given_fields(getattr(self, name), name):
                raise InputError("is given, but settings are, too", element=own, remedy="Leave it out, or settings")
        for own in ("method", "tolerance", "max_nodes", "stages"):
            if getattr(self.options, own) and not (own == "method" and self.whole):
                raise InputError(
                    "is given, but settings are, too", element=f"options.{own}", remedy="Leave it out, or settings"
                )
        fitting = GlobalSettings if self.whole else GaitSettings
        if not isinstance(self.settings, fitting):
            raise InputError(
                f"are {type(self.settings).__name__}", element="settings", remedy=f"Give {fitting.__name__}"
            )

    def _check_speed(self) -> None:
        if self.phases:
            for name, value in (("speed", self.speed), ("step_length", self.step_length)):
                if value != 0.0:
                    raise InputError(
                        f"is {value:g}, but phases are given, which fix it",
                        element=name,
                        remedy="Leave it, or them, out",
                    )
        elif not SLOWEST <= self.speed <= FASTEST:
            raise InputError(
                f"is {self.speed:g} m/s",
                element="speed",
                remedy=f"Give one from {SLOWEST:g} to {FASTEST:g} m/s, or phases",
            )

    def _check_lift(self) -> None:
        if self.one_problem:
            raise InputError(
                "is true, but one problem has feet land on their heels, where the whole robot can't stand",
                element="one_problem",
                remedy="Leave it false, or leave lift false",
            )
        if self.phases:
            self._check_lifted_phases()
            return
        # The robot's own walk has its criterion and its bounds; planned forces keep to the friction.
        given = [*given_fields(self.weights, "weights"), *given_fields(self.bounds, "bounds", ("friction",))]
        if self.options.stages:
            given.append("options.stages")
        if self.settings is not None:
            given.append("settings")
        if given:
            raise InputError(
                "is given, but the level walk has criterion, reserves and continuation of its own",
                element=given[0],
                remedy="Leave it out, or give phases from START to STOP",
            )

    def _check_lifted_phases(self) -> None:
        kinds = [phase.kind.name for phase in self.phases]
        if kinds[0] != "START" or kinds[-1] != "STOP":
            raise InputError(
                f"are {', '.join(kinds)}, but the whole robot starts and stops at rest",
                element="phases",
                remedy="Begin with START and end with STOP, or leave lift false",
            )
        if self.cycles > 1:
            raise InputError(
                f"is {self.cycles}, but phases from START to STOP are lifted once",
                element="cycles",
                remedy="Give 1, and the phases as often as they are to be walked",
            )
        for index, phase in enumerate(self.phases):
            for part in ("step", "next_step"):
                step = getattr(phase, part)
                if step is not None and step.step_height != 0.0:
                    raise InputError(
                        f"is {step.step_height:g} m, but gaits are lifted on level ground",
                        element=f"phases[{index}].{part}.step_height",
                        remedy="Give 0, or leave lift false",
                    )
        for index, end in ((0, "initial"), (len(kinds) - 1, "final")):
            for name in (f"{end}_state", f"free_{end}"):
                if any(getattr(self.phases[index], name)):
                    raise InputError(
                        "is given, but the whole robot is at rest there",
                        element=f"phases[{index}].{name}",
                        remedy="Leave it out: `rest` says how it stands",
                    )


def given_fields(record: GaitWeights | GaitBounds, name: str, kept: Sequence[str] = ()) -> list[str]:
    """Return fields of a part of a specification that aren't left open.

    Args:
        record: weights or bounds.
        name: of the part.
        kept: fields that don't count.
    """
    empty = type(record)()
    names = [own.name for own in dataclasses.fields(record) if own.name not in kept]
    return [f"{name}.{own}" for own in names if getattr(record, own) != getattr(empty, own)]


def _check_open(value: float, name: str) -> None:
    """Check a number that may be left open."""
    if not (is_finite(value) and value >= 0.0):
        raise InputError(f"is {shown(value)}", element=name, remedy="Give a finite number above 0, 0 for the default")


def _check_kind(value: object, kinds: tuple[type, ...], name: str) -> None:
    if not isinstance(value, kinds):
        names = dict.fromkeys(kind.__name__.removesuffix("_") for kind in kinds)
        raise InputError(f"is {value!r}", element=name, remedy=f"Give {' or '.join(names)}")


def _check_items(values: object, kind: type, name: str) -> None:
    if not isinstance(values, (tuple, list)):
        raise InputError(f"is {values!r}", element=name, remedy=f"Give a tuple of {kind.__name__}")
    for index, value in enumerate(values):
        _check_kind(value, (kind,), f"{name}[{index}]")


def _whole_number(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"is {value!r}", element=name, remedy="Give a whole number")
    return int(value)


def _numbers(values: Sequence[float], name: str) -> NDArray[np.float64]:
    """(k,) numbers, of which some may be infinite or none."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise InputError(f"is {values!r}", element=name, remedy="Give numbers, one after the other")
    return array
