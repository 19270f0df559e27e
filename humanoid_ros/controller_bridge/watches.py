# SPDX-License-Identifier: Apache-2.0
"""What a bridge watches: measured joints, a client's sign of life, the emergency stop, a fall, and other bridges.

A robot's joints may come from one publisher or several, each with its own time.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool
from unique_identifier_msgs.msg import UUID

from humanoid_model import Robot
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_ros.controller_bridge.bridge_settings import EmergencySettings, FallSettings
from humanoid_ros.controller_bridge.controller_outputs import Record, now
from humanoid_ros.messages.conversions import array, seconds
from humanoid_ros.node.clients import TOPIC
from humanoid_ros.node.process_mark import has_ended
from humanoid_ros.node.qos import COMMAND, LATCHED, NEWEST_OF_ANY, SENSOR


class MeasuredJoints:
    """Keeps the newest position of every joint that is measured, with its own time.

    Attributes:
        positions: by joint [rad or m].
        stamp: of the newest message [s].
        ahead: by how much that stamp was ahead of the node's clock when it came [s].
        malformed: what is wrong with the newest message that couldn't be used; empty: none.
    """

    def __init__(self, node: Node, topic: str, record: Record) -> None:
        """Listen.

        Args:
            node: that listens.
            topic: of the joint states.
            record: takes what comes.
        """
        self.positions: dict[str, float] = {}
        self.stamp = -math.inf
        self.ahead = 0.0
        self.malformed = ""
        self._times: dict[str, float] = {}
        self._node = node
        self._topic = topic
        self._record = record
        self._subscription = node.create_subscription(JointState, topic, self._on_message, NEWEST_OF_ANY, raw=True)

    def of(self, joints: tuple[str, ...]) -> NDArray[np.float64]:
        """Positions (n,) of joints; NaN of those that weren't measured."""
        return np.array([self.positions.get(name, math.nan) for name in joints])

    def times(self, joints: Iterable[str]) -> NDArray[np.float64]:
        """When each joint was measured (n,), not later than its message came [s]; minus infinite: never."""
        return np.array([self._times.get(name, -math.inf) for name in joints])

    def stale(self, joints: tuple[str, ...], age: float, ahead: float) -> str:
        """Say why positions can't be relied on; empty if they can.

        Args:
            joints: that count.
            age: how long ago each may have been measured [s].
            ahead: by how much stamps may be ahead of the clock [s].
        """
        clock, times = now(self._node), self.times(joints)
        old = [name for name, time in zip(joints, times, strict=True) if clock - time > age]
        reason = f"; {self.malformed}" if self.malformed else ""
        if old and not self.positions:
            return f"no joint states come on {self._topic}{reason}"
        if old and len(old) == len(joints) and np.isfinite(times).all():
            return f"the newest joint states are {clock - times.max():.2f} s old{reason}"
        if old:
            oldest = joints[int(np.argmin(times))]
            count = "" if len(old) == 1 else f", {len(old)} joints are too old"
            if oldest not in self.positions:
                return f"joint '{oldest}' isn't measured on {self._topic}{count}{reason}"
            return f"joint '{oldest}' was measured {clock - times.min():.2f} s ago{count}{reason}"
        if self.ahead > ahead:
            return f"joint states are stamped {self.ahead:.2f} s ahead of this clock: set the robot's or this one"
        return ""

    def destroy(self) -> None:
        """Listen no more."""
        self._node.destroy_subscription(self._subscription)

    def _on_message(self, data: bytes) -> None:
        message = deserialize_message(data, JointState)
        self._record(self._topic, "sensor_msgs/msg/JointState", data)
        arrival = now(self._node)
        # Hardware that doesn't stamp is taken at the time of arrival.
        self.stamp = seconds(message.header.stamp) or arrival
        self.ahead = self.stamp - arrival
        if len(message.name) != len(message.position):
            self.malformed = f"a message has {len(message.position)} positions for {len(message.name)} names"
            return
        self.malformed = ""
        # A stamp ahead of the clock would make a joint look fresh long after its last message.
        time = min(self.stamp, arrival)
        for name, position in zip(message.name, message.position, strict=True):
            if math.isfinite(position):
                self.positions[name], self._times[name] = position, time
            else:
                self.malformed = f"a message gives {position} for '{name}'"


class DeadMan:
    """Watches one goal's sign of life, by the machine's own clock: a simulation may stand still, its client doesn't."""

    def __init__(self, node: Node) -> None:
        """Listen.

        Args:
            node: that listens.
        """
        self._node = node
        self._goal = b""
        self._limit = 0.0
        self._heard = 0.0
        self._subscription = node.create_subscription(UUID, TOPIC, self._on_message, SENSOR)

    def watch(self, goal: Sequence[int], limit: float) -> None:
        """Watch a goal from now on, in place of the one before.

        Args:
            goal: its id, 16 bytes.
            limit: how long no sign may come [s]; 0: any time.
        """
        self._goal, self._limit, self._heard = bytes(goal), limit, time.monotonic()

    @property
    def problem(self) -> str:
        """Why the client is taken for lost; empty while it isn't."""
        silent = time.monotonic() - self._heard
        if not self._limit or silent <= self._limit:
            return ""
        return f"the client's sign of life on {TOPIC} hasn't come for {silent:.2f} s"

    def destroy(self) -> None:
        """Listen no more."""
        self._node.destroy_subscription(self._subscription)

    def _on_message(self, message: UUID) -> None:
        if bytes(message.uuid) == self._goal:
            self._heard = time.monotonic()


FIRST = 1.0
"""Time that a press which is kept for late listeners has to be heard after the start [s]."""
LOOK = 0.1
"""Between two looks for publishers [s]."""
KEPT = 64
"""Messages that are remembered, to know one that comes by several subscriptions."""


class EmergencyStop:
    """Whether the emergency stop is pressed.

    A best-effort subscription hears every publisher, but may miss a message; a reliable one doesn't hear best-effort
    publishers, and only one that asks for it gets what was sent before it came. So there are up to three, each as soon
    as there is a publisher for it. Of a message that comes by several of them the first counts. A press always counts;
    a release does if it was sent after the last press, so that none is taken back by what was late on its way.
    """

    def __init__(self, node: Node, settings: EmergencySettings, pressed: Callable[[], None]) -> None:
        """Listen.

        Args:
            node: that listens.
            settings: topic, heartbeat, whether the topic is latched.
            pressed: called at each press.
        """
        self._node = node
        self._settings = settings
        self._on_press = pressed
        self._begun = time.monotonic()
        self._heard = -float("inf")
        self._pressed = False
        self._pressed_at = 0
        self._known: deque[tuple[int, bool]] = deque(maxlen=KEPT)
        self._subscriptions: list[Subscription] = []
        self._qualities: list[QoSProfile] = []
        self._listen(SENSOR)
        self._topic = self._subscriptions[0].topic_name
        self._timer = node.create_timer(LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def problem(self) -> str:
        """Why nothing may move; empty if it may."""
        if self._pressed:
            return "the emergency stop is pressed"
        limit, silent = self._settings.heartbeat, time.monotonic() - self._heard
        if limit and silent > limit:
            if self._heard == -float("inf"):
                return f"no heartbeat of the emergency stop comes on {self._settings.topic}"
            return f"the emergency stop's last heartbeat on {self._settings.topic} came {silent:.2f} s ago"
        if self._settings.latched and not self._known:
            return f"nothing has come on {self._settings.topic} yet, the emergency stop may be pressed"
        return ""

    @property
    def publishers(self) -> int:
        """How many publish it."""
        return self._node.count_publishers(self._topic)

    @property
    def still_listening(self) -> float:
        """How long a press from before the start may still be on its way [s]."""
        return max(self._begun + FIRST - time.monotonic(), 0.0)

    def destroy(self) -> None:
        """Listen no more."""
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _look(self) -> None:
        """Listen to new publishers as they ask for it: where nobody does, they would warn of us."""
        for publisher in self._node.get_publishers_info_by_topic(self._topic):
            quality = publisher.qos_profile
            if quality.reliability == ReliabilityPolicy.RELIABLE:
                self._listen(COMMAND)
                if quality.durability == DurabilityPolicy.TRANSIENT_LOCAL:
                    self._listen(LATCHED)

    def _listen(self, quality: QoSProfile) -> None:
        if quality not in self._qualities:
            take: Any = self._on_message  # rclpy gives it the message's info too
            self._qualities.append(quality)
            self._subscriptions.append(self._node.create_subscription(Bool, self._settings.topic, take, quality))

    def _on_message(self, message: Bool, info: dict[str, Any]) -> None:
        sent, pressed = int(info["source_timestamp"]), bool(message.data)
        self._heard = time.monotonic()
        if sent and (sent, pressed) in self._known:
            return  # a middleware that doesn't stamp gives 0
        self._known.append((sent, pressed))
        if pressed:
            self._pressed, self._pressed_at = True, max(sent, self._pressed_at)
            self._on_press()
        elif sent >= self._pressed_at:
            self._pressed = False


UP = np.array([0.0, 0.0, 1.0])


class FallWatch:
    """Listens to the sensors that the bridge's file names for it, and looks at them during a motion."""

    def __init__(self, node: Node, settings: FallSettings, robot: Robot, measured: MeasuredJoints) -> None:
        """Listen.

        Args:
            node: that listens.
            settings: which sensors, and from when on it is a fall.
            robot: that carries the sensors.
            measured: where its joints are.
        """
        self._node = node
        self._settings = settings
        self._robot = robot
        self._measured = measured
        self._data = robot.model.createData()
        self._link_q = pin.neutral(robot.model)
        self._heard: dict[str, float] = {}
        self._up_sensor: NDArray[np.float64] = UP
        self._forces: dict[str, float] = {}
        self._motion: WholeBodyTrajectory | None = None
        self._up_start: NDArray[np.float64] = UP
        self._unsupported = math.inf
        topics = [(Imu, settings.imu, self._on_imu)] if settings.imu else []
        topics += [(WrenchStamped, topic, partial(self._on_wrench, topic)) for topic in settings.wrenches]
        self._topics = [topic for _, topic, _ in topics]
        self._subscriptions = [
            node.create_subscription(kind, topic, callback, NEWEST_OF_ANY) for kind, topic, callback in topics
        ]

    def silent(self, age: float) -> str:
        """Say which sensor hasn't been heard for longer than an age [s]; empty: none."""
        clock = now(self._node)
        for topic in self._topics:
            if topic not in self._heard:
                return f"nothing that tells of a fall comes on {topic}"
            if clock - self._heard[topic] > age:
                return f"nothing has come on {topic} for {clock - self._heard[topic]:.2f} s"
        return ""

    def begin(self, motion: WholeBodyTrajectory | None) -> None:
        """Watch a motion from now on; without the base's way the base has to keep the attitude that it has now."""
        self._motion = motion
        self._up_start = self._up_base()
        self._unsupported = math.inf

    def fall(self, position: float) -> str:
        """Say how the robot falls at a place on the path [s]; empty while it doesn't."""
        settings, clock = self._settings, now(self._node)
        if settings.imu:
            planned = self._up_start
            if self._motion is not None:
                placement = self._robot.placement_base(self._motion.at(position).q)
                planned = placement.rotation.T @ UP
            tilt = math.acos(float(np.clip(self._up_base() @ planned, -1.0, 1.0)))
            if not tilt <= settings.attitude:
                return f"the base is tilted by {tilt:.2f} rad, {settings.attitude:g} are allowed"
        if settings.wrenches:
            force = sum(self._forces.values())
            if force >= settings.force:
                self._unsupported = math.inf
            else:
                self._unsupported = min(self._unsupported, clock)
                if clock - self._unsupported >= settings.time:
                    return f"{', '.join(settings.wrenches)} bear {force:.3g} N together, fewer than {settings.force:g}"
        return ""

    def destroy(self) -> None:
        """Listen no more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _up_base(self) -> NDArray[np.float64]:
        """Return the vertical (3,) in the base's frame, by the sensor and the joints between."""
        if not self._settings.sensor:
            return self._up_sensor
        q, robot = self._link_q, self._robot
        for name, position in self._measured.positions.items():
            if name in robot.joint_names and robot.model.joints[robot.parts.joint_ids[name]].nv == 1:
                q[robot.index_q(name)] = position
        pin.forwardKinematics(robot.model, self._data, q)
        sensor = robot.sensors[self._settings.sensor]
        link = robot.parts.links[sensor.link]
        placement = self._data.oMi[link.joint_id] * link.placement_joint_link * sensor.placement_link_sensor
        base = robot.placement_base(q)
        up: NDArray[np.float64] = base.rotation.T @ placement.rotation @ self._up_sensor
        return up

    def _on_imu(self, message: Imu) -> None:
        x, y, z, w = (getattr(message.orientation, axis) for axis in "xyzw")
        norm = math.sqrt(x * x + y * y + z * z + w * w)
        if not 0.9 < norm < 1.1 or message.orientation_covariance[0] < 0.0:
            return  # it gives no orientation: silent
        self._heard[self._settings.imu] = now(self._node)
        self._up_sensor = pin.Quaternion(w / norm, x / norm, y / norm, z / norm).toRotationMatrix().T @ UP

    def _on_wrench(self, topic: str, message: WrenchStamped) -> None:
        force = float(np.linalg.norm(array(message.wrench.force)))
        if math.isfinite(force):
            self._heard[topic], self._forces[topic] = now(self._node), force


def other_bridges(node: Node, action: str) -> str:
    """Say who else answers an action, and what to do; empty where nobody does.

    Each of two bridges gets a goal, and both would move the robot. One whose process is known to have ended doesn't
    count, though the middleware keeps it for 20 s.

    Args:
        node: that answers it.
        action: its name, as the node gave it.
    """
    # Every action server publishes the states of its goals.
    found = node.get_publishers_info_by_topic(node.resolve_topic_name(f"{action}/_action/status"))
    names = [
        f"{info.node_namespace.rstrip('/')}/{info.node_name}"
        for info in found
        if not has_ended(bytes(info.endpoint_gid))
    ]
    own = node.get_fully_qualified_name()
    if own in names:
        names.remove(own)  # once: another bridge may have the same name
    if not names:
        return ""
    return (
        f"{action} is also answered by {', '.join(sorted(set(names)))}: both would move the robot. End one of them, or "
        "give each a ROS_DOMAIN_ID or a namespace of its own"
    )
