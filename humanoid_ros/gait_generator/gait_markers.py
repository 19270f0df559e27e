# SPDX-License-Identifier: Apache-2.0
"""A gait as markers: where soles stand, the way of the base, planned forces at some instants."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from humanoid_stack.msg import WholeBodyTrajectory
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_ros.messages.conversions import array, placement, point, seconds
from humanoid_ros.messages.markers import write_force

BODY = ColorRGBA(r=0.2, g=0.2, b=0.2, a=1.0)
FORCE = ColorRGBA(r=0.1, g=0.54, b=0.24, a=1.0)
PRINT = ColorRGBA(r=0.1, g=0.1, b=0.1, a=1.0)
LINE = 0.004
"""Width of lines [m]."""
LIFT = 0.002
"""Height of footprints above the ground [m]."""
MIN_FORCE = 1.0
"""Soles that bear less have no arrow [N]."""
SAME_PLACE = 0.02
"""Footholds nearer to each other are one [m]."""


def footprints(trajectory: WholeBodyTrajectory, robot: Robot) -> list[Array]:
    """(k, 3) outlines of all places that a whole sole stands on [m], in the world."""
    found: list[tuple[str, Array]] = []
    for phase in trajectory.contacts:
        for contact in phase.stance.contacts:
            location = robot.contacts.get(contact.location)
            if location is None:
                continue  # an edge of a sole
            frame = placement(contact.pose, contact.location)
            if not any(name == location.name and np.linalg.norm(frame.translation - outline.mean(axis=0)) < SAME_PLACE
                       for name, outline in found):
                patch = np.column_stack([location.patch, np.zeros(len(location.patch))])
                found.append((location.name, np.array([frame.act(corner) for corner in patch])))
    return [outline for _, outline in found]


def times_of(trajectory: WholeBodyTrajectory) -> Array:
    """(K,) times of a trajectory's points [s]."""
    return np.array([seconds(point.time_from_start) for point in trajectory.joints.points])


def sole_forces(trajectory: WholeBodyTrajectory) -> tuple[tuple[str, ...], Array, Array]:
    """Links with soles, (K, F, 3) their centres of pressure [m] and (K, F, 3) the forces on them [N]."""
    links = tuple(dict.fromkeys(one.body_a for item in trajectory.forces for one in item.contacts))
    at, forces = np.zeros((2, len(trajectory.forces), len(links), 3))
    for k, item in enumerate(trajectory.forces):
        for column, link in enumerate(links):
            own = [one for one in item.contacts if one.body_a == link]
            if own:
                pushes = np.array([array(one.force) for one in own])
                weights = np.maximum(np.linalg.norm(pushes, axis=1), 1e-9)
                at[k, column] = weights @ np.array([array(one.position) for one in own]) / weights.sum()
                forces[k, column] = pushes.sum(axis=0)
    return tuple(link.rpartition("/")[2] for link in links), at, forces


def gait_markers(
    trajectory: WholeBodyTrajectory, robot: Robot, world: str, time: Time, figures: int, arrow_scale: float
) -> MarkerArray:
    """Return markers of a whole gait; the first one deletes what was drawn before.

    Args:
        trajectory: of the gait.
        robot: that walks.
        world: name of the world frame.
        time: of the answer.
        figures: instants whose forces are drawn, at equal times from beginning to end.
        arrow_scale: length of an arrow per force [m/N].
    """
    times = times_of(trajectory)
    chosen = np.unique(np.searchsorted(times, np.linspace(times[0], times[-1], figures)).clip(max=len(times) - 1))
    markers = [Marker(action=Marker.DELETEALL)]
    _, places, forces = sole_forces(trajectory)
    loaded = [(places[k, f], forces[k, f]) for k in chosen for f in range(forces.shape[1])]
    for number, (at, force) in enumerate(one for one in loaded if np.linalg.norm(one[1]) > MIN_FORCE):
        marker = _marker("foot_forces", number, Marker.ARROW)
        write_force(marker, at, at + arrow_scale * force, FORCE)
        markers.append(marker)
    for number, corners in enumerate(footprints(trajectory, robot)):
        marker = _marker("footprints", number, Marker.LINE_STRIP)
        marker.points = [point((x, y, z + LIFT)) for x, y, z in (*corners, corners[0])]
        marker.scale.x, marker.color = LINE, PRINT
        markers.append(marker)
    way = _marker("base", 0, Marker.LINE_STRIP)
    way.points = [pose.position for pose in trajectory.base]
    way.scale.x, way.color = LINE, BODY
    markers.append(way)
    for marker in markers:
        marker.header.frame_id, marker.header.stamp = world, time
    return MarkerArray(markers=markers)


def _marker(namespace: str, number: int, kind: int) -> Marker:
    marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.pose.orientation.w = 1.0
    return marker
