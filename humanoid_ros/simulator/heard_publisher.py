# SPDX-License-Identifier: Apache-2.0
"""Publishers that know whether anyone listens, and a schedule that leaves out what nobody hears."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile


class HeardPublisher:
    """A publisher that remembers how many listened at the last look: asking the middleware takes microseconds."""

    def __init__(self, node: Node, kind: type, topic: str, qos: QoSProfile) -> None:
        """Create the publisher; see :meth:`rclpy.node.Node.create_publisher`."""
        self._node = node
        self._publisher = node.create_publisher(kind, topic, qos)
        self._listeners = 0

    @property
    def topic_name(self) -> str:
        """Full name of the topic."""
        return str(self._publisher.topic_name)

    @property
    def heard(self) -> bool:
        """Whether anyone listened at the last look."""
        return self._listeners > 0

    def look(self) -> bool:
        """Find out who listens; whether someone new does."""
        before = self._listeners
        try:
            self._listeners = self._publisher.get_subscription_count()
        except InvalidHandle:  # another thread has taken it off the graph
            self._listeners = 0
        return self._listeners > before

    def publish(self, message: Any) -> None:
        """Publish a message, or a serialised one as bytes."""
        with suppress(InvalidHandle):
            self._publisher.publish(message)

    def destroy(self) -> None:
        """Take it off the graph."""
        self._node.destroy_publisher(self._publisher)


@dataclass
class _Entry:
    period: int
    publish: Callable[[], None]
    topics: Callable[[], Iterable[HeardPublisher]] | None
    heard: bool


class Schedule:
    """What is published after which steps."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._entries: list[_Entry] = []
        self._known, self._next = 0, 0

    def add(
        self, period: int, publish: Callable[[], None], topics: Callable[[], Iterable[HeardPublisher]] | None
    ) -> None:
        """Publish something after every so many steps.

        Args:
            period: steps between two times.
            publish: does it, for those of its topics that are heard.
            topics: where it is published; it is left out while none of them is heard. None: never left out.
        """
        self._entries.append(_Entry(period, publish, topics, topics is None))

    def look(self) -> list[Callable[[], None]]:
        """Find out who listens; what publishes for someone new."""
        news = []
        for entry in self._entries:
            if entry.topics is not None:
                topics = list(entry.topics())
                looks = [topic.look() for topic in topics]
                if any(looks):
                    news.append(entry.publish)
                heard = any(topic.heard for topic in topics)
                if heard != entry.heard:
                    entry.heard, self._next = heard, 0
        return news

    def due(self, step: int) -> int:
        """Return how many steps after ``step`` something is to be published."""
        if not self._known <= step < self._next:
            waits = [entry.period - step % entry.period for entry in self._entries if entry.heard]
            self._known, self._next = step, step + min(waits, default=1)
        return self._next - step

    def publish(self, step: int) -> None:
        """Publish what is due after ``step``."""
        for entry in self._entries:
            if entry.heard and step % entry.period == 0:
                entry.publish()

    def publish_all(self) -> None:
        """Publish everything that is heard now."""
        self.look()
        for entry in self._entries:
            if entry.heard:
                entry.publish()
