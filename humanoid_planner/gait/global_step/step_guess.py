# SPDX-License-Identifier: Apache-2.0
"""A first step to begin with: the published one, scaled to the robot, the speed and the step length."""

from __future__ import annotations

import dataclasses
import math

from humanoid_model.errors import InputError
from humanoid_planner.gait.boundary.step_data import StepData, WalkData, load_walk
from humanoid_planner.gait.phases.walker import BipWalker, RabbitWalker, Walker

_NATURAL = 0.5
"""Exponent of speed that a free step length is guessed to grow with."""
_LOWERED = 0.01
"""Share of its height by which the hip is lowered until both legs reach."""
_LOWEST = 0.6
"""Share of the published height below which the guess gives up."""


def published_walk(walker: Walker) -> tuple[WalkData, float, float]:
    """The published walk of a robot of this kind, that robot's leg [m], and this one's.

    Raises:
        InputError: a walker of another kind.
    """
    if isinstance(walker, BipWalker):
        segments = walker.bip.segments
        return load_walk("bip_cyclic"), 0.82, segments["rear_shank"].length + segments["rear_thigh"].length
    if isinstance(walker, RabbitWalker):
        return load_walk("rabbit"), 0.8, sum(walker.rabbit.lengths[:2])
    raise InputError(
        f"of type {type(walker).__name__} has no published walk", element="walker", remedy="Give a walk as the guess"
    )


def scaled_walk(
    walker: Walker, speed: float | None = None, step_length: float | None = None, step_height: float = 0.0
) -> WalkData:
    """The published walk at another speed and with other steps, its hip lowered until the legs reach.

    Args:
        walker: who walks.
        speed: mean speed [m/s]; the published one, scaled to the robot, if left out.
        step_length: [m]; grows with the root of the speed if left out.
        step_height: of each foothold above the last one [m].

    Raises:
        InputError: out of reach at any height of the hip; the message is the geometric reason.
    """
    walk, leg, own = published_walk(walker)
    scale = own / leg
    step = walk.step
    natural = walk.mean_speed * math.sqrt(scale)
    asked = natural if speed is None else speed
    length = step.step_length * scale * (asked / natural) ** _NATURAL if step_length is None else step_length
    if isinstance(walker, BipWalker):
        behind, was_behind = walker.bip.foot.toe_ahead, math.sqrt(0.188**2 - 0.10**2)
        raised, was_raised = walker.bip.foot.ankle_height, 0.10
    else:
        behind = was_behind = raised = was_raised = 0.0
    quicker = asked / walk.mean_speed
    duration = length / asked
    double = duration * walk.double_support / walk.duration
    last: InputError | None = None
    lowered = 1.0
    while lowered >= _LOWEST:

        def hip(place: complex, rise: float, lowered: float = lowered) -> complex:
            ahead = (place.real + was_behind) / step.step_length * length - behind
            return complex(ahead, raised + lowered * scale * (place.imag - was_raised) + rise)

        trial: StepData = step.replace(
            step_length=length,
            step_height=step_height,
            hip_start=hip(step.hip_start, min(0.0, step_height)),
            hip_end=hip(step.hip_end, min(0.0, step_height) + 0.5 * abs(step_height)),
            hip_velocity_start=quicker * (step.hip_velocity_start + 0.2j * step_height),
            hip_velocity_end=quicker * (step.hip_velocity_end + 1j * step_height),
            rear_foot_rate=quicker * step.rear_foot_rate,
        )
        try:
            walker.double_support_start(trial)
            walker.double_support_end(trial)
        except InputError as reason:
            last, lowered = reason, lowered - _LOWERED
            continue
        return dataclasses.replace(walk, step=trial, double_support=double, single_support=duration - double)
    assert last is not None
    raise last
