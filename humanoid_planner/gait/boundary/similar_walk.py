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
from humanoid_planner.gait.boundary.step_data import RestData, StepData, WalkData
from humanoid_planner.gait.models.bip import Bip


@dataclass(frozen=True)
class LegSize:
    """What of a robot's legs its walks depend on.

    Attributes:
        leg: length of the straight leg from hip to ankle, or to the tip of a leg without foot [m].
        ankle: place of the ankle from the toe of a flat foot, to the rear and up [m]; 0 without feet.
    """

    leg: float
    ankle: complex = 0j

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: one isn't finite, or the leg has no length.
        """
        if not (math.isfinite(self.leg) and self.leg > 0.0):
            raise InputError(f"is {self.leg} m", element="size.leg", remedy="Give more than 0")
        if not cmath.isfinite(self.ankle):
            raise InputError(f"is {self.ankle}", element="size.ankle", remedy="Give finite values")


def legs_of(bip: Bip) -> LegSize:
    """Size of the legs of a robot with feet."""
    leg = bip.segments["rear_thigh"].length + bip.segments["rear_shank"].length
    return LegSize(leg, complex(-bip.foot.toe_ahead, bip.foot.ankle_height))


def similar_walk(walk: WalkData, made_for: LegSize, size: LegSize) -> WalkData:
    """The walk that a robot of another size can be expected to walk as easily.

    Hips keep their places from the ankle of the flat foot, in lengths of the leg; feet may have another shape. The
    angles of trunk and soles stay.

    Args:
        walk: of the robot that it was made for.
        made_for: size of that robot's legs.
        size: of the other one.
    """
    length = size.leg / made_for.leg
    root = math.sqrt(length)

    def hip(place: complex) -> complex:
        return size.ankle + length * (place - made_for.ankle)

    step: StepData = walk.step.replace(
        step_length=length * walk.step.step_length,
        step_height=length * walk.step.step_height,
        hip_start=hip(walk.step.hip_start),
        hip_end=hip(walk.step.hip_end),
        hip_velocity_start=root * walk.step.hip_velocity_start,
        hip_velocity_end=root * walk.step.hip_velocity_end,
        rear_foot_rate=walk.step.rear_foot_rate / root,
    )
    rest: RestData = dataclasses.replace(
        walk.rest,
        hip_height=hip(complex(0.0, walk.rest.hip_height)).imag,
        hip_ahead=length * walk.rest.hip_ahead,
    )
    return WalkData(step, root * walk.double_support, root * walk.single_support, rest)
