# SPDX-License-Identifier: Apache-2.0
"""Markers of postures and contact plans.

A posture is a ghost of the robot with contact patches, forces with cones, support polygon and centre of mass; a plan
has ghosts, its contacts in their order, forces, surfaces and the way of the centre of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Time
from humanoid_stack.msg import ContactForce, ContactPlan
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model import Robot
from humanoid_ros.contact_planner.plan_messages import ReadPlan
from humanoid_ros.contact_planner.plan_request import surface_placements
from humanoid_ros.messages.conversions import array, fill_vector, placement, point
from humanoid_ros.messages.markers import cone_numbers, shape_markers, write_cone, write_force
from humanoid_ros.messages.stance_messages import contacts_in_order

FOUND = ColorRGBA(r=0.15, g=0.7, b=0.25, a=0.45)
FAILED = ColorRGBA(r=0.9, g=0.2, b=0.15, a=0.45)
"""Colours of the ghost: of a posture that was found, and of the least-violating one."""
PATCH = ColorRGBA(r=0.1, g=0.1, b=0.1, a=1.0)
FORCE = ColorRGBA(r=1.0, g=0.69, b=0.0, a=1.0)
POLYGON = ColorRGBA(r=0.1, g=0.55, b=0.25, a=1.0)
CENTRE = ColorRGBA(r=0.12, g=0.35, b=0.9, a=1.0)
TEXT = ColorRGBA(r=0.1, g=0.1, b=0.1, a=1.0)
LINE = 0.006
"""Width of outlines [m]."""
LIFT = 0.003
"""Height of the support polygon and of the centre's mark above the contacts [m]."""
TEXT_ABOVE = 0.35
"""Height of the text above the centre of mass [m]."""
MIN_FORCE = 1e-3
"""Contact points that bear less than this have neither cone nor arrow [N]."""


@dataclass(frozen=True)
class ShownPosture:
    """What is drawn of an answer, world frame.

    Attributes:
        robot: the robot.
        q: (nq,) its configuration, None where only contacts are known.
        patches: (k, 3) vertices of each contact's patch [m].
        forces: at the contact points.
        centre_of_mass: (3,) [m].
        support_polygon: (h, 3) vertices [m].
        good: whether the answer is a yes.
        text: what is said above it.
    """

    robot: Robot
    q: NDArray[np.float64] | None
    patches: Sequence[NDArray[np.float64]]
    forces: Sequence[ContactForce]
    centre_of_mass: NDArray[np.float64]
    support_polygon: NDArray[np.float64]
    good: bool
    text: str


def posture_markers(shown: ShownPosture, world: str, time: Time, cone_scale: float, arrow_scale: float) -> MarkerArray:
    """Return markers of an answer; the first one deletes what was drawn before.

    Args:
        shown: what to draw.
        world: name of the world frame.
        time: of the answer.
        cone_scale: height of a friction cone per normal force [m/N].
        arrow_scale: length of an arrow per force [m/N].
    """
    markers = [Marker(action=Marker.DELETEALL)]
    if shown.q is not None:
        markers += ghost_markers(shown.robot, shown.q, FOUND if shown.good else FAILED)
    for number, patch in enumerate(shown.patches):
        markers.append(outline_marker("contact_patches", number, patch, PATCH))
    for number, force in enumerate(shown.forces):
        markers += force_markers(number, force, cone_scale, arrow_scale)
    markers += _balance(shown)
    for marker in markers:
        marker.header.frame_id = world
        marker.header.stamp = time
    return MarkerArray(markers=markers)


def ghost_markers(robot: Robot, q: NDArray[np.float64], colour: ColorRGBA) -> list[Marker]:
    """Return markers of a robot's visual shapes at a configuration (nq,), all of one colour."""
    markers: list[Marker] = []
    placements = robot.link_placements(q)
    for link in robot.description.links.values():
        for visual in link.visuals:
            for marker in shape_markers(visual, placements[link.name] * visual.placement):
                marker.ns, marker.id = "posture", len(markers)
                marker.color = colour
                markers.append(marker)
    return markers


def force_markers(number: int, force: ContactForce, cone_scale: float, arrow_scale: float) -> list[Marker]:
    """Return an arrow of a force and its friction cone; none where nothing bears, no cone where it pulls."""
    vector, normal, position = array(force.force), array(force.normal), array(force.position)
    if np.linalg.norm(vector) <= MIN_FORCE:
        return []
    arrow = new_marker("contact_forces", number, Marker.ARROW)
    write_force(arrow, position, position + arrow_scale * vector, FORCE)
    height = cone_scale * float(vector @ normal)
    if height <= 0.0:
        return [arrow]  # a grasp that pulls
    cone = new_marker("friction_cones", number, Marker.ARROW)
    own = cone_numbers(position[None], normal[None], np.array([height]), np.array([force.friction]))
    write_cone(cone, own[0].tolist())
    return [cone, arrow]


def _balance(shown: ShownPosture) -> list[Marker]:
    com, polygon = shown.centre_of_mass, shown.support_polygon
    markers = []
    ball = new_marker("centre_of_mass", 0, Marker.SPHERE)
    fill_vector(ball.pose.position, com)
    fill_vector(ball.scale, (0.05, 0.05, 0.05))
    ball.color = CENTRE
    markers.append(ball)
    if len(polygon):
        lifted = polygon + np.array([0.0, 0.0, LIFT])
        markers.append(outline_marker("support_polygon", 0, lifted, POLYGON))
        mark = new_marker("centre_of_mass", 1, Marker.CYLINDER)
        fill_vector(mark.pose.position, (com[0], com[1], lifted[:, 2].mean()))
        fill_vector(mark.scale, (0.04, 0.04, 0.002))
        mark.color = CENTRE
        drop = new_marker("centre_of_mass", 2, Marker.LINE_STRIP)
        drop.points = [point(com), mark.pose.position]
        drop.scale.x = 0.5 * LINE
        drop.color = CENTRE
        markers += [mark, drop]
    if shown.text:
        text = new_marker("margins", 0, Marker.TEXT_VIEW_FACING)
        fill_vector(text.pose.position, com + np.array([0.0, 0.0, TEXT_ABOVE]))
        text.scale.z = 0.06
        text.color = TEXT
        text.text = shown.text
        markers.append(text)
    return markers


def outline_marker(namespace: str, number: int, vertices: NDArray[np.float64], colour: ColorRGBA) -> Marker:
    """Return a closed line; one vertex is a dot."""
    marker = new_marker(namespace, number, Marker.LINE_STRIP if len(vertices) > 1 else Marker.SPHERE_LIST)
    marker.points = [point(vertex) for vertex in (*vertices, vertices[0])]
    width = LINE if len(vertices) > 1 else 3.0 * LINE
    fill_vector(marker.scale, (width, width, width))
    marker.color = colour
    return marker


def new_marker(namespace: str, number: int, kind: int) -> Marker:
    """Return a marker of a type without pose."""
    marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.pose.orientation.w = 1.0
    return marker


FIRST, LAST = np.array([0.55, 0.6, 0.68, 0.25]), np.array([0.15, 0.7, 0.25, 0.6])
"""Colours of the first and the last ghost; those between them change evenly."""
SURFACE = ColorRGBA(r=0.45, g=0.45, b=0.5, a=1.0)
NUMBER_HEIGHT = 0.05
"""Of a contact's number, and how far it is above the contact [m]."""


def plan_markers(
    plan: ContactPlan, read: ReadPlan, world: str, time: Time, ghosts: int, arrow_scale: float
) -> MarkerArray:
    """Return markers of a plan; the first one deletes what was drawn before.

    Args:
        plan: as it was answered.
        read: the same in the library's terms.
        world: name of the world frame.
        time: of the answer.
        ghosts: stances that are drawn, evenly along the plan, two or more.
        arrow_scale: length of an arrow per force [m/N].
    """
    markers = [Marker(action=Marker.DELETEALL)]
    shown = np.unique(np.linspace(0, len(plan.steps) - 1, ghosts).round().astype(int)).tolist()
    for step in shown:
        share = step / max(len(plan.steps) - 1, 1)
        r, g, b, a = ((1.0 - share) * FIRST + share * LAST).tolist()
        for marker in ghost_markers(read.robot, read.postures[step], ColorRGBA(r=r, g=g, b=b, a=a)):
            marker.ns, marker.id = "stances", len(markers)
            markers.append(marker)
        for force in plan.steps[step].forces:
            # Where one corner bears all, a cone would hide the robots beside it.
            markers += force_markers(len(markers), force, 0.0, arrow_scale)
    surfaces = surface_placements(read.scene)
    patches = {contact.location.name: contact.location.patch for stance in read.stances for contact in stance.contacts}
    for number, contact in enumerate(contacts_in_order(step.stance for step in plan.steps), start=1):
        patch = patches[contact.location]
        corners = np.column_stack([patch, np.full(len(patch), LIFT)])
        where = placement(contact.pose, "contact")
        markers.append(outline_marker("contacts", number, np.array([where.act(corner) for corner in corners]), PATCH))
        label = new_marker("contact_numbers", number, Marker.TEXT_VIEW_FACING)
        fill_vector(label.pose.position, where.act(np.array([0.0, 0.0, NUMBER_HEIGHT])))
        label.scale.z, label.color, label.text = NUMBER_HEIGHT, TEXT, str(number)
        markers.append(label)
    for number, surface in enumerate(read.scene.surfaces):
        where = surfaces.get(surface.name)
        if where is not None and surface.polygon is not None:
            places = [surface.place(x, y, 0.0).act(np.array([0.0, 0.0, LIFT])) for x, y in surface.outline]
            outline = np.array([where.act(corner) for corner in places])
            markers.append(outline_marker("surfaces", number, outline, SURFACE))
    way = new_marker("centre_of_mass", 0, Marker.LINE_STRIP)
    way.points, way.scale.x, way.color = [step.centre_of_mass for step in plan.steps], LINE, CENTRE
    markers.append(way)
    for marker in markers:
        marker.header.frame_id = world
        marker.header.stamp = time
    return MarkerArray(markers=markers)
