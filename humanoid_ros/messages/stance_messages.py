# SPDX-License-Identifier: Apache-2.0
"""Contact locations, surfaces, contacts and stances as messages, and back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Point
from humanoid_stack.msg import Contact as ContactMessage
from humanoid_stack.msg import ContactLocation as ContactLocationMessage
from humanoid_stack.msg import Stance as StanceMessage
from humanoid_stack.msg import Surface as SurfaceMessage
from numpy.typing import NDArray

from humanoid_model import Contact, ContactKind, ContactLocation, Robot, Scene, SceneBody, Stance, Surface
from humanoid_model.checks import (
    check_enumerated,
    check_finite,
    check_known,
    check_new_name,
    check_not_negative,
    listed,
)
from humanoid_model.contact import SurfaceForm, curve_problem, polygon_problem
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import fill_pose, point
from humanoid_ros.messages.request_fields import check_constant, constants, pose, vector

WORLD = "world"
"""Body of a surface that is fixed in the world and belongs to no body of the scene."""
FLAT = 1e-6
"""Largest height of a vertex above the plane of its patch or polygon [m]."""


def contact_locations(
    messages: Sequence[ContactLocationMessage], robot: Robot, field: str
) -> dict[str, ContactLocation]:
    """Return the robot's own contact locations and those that a request adds, by name.

    Raises:
        InputError: a name is empty or taken, a link unknown, a pose or a patch can't be used.
    """
    found = dict(robot.contacts)
    for i, message in enumerate(messages):
        element = f"{field}[{i}]"
        check_new_name(message.name, found, f"{element}.name", "contact location")
        check_known(message.link, robot.description.links, f"{element}.link", "link")
        patch = _outline(message.patch, f"{element}.patch")
        if len(patch) == 0:
            raise InputError(
                "is empty", element=f"{element}.patch", remedy="Give a point, an edge of two, or three points and more"
            )
        where = pose(message.pose, f"{element}.pose")
        found[message.name] = ContactLocation(message.name, message.link, where, patch)
    return found


def request_scene(scene: Scene, messages: Sequence[SurfaceMessage], robot: Robot, field: str) -> Scene:
    """Return a scene with the surfaces that a request adds.

    Surfaces of the body ``world`` get a fixed body of that name, without shape, at the world's origin.

    Raises:
        InputError: a name is empty or taken, a body unknown, a pose, a polygon, a form or a radius can't be used.
    """
    surfaces = {surface.name: surface for surface in scene.surfaces}
    bodies = [body.name for body in scene.bodies]
    links = [f"{robot.name}/{link}" for link in robot.description.links]
    needs_world = False
    for i, message in enumerate(messages):
        element = f"{field}[{i}]"
        check_new_name(message.name, surfaces, f"{element}.name", "surface")
        if message.body not in (WORLD, *bodies, *links):
            raise InputError(
                f"there is no body '{message.body}'",
                element=f"{element}.body",
                remedy=f"Give 'world', a body of the scene ({listed(bodies)}), "
                f"or a link of the robot as '{robot.name}/<link>'",
            )
        needs_world |= message.body == WORLD and WORLD not in bodies
        polygon = _outline(message.polygon, f"{element}.polygon")
        if 0 < len(polygon) < 3:
            raise InputError(
                f"has {len(polygon)} vertices",
                element=f"{element}.polygon",
                remedy="Give three or more, or none for an unbounded surface",
            )
        surfaces[message.name] = Surface(
            message.name,
            message.body,
            pose(message.pose, f"{element}.pose"),
            polygon if len(polygon) else None,
            *_curve(message, polygon, element),
        )
    if not messages:
        return scene
    world = (_world_body(),) if needs_world else ()
    return dataclasses.replace(scene, bodies=(*scene.bodies, *world), surfaces=tuple(surfaces.values()))


def stance(
    message: StanceMessage, locations: Mapping[str, ContactLocation], surfaces: Iterable[Surface], field: str
) -> Stance:
    """Return the stance of a message.

    Args:
        message: the contacts; their poses are not read.
        locations: by name.
        surfaces: that the contacts may name.
        field: name of the message, for errors.

    Raises:
        InputError: an unknown location, surface or kind, a link with two contacts, or a number that can't be used.
    """
    by_name = {surface.name: surface for surface in surfaces}
    holders: dict[str, str] = {}
    contacts = []
    for i, item in enumerate(message.contacts):
        element = f"{field}.contacts[{i}]"
        check_known(item.location, locations, f"{element}.location", "contact location")
        check_known(item.surface, by_name, f"{element}.surface", "surface")
        location, surface = locations[item.location], by_name[item.surface]
        if location.link in holders:
            raise InputError(
                f"'{location.name}' and '{holders[location.link]}' are both on the link '{location.link}'",
                element=f"{element}.location",
                remedy="Give each link one contact",
            )
        holders[location.link] = location.name
        if surface.body.endswith(f"/{location.link}"):
            raise InputError(
                f"the surface '{surface.name}' is on the link of '{location.name}' itself",
                element=f"{element}.surface",
                remedy="Give a surface of another body",
            )
        contacts.append(_contact(item, location, surface, element))
    return Stance(tuple(contacts))


def _contact(item: ContactMessage, location: ContactLocation, surface: Surface, element: str) -> Contact:
    kind = check_enumerated(item.kind, ContactKind, f"{element}.kind")
    x, y, theta = (check_finite(getattr(item, name), f"{element}.{name}") for name in ("x", "y", "theta"))
    tolerance = check_not_negative(item.tolerance, f"{element}.tolerance", "rad")
    distance = check_not_negative(item.distance, f"{element}.distance", "m")
    for name, value, of_kind in (
        ("tolerance", tolerance, ContactKind.RELAXED),
        ("distance", distance, ContactKind.PRE_CONTACT),
    ):
        if value > 0.0 and kind is not of_kind:
            raise InputError(
                f"is {value:g} for a contact of kind {kind.name}",
                element=f"{element}.{name}",
                remedy=f"Leave it at 0, or give kind {of_kind.value} ({of_kind.name})",
            )
    if item.bilateral and not kind.bears:
        raise InputError(
            f"is true for a contact of kind {kind.name}, which carries no force",
            element=f"{element}.bilateral",
            remedy="Leave it false, or give another kind",
        )
    return Contact(location, surface, x, y, theta, kind, bool(item.bilateral), tolerance, distance)


def stance_message(stance: Stance, placements: Mapping[str, tuple[pin.SE3, pin.SE3]]) -> StanceMessage:
    """Return the message of a stance as a posture holds it.

    Args:
        stance: the contacts.
        placements: by location, those of its patch and of its surface in the world. They tell where a contact
            that is free to slide has come to be.
    """
    message = StanceMessage()
    for contact in stance.contacts:
        patch, surface = placements[contact.location.name]
        local = surface.actInv(patch)
        x, y, theta = contact.surface.coordinates(local.translation, local.rotation[:, 0])
        item = ContactMessage(
            location=contact.location.name,
            surface=contact.surface.name,
            x=x,
            y=y,
            theta=theta,
            kind=int(contact.kind),
            bilateral=contact.bilateral,
            tolerance=float(contact.tolerance),
            distance=float(contact.distance),
        )
        fill_pose(item.pose, patch)
        message.contacts.append(item)
    return message


def contacts_in_order(stances: Iterable[StanceMessage]) -> list[ContactMessage]:
    """Return contacts of stances in a row, each once, in the order in which they are made."""
    made: list[ContactMessage] = []
    held: set[tuple[str, str, float, float, float]] = set()
    for message in stances:
        before, held = held, set()
        for item in message.contacts:
            x, y, theta = np.round((item.x, item.y, item.theta), 6).tolist()
            held.add((item.location, item.surface, x, y, theta))
            if (item.location, item.surface, x, y, theta) not in before:
                made.append(item)
    return made


def contact_location_message(location: ContactLocation) -> ContactLocationMessage:
    """Return the message of a contact location."""
    message = ContactLocationMessage(name=location.name, link=location.link)
    fill_pose(message.pose, location.placement_link_patch)
    message.patch = _points(location.patch)
    return message


def surface_message(surface: Surface) -> SurfaceMessage:
    """Return the message of a surface."""
    message = SurfaceMessage(name=surface.name, body=surface.body, form=constants(SurfaceMessage)[surface.form.name])
    if surface.form is not SurfaceForm.PLANE:
        message.radius = float(surface.radius)
    fill_pose(message.pose, surface.placement_body_surface)
    if surface.polygon is not None:
        message.polygon = _points(surface.polygon)
    return message


def _points(vertices: NDArray[np.float64]) -> list[Point]:
    return [point((x, y, 0.0)) for x, y in vertices.tolist()]


def _outline(points: Sequence[Point], field: str) -> NDArray[np.float64]:
    """(k, 2) vertices of a plane outline."""
    vertices = np.array([vector(vertex, f"{field}[{i}]") for i, vertex in enumerate(points)]).reshape(-1, 3)
    for i, vertex in enumerate(vertices):
        if abs(vertex[2]) > FLAT:
            raise InputError(f"z is {vertex[2]:g}", element=f"{field}[{i}]", remedy="Give vertices with z = 0")
    if len(vertices):
        problem = polygon_problem(vertices[:, :2])
        if problem is not None:
            raise InputError(
                problem, element=field, remedy="Give the vertices of a convex outline, counter-clockwise about z"
            )
    return np.ascontiguousarray(vertices[:, :2])


def _curve(message: SurfaceMessage, polygon: NDArray[np.float64], element: str) -> tuple[SurfaceForm, float]:
    """Return form and radius [m] of a surface with an outline (k, 2)."""
    form = SurfaceForm[check_constant(message.form, SurfaceMessage, f"{element}.form")]
    radius = check_not_negative(message.radius, f"{element}.radius", "m")
    if form is SurfaceForm.PLANE:
        if radius > 0.0:
            raise InputError(
                f"is {radius:g} for a plane",
                element=f"{element}.radius",
                remedy="Leave it at 0, or give another form",
            )
        return form, math.inf
    if radius == 0.0:
        raise InputError(f"is 0 for a {form.value}", element=f"{element}.radius", remedy="Give a length above 0 [m]")
    problem = curve_problem(polygon if len(polygon) else None, form, radius)
    if problem is not None:
        raise InputError(
            f"doesn't fit a {form.value}: {problem}",
            element=f"{element}.polygon",
            remedy="Give a rectangle along x and y, at most half way round",
        )
    return form, radius


def _world_body() -> SceneBody:
    return SceneBody(WORLD, "", 0.0, np.zeros(3), np.zeros((3, 3)), pin.SE3.Identity(), np.zeros(6), ())
