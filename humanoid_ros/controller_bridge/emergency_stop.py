# SPDX-License-Identifier: Apache-2.0
"""The emergency stop's topic, heard from publishers of every quality of service."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Bool

from humanoid_ros.controller_bridge.bridge_settings import EmergencySettings
from humanoid_ros.node.qos import COMMAND, LATCHED, SENSOR

FIRST = 1.0
"""Time that a press which is kept for late listeners has to be heard after the start [s]."""
KEPT = 64
"""Messages that are remembered, to know one that comes by several subscriptions."""


class EmergencyStop:
    """Whether the emergency stop is pressed.

    A reliable subscription doesn't hear best-effort publishers, and only one that asks for it gets what was sent before
    it came: so there are three. Of a message that comes by several of them the first counts. A press always counts; a
    release does if it was sent after the last press, so that none is taken back by what was late on its way.
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
        take: Any = self._on_message  # rclpy gives it the message's info too
        self._subscriptions = [
            node.create_subscription(Bool, settings.topic, take, quality)
            for quality in (COMMAND, SENSOR, LATCHED)
        ]

    @property
    def problem(self) -> str:
        """Why nothing may move; empty if it may."""
        if self._pressed:
            return "the emergency stop is pressed"
        limit, silent = self._settings.heartbeat, time.monotonic() - self._heard
        if limit and silent > limit:
            words = "never" if self._heard == -float("inf") else f"not for {silent:.2f} s"
            return f"the emergency stop's heartbeat has come {words} on {self._settings.topic}"
        if self._settings.latched and not self._known:
            return f"nothing has come on {self._settings.topic} yet: it may have been pressed before"
        return ""

    @property
    def publishers(self) -> int:
        """How many publish it."""
        return self._node.count_publishers(self._subscriptions[0].topic_name)

    @property
    def still_listening(self) -> float:
        """How long a press from before the start may still be on its way [s]."""
        return max(self._begun + FIRST - time.monotonic(), 0.0)

    def destroy(self) -> None:
        """Listen no more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _on_message(self, message: Bool, info: dict[str, Any]) -> None:
        sent, pressed = int(info["source_timestamp"]), bool(message.data)
        self._heard = time.monotonic()
        if (sent, pressed) in self._known:
            return
        self._known.append((sent, pressed))
        if pressed:
            self._pressed, self._pressed_at = True, max(sent, self._pressed_at)
            self._on_press()
        elif sent >= self._pressed_at:
            self._pressed = False
