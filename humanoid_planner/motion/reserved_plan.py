# SPDX-License-Identifier: Apache-2.0
"""Plans that leave a motion the reserve it keeps: sought for a robot with smaller patches and weaker joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from humanoid_model.contact import Stance
from humanoid_model.robot import Robot
from humanoid_planner.motion.motion import MotionSettings
from humanoid_planner.motion.stance_postures import POSTURES, inset_patch


def with_reserve(robot: Robot, settings: MotionSettings | None = None) -> Robot:
    """Return a robot whose plans a motion of the robot itself can have with its reserve.

    Args:
        robot: that is to move.
        settings: of the motion, whose ``reserve`` and ``effort`` count.
    """
    settings = settings or MotionSettings()
    return replace(
        robot,
        contacts={
            name: replace(location, patch=inset_patch(location.patch, settings.reserve))
            for name, location in robot.contacts.items()
        },
        limits=replace(robot.limits, effort=POSTURES * settings.effort * robot.limits.effort),
    )


def stances_of(robot: Robot, stances: Sequence[Stance]) -> list[Stance]:
    """Return stances with a robot's own contact locations of the same names.

    Args:
        robot: that is to move.
        stances: of another one, such as :func:`with_reserve` makes.
    """
    return [
        Stance(tuple(replace(one, location=robot.contacts[one.location.name]) for one in stance.contacts))
        for stance in stances
    ]
