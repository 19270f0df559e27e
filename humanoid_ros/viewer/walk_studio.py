# SPDX-License-Identifier: Apache-2.0
"""What the page asks of a controller, and draws of it."""

from __future__ import annotations

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
from humanoid_ros.viewer.walk_panel import PUSHES, WalkPanel

AGAIN = 0.1
"""A velocity is said so often [s]."""
SILENCE = 2.0
"""Silence of the controller after which its folder and drawing go [s]."""
DURATION = 0.1
"""Of a push [s]."""


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
