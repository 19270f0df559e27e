# SPDX-License-Identifier: Apache-2.0
"""Markers of a simulation: contacts with forces and friction cones, deformable soles, ways of traced bodies."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.messages.conversions import fill_vector, point
from humanoid_ros.messages.markers import cone_numbers, write_cone, write_force
from humanoid_ros.messages.serialized_message import SerializedMessages
from humanoid_sim.recording.path_trace import PathTrace
from humanoid_sim.stepping.contacts import Contacts, ContactState

if TYPE_CHECKING:
    from humanoid_sim.flexibility import DeformableSole


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


WIDTH = 0.006
"""Of the lines [m]."""


class DrawnTrace(PathTrace):
    """Ways that are there to be drawn only: they begin anew where the simulation jumps, and saved states have none."""

    def save(self) -> object:
        """Nothing: a trace decides nothing."""
        return None

    def restore(self, state: object) -> None:
        """Begin anew."""
        self.clear()


def trace_markers(trace: PathTrace | None, world: str, time: Time) -> MarkerArray:
    """Return a line strip per trace, namespace and text its name; the first marker deletes what was drawn before.

    Args:
        trace: the ways; None for none.
        world: name of the world frame.
        time: simulated time.
    """
    message = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
    message.markers[0].header.frame_id = world
    names = () if trace is None else trace.names
    for number, name in enumerate(names):
        assert trace is not None
        positions = trace[name].positions
        if len(positions) < 2:
            continue
        marker = Marker(ns=name, id=0, type=Marker.LINE_STRIP, action=Marker.ADD, text=name)
        marker.header.frame_id, marker.header.stamp = world, time
        marker.pose.orientation.w = 1.0
        marker.scale.x = WIDTH
        red, green, blue = colorsys.hsv_to_rgb((0.08 + 0.31 * number) % 1.0, 0.85, 0.85)
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=1.0)
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in positions.tolist()]
        message.markers.append(marker)
    return message
