# SPDX-License-Identifier: Apache-2.0
"""A first step to begin with: the published one, scaled to the robot, the speed and the step length."""

from __future__ import annotations

import dataclasses
import math

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.specification.similar_walk import LegSize, legs_of, similar_walk
from humanoid_studies.planar_gait.specification.step_data import StepData, WalkData, load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker, Walker

_NATURAL = 0.5
"""Exponent of speed that a free step length is guessed to grow with."""
_LOWERED = 0.01
"""Share of its height by which the hip is lowered until both legs reach."""
_LOWEST = 0.6
"""Share of the published height below which the guess gives up."""


def published_walk(walker: Walker) -> tuple[WalkData, LegSize, LegSize]:
    """Return the published walk of a robot of this kind, that robot's legs, and this one's.

    Raises:
        InputError: a walker of another kind.
    """
    if isinstance(walker, BipWalker):
        published = LegSize(0.82, complex(-math.sqrt(0.188**2 - 0.10**2), 0.10))
        return load_walk("bip_cyclic"), published, legs_of(walker.bip)
    if isinstance(walker, RabbitWalker):
        return load_walk("rabbit"), LegSize(0.8), LegSize(sum(walker.rabbit.lengths[:2]))
    raise InputError(
        f"of type {type(walker).__name__} has no published walk", element="walker", remedy="Give a walk as the guess"
    )


def scaled_walk(
    walker: Walker, speed: float | None = None, step_length: float | None = None, step_height: float = 0.0
) -> WalkData:
    """Return the published walk at another speed and with other steps, its hip lowered until the legs reach.

    Args:
        walker: the walking model.
        speed: mean speed [m/s]; that of the similar walk if left out.
        step_length: [m]; grows with the root of the speed if left out.
        step_height: of each foothold above the last one [m].

    Raises:
        InputError: out of reach at any height of the hip; the message is the geometric reason.
    """
    published, made_for, size = published_walk(walker)
    walk = similar_walk(published, made_for, size)
    step = walk.step
    asked = walk.mean_speed if speed is None else speed
    length = step.step_length * (asked / walk.mean_speed) ** _NATURAL if step_length is None else step_length
    quicker, longer = asked / walk.mean_speed, length / step.step_length
    duration = length / asked
    double = duration * walk.double_support / walk.duration
    last: InputError | None = None
    lowered = 1.0
    while lowered >= _LOWEST:

        def hip(place: complex, rise: float, lowered: float = lowered) -> complex:
            leg = place - size.ankle
            return size.ankle + complex(longer * leg.real, lowered * leg.imag + rise)

        trial: StepData = step.replace(
            step_length=length,
            step_height=step_height,
            initial_hip=hip(step.initial_hip, min(0.0, step_height)),
            final_hip=hip(step.final_hip, min(0.0, step_height) + 0.5 * abs(step_height)),
            initial_hip_velocity=quicker * (step.initial_hip_velocity + 0.2j * step_height),
            final_hip_velocity=quicker * (step.final_hip_velocity + 1j * step_height),
            final_rear_foot_rate=quicker * step.final_rear_foot_rate,
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
