# SPDX-License-Identifier: Apache-2.0
"""What a controller tells: estimate and balance of its robot, markers, how punctual it is."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Time
from humanoid_stack.msg import ControllerStatus
from nav_msgs.msg import Odometry
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_control.estimation import Estimate
from humanoid_control.stepping import Walker
from humanoid_control.stepping.walker import WalkMode
from humanoid_control.tracking import MotionTracker, TrackMode
from humanoid_model.arrays import Array
from humanoid_model.convex_polygon import polygon_margin
from humanoid_model.whole_body_dynamics import zero_moment_point
from humanoid_ros.messages.conversions import fill_pose, fill_quaternion, fill_vector, point
from humanoid_ros.messages.serialized_message import SerializedMessage

_MODES = {
    WalkMode.STANDING: ControllerStatus.STANDING, WalkMode.SHIFTING: ControllerStatus.SHIFTING,
    WalkMode.STEPPING: ControllerStatus.STEPPING, WalkMode.FALLEN: ControllerStatus.FALLEN,
}  # fmt: skip
_PRESSED = 5.0
"""Force from which on a sole has a centre of pressure [N]."""
_ABOVE = 0.003
"""Height of what is drawn over the ground [m]."""
_COLOURS = {
    "support": ColorRGBA(r=0.2, g=0.6, b=0.2, a=1.0), "footstep": ColorRGBA(r=0.95, g=0.6, b=0.1, a=1.0),
    "dcm": ColorRGBA(r=0.15, g=0.35, b=0.95, a=1.0), "zmp": ColorRGBA(r=0.85, g=0.1, b=0.1, a=1.0),
    "pressure": ColorRGBA(r=0.95, g=0.75, b=0.75, a=1.0), "base": ColorRGBA(r=0.6, g=0.2, b=0.8, a=0.5),
}  # fmt: skip


def odometry_message(odom_frame: str, base_frame: str) -> SerializedMessage:
    """Return the message of :func:`odometry_numbers`."""
    message = Odometry(child_frame_id=base_frame)
    message.header.frame_id = odom_frame

    def write(message: Odometry, values: list[float], time: Time) -> None:
        message.header.stamp = time
        fill_vector(message.pose.pose.position, values)
        fill_quaternion(message.pose.pose.orientation, values[3:])
        fill_vector(message.twist.twist.linear, values[7:])
        fill_vector(message.twist.twist.angular, values[10:])
        message.pose.covariance, message.twist.covariance = values[13:49], values[49:]

    return SerializedMessage(message, 85, write)


def odometry_numbers(estimate: Estimate, base: slice) -> Array:
    """Pose, twist in the base frame, and their covariances, shape (85,).

    Args:
        estimate: of the robot.
        base: velocity coordinates of the floating base.
    """
    covariances = estimate.pose_covariance.reshape(-1), estimate.twist_covariance.reshape(-1)
    return np.concatenate([pin.SE3ToXYZQUAT(estimate.placement_world_base), estimate.v[base], *covariances])


def fill_balance(status: ControllerStatus, controller: Walker | MotionTracker) -> None:
    """Write what a controller that knows how its robot stands does into a status."""
    estimate = controller.estimate
    assert estimate is not None
    soles = [name for name in controller.body.soles if name in estimate.contacts]
    pressed = [own for own in map(estimate.contacts.__getitem__, soles) if own.wrench[2] > _PRESSED]
    places = [own.placement.act(np.array([*own.pressure, 0.0])) for own in pressed]
    fill_vector(status.zmp, zero_moment_point(places, [[0.0, 0.0, own.wrench[2]] for own in pressed]))
    if isinstance(controller, MotionTracker):
        status.mode = ControllerStatus.FALLEN if controller.mode is TrackMode.FALLEN else ControllerStatus.MOVING
        status.contacts, status.margin = list(controller.bearing), math.nan
        for vector in (status.dcm, status.pressure):
            fill_vector(vector, [math.nan] * 3)
        return
    status.mode = _MODES[controller.mode]
    status.contacts = [name for name in soles if estimate.contacts[name].held]
    level = min(estimate.contacts[name].place[3, 2] for name in controller.bearing)
    fill_vector(status.dcm, [*controller.dcm, level])
    fill_vector(status.pressure, [*controller.pressure, level])
    status.margin = float(polygon_margin(controller.support, controller.dcm))
    if controller.footstep is not None:
        placement, status.time_to_footstep = controller.footstep
        fill_pose(status.footstep, placement)
    ahead, aside, turn = (float(one) for one in controller.velocity)
    status.velocity.linear.x, status.velocity.linear.y, status.velocity.angular.z = ahead, aside, turn


def balance_markers(status: ControllerStatus, controller: Walker | MotionTracker) -> MarkerArray:
    """Return what is drawn: soles that bear, landing sole, DCM, zero-moment points, the estimated base.

    What isn't there, as most of it while a motion is carried out, is taken away.
    """
    assert controller.estimate is not None
    support, landing = np.zeros((0, 3)), np.zeros((0, 3))
    level = status.zmp.z + _ABOVE
    if isinstance(controller, Walker):
        level = status.dcm.z + _ABOVE
        support = np.column_stack([controller.support, np.full(len(controller.support), level)])
        if controller.footstep is not None:
            placement, _ = controller.footstep
            free = next(name for name in controller.body.soles if name != controller.stance)
            landing = np.array(
                [placement.act(np.array([*corner, _ABOVE])) for corner in controller.body.soles[free].patch]
            )
    markers = [_line(status, "support", support), _line(status, "footstep", landing)]
    for name, at, size in (("dcm", status.dcm, 0.03), ("zmp", status.zmp, 0.025), ("pressure", status.pressure, 0.02)):
        marker = _marker(status, name, Marker.SPHERE)
        marker.action = Marker.DELETE
        if math.isfinite(at.x):
            fill_vector(marker.pose.position, [at.x, at.y, level])
            fill_vector(marker.scale, (size, size, 0.4 * size))
            marker.action = Marker.ADD
        markers.append(marker)
    base = _marker(status, "base", Marker.CUBE)
    fill_pose(base.pose, controller.estimate.placement_world_base)
    fill_vector(base.scale, (0.08, 0.08, 0.08))
    return MarkerArray(markers=[*markers, base])


def _marker(status: ControllerStatus, name: str, kind: int) -> Marker:
    marker = Marker(ns=name, type=kind, color=_COLOURS[name])
    marker.header = status.header
    marker.pose.orientation.w = 1.0
    return marker


def _line(status: ControllerStatus, name: str, corners: Array) -> Marker:
    """Return a closed line; without corners it is taken away."""
    marker = _marker(status, name, Marker.LINE_STRIP)
    marker.scale.x = 0.006
    marker.points = [point(corner) for corner in (*corners, *corners[:1])]
    marker.action = Marker.ADD if len(corners) else Marker.DELETE
    return marker


class Punctuality:
    """Counts ticks, and those whose command left later than a tick after the measurement had come.

    Attributes:
        ticks: so far.
        late: of them.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.ticks = self.late = 0
        self._last = 0.0
        self._sum, self._count, self._longest = 0.0, 0, 0.0

    def take(self, time: float, seconds: float) -> None:
        """Take note of a tick.

        Args:
            time: stamp of the measurement [s].
            seconds: wall-clock time from its coming to its command [s].
        """
        period, self._last = time - self._last, time
        self.ticks += 1
        self.late += seconds > period > 0.0
        self._sum, self._count, self._longest = self._sum + seconds, self._count + 1, max(self._longest, seconds)

    def since(self) -> tuple[float, float]:
        """Return mean and longest time since it was asked last [s]."""
        mean, longest = self._sum / max(self._count, 1), self._longest
        self._sum, self._count, self._longest = 0.0, 0, 0.0
        return mean, longest
