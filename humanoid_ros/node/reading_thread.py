# SPDX-License-Identifier: Apache-2.0
"""Subscriptions that are read in a thread of their own, for topics of many hundred messages a second."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile

_SWITCH = 5e-4
"""Time for which another thread of Python may go on while this one waits [s]; 5 ms, Python's own, are two ticks."""
_GLANCE = 100_000_000
"""How long it waits for a message until it looks whether it is to end [ns]."""

Reader = Callable[[Any, int], None]
"""Takes a message, and when it was received, by the wall clock [ns]; 0: the middleware doesn't say."""


class _Elsewhere(CallbackGroup):
    """Of what the executor isn't to run."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


class ReadingThread:
    """Waits for some subscriptions only, and reads all that is there of them before each message of the last one.

    So what was published before a message of the last one is read before it, and what is read at a time is known to be
    complete when the next time begins.

    The executor of a node looks at each of its services, timers and subscriptions before each callback, which takes it
    longer than a controller's tick.
    """

    def __init__(
        self, node: Node, topics: Sequence[tuple[type, str, Reader, QoSProfile]], *, serialized: bool = False
    ) -> None:
        """Begin to read.

        Args:
            node: that has the subscriptions.
            topics: type, name, what takes the messages in the thread, quality of service.
            serialized: whether it takes them as bytes.
        """
        self._node, self._serialized, group = node, serialized, _Elsewhere()
        self._read = [
            (node.create_subscription(kind, topic, lambda _: None, quality, callback_group=group), take)
            for kind, topic, take, quality in topics
        ]
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="readings", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read no more; not in the thread itself."""
        self._ended.set()
        self._thread.join()
        for subscription, _ in self._read:
            self._node.destroy_subscription(subscription)

    def _run(self) -> None:
        context = self._node.context.handle
        assert context is not None
        with context:
            waiting = rclpy_implementation.WaitSet(len(self._read), 0, 0, 0, 0, 0, context)
            while not self._ended.is_set():
                waiting.clear_entities()
                for subscription, _ in self._read:
                    waiting.add_subscription(subscription.handle)
                waiting.wait(_GLANCE)
                while not self._ended.is_set() and self._read_once():
                    pass

    def _read_once(self) -> bool:
        """Read all messages that are there, but one at most of the last topic; whether there were any."""
        *others, last = self._read
        came = False
        for subscription, take in others:
            while self._take(subscription, take):
                came = True
        return self._take(*last) or came

    def _take(self, subscription: Any, take: Reader) -> bool:
        """Read a message if there is one; an exception is logged and ends nothing."""
        taken = subscription.handle.take_message(subscription.msg_type, self._serialized)
        if taken is None:
            return False
        try:
            take(taken[0], taken[1]["received_timestamp"])
        except Exception:
            self._node.get_logger().error(traceback.format_exc())
        return True
