# SPDX-License-Identifier: Apache-2.0
"""A walk from rest to rest that a robot can be expected to keep to on its feet: gentle ends, margins everywhere."""

from __future__ import annotations

import dataclasses
from concurrent.futures import Executor

from humanoid_model.errors import InputError
from humanoid_planner.gait.boundary.step_data import load_walk
from humanoid_planner.gait.models.sagittal_projection import SagittalProjection
from humanoid_planner.gait.optimal_control.penalties import Penalties
from humanoid_planner.gait.phases.phase_spec import walk_through
from humanoid_planner.gait.phases.synthesize_gait import GaitSettings, GaitSolution, PhaseSettings, synthesize_gait
from humanoid_planner.gait.phases.walker import BipWalker
from humanoid_planner.gait.solvers.synthesize import Feedback

START, STEADY, LAST = "bip2000_first", "bip2000_steady", "bip2000_last"
"""Step data of the walk: the double supports after the swing from rest, between steady steps, before the last swing."""

SWING_FROM_REST = 0.6
"""Duration of the first swing and of the last one [s]."""

KNEE_RESERVE = 0.33
"""Least flexion of knees in the plane [rad]: the leg grows longer as the hips sway to the side."""
RANGE_RESERVE = 0.05
"""Distance that joints keep in the plane from the other ends of their ranges [rad]."""
RATE_RESERVE = 1.0
"""Distance that joints keep in the plane from their greatest rates [rad/s]."""

FORCE_RESERVE = (50.0, 100.0)
"""Least normal force under heel and toe in double and in single support [N]."""
FRICTION = 0.25
"""Coefficient that the planned forces keep to in the plane."""


def with_reserves(projection: SagittalProjection) -> SagittalProjection:
    """The projection, its joints kept away from the ends of their ranges and rates: the lift takes some of them.

    Raises:
        InputError: a joint's range or rate is smaller than what is to be kept.
    """
    joints = {}
    for kind, joint in projection.bip.joints.items():
        lower = joint.lower + (KNEE_RESERVE if kind == "knee" else RANGE_RESERVE)
        upper, rate = joint.upper - RANGE_RESERVE, joint.rate - RATE_RESERVE
        if not (lower < upper and rate > 0.0):
            raise InputError(
                f"moves from {joint.lower:g} to {joint.upper:g} rad at {joint.rate:g} rad/s",
                element=f"joint '{kind}'",
                remedy="Give a robot whose legs move further and faster",
            )
        joints[kind] = dataclasses.replace(joint, lower=lower, upper=upper, rate=rate)
    return dataclasses.replace(projection, bip=dataclasses.replace(projection.bip, joints=joints))


def level_walker(projection: SagittalProjection) -> BipWalker:
    """The robot in the plane, its front foot pressed down and kept from sliding in double support."""
    return BipWalker(projection.bip, friction=FRICTION, toe_force_lower=FORCE_RESERVE[0])


def level_settings() -> GaitSettings:
    """What is minimised and kept in each phase."""
    double, single = FORCE_RESERVE
    # A weak penalty, as the thesis has it, lets the front sole turn by a degree below the ground on its way.
    in_double = Penalties(slap=1500.0, range_weight=1.0)
    in_single = Penalties(range_weight=1.0, rate_weight=1.0, clearance=0.01, inequality=3e3)
    return GaitSettings(
        double=PhaseSettings(penalties=in_double, root_force_lower=double, root_friction=FRICTION),
        single=PhaseSettings(penalties=in_single, root_force_lower=single, root_friction=FRICTION),
        friction=1.2 * FRICTION,
    )


def level_walk(
    projection: SagittalProjection, steady: int = 10, executor: Executor | None = None, feedback: Feedback | None = None
) -> GaitSolution:
    """Optimal phases of a walk at 0.53 m/s: a short first step, steady steps of 0.4 m, a short last one, standing.

    Feet land level and without impact, every heel and toe that bears is pressed down, and friction keeps far below
    what floors have. Each phase is least effort between its ends.

    Args:
        projection: of BIP2000 or a robot of its size.
        steady: number of steady steps.
        executor: that phases are solved on side by side.
        feedback: as of :func:`synthesize_gait`.

    Raises:
        InputError: fewer than one steady step, or legs that can't reach.
    """
    if steady < 1:
        raise InputError(f"is {steady}", element="steady", remedy="Give one step or more")
    first, middle, last = load_walk(START), load_walk(STEADY), load_walk(LAST)
    # One double support more than steady swings lie between them: two of them start and end the steady walk.
    specs = walk_through(
        (first, *(middle,) * (steady + 1), last), first.rest, last.rest, SWING_FROM_REST, SWING_FROM_REST
    )
    return synthesize_gait(level_walker(projection), specs, level_settings(), executor, feedback)
