# SPDX-License-Identifier: Apache-2.0
"""Markers of a contact plan: ghosts, contacts numbered in their order, forces, way of the centre of mass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from builtin_interfaces.msg import Time
from humanoid_stack.msg import Contact, ContactPlan
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.contact_planner.plan_messages import ReadPlan
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

FIRST, LAST = np.array([0.55, 0.6, 0.68, 0.25]), np.array([0.15, 0.7, 0.25, 0.6])
"""Colours of the first and the last ghost; those between them change evenly."""
NUMBER_HEIGHT = 0.05
"""Of a contact's number, and how far it is above the contact [m]."""


def plan_markers(
    plan: ContactPlan, read: ReadPlan, world: str, time: Time, ghosts: int, cone_scale: float, arrow_scale: float
) -> MarkerArray:
    """Return markers of a plan; the first one deletes what was drawn before.

    Args:
        plan: as it was answered.
        read: the same in the library's terms.
        world: name of the world frame.
        time: of the answer.
        ghosts: stances that are drawn, evenly along the plan, two or more.
        cone_scale: height of a friction cone per normal force [m/N].
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
            for marker in force_markers(len(markers), force, cone_scale, arrow_scale):
                markers.append(marker)
    for number, (contact, patch) in enumerate(_contacts(plan, read), start=1):
        corners = np.column_stack([patch, np.full(len(patch), LIFT)])
        where = placement(contact.pose, "contact")
        markers.append(outline_marker("contacts", number, np.array([where.act(corner) for corner in corners]), PATCH))
        label = new_marker("contact_numbers", number, Marker.TEXT_VIEW_FACING)
        fill_vector(label.pose.position, where.act(np.array([0.0, 0.0, NUMBER_HEIGHT])))
        label.scale.z, label.color, label.text = NUMBER_HEIGHT, TEXT, str(number)
        markers.append(label)
    way = new_marker("centre_of_mass", 0, Marker.LINE_STRIP)
    way.points, way.scale.x, way.color = [step.centre_of_mass for step in plan.steps], LINE, CENTRE
    markers.append(way)
    for marker in markers:
        marker.header.frame_id = world
        marker.header.stamp = time
    return MarkerArray(markers=markers)


def _contacts(plan: ContactPlan, read: ReadPlan) -> Iterator[tuple[Contact, NDArray[np.float64]]]:
    """Contacts with their patches (k, 2), each once, in the order in which they are made."""
    held: set[tuple[str, str, float, float, float]] = set()
    for step, stance in zip(plan.steps, read.stances, strict=True):
        patches = {contact.location.name: contact.location.patch for contact in stance.contacts}
        before, held = held, set()
        for item in step.stance.contacts:
            x, y, theta = np.round((item.x, item.y, item.theta), 6).tolist()
            held.add((item.location, item.surface, x, y, theta))
            if (item.location, item.surface, x, y, theta) not in before:
                yield item, patches[item.location]
