# SPDX-License-Identifier: Apache-2.0
"""Markers of deformable soles: their surface as it is now, coloured by how far each point is from its rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.messages.conversions import fill_vector

if TYPE_CHECKING:
    from humanoid_sim.flexibility import DeformableSole

NAMESPACE = "soles"
RAMP = np.array([[0.15, 0.3, 0.85], [0.2, 0.75, 0.75], [0.95, 0.85, 0.2], [0.85, 0.1, 0.1]])
"""Colours from no displacement to the full scale: blue, turquoise, yellow, red."""


class SoleMarkers:
    """Makes a triangle list per sole, fixed to its link's frame (specification 000 §1.7, F023).

    Attributes:
        magnification: of the displacements [-].
        full_scale: displacement that is drawn red [m].
    """

    def __init__(self, magnification: float, full_scale: float) -> None:
        """Begin with nothing drawn; see the attributes."""
        self.magnification = magnification
        self.full_scale = full_scale
        self._drawn = 0

    def update(self, soles: Mapping[str, DeformableSole], time: Time) -> MarkerArray:
        """Return markers of these soles, in the order of their names' mapping, in place of those of the last call.

        Args:
            soles: by the frame that they are fixed to.
            time: simulated time.
        """
        message = MarkerArray()
        for number, (frame, sole) in enumerate(soles.items()):
            marker = Marker(ns=NAMESPACE, id=number, type=Marker.TRIANGLE_LIST, action=Marker.ADD)
            marker.header.frame_id, marker.header.stamp = frame, time
            marker.pose.orientation.w = 1.0
            fill_vector(marker.scale, (1.0, 1.0, 1.0))
            marker.color = ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0)
            vertices, triangles = sole.deformed_mesh(self.magnification)
            corners = triangles.reshape(-1)
            points = [Point(x=x, y=y, z=z) for x, y, z in vertices.tolist()]
            colours = [ColorRGBA(r=r, g=g, b=b, a=1.0) for r, g, b in self.colours(sole).tolist()]
            marker.points = [points[corner] for corner in corners.tolist()]
            marker.colors = [colours[corner] for corner in corners.tolist()]
            message.markers.append(marker)
        for number in range(len(soles), self._drawn):
            message.markers.append(Marker(ns=NAMESPACE, id=number, action=Marker.DELETE))
        self._drawn = len(soles)
        return message

    def colours(self, sole: DeformableSole) -> NDArray[np.float64]:
        """Return the colour of each vertex, shape (k, 3)."""
        moved = np.zeros(len(sole.vertices))
        moved[: sole.free] = np.linalg.norm(sole.U.reshape(-1, 3), axis=1)
        place = np.clip(moved / self.full_scale, 0.0, 1.0) * (len(RAMP) - 1)
        steps = np.arange(len(RAMP))
        return np.column_stack([np.interp(place, steps, RAMP[:, c]) for c in range(3)])
