# SPDX-License-Identifier: Apache-2.0
"""A walk from rest to rest that a robot can be expected to keep to on its feet: gentle ends, margins everywhere."""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import Executor

import numpy as np
import pinocchio as pin

from humanoid_model.errors import InputError
from humanoid_model.progress import ProgressCallback
from humanoid_studies.planar_gait.lift.bearing import SoleGeometry, sole_of_leg
from humanoid_studies.planar_gait.lift.lifted_gait import LiftSettings
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.synthesize_gait import (
    GaitSettings,
    GaitSolution,
    PhaseSettings,
    synthesize_gait,
)
from humanoid_studies.planar_gait.specification.phase_spec import MAX_CYCLES, PhaseSpec, walk_through
from humanoid_studies.planar_gait.specification.similar_walk import (
    LegSize,
    centre_from_hips,
    legs_of,
    lowered_walk,
    similar_walk,
)
from humanoid_studies.planar_gait.specification.step_data import WalkData, load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker

START, STEADY, LAST = "bip2000_first", "bip2000_steady", "bip2000_last"
"""Step data of the walk: the double supports after the swing from rest, between steady steps, before the last swing."""

MADE_FOR = LegSize(leg=0.82, ankle=-0.17 + 0.083j, centre=-0.0089048)
"""Legs and centre of mass of BIP2000, whose step data and figures these are; robots of other sizes get similar ones."""
MASS = 104.81
"""Of BIP2000 [kg]."""

SWING_FROM_REST = 0.6
"""Duration of the first swing and of the last one of BIP2000 [s]."""

MIN_FLEXION = 0.245
"""Of knees once the hips have swayed over one sole [rad]: legs that lean are longer than in the plane."""
INSET = 1.0 / 3.0
"""Of the zero-moment point in single support towards the other foot, in half-widths of the sole's narrower end."""
LATERAL_FRICTION = 0.6
"""Coefficient that the forces keep to on the whole robot."""
RANGE_RESERVE = 0.05
"""Distance that joints keep in the plane from the other ends of their ranges [rad]."""
RATE_RESERVE = 1.0
"""Distance that joints keep in the plane from their greatest rates [rad/s]."""

FORCE_RESERVE = (50.0, 100.0)
"""Least normal force under heel and toe in double and in single support [N]."""
FRICTION = 0.25
"""Coefficient that the planned forces keep to in the plane."""
TORQUE_SHARE = 0.8
"""Of its effort limit that a joint may use in the plane: the lift adds to it."""


def level_lift(projection: SagittalProjection) -> LiftSettings:
    """How the walk is lifted: the zero-moment point is inside of the sole's middle by a share of the sole's width."""
    narrow = min(
        float(np.ptp((sole.vertices @ sole.placement.rotation[:, 1])[list(end)]))
        for sole in _soles(projection)
        for end in (sole.toe, sole.heel)
    )
    return LiftSettings(inset=INSET * 0.5 * narrow, friction=LATERAL_FRICTION)


def knee_reserve(projection: SagittalProjection) -> float:
    """Least flexion of knees in the plane [rad].

    Over one sole the hips are a sway d off the plane's place, so that legs have to span sqrt(l² + d²) instead of l;
    knees are bent by :data:`MIN_FLEXION` then.

    Raises:
        InputError: the feet are too far apart for legs so short.
    """
    robot, data = projection.robot, projection.robot.model.createData()
    pin.forwardKinematics(robot.model, data, projection.reference)
    lateral = [float((data.oMi[sole.joint] * sole.placement).translation[1]) for sole in _soles(projection)]
    sway = 0.5 * abs(lateral[1] - lateral[0]) - level_lift(projection).inset
    shank, thigh = (projection.bip.segments[name].length for name in ("rear_shank", "rear_thigh"))
    cosine = math.cos(MIN_FLEXION) - sway**2 / (2.0 * shank * thigh)
    if cosine <= -1.0:
        raise InputError(
            f"sways by {sway:.3f} m on legs of {shank:.3f} and {thigh:.3f} m",
            element=f"robot '{robot.name}'",
            remedy="Give a robot whose feet are closer together or whose legs are longer",
        )
    return math.acos(cosine)


def with_reserves(projection: SagittalProjection) -> SagittalProjection:
    """Return the projection, its joints kept away from the ends of their ranges and rates: the lift takes some of them.

    Raises:
        InputError: a joint's range or rate is smaller than what is to be kept.
    """
    joints = {}
    for kind, joint in projection.bip.joints.items():
        lower = joint.lower + RANGE_RESERVE
        if kind == "knee":
            # From the straight leg, which may be beyond the range or within it.
            lower = max(lower, knee_reserve(projection))
        upper, rate = joint.upper - RANGE_RESERVE, joint.rate - RATE_RESERVE
        if not (lower < upper and rate > 0.0):
            raise InputError(
                f"moves from {joint.lower:g} to {joint.upper:g} rad at {joint.rate:g} rad/s",
                element=f"joint '{kind}'",
                remedy="Give a robot whose legs move further and faster",
            )
        joints[kind] = dataclasses.replace(joint, lower=lower, upper=upper, rate=rate)
    return dataclasses.replace(projection, bip=dataclasses.replace(projection.bip, joints=joints))


def _soles(projection: SagittalProjection) -> list[SoleGeometry]:
    return [sole_of_leg(projection.robot, leg.joints[2]) for leg in (projection.rear, projection.front)]


def level_step(name: str, projection: SagittalProjection, stride: float = 1.0) -> WalkData:
    """Step data of a file of ``config/gait/steps``, made for BIP2000, similar for this robot.

    Raises:
        InputError: there is no such file, or legs that keep their knees in range don't reach.
    """
    walk, bip = load_walk(name), projection.bip
    size = dataclasses.replace(legs_of(bip), centre=centre_from_hips(bip, walk.step.initial_trunk_angle).real)
    return lowered_walk(similar_walk(walk, MADE_FOR, size, stride), bip)


def level_walker(projection: SagittalProjection) -> BipWalker:
    """Return the robot in the plane, its front foot pressed down and kept from sliding in double support."""
    mass, robot = projection.bip.mass / MASS, projection.robot
    limits = {
        kind: TORQUE_SHARE * min(float(robot.limits.effort[robot.index_v(joint)]) for joint in joints)
        for kind, *joints in zip(("hip", "knee", "ankle"), projection.rear.joints, projection.front.joints, strict=True)
    }
    return BipWalker(projection.bip, friction=FRICTION, min_toe_force=mass * FORCE_RESERVE[0], torque_limits=limits)


def level_settings(projection: SagittalProjection) -> GaitSettings:
    """Return what is minimised and kept in each phase, in units of the robot's size: BIP2000's are the thesis'."""
    length, mass = legs_of(projection.bip).leg / MADE_FOR.leg, projection.bip.mass / MASS
    double, single = (mass * force for force in FORCE_RESERVE)
    effort = QuadraticEffort()
    effort = dataclasses.replace(
        effort, torque_scale=effort.torque_scale / (mass * length), force_scale=effort.force_scale / mass
    )
    shared = Penalties(range_weight=1.0)
    # Three times the thesis': shorter strides would leave the loop open by 1.2 mm. It costs a walk 1e-4 of its effort.
    shared = dataclasses.replace(shared, closure=3.0 * shared.closure / length**2)
    # A weak penalty, as the thesis has it, lets the front sole turn by a degree below the ground on its way.
    in_double = dataclasses.replace(shared, slap=1500.0)
    in_single = dataclasses.replace(
        shared, inequality=3e3, rate_weight=length, clearance=0.01 * length, clearance_weight=1.0 / length**2
    )
    return GaitSettings(
        double=PhaseSettings(effort, in_double, min_root_force=double, root_friction=FRICTION),
        single=PhaseSettings(effort, in_single, min_root_force=single, root_friction=FRICTION),
        friction=1.2 * FRICTION,
    )


def level_phases(
    projection: SagittalProjection, steady: int, stride: float = 1.0, swing: float = SWING_FROM_REST
) -> tuple[PhaseSpec, ...]:
    """Return phases of :func:`level_walk`, from rest to rest; arguments and errors are that function's."""
    if not (isinstance(steady, (int, np.integer)) and 1 <= steady <= MAX_CYCLES):
        raise InputError(f"is {steady}", element="steady", remedy=f"Give a whole number from 1 to {MAX_CYCLES}")
    first, middle, last = (level_step(name, projection, stride) for name in (START, STEADY, LAST))
    swing *= math.sqrt(legs_of(projection.bip).leg / MADE_FOR.leg)
    # One double support more than steady swings lie between them: two of them start and end the steady walk.
    return walk_through((first, *(middle,) * (steady + 1), last), first.rest, last.rest, swing, swing)


def level_stride(projection: SagittalProjection, speed: float, step_length: float) -> float:
    """Return strides of a level walk in those that the robot takes unless told.

    Args:
        projection: of the robot.
        speed: that is asked for; has to be 0: that of the swinging legs [m/s].
        step_length: likewise; 0: the robot's own [m].

    Raises:
        InputError: there are no such steps, or a speed is given.
    """
    walk = level_step(STEADY, projection)
    longest = walk.step.step_length
    if speed != 0.0:
        time = walk.double_support + walk.single_support
        raise InputError(
            f"is {speed:g} m/s, but the level walk of '{projection.robot.name}' has its own: "
            f"steps of {longest:.2f} m at {longest / time:.2f} m/s",
            element="speed",
            remedy="Leave it at 0, or give phases from START to STOP",
        )
    length = step_length or longest
    if not 0.0 < length <= longest:
        raise InputError(
            f"is {length:g} m, but '{projection.robot.name}' takes steps of {longest:.2f} m at most on its level walk",
            element="step_length",
            remedy="Give less, 0 for those, or phases from START to STOP",
        )
    return float(length / longest)


def level_walk(
    projection: SagittalProjection,
    steady: int = 10,
    executor: Executor | None = None,
    progress: ProgressCallback | None = None,
    stride: float = 1.0,
    swing: float = SWING_FROM_REST,
) -> GaitSolution:
    """Optimal phases of a walk: a short first step, steady steps, a short last one, standing.

    BIP2000 steps 0.4 m at 0.53 m/s, robots of other sizes similarly. Feet land level and without impact, every heel
    and toe that bears is pressed down, and friction keeps far below what floors have. Each phase is least effort
    between its ends.

    Args:
        projection: of the robot.
        steady: number of steady steps.
        executor: that phases are solved on side by side.
        progress: as of :func:`synthesize_gait`.
        stride: strides in those of BIP2000's Froude number, at most 1: small soles and weak ankles need shorter ones.
        swing: duration of the first and the last swing for legs of BIP2000's length [s]: longer ones spare weak hips.

    Raises:
        InputError: no steady step or more than :data:`.MOST_CYCLES`, a stride that isn't above 0 and at most 1, a swing
            that takes no time, or legs that can't reach.
    """
    phases = level_phases(projection, steady, stride, swing)
    return synthesize_gait(level_walker(projection), phases, level_settings(projection), executor, progress)
