# SPDX-License-Identifier: Apache-2.0
"""The emergency stop's topic, heard from publishers of every quality of service."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from std_msgs.msg import Bool

from humanoid_ros.controller_bridge.bridge_settings import EmergencySettings
from humanoid_ros.node.qos import COMMAND, LATCHED, SENSOR

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
