# SPDX-License-Identifier: Apache-2.0
"""Markers of a contact plan: ghosts, contacts in their order, forces, surfaces, way of the centre of mass."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from humanoid_stack.msg import ContactPlan
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.contact_planner.plan_messages import ReadPlan
from humanoid_ros.contact_planner.plan_request import surface_placements
from humanoid_ros.contact_planner.posture_markers import (
    CENTRE,
    LIFT,
    LINE,
    PATCH,
    TEXT,
    force_markers,
    ghost_markers,
    new_marker,
    outline_marker,
)
from humanoid_ros.messages.conversions import fill_vector, placement
from humanoid_ros.messages.stance_messages import contacts_in_order

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
