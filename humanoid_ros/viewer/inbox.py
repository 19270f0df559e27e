# SPDX-License-Identifier: Apache-2.0
"""Messages that wait until they are looked at: a page that nobody watches has no use for most of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile

NEWS = 1.0
"""Period of asking the middleware what it has to say of a topic: of publishers that can't be heard, say [s]."""


class Inbox:
    """What has come on a topic, as bytes; the middleware keeps as much as the quality of service says.

    For each message that an executor hands on it builds all anew that it waits for, which takes a millisecond for a
    node of this size. One that lies here costs nothing until it is taken.

    Args:
        node: that listens.
        kind: type of the messages.
        topic: name.
        quality: of service; the depth is how many messages wait.
        arrived: called in the executor for each message that comes while :attr:`attended`.

    Attributes:
        attended: whether the executor hands each message on as it comes.
    """

    def __init__(
        self, node: Node, kind: Any, topic: str, quality: QoSProfile, arrived: Callable[[], None] = lambda: None
    ) -> None:
        self.attended = False
        self._kind, self._arrived, self._depth = kind, arrived, quality.depth
        self._came: list[bytes] = []
        self._asked_at = -float("inf")
        self._subscription = node.create_subscription(
            kind, topic, self._on_message, quality, raw=True, callback_group=_Attended(self)
        )

    def take(self) -> list[bytes]:
        """Return what has come since the last time, the oldest first."""
        came, self._came = self._came, []
        self._hear_news()
        with self._subscription.handle:
            for _ in range(self._depth):  # who sends faster than they are taken doesn't hold everything up
                message = self._subscription.handle.take_message(self._kind, True)
                if message is None:
                    break
                came.append(message[0])
        return came

    def newest(self) -> bytes | None:
        """Return the last one that has come since the last time, if any."""
        came = self.take()
        return came[-1] if came else None

    def close(self, node: Node) -> None:
        """Listen no more."""
        node.destroy_subscription(self._subscription)

    def _hear_news(self) -> None:
        """Call what an executor would: it wakes up for a topic's events when a message comes, too."""
        if time.monotonic() - self._asked_at < NEWS:
            return
        self._asked_at = time.monotonic()
        for handler in self._subscription.event_handlers:  # type: ignore[attr-defined]  # a list
            handler.add_to_wait_set(_AllReady())
            handler.is_ready(_AllReady())
            news = handler.take_data()
            if news is not None and news.total_count_change:
                handler.callback(news)

    def _on_message(self, message: bytes) -> None:
        self._came.append(message)
        self._arrived()


class _Attended(MutuallyExclusiveCallbackGroup):
    """Callbacks that are called while an inbox is attended."""

    def __init__(self, inbox: Inbox) -> None:
        super().__init__()
        self._inbox = inbox

    def can_execute(self, entity: Any) -> bool:
        """Whether the entity's turn may come."""
        return self._inbox.attended and super().can_execute(entity)


class _AllReady:
    """A set to wait for, all of which is there."""

    def add_event(self, event: Any) -> int:
        """Return the index of an event."""
        return 0

    def is_ready(self, kind: str, index: int) -> bool:
        """Whether it has come."""
        return True
