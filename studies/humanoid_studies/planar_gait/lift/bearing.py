# SPDX-License-Identifier: Apache-2.0
"""What of the soles bears in each phase of a gait: the whole sole, or its toe or heel edge."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot

_SAME = 1e-6
"""Distance along a sole within which vertices belong to one edge [m]."""


class Part(enum.Enum):
    """Part of a sole that bears."""

    WHOLE = "whole"
    TOE = "toe"
    HEEL = "heel"


@dataclass(frozen=True)
class Bearing:
    """A foot on the ground.

    Attributes:
        sole: name of the robot's support contact.
        part: of it that bears.
    """

    sole: str
    part: Part = Part.WHOLE


@dataclass(frozen=True, eq=False)
class SoleGeometry:
    """A sole as part of the robot's model.

    Attributes:
        name: of the support contact.
        joint: model joint that carries it.
        placement: of its frame in that joint's.
        vertices: (k, 3) corners in the joint's frame [m].
        toe: indices of the foremost corners.
        heel: indices of the rearmost corners.
    """

    name: str
    joint: int
    placement: pin.SE3
    vertices: Reals
    toe: tuple[int, ...]
    heel: tuple[int, ...]

    def corners(self, part: Part) -> Reals:
        """(k, 3) corners of a part in the joint's frame [m]."""
        if part is Part.WHOLE:
            return self.vertices
        return self.vertices[list(self.toe if part is Part.TOE else self.heel)]


def sole_of_leg(robot: Robot, ankle: str) -> SoleGeometry:
    """Return the support contact at the end of a leg.

    Args:
        robot: whose zero posture has the foot pointing along its sole's x.
        ankle: a joint of the leg.

    Raises:
        InputError: nothing that the joint carries is a support contact.
    """
    model, joint = robot.model, robot.parts.joint_ids[ankle]
    for name, contact in robot.contacts.items():
        link = robot.parts.links[contact.link]
        carrier = link.joint_id
        while carrier not in (0, joint):
            carrier = model.parents[carrier]
        if contact.support and carrier == joint:
            along = contact.patch[:, 0]
            placed = link.placement_joint_link
            return SoleGeometry(
                name,
                link.joint_id,
                placed * contact.placement_link_patch,
                np.asarray(contact.vertices_link @ placed.rotation.T + placed.translation),
                tuple(int(i) for i in np.flatnonzero(along > along.max() - _SAME)),
                tuple(int(i) for i in np.flatnonzero(along < along.min() + _SAME)),
            )
    raise InputError(
        f"no support contact beyond '{ankle}'",
        element=f"robot '{robot.name}'",
        remedy="Mark the sole's contact in the robot's YAML with support: true",
    )


def bearing_points(soles: Mapping[str, SoleGeometry], data: pin.Data, bearings: Iterable[Bearing]) -> Reals:
    """(k, 3) places in the world of all corners that bear, bearing after bearing [m].

    Args:
        soles: by name.
        data: with the placements of a posture.
        bearings: feet on the ground.
    """
    return np.array(
        [
            data.oMi[soles[bearing.sole].joint].act(corner)
            for bearing in bearings
            for corner in soles[bearing.sole].corners(bearing.part)
        ]
    )


def support_margin(places: Reals, point: Reals) -> float:
    """Return how far a point of the ground is inside the hull of bearing corners [m]; negative outside.

    Args:
        places: (k, 3) corners, level, not all on one line [m].
        point: (2,) [m].
    """
    edges = ConvexHull(places[:, :2]).equations
    return -float((edges[:, :2] @ point + edges[:, 2]).max())
