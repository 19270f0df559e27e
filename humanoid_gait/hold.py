# SPDX-License-Identifier: Apache-2.0
"""A contact held during a phase: what touches, where, and what it may carry."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pinocchio as pin

from humanoid_gait.mirrored_name import flipped, mirrored_name
from humanoid_model import Contact, InputError, Robot, Surface
from humanoid_model.arrays import Array
from humanoid_model.checks import check_known
from humanoid_model.whole_body_trajectory import WHOLE, ContactSpan

FLOOR = Surface("ground", "ground", pin.SE3.Identity())
"""Level floor at height 0."""


@dataclass(frozen=True)
class Hold:
    """A contact that is held, without slipping.

    A patch of three corners or more holds the link in six ways, two corners let it turn about their edge, one lets it
    turn about the point.

    Attributes:
        contact: place of the robot on a surface, of a body that doesn't move, whose frame is the world's, or of another
            link. A bilateral one may also pull, and takes any wrench.
        part: of the location that touches, as of a ``ContactSpan``.
        friction: coefficient; 0 for a contact that only presses, infinite for one that never slips.
        least: normal force at every corner, at least; bilateral contacts have none [N].
        on: link of the robot that the surface is fixed to, an object that is carried for one; None for the world.
    """

    contact: Contact
    part: str = WHOLE
    friction: float = 0.6
    least: float = 0.0
    on: str | None = None

    def __post_init__(self) -> None:
        """Check the coefficient and the force.

        Raises:
            InputError: one is negative or not a number.
        """
        if not self.friction >= 0.0:
            raise InputError(
                f"friction is {self.friction}", element=self.name, remedy="Give a coefficient of 0 or more"
            )
        if not 0.0 <= self.least < math.inf:
            raise InputError(f"least force is {self.least} N", element=self.name, remedy="Give 0 N or more")

    @property
    def name(self) -> str:
        """Name of the location, and of its part unless all of it touches."""
        location = self.contact.location.name
        return location if self.part == WHOLE else f"{self.part} of {location}"

    @property
    def placement(self) -> pin.SE3:
        """Frame of the patch in the world or the link that it is on, its z axis the surface's normal."""
        return self.contact.surface.placement_body_surface * self.contact.placement_surface_patch

    @property
    def corners(self) -> Array:
        """(k, 3) what touches, in the frame of the link [m]."""
        return ContactSpan(self.contact, 0.0, 1.0, self.part).corners_link

    def moved(self, step: pin.SE3) -> Hold:
        """Return the same hold where a motion takes it, its surface with it; on a link it stays as it is."""
        if self.on is not None:
            return self
        surface = self.contact.surface
        frame = step * surface.placement_body_surface
        return replace(self, contact=replace(self.contact, surface=replace(surface, placement_body_surface=frame)))

    def mirrored(self, robot: Robot) -> Hold:
        """Return the hold of the other side's location in the image of the plane y = 0."""
        other = robot.contacts[mirrored_name(self.contact.location.name)]
        surface = self.contact.surface
        frame = replace(surface, placement_body_surface=flipped(surface.placement_body_surface))
        contact = replace(self.contact, location=other, surface=frame, y=-self.contact.y, theta=-self.contact.theta)
        return replace(self, contact=contact, on=None if self.on is None else mirrored_name(self.on))


def hold_of(
    robot: Robot, location: str, xy: tuple[float, float], theta: float = 0.0, surface: Surface = FLOOR,
    friction: float = 0.6, part: str = WHOLE, on: str | None = None,
) -> Hold:  # fmt: skip
    """Return a location of a robot held at a place of a surface.

    Args:
        robot: that has it.
        location: its name.
        xy: where the frame of its patch is on the surface [m].
        theta: how it is turned about the normal [rad].
        surface: that it is on; the floor if left out.
        friction: coefficient.
        part: that touches.
        on: link of the robot that the surface is fixed to; the world if left out.

    Raises:
        InputError: the robot has no such location or link.
    """
    if location not in robot.contacts:
        raise InputError(
            f"the robot '{robot.name}' has no contact location '{location}'",
            element="location",
            remedy=f"Locations are {', '.join(robot.contacts)}",
        )
    if on is not None:
        check_known(on, robot.parts.links, "on", f"link of '{robot.name}'")
        surface = replace(surface, body=on)
    x, y = (float(value) for value in xy)
    return Hold(Contact(robot.contacts[location], surface, x, y, theta), part, friction, on=on)
