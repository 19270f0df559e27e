# SPDX-License-Identifier: Apache-2.0
"""Markers of contacts: points, forces, and friction cones as high as the normal force is large."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.messages.conversions import fill_vector, point
from humanoid_ros.messages.markers import cone_numbers, write_cone, write_force
from humanoid_ros.messages.serialized_message import SerializedMessages
from humanoid_sim.stepping.contacts import Contacts, ContactState

CONES, FORCES, POINTS = "friction_cones", "contact_forces", "contact_points"
STATE_COLOURS = {
    ContactState.OPEN: ColorRGBA(r=0.6, g=0.6, b=0.6, a=1.0),
    ContactState.STICK: ColorRGBA(r=0.1, g=0.75, b=0.2, a=1.0),
    ContactState.SLIP: ColorRGBA(r=1.0, g=0.55, b=0.0, a=1.0),
}
"""Of forces and points: grey when open, green when it sticks, orange when it slips."""
MIN_FORCE = 1e-3
"""Contacts that carry less than this have neither cone nor force arrow [N]."""
POINT_SIZE = 0.012
"""Diameter of a contact point [m]."""


class SimulationMarkers:
    """Makes the marker array of each instant; markers of contacts that are gone are deleted.

    The height of a friction cone is ``cone_scale`` times the normal force (specification 000 §1.7, F022).

    Attributes:
        cone_scale: height of a cone per normal force [m/N].
        arrow_scale: length of an arrow per force [m/N].
    """

    def __init__(self, world: str, cone_scale: float, arrow_scale: float) -> None:
        """Begin with nothing drawn.

        Args:
            world: name of the frame of all markers.
            cone_scale: see the attribute.
            arrow_scale: see the attribute.
        """
        self._world = world
        self.cone_scale = cone_scale
        self.arrow_scale = arrow_scale
        self._drawn = 0
        self._messages = SerializedMessages(self._layout, _write)

    def update(self, contacts: Contacts, time: Time) -> bytes:
        """Return the serialised MarkerArray that shows these contacts and takes back those of the last call."""
        normal_force = contacts.normal_force
        loaded = np.flatnonzero(normal_force > MIN_FORCE)
        tips, heights = contacts.position[loaded], self.cone_scale * normal_force[loaded]
        cones = cone_numbers(tips, contacts.normal[loaded], heights, contacts.friction[loaded])
        forces = np.hstack([cones, tips, tips + self.arrow_scale * contacts.force[loaded]])
        states = contacts.state.tolist()
        layout = tuple(states[i] for i in loaded), tuple(states), max(self._drawn - len(loaded), 0)
        self._drawn = len(loaded)
        return self._messages.filled(layout, np.concatenate([forces.ravel(), contacts.position.ravel()]), time)

    def _layout(self, loaded: tuple[int, ...], states: tuple[int, ...], gone: int) -> MarkerArray:
        """Return cone and arrow of each loaded contact, deletions of those that are gone, and points of all."""
        message = MarkerArray()
        for number, state in enumerate(loaded):
            arrow = self._marker(FORCES, number, Marker.ARROW)
            arrow.color = STATE_COLOURS[ContactState(state)]
            message.markers += [self._marker(CONES, number, Marker.ARROW), arrow]
        for number in range(len(loaded), len(loaded) + gone):
            for namespace in (CONES, FORCES):
                message.markers.append(self._marker(namespace, number, Marker.ARROW, Marker.DELETE))
        points = self._marker(POINTS, 0, Marker.SPHERE_LIST, Marker.ADD if states else Marker.DELETE)
        fill_vector(points.scale, (POINT_SIZE, POINT_SIZE, POINT_SIZE))
        points.colors = [STATE_COLOURS[ContactState(state)] for state in states]
        points.color = STATE_COLOURS[ContactState.OPEN]
        message.markers.append(points)
        return message

    def _marker(self, namespace: str, number: int, kind: int, action: int = Marker.ADD) -> Marker:
        marker = Marker(ns=namespace, id=number, type=kind, action=action)
        marker.header.frame_id = self._world
        marker.pose.orientation.w = 1.0
        return marker


def _write(message: MarkerArray, values: list[float], time: Time) -> None:
    """Write 14 numbers for the cone and the arrow of each loaded contact, then all points."""
    for marker in message.markers:
        marker.header.stamp = time
    arrows = [marker for marker in message.markers if marker.type == Marker.ARROW and marker.action == Marker.ADD]
    for number, (cone, arrow) in enumerate(zip(arrows[::2], arrows[1::2], strict=True)):
        own = values[14 * number : 14 * number + 14]
        write_cone(cone, own)
        write_force(arrow, own[8:11], own[11:], arrow.color)
    left = iter(values[7 * len(arrows) :])
    message.markers[-1].points = [point(xyz) for xyz in zip(left, left, left, strict=True)]
