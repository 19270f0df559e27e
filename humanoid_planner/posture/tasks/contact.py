# SPDX-License-Identifier: Apache-2.0
"""A contact with its frames found: where on the robot, where on the world or on another link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.checks import check_number
from humanoid_model.contact import Contact, ContactKind, Surface
from humanoid_model.errors import InputError
from humanoid_model.scene import Scene
from humanoid_planner.equilibrium.support_polygon import clip_convex
from humanoid_planner.kinematics import RobotKinematics

#: Friction where no scene says anything (specification 001 Appendix B).
DEFAULT_FRICTION = 0.5


@dataclass(frozen=True, eq=False)
class PlacedContact:
    """A contact as the posture problem sees it. Frames have their z axis out of the surface into the robot.

    Attributes:
        contact: what is held on what.
        body: moving body that carries the location.
        placement_body_patch: patch frame in that body.
        ground: body that carries the surface: 0 for the world, else a body of the robot itself.
        placement_ground_surface: surface frame in that body (or in the world).
        placement_ground_contact: frame that the patch frame has to coincide with, likewise.
        friction: Coulomb coefficient.
        bearing: (k, 2) points of the patch that can bear load, in the patch frame [m]: the part of the patch that
            touches, or for contacts whose place is fixed its intersection with the surface's polygon.
    """

    contact: Contact
    body: int
    placement_body_patch: pin.SE3
    ground: int
    placement_ground_surface: pin.SE3
    placement_ground_contact: pin.SE3
    friction: float
    bearing: NDArray[np.float64]

    @property
    def label(self) -> str:
        """How messages call the contact."""
        return f"contact {self.contact.location.name} on {self.contact.surface.name}"

    @property
    def fixed_in_world(self) -> bool:
        """Whether its place in the world is known before the posture is."""
        return self.ground == 0 and self.contact.kind in (ContactKind.FIXED, ContactKind.RELAXED, ContactKind.RELEASED)


def place_contact(
    contact: Contact, kinematics: RobotKinematics, scene: Scene | None, friction: float | None = None
) -> PlacedContact:
    """Find the frames of a contact.

    Args:
        contact: robot location on a surface. The surface's body is a body of the scene, a link of the robot (as
            ``link`` or ``robot/link``), or, without a scene, anything that stands for the world.
        kinematics: of the robot.
        scene: what the surfaces belong to; None puts surfaces into the world as they are.
        friction: coefficient to use whatever the scene says.

    Raises:
        InputError: unknown body or link, a patch that doesn't lie on its surface, a field out of range.
    """
    location, surface = contact.location, contact.surface
    element = f"contact {location.name} on {surface.name}"
    for field, value, highest in (
        ("x", contact.x, np.inf),
        ("y", contact.y, np.inf),
        ("theta", contact.theta, np.inf),
        ("tolerance", contact.tolerance, np.pi / 2),
        ("distance", contact.distance, np.inf),
    ):
        lowest = 0.0 if field in ("tolerance", "distance") else -np.inf
        check_number(value, f"{field} of {element}", lower=lowest, upper=highest)
    body, placement_body_link = kinematics.body_of(location.link)
    ground, placement = _ground(surface, kinematics, scene, element)
    if ground == body:
        raise InputError(
            "holds a link on itself", element=element, remedy="Give a surface of another link or of the scene"
        )
    if friction is None:
        friction = DEFAULT_FRICTION if scene is None else _friction(contact, kinematics, scene)
    bearing = contact.touching
    if len(bearing) == 0:
        raise InputError(
            "the patch doesn't hold the place where it would touch",
            element=element,
            remedy="On a curved surface put the patch frame's origin into the patch",
        )
    if contact.kind in (ContactKind.FIXED, ContactKind.RELAXED) and surface.polygon is not None:
        bearing = _clip(contact, element)
    return PlacedContact(
        contact,
        body,
        placement_body_link * location.placement_link_patch,
        ground,
        placement,
        placement * contact.placement_surface_patch,
        friction,
        bearing,
    )


def _ground(surface: Surface, kinematics: RobotKinematics, scene: Scene | None, element: str) -> tuple[int, pin.SE3]:
    robot = kinematics.robot
    names = [robot.name] + [placed.name for placed in (scene.robots if scene else ()) if placed.robot is robot]
    link = surface.body
    for name in names:
        link = link.removeprefix(f"{name}/")
    if scene is not None:
        for body in scene.bodies:
            if body.name == surface.body:
                return 0, body.placement_world_body * surface.placement_body_surface
    if link in kinematics.variables.bodies_of_links:
        ground, placement = kinematics.body_of(link)
        return ground, placement * surface.placement_body_surface
    if scene is None:
        return 0, surface.placement_body_surface
    raise InputError(
        f"the surface belongs to '{surface.body}', which is neither a body of scene '{scene.name}' nor a link",
        element=element,
        remedy=f"Bodies are {', '.join(body.name for body in scene.bodies)}",
    )


def _friction(contact: Contact, kinematics: RobotKinematics, scene: Scene) -> float:
    robot = kinematics.robot
    name = next((placed.name for placed in scene.robots if placed.robot is robot), robot.name)
    return scene.pairs(f"{name}/{contact.location.link}", contact.surface.body).friction


def _clip(contact: Contact, element: str) -> NDArray[np.float64]:
    """Patch and polygon have in common (specification 001 section 4.9), in the patch frame."""
    polygon = contact.surface.polygon
    assert polygon is not None
    turn, at = pin.utils.rotate("z", contact.theta)[:2, :2], np.array([contact.x, contact.y])
    patch = contact.touching @ turn.T + at
    start = np.asarray(polygon, dtype=float)
    edge = np.roll(start, -1, axis=0) - start
    away = patch[:, None] - start
    if ((edge[:, 0] * away[..., 1] - edge[:, 1] * away[..., 0]) >= 0.0).all():
        return contact.touching
    common = clip_convex(patch, start)
    if len(common) == 0:
        raise InputError(
            f"the patch at x = {contact.x:g}, y = {contact.y:g} doesn't touch the surface's polygon",
            element=element,
            remedy="Place the contact on the surface",
        )
    return np.asarray((common - at) @ turn)
