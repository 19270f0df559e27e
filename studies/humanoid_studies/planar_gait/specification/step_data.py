# SPDX-License-Identifier: Apache-2.0
"""The few numbers that fix a step (specification 003 sections 2.14.1 to 2.14.3, 3.3 and 3.4.2), and their files."""

from __future__ import annotations

import cmath
import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource, list_resources
from humanoid_model.yaml_node import YamlNode, read_yaml

DEFAULT_REAR_FOOT_TURN = math.radians(-25.0)
"""q_1^f - q_1^i of a robot with feet, which the thesis doesn't give: in the middle of what is feasible (G-02)."""


@dataclass(frozen=True)
class StepData:
    """One double support; places are in the frame of the rear foot's tip or toe.

    Attributes:
        step_length: LPAS, from toe to toe [m].
        initial_hip: place of the hip when the front foot touches [m].
        final_hip: place of the hip when the rear foot leaves [m].
        initial_hip_velocity: velocity of the hip at the beginning [m/s].
        final_hip_velocity: velocity of the hip at the end [m/s].
        initial_trunk_angle: angle of the trunk at the beginning, pi/2 upright [rad].
        final_trunk_angle: angle of the trunk at the end [rad].
        initial_sole_angle: delta, of the front sole when its heel touches [rad]; robots with feet only.
        final_rear_foot_angle: q_1 of the rear foot at the end less that of the flat foot [rad]; robots with feet only.
        final_rear_foot_rate: omega_1, rate of the rear foot at the end [rad/s]; robots with feet only.
        step_height: of the ground under the front foot above that under the rear one [m]: a stair, up or down. The
            thesis walks on level ground.
    """

    step_length: float
    initial_hip: complex
    final_hip: complex
    initial_hip_velocity: complex
    final_hip_velocity: complex
    initial_trunk_angle: float = math.pi / 2
    final_trunk_angle: float = math.pi / 2
    initial_sole_angle: float = 0.0
    final_rear_foot_angle: float = DEFAULT_REAR_FOOT_TURN
    final_rear_foot_rate: float = 0.0
    step_height: float = 0.0

    @property
    def foothold(self) -> complex:
        """From the rear foot's tip or toe to the front one's [m]."""
        return complex(self.step_length, self.step_height)

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: one isn't finite, the step isn't positive, a hip isn't above the ground, the front toe is below
                it, or the rear heel is.
        """
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not cmath.isfinite(value):
                raise InputError(f"is {value}", element=f"step.{field.name}", remedy="Give finite values")
        if self.step_length <= 0.0:
            raise InputError(f"is {self.step_length:g} m", element="step.step_length", remedy="Give more than 0")
        for name in ("initial_hip", "final_hip"):
            if getattr(self, name).imag <= max(0.0, self.step_height):
                raise InputError(
                    f"is {getattr(self, name).imag:g} m high",
                    element=f"step.{name}",
                    remedy="Put the hip above the ground",
                )
        if not 0.0 <= self.initial_sole_angle < math.pi / 2:
            raise InputError(
                f"is {self.initial_sole_angle:g} rad",
                element="step.initial_sole_angle",
                remedy="Give an angle from 0 to pi/2: the heel touches first",
            )
        if not -math.pi / 2 < self.final_rear_foot_angle <= 0.0:
            raise InputError(
                f"is {self.final_rear_foot_angle:g} rad",
                element="step.final_rear_foot_angle",
                remedy="Give an angle from -pi/2 to 0: the rear heel rises",
            )

    def replace(self, **changes: object) -> StepData:
        """Return the step with some of its numbers changed.

        Raises:
            InputError: the step isn't one any more.
        """
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class RestData:
    """Standing still, feet together and flat (section 2.14.4; the thesis doesn't give the hip's place, G-10).

    Attributes:
        hip_height: above the ground [m].
        hip_ahead: of the ankle, or of the tip of a robot without feet [m].
        trunk_angle: [rad].
    """

    hip_height: float = 0.85
    hip_ahead: float = 0.0
    trunk_angle: float = math.pi / 2

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: one isn't finite, or the hip isn't above the ground.
        """
        for name in ("hip_height", "hip_ahead", "trunk_angle"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"is {getattr(self, name)}", element=f"rest.{name}", remedy="Give a finite value")
        if self.hip_height <= 0.0:
            raise InputError(f"is {self.hip_height:g} m", element="rest.hip_height", remedy="Give more than 0")


@dataclass(frozen=True)
class WalkData:
    """A step and how long its phases last.

    Attributes:
        step: the double support that repeats.
        double_support: its duration [s].
        single_support: duration of the swing between two of them [s].
        rest: how the robot stands before such a walk's first step; after the last one for a braking step.
    """

    step: StepData
    double_support: float
    single_support: float
    rest: RestData = RestData()

    def __post_init__(self) -> None:
        """Check the durations.

        Raises:
            InputError: one isn't finite and positive.
        """
        for name in ("double_support", "single_support"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"is {value} s", element=f"durations.{name}", remedy="Give a time above 0")

    @property
    def duration(self) -> float:
        """Of one step [s]."""
        return self.double_support + self.single_support

    @property
    def mean_speed(self) -> float:
        """Step length over the duration of a step [m/s]."""
        return self.step.step_length / self.duration


def load_walk(name_or_path: str | Path) -> WalkData:
    """Read step data and durations.

    Args:
        name_or_path: a file of ``config/gait/steps`` by its name ("bip_cyclic", "bip_braking", "rabbit"), or a path.

    Raises:
        InputError: there is no such file, or it can't be used; the message names line and field.
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        known = list_resources("config/gait/steps", (".yaml",))
        if str(name_or_path) not in known:
            raise InputError(
                f"unknown step '{name_or_path}'", element="step", remedy=f"Use one of {', '.join(known)}, or a path"
            )
        path = find_resource(f"config/gait/steps/{name_or_path}.yaml")
    top = read_yaml(path, InputError)
    values = top.mapping(("step_length", "step_height", "start", "end", "durations", "rest"))
    for name in ("step_length", "start", "end", "durations"):
        if name not in values:
            raise top.fail(f"'{name}' is missing", "Give step_length, start, end and durations")
    start = values["start"].mapping(("hip", "hip_velocity", "trunk", "sole_angle"))
    end = values["end"].mapping(("hip", "hip_velocity", "trunk", "rear_foot_turn", "rear_foot_rate"))
    durations = values["durations"].mapping(("double_support", "single_support"))
    for name, section, given in (("start", values["start"], start), ("end", values["end"], end)):
        for needed in ("hip", "hip_velocity"):
            if needed not in given:
                raise section.fail(f"'{needed}' is missing", f"Give hip and hip_velocity at the {name}")
    for needed in ("double_support", "single_support"):
        if needed not in durations:
            raise values["durations"].fail(f"'{needed}' is missing", "Give both durations")
    upright = math.pi / 2
    try:
        step = StepData(
            values["step_length"].number(),
            _vector(start["hip"]),
            _vector(end["hip"]),
            _vector(start["hip_velocity"]),
            _vector(end["hip_velocity"]),
            start["trunk"].number() if "trunk" in start else upright,
            end["trunk"].number() if "trunk" in end else upright,
            start["sole_angle"].number() if "sole_angle" in start else 0.0,
            end["rear_foot_turn"].number() if "rear_foot_turn" in end else DEFAULT_REAR_FOOT_TURN,
            end["rear_foot_rate"].number() if "rear_foot_rate" in end else 0.0,
            values["step_height"].number() if "step_height" in values else 0.0,
        )
    except InputError as problem:
        if problem.source is not None:
            raise
        raise top.fail(f"{problem.element} {problem.problem}", problem.remedy) from None
    return WalkData(
        step,
        durations["double_support"].number(above=0.0),
        durations["single_support"].number(above=0.0),
        _rest(values["rest"]) if "rest" in values else RestData(),
    )


def _rest(node: YamlNode) -> RestData:
    values = node.mapping(("hip_height", "hip_ahead", "trunk"))
    given = {"trunk_angle" if name == "trunk" else name: value.number() for name, value in values.items()}
    try:
        return RestData(**given)
    except InputError as problem:
        raise node.fail(f"{problem.element} {problem.problem}", problem.remedy) from None


def _vector(node: YamlNode) -> complex:
    x, y = node.numbers(2)
    return complex(x, y)
