# SPDX-License-Identifier: Apache-2.0
"""Volumes around the links of a robot."""

from __future__ import annotations

from collections.abc import Callable

import pinocchio as pin

from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_planner.distance.convex_parts import convex_parts
from humanoid_planner.distance.placed_volume import PlacedVolume, part_names
from humanoid_planner.distance.volume_store import stored_volume


def robot_volumes(
    robot: Robot,
    body_of: Callable[[str], tuple[int, pin.SE3]],
    r: float = 0.01,
    R: float = 20.0,
) -> list[PlacedVolume]:
    """Volumes around the collision shapes of every link, in the order of the description's links.

    A link has one volume where its shapes nearly fill their convex hull, else several, ``link/shape`` or ``link/0``...

    Args:
        robot: the robot.
        body_of: moving body that carries a link, and the link's placement in that body's frame.
        r: margin around the shapes [m].
        R: radius of the volumes' faces [m].

    Raises:
        InputError: a mesh can't be read, or R is too small for a link; the message names the link.
    """
    volumes = []
    for link in robot.description.links.values():
        body, placement = body_of(link.name)
        try:
            parts = [part.moved(placement) for part in convex_parts(link.collisions)]
            built = [stored_volume(part.points, r + part.radius, R) for part in parts]
        except InputError as problem:
            raise InputError(
                problem.problem,
                source=problem.source,
                element=f"link '{link.name}'" + (f", {problem.element}" if problem.element else ""),
                remedy=problem.remedy,
            ) from None
        for name, volume in zip(part_names(link.name, [part.name for part in parts]), built, strict=True):
            volumes.append(PlacedVolume(name, body, volume, link.name))
    return volumes
