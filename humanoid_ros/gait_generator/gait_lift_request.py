# SPDX-License-Identifier: Apache-2.0
"""What a request for a gait of the whole robot can't have; each refusal names the field."""

from __future__ import annotations

from collections.abc import Iterable

from humanoid_stack.msg import GaitPhaseRequest, GaitRequest

from humanoid_model.errors import InputError
from humanoid_planner.gait.lift.level_walk import STEADY, level_step
from humanoid_planner.gait.models.sagittal_projection import SagittalProjection

_NAMES = {
    getattr(GaitPhaseRequest, name): name for name in ("DOUBLE_SUPPORT", "SINGLE_SUPPORT", "START", "BRAKE", "STOP")
}


def check_lift(request: GaitRequest) -> None:
    """Refuse what a lifted gait can't honour.

    Args:
        request: that asks for one.

    Raises:
        InputError: a field can't be; the message names it, its value and the remedy.
    """
    if request.one_problem:
        raise InputError(
            "is true, but one problem has feet land on their heels, where the whole robot can't stand",
            element="one_problem",
            remedy="Leave it false, or leave lift false",
        )
    if request.phases:
        _check_phases(request)
    else:
        _check_level_walk(request)


def level_stride(request: GaitRequest, projection: SagittalProjection) -> float:
    """Strides of a robot's level walk in those that it takes unless told, as speed and step length of a request ask.

    Args:
        request: that asks for the walk.
        projection: of the robot.

    Raises:
        InputError: there are no such steps, or the speed is given, which is that of their swinging legs.
    """
    walk = level_step(STEADY, projection)
    longest = walk.step.step_length
    if request.speed != 0.0:
        time = walk.double_support + walk.single_support
        raise InputError(
            f"is {request.speed:g} m/s, but the level walk of '{projection.robot.name}' has its own: "
            f"steps of {longest:.2f} m at {longest / time:.2f} m/s",
            element="speed",
            remedy="Leave it at 0, or give phases from START to STOP",
        )
    length = request.step_length or longest
    if not 0.0 < length <= longest:
        raise InputError(
            f"is {length:g} m, but '{projection.robot.name}' takes steps of {longest:.2f} m at most on its level walk",
            element="step_length",
            remedy="Give less, 0 for those, or phases from START to STOP",
        )
    return float(length / longest)


def _check_level_walk(request: GaitRequest) -> None:
    """The robot's own walk has its criterion and its bounds."""
    kept = ("friction",)  # which planned forces keep to
    given = [*_given("weights", request.weights), *_given("bounds", request.bounds, kept)]
    if request.options.stages:
        given.append("options.stages")
    if given:
        raise InputError(
            "is given, but the level walk has criterion, reserves and continuation of its own",
            element=given[0],
            remedy="Leave it out, or give phases from START to STOP",
        )


def _check_phases(request: GaitRequest) -> None:
    kinds = [_NAMES[phase.kind] for phase in request.phases]
    if kinds[0] != "START" or kinds[-1] != "STOP":
        raise InputError(
            f"are {', '.join(kinds)}, but the whole robot starts and stops at rest",
            element="phases",
            remedy="Begin with START and end with STOP, or leave lift false",
        )
    if request.cycles > 1:
        raise InputError(
            f"is {request.cycles}, but phases from START to STOP are lifted once",
            element="cycles",
            remedy="Give 1, and the phases as often as they are to be walked",
        )
    for index, phase in enumerate(request.phases):
        for part in ("step", "next_step"):
            height = getattr(phase, part).step_height
            if height != 0.0:
                raise InputError(
                    f"is {height:g} m, but gaits are lifted on level ground",
                    element=f"phases[{index}].{part}.step_height",
                    remedy="Give 0, or leave lift false",
                )
    for index, end in ((0, "initial"), (len(kinds) - 1, "final")):
        for field in (f"{end}_state", f"free_{end}"):
            values = getattr(request.phases[index], field)
            if len(values) and any(values):
                raise InputError(
                    "is given, but the whole robot is at rest there",
                    element=f"phases[{index}].{field}",
                    remedy="Leave it out: `rest` says how it stands",
                )


def _given(name: str, message: object, kept: Iterable[str] = ()) -> list[str]:
    """Fields of a part of a request that aren't as in an empty message."""
    empty = type(message)()
    fields = [field.removeprefix("_") for field in message.get_fields_and_field_types()]  # type: ignore[attr-defined]
    return [
        f"{name}.{field}" for field in fields if field not in kept and getattr(message, field) != getattr(empty, field)
    ]
