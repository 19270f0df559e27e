# SPDX-License-Identifier: Apache-2.0
"""Walks on the page: velocities and pushes for a controller, how the balance is, and what is drawn of it."""

from __future__ import annotations

import html
import math

import numpy as np
import viser
from geometry_msgs.msg import TwistStamped
from humanoid_stack.msg import ControllerStatus
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_ros.messages.markers import marker_placement
from humanoid_ros.node.qos import COMMAND, NEWEST
from humanoid_ros.viewer.drawing.drawn_messages import trace_lines
from humanoid_ros.viewer.drawing.scene_drawing import TraceDrawing
from humanoid_ros.viewer.drawing.shapes import drawable
from humanoid_ros.viewer.feature import Feature, View
from humanoid_ros.viewer.inbox import Inbox

AGAIN = 0.1
"""A velocity is said so often [s]."""
SILENCE = 2.0
"""Silence of the controller after which its folder and drawing go [s]."""
DURATION = 0.1
"""Of a push [s]."""
MODES = {
    ControllerStatus.WAITING: "waits", ControllerStatus.STANDING: "stands", ControllerStatus.SHIFTING: "shifts",
    ControllerStatus.STEPPING: "steps", ControllerStatus.FALLEN: "has fallen", ControllerStatus.HOLDING: "holds",
    ControllerStatus.MOVING: "carries a motion out",
}  # fmt: skip
PUSHES = {"↑": (1.0, 0.0), "↓": (-1.0, 0.0), "←": (0.0, 1.0), "→": (0.0, -1.0)}
"""Ways of a push in the robot's axes: ahead, to the left."""


class WalkPanel:
    """A folder that is there while a controller is heard.

    Attributes:
        folder: of the controls.
        ahead, sideways, turn: sliders of the commanded velocity [m/s, m/s, rad/s].
        stop: button that puts them to 0.
        strength: slider of the change of velocity by a push [m/s].
        push: buttons of :data:`PUSHES`.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        """Add it to a page's GUI."""
        self.folder = gui.add_folder("Walk", visible=False)
        with self.folder:
            self._text = gui.add_html("")
            self.ahead = gui.add_slider("Ahead [m/s]", -0.3, 0.4, 0.05, 0.0)
            self.sideways = gui.add_slider("To the left [m/s]", -0.15, 0.15, 0.05, 0.0)
            self.turn = gui.add_slider("Turning [rad/s]", -0.5, 0.5, 0.1, 0.0)
            self.stop = gui.add_button("Stop", icon=viser.Icon.PLAYER_STOP, color="gray")
            self.strength = gui.add_slider("Push by [m/s]", 0.1, 1.0, 0.1, 0.4)
            self.push = gui.add_button_group("Push towards", tuple(PUSHES))

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Velocity that the sliders say [m/s, m/s, rad/s]."""
        return float(self.ahead.value), float(self.sideways.value), float(self.turn.value)

    def rest(self) -> None:
        """Put the sliders to 0."""
        for slider in (self.ahead, self.sideways, self.turn):
            slider.value = 0.0  # type: ignore[misc]  # viser's setter is real

    def show(self, status: ControllerStatus | None) -> None:
        """Show how a controller is doing; None: nobody is heard."""
        if self.folder.visible != (status is not None):
            self.folder.visible = status is not None
        if status is None:
            return
        balance = f"; DCM {100.0 * status.margin:.1f} cm inside the soles" if math.isfinite(status.margin) else ""
        lines = [
            f"<b>{MODES.get(status.mode, '?')}</b>{balance}",
            f"{1e3 * status.tick_seconds:.1f} ms a tick; {status.late_ticks} of {status.ticks} late",
            *(html.escape(fault[:200]) for fault in status.faults),
        ]
        content = f"<div style='margin:0.2em 0.8em;font-size:0.85em'>{'<br>'.join(lines)}</div>"
        if content != self._text.content:
            self._text.content = content


class WalkStudio(Feature):
    """Commands velocities and pushes; draws soles that bear, landing sole, DCM, zero-moment points, estimated base.

    The controller's own frame is drawn as the fixed one: both begin under the robot.
    """

    name = "walk"

    def __init__(self, view: View) -> None:
        """Join the controller's topics."""
        node, later, panel = view.node, view.later, WalkPanel(view.gui)
        self._page, self._panel, self._robots, self._simulator = view.page, panel, view.robots, view.simulator
        self._statuses = Inbox(node, ControllerStatus, "controller/status", NEWEST)
        self._markers = Inbox(node, MarkerArray, "controller/markers", NEWEST)
        self._odometry = Inbox(node, Odometry, "odom", NEWEST)
        self._velocities = node.create_publisher(TwistStamped, "cmd_vel", COMMAND)
        self._lines = TraceDrawing(view.scene, "/walk")
        self._solids: dict[str, viser.IcosphereHandle | viser.BoxHandle] = {}
        self._status: ControllerStatus | None = None
        self._heard = self._said = -math.inf
        self._walking = False
        self._heading = 0.0
        panel.stop.on_click(lambda _: later(panel.rest))
        panel.push.on_click(lambda event: later(self._push, event.target.value))

    def update(self, now: float) -> None:
        """Draw what has come, and say the velocity again.

        Args:
            now: wall-clock time [s].
        """
        newest = self._statuses.newest()
        if newest is not None:
            self._status, self._heard = deserialize_message(newest, ControllerStatus), now
        present = now - self._heard < SILENCE
        if self._page.watched:
            self._panel.show(self._status if present else None)
            self._draw(present)
        velocity = self._panel.velocity
        if now - self._said > AGAIN and (any(velocity) or self._walking):
            self._said, self._walking = now, any(velocity)
            message = TwistStamped()
            message.twist.linear.x, message.twist.linear.y, message.twist.angular.z = velocity
            self._velocities.publish(message)

    def _draw(self, present: bool) -> None:
        odometry = self._odometry.newest()
        if odometry is not None:
            turn = deserialize_message(odometry, Odometry).pose.pose.orientation
            self._heading = 2.0 * math.atan2(turn.z, turn.w)
        newest = self._markers.newest()
        if not present:
            self._lines.set({})
            for solid in self._solids.values():
                solid.visible = False
            return
        if newest is None:
            return
        message = deserialize_message(newest, MarkerArray)
        self._lines.set(trace_lines(message))
        for marker in message.markers:
            if marker.type in (Marker.SPHERE, Marker.CUBE):
                self._place(marker)

    def _place(self, marker: Marker) -> None:
        """Put a ball or a box where it is."""
        colour = tuple(round(255.0 * own) for own in (marker.color.r, marker.color.g, marker.color.b))
        there = marker.action == Marker.ADD and drawable([marker.pose.position.x, marker.pose.position.y])
        if marker.ns not in self._solids:
            scene, path, size = self._page.server.scene, f"/walk/{marker.ns}", marker.scale
            self._solids[marker.ns] = (
                scene.add_icosphere(path, radius=0.5 * size.x, color=colour, cast_shadow=False)
                if marker.type == Marker.SPHERE
                else scene.add_box(path, color=colour, dimensions=(size.x, size.y, size.z), opacity=0.5)
            )
        solid = self._solids[marker.ns]
        solid.visible = there
        if there:
            placement = marker_placement(marker)
            solid.position = placement.translation
            solid.wxyz = np.array([marker.pose.orientation.w, *(getattr(marker.pose.orientation, a) for a in "xyz")])

    def _push(self, way: str) -> None:
        robot = next(iter(self._robots), None)
        if robot is None or way not in PUSHES:
            return
        ahead, aside = PUSHES[way]
        angle = self._heading + math.atan2(aside, ahead)
        force = self._robots.mass * float(self._panel.strength.value) / DURATION
        body = robot.prefix + robot.drawing.description.root
        self._simulator.push(body, (force * math.cos(angle), force * math.sin(angle), 0.0), DURATION)
