# SPDX-License-Identifier: Apache-2.0
"""Volumes that bodies carry: half-spaces, and those around the links of a robot and the bodies of a scene."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.checks import check_array, check_number
from humanoid_model.description import Geometry
from humanoid_model.description import HalfSpace as HalfSpaceShape
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_model.value_equality import ValueEquality
from humanoid_planner.distance.convex_parts import convex_parts
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_store import stored_volume


@dataclass(frozen=True, eq=False)
class HalfSpace(ValueEquality):
    """The points p with ``normal . p <= offset``, in its own frame.

    Attributes:
        normal: (3,) outward normal; made unit length, ``offset`` with it.
        offset: along the unit normal [m].

    Raises:
        InputError: the normal is not three finite numbers other than zero, or the offset not finite.
    """

    normal: np.ndarray
    offset: float = 0.0

    def __post_init__(self) -> None:
        normal = check_array(self.normal, "half-space normal")
        if not np.any(normal):
            raise InputError(
                f"is {self.normal}", element="half-space normal", remedy="Give a vector that isn't zero"
            )
        check_number(self.offset, "half-space offset", lower=-math.inf)
        largest = np.abs(normal).max()
        length = float(largest * np.linalg.norm(normal / largest))  # no overflow, no underflow
        normal = normal / length
        normal.setflags(write=False)
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "offset", float(self.offset) / length)

    def height(self, points: ArrayLike) -> np.ndarray:
        """Signed distance of points to the boundary, negative inside.

        Args:
            points: (..., 3) in the half-space's frame [m].

        Returns:
            (...) [m].
        """
        return np.asarray(np.asarray(points, dtype=np.float64) @ self.normal - self.offset)


@dataclass(frozen=True, eq=False)
class PlacedVolume(ValueEquality):
    """A volume expressed in the frame of the body that carries it.

    Attributes:
        name: unique, for messages: ``RARM_LINK4``, or ``table/top`` for one of several of an owner.
        body: index of the moving body; 0 is the world.
        volume: in the body's frame [m].
        owner: link or scene body that it covers; empty for a volume that stands for itself.
    """

    name: str
    body: int
    volume: SphereTorusVolume | HalfSpace | RoundedHull
    owner: str = ""


def part_names(owner: str, parts: Sequence[str]) -> list[str]:
    """Return names of the volumes of an owner: its own for a single one, else ``owner/part`` or ``owner/number``.

    Args:
        owner: link or scene body.
        parts: names of the parts, empty where they have none.
    """
    if len(parts) == 1:
        return [owner]
    return [f"{owner}/{part if part and parts.count(part) == 1 else index}" for index, part in enumerate(parts)]


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


def scene_shapes(scene: Scene) -> list[PlacedVolume]:
    """Return the bodies of a scene as they are, without margin: half-spaces and plain convex hulls.

    All are carried by the world (body 0), where they are at the scene's start; its robots are left out. A body with one
    part gives its name to it, else they are ``body/shape`` or ``body/0``...

    Raises:
        InputError: a mesh can't be read; the message names the body.
    """
    shapes = []
    for body in scene.bodies:
        try:
            parts = convex_parts(body.geometries)
        except InputError as problem:
            raise _of_body(problem, body.name) from None
        placement = body.placement_world_body
        built: list[tuple[str, HalfSpace | RoundedHull]] = [
            (geometry.name, _half_space(geometry, placement))
            for geometry in body.geometries
            if isinstance(geometry.shape, HalfSpaceShape)
        ]
        built += [(part.name, part.moved(placement)) for part in parts]
        names = part_names(body.name, [name for name, _ in built])
        shapes += [PlacedVolume(name, 0, shape, body.name) for name, (_, shape) in zip(names, built, strict=True)]
    return shapes


def volumes_around(
    shapes: Sequence[PlacedVolume], r: float = 0.01, R: float = 20.0, bulge: float = 0.005
) -> list[PlacedVolume]:
    """Return the volumes around :func:`scene_shapes`, in their order and with their names.

    A face of length a bulges by a^2 / (6 R): parts for which that is more than ``bulge`` get a larger R. Half-spaces
    stay half-spaces, without margin.

    Args:
        shapes: of a scene.
        r: margin around the shapes [m].
        R: radius of the volumes' faces [m].
        bulge: how far faces may stick out beyond that margin [m].

    Raises:
        InputError: a radius can't be used; the message names the body.
    """
    volumes = []
    for placed in shapes:
        if isinstance(placed.volume, RoundedHull):
            try:
                placed = replace(placed, volume=_volume(placed.volume, r, R, bulge))
            except InputError as problem:
                raise _of_body(problem, placed.owner) from None
        volumes.append(placed)
    return volumes


def _of_body(problem: InputError, name: str) -> InputError:
    """Return the same problem, with the name of the body."""
    return InputError(
        problem.problem,
        source=problem.source,
        element=f"body '{name}'" + (f", {problem.element}" if problem.element else ""),
        remedy=problem.remedy,
    )


def _half_space(geometry: Geometry, placement: pin.SE3) -> HalfSpace:
    there = placement * geometry.placement
    normal = np.array(there.rotation[:, 2])
    return HalfSpace(normal, float(normal @ there.translation))


def _volume(part: RoundedHull, r: float, R: float, bulge: float) -> SphereTorusVolume:
    margin = r + part.radius
    longest = float(np.linalg.norm(np.ptp(part.points, axis=0)))  # no edge is longer than the bounding box' diagonal
    return stored_volume(part.points, margin, max(R, margin + longest**2 / (6.0 * bulge)))
