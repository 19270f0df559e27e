# SPDX-License-Identifier: Apache-2.0
"""A request for a gait as the library's specification."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from geometry_msgs.msg import Point, Vector3
from humanoid_stack.msg import (
    GaitBounds,
    GaitObstacle,
    GaitPhaseRequest,
    GaitRequest,
    GaitRest,
    GaitSolverOptions,
    GaitStep,
    GaitWeights,
)

from humanoid_model.checks import check_enumerated, check_finite
from humanoid_model.errors import InputError
from humanoid_planner.gait import GaitBounds as Bounds
from humanoid_planner.gait import GaitDefaults, GaitSpec, PhaseKind, PhaseSpec, StepData
from humanoid_planner.gait import GaitSolverOptions as Options
from humanoid_planner.gait import GaitWeights as Weights
from humanoid_planner.gait.optimal_control.penalties import Obstacle
from humanoid_planner.gait.specification.gait_spec import GaitStage, StageQuantity
from humanoid_planner.gait.specification.step_data import RestData
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.messages.request_fields import read_fields, vector
from humanoid_ros.node.requested_files import check_requested


def read_gait_request(request: GaitRequest, defaults: GaitDefaults) -> GaitSpec:
    """Return the specification that a request is.

    Args:
        request: for a gait.
        defaults: what it may leave open.

    Raises:
        InputError: a field can't be used; the message names it, its value, and what would be right.
    """
    phases = tuple(_phase(phase, f"phases[{index}]") for index, phase in enumerate(request.phases))
    return GaitSpec(
        check_requested(request.model, "model"),
        phases,
        float(request.speed),
        float(request.step_length),
        int(request.cycles) or 1,
        bool(request.one_problem),
        bool(request.lift),
        _weights(request.weights),
        _bounds(request.bounds),
        _options(request.options),
        defaults=defaults,
    )


def read_step(message: GaitStep, name: str) -> StepData:
    """Return the data of a step.

    Raises:
        InputError: a number isn't check_finite, or can't be of a step.
    """
    def plane(value: Point | Vector3, field: str) -> complex:
        x, y, z = vector(value, f"{name}.{field}").tolist()
        if y != 0.0:
            raise InputError(f"has y = {y:g}", element=f"{name}.{field}", remedy="Leave y at 0: it is a plane")
        return complex(x, z)

    def number(field: str) -> float:
        return check_finite(getattr(message, field), f"{name}.{field}")

    with _named(name, "step."):
        return StepData(
            number("step_length"),
            plane(message.initial_hip, "initial_hip"),
            plane(message.final_hip, "final_hip"),
            plane(message.initial_hip_velocity, "initial_hip_velocity"),
            plane(message.final_hip_velocity, "final_hip_velocity"),
            number("initial_trunk_angle"),
            number("final_trunk_angle"),
            number("initial_sole_angle"),
            number("final_rear_foot_angle"),
            number("final_rear_foot_rate"),
            number("step_height"),
        )


@contextmanager
def _named(name: str, own: str = "") -> Iterator[None]:
    """Let refusals of a part name it as the request does.

    Args:
        name: of the part in the request.
        own: what its fields begin with where the library names the part itself.
    """
    try:
        yield
    except InputError as error:
        field = error.element or ""
        if not field.startswith(own) or field.startswith(name):
            raise
        element = f"{name}.{field.removeprefix(own)}"
        raise InputError(error.problem, element=element, remedy=error.remedy) from None


def _phase(message: GaitPhaseRequest, name: str) -> PhaseSpec:
    kind = check_enumerated(message.kind, PhaseKind, f"{name}.kind")
    steps = {
        part: read_step(getattr(message, part), f"{name}.{part}") if getattr(message, part) != GaitStep() else None
        for part in ("step", "next_step")
    }
    rest = _rest(message.rest, f"{name}.rest")

    with _named(name):
        return PhaseSpec(
            kind,
            float(message.duration),
            steps["step"],
            steps["next_step"],
            rest,
            tuple(map(float, message.initial_state)),
            tuple(map(float, message.final_state)),
            tuple(map(bool, message.free_initial)),
            tuple(map(bool, message.free_final)),
        )


def _rest(message: GaitRest, name: str) -> RestData | None:
    """Return how the robot rests; None leaves that to the model."""
    for field in ("hip_height", "hip_ahead", "trunk_angle"):
        check_finite(getattr(message, field), f"{name}.{field}")
    if message.hip_height == 0.0:
        return None
    with _named(name, "rest."):
        return RestData(message.hip_height, message.hip_ahead, message.trunk_angle)


def _weights(message: GaitWeights) -> Weights:
    return Weights(
        control_scales=tuple(map(float, message.control_scales)),
        control_sizes=tuple(map(float, message.control_sizes)),
        **read_fields(Weights, message),
    )


def _bounds(message: GaitBounds) -> Bounds:
    arrays = ("min_controls", "max_controls", "min_positions", "max_positions", "max_velocities")
    bounds: dict[str, Any] = {name: tuple(map(float, getattr(message, name))) for name in arrays}
    return Bounds(
        **bounds,
        obstacles=tuple(_obstacle(item, f"bounds.obstacles[{i}]") for i, item in enumerate(message.obstacles)),
        **read_fields(Bounds, message),
    )


def _obstacle(message: GaitObstacle, name: str) -> Obstacle:
    with _named(name, "obstacle."):
        return Obstacle(message.centre, message.width, message.height, message.margin or Obstacle.margin)


def _options(message: GaitSolverOptions) -> Options:
    stages = tuple(
        GaitStage(
            check_enumerated(stage.quantity, StageQuantity, f"options.stages[{index}].quantity"),
            tuple(map(float, stage.values)),
        )
        for index, stage in enumerate(message.stages)
    )
    limit = seconds(message.time_limit)
    return Options(message.method, float(message.tolerance), int(message.max_nodes), stages, limit)
