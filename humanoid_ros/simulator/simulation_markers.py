# SPDX-License-Identifier: Apache-2.0
"""Markers of contacts: points, forces, and friction cones as high as the normal force is large."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.messages.conversions import fill_vector, point
from humanoid_ros.messages.force_markers import shape_cone, shape_force
from humanoid_sim.state.contacts import Contacts, ContactState

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

    def update(self, contacts: Contacts, time: Time) -> MarkerArray:
        """Return markers that show these contacts and take back those of the last call."""
        message = MarkerArray()
        normal_force = contacts.normal_force
        loaded = np.flatnonzero(normal_force > MIN_FORCE)
        for number, i in enumerate(loaded):
            cone = self._marker(CONES, number, Marker.ARROW, time)
            height = self.cone_scale * float(normal_force[i])
            tip = contacts.position[i]
            shape_cone(cone, tip, contacts.normal[i], height, float(contacts.friction[i]))
            message.markers.append(cone)

            arrow = self._marker(FORCES, number, Marker.ARROW, time)
            colour = STATE_COLOURS[ContactState(int(contacts.state[i]))]
            shape_force(arrow, tip, self.arrow_scale * contacts.force[i], colour)
            message.markers.append(arrow)
        for number in range(len(loaded), self._drawn):
            for namespace in (CONES, FORCES):
                gone = self._marker(namespace, number, Marker.ARROW, time)
                gone.action = Marker.DELETE
                message.markers.append(gone)
        self._drawn = len(loaded)
        message.markers.append(self._points(contacts, time))
        return message

    def _points(self, contacts: Contacts, time: Time) -> Marker:
        marker = self._marker(POINTS, 0, Marker.SPHERE_LIST, time)
        fill_vector(marker.scale, (POINT_SIZE, POINT_SIZE, POINT_SIZE))
        if len(contacts) == 0:
            marker.action = Marker.DELETE
            return marker
        marker.points = [point(position) for position in contacts.position]
        marker.colors = [STATE_COLOURS[ContactState(state)] for state in contacts.state.tolist()]
        marker.color = STATE_COLOURS[ContactState.OPEN]
        return marker

    def _marker(self, namespace: str, number: int, kind: int, time: Time) -> Marker:
        marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
        marker.header.frame_id = self._world
        marker.header.stamp = time
        marker.pose.orientation.w = 1.0
        return marker
