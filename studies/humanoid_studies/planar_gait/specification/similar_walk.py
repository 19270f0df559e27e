# SPDX-License-Identifier: Apache-2.0
"""A walk made for one robot, carried over to a robot of another size.

Walks of legs that are longer by a factor s are dynamically similar when lengths grow by s, times and speeds by its
square root and rates shrink by it: Froude's number v²/(g L) stays (Alexander 1984, "The gaits of bipedal and
quadrupedal animals").
"""

from __future__ import annotations

import cmath
import dataclasses
import math
from dataclasses import dataclass

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.models.bip import Bip
from humanoid_studies.planar_gait.specification.step_data import RestData, StepData, WalkData


@dataclass(frozen=True)
class LegSize:
    """What of a robot's legs its walks depend on.

    Attributes:
        leg: length of the straight leg from hip to ankle, or to the tip of a leg without foot [m].
        ankle: place of the ankle from the toe of a flat foot, to the rear and up [m]; 0 without feet.
        centre: of mass ahead of the hips as the robot stands [m]; as 0 for both robots it doesn't matter.
    """

    leg: float
    ankle: complex = 0j
    centre: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: one isn't finite, or the leg has no length.
        """
        if not (math.isfinite(self.leg) and self.leg > 0.0):
            raise InputError(f"is {self.leg} m", element="size.leg", remedy="Give more than 0")
        for name, value in (("ankle", self.ankle), ("centre", self.centre)):
            if not cmath.isfinite(value):
                raise InputError(f"is {value}", element=f"size.{name}", remedy="Give finite values")


def legs_of(bip: Bip) -> LegSize:
    """Return the size of the legs of a robot with feet."""
    leg = bip.segments["rear_thigh"].length + bip.segments["rear_shank"].length
    return LegSize(leg, complex(-bip.foot.toe_ahead, bip.foot.ankle_height))


def centre_from_hips(bip: Bip, trunk: float = math.pi / 2) -> complex:
    """Return the centre of mass from the hips, ahead and up, on straight vertical legs [m].

    Args:
        bip: robot with feet.
        trunk: its angle [rad].
    """
    shank, thigh = bip.segments["rear_shank"].length, bip.segments["rear_thigh"].length
    knee, ankle = complex(0.0, -thigh), complex(0.0, -thigh - shank)
    toe = ankle + complex(bip.foot.toe_ahead, -bip.foot.ankle_height)
    axes = {
        "rear_foot": (toe, ankle),
        "rear_shank": (ankle, knee),
        "rear_thigh": (knee, 0j),
        "front_thigh": (0j, knee),
        "front_shank": (knee, ankle),
        "front_foot": (ankle, toe),
        "trunk": (0j, cmath.rect(1.0, trunk)),
    }
    moment = 0j
    for name, (start, end) in axes.items():
        segment = bip.segments[name]
        moment += segment.mass * (start + segment.centre * (end - start) / abs(end - start))
    return moment / bip.mass


def similar_walk(walk: WalkData, made_for: LegSize, size: LegSize, stride: float = 1.0) -> WalkData:
    """Return the walk that a robot of another size can be expected to walk as easily.

    Hips keep their places from the ankle of the flat foot, in lengths of the leg; feet may have another shape. The
    angles of trunk and soles stay. Shorter strides take the same time: all that is ahead or behind shrinks with them,
    and the zero-moment point's way under the sole as much (its equation is linear).

    A robot whose mass is further ahead has its hips further back, the centre of mass where it belongs, as far as the
    front leg then is no longer than the walk's at touch-down: shorter strides leave room for that, whole ones none.

    Args:
        walk: of the robot that it was made for.
        made_for: size of that robot's legs.
        size: of the other one.
        stride: its strides in those of the same Froude number, above 0 and at most 1.

    Raises:
        InputError: the stride isn't.
    """
    if not 0.0 < stride <= 1.0:
        raise InputError(f"is {stride}", element="stride", remedy="Give a share of the whole stride, at most 1")
    length = size.leg / made_for.leg
    root = math.sqrt(length)

    def shorter(vector: complex) -> complex:
        return complex(stride * vector.real, vector.imag)

    landing = walk.step.initial_hip - (made_for.ankle + walk.step.step_length)
    room = length * (1.0 - stride) * abs(landing.real)
    ahead = size.centre - length * made_for.centre
    back = math.copysign(min(abs(ahead), room), ahead)

    def hip(place: complex) -> complex:
        return size.ankle + length * shorter(place - made_for.ankle) - back

    step: StepData = walk.step.replace(
        step_length=stride * length * walk.step.step_length,
        step_height=length * walk.step.step_height,
        initial_hip=hip(walk.step.initial_hip),
        final_hip=hip(walk.step.final_hip),
        initial_hip_velocity=root * shorter(walk.step.initial_hip_velocity),
        final_hip_velocity=root * shorter(walk.step.final_hip_velocity),
        final_rear_foot_rate=walk.step.final_rear_foot_rate / root,
    )
    rest: RestData = dataclasses.replace(
        walk.rest,
        hip_height=hip(complex(0.0, walk.rest.hip_height)).imag,
        hip_ahead=stride * length * walk.rest.hip_ahead - back,
    )
    return WalkData(step, root * walk.double_support, root * walk.single_support, rest)


def lowered_walk(walk: WalkData, bip: Bip) -> WalkData:
    """Return walk with its hips lowered, all by as much as it takes to bend both knees into their range at every end.

    Args:
        walk: on level ground.
        bip: whose knees' least flexion is kept.

    Raises:
        InputError: feet are too far from the hips for legs so bent, whatever the hips' height.
    """
    foot, shank, thigh = bip.foot, bip.segments["rear_shank"].length, bip.segments["rear_thigh"].length
    longest = abs(shank + cmath.rect(thigh, max(0.0, bip.joints["knee"].lower)))
    rear = complex(-foot.toe_ahead, foot.ankle_height)
    raised = cmath.rect(foot.ankle_toe, math.pi - foot.toe_angle + walk.step.final_rear_foot_angle)
    front = rear + walk.step.step_length
    rest = complex(walk.rest.hip_ahead, walk.rest.hip_height)
    drop = 0.0
    for name, hip, ankle in (
        ("step.initial_hip", walk.step.initial_hip, rear),
        ("step.initial_hip", walk.step.initial_hip, front),
        ("step.final_hip", walk.step.final_hip, raised),
        ("step.final_hip", walk.step.final_hip, front),
        ("rest.hip_ahead", rest, complex(0.0, foot.ankle_height)),
    ):
        span = hip - ankle
        if abs(span.real) >= longest:
            raise InputError(
                f"is {abs(span.real):.3f} m away from an ankle; legs of {shank:.3f} and {thigh:.3f} m that keep their "
                f"knees in range span {longest:.3f} m",
                element=name,
                remedy="Give a shorter step, or knees that may be straighter",
            )
        drop = max(drop, span.imag - math.sqrt(longest**2 - span.real**2))
    step = walk.step.replace(initial_hip=walk.step.initial_hip - 1j * drop, final_hip=walk.step.final_hip - 1j * drop)
    return dataclasses.replace(
        walk, step=step, rest=dataclasses.replace(walk.rest, hip_height=walk.rest.hip_height - drop)
    )
