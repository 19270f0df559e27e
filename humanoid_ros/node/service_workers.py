# SPDX-License-Identifier: Apache-2.0
"""Services whose requests are answered in threads of their own, and a node that has such services.

An executor's coroutine waits for what such a thread does by a future that wakes the executor.
"""

from __future__ import annotations

import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import Future as ThreadFuture
from typing import Any, TypeVar

from rclpy.node import Node
from rclpy.task import Future

from humanoid_model import RobotWarning
from humanoid_model.errors import HumanoidError
from humanoid_ros.node.answering_node import AnsweringNode

T = TypeVar("T")


def waking_future(node: Node) -> Future:
    """Return a future that any thread may complete: a coroutine of the node that awaits it then goes on."""

    def wake(_: Future) -> None:
        if node.executor is not None:
            node.executor.wake()

    future = Future()
    future.add_done_callback(wake)
    return future


async def answer_of(node: Node, answer: ThreadFuture[T]) -> T:
    """Return the result of another thread's future, awaited in a coroutine that the node's executor runs.

    Args:
        node: the node, added to an executor.
        answer: what to wait for.

    Raises:
        Exception: what the other thread raised.
    """
    done = waking_future(node)
    answer.add_done_callback(done.set_result)
    await done
    return answer.result()


CLOSED = "The node is shut down."


class ServiceWorkers:
    """Services of a node; requests of one service are answered one after the other in a thread of its own.

    Callbacks run in the node's one executor thread, which only hands requests on: however long one answer takes, the
    other services go on. Errors in an answer are reported to the client, and never end the node.

    Attributes:
        closing: set once the node is being shut down; a long answer may look at it and raise a HumanoidError.
    """

    def __init__(self, node: AnsweringNode) -> None:
        """Begin without services.

        Args:
            node: that offers them.
        """
        self.closing = threading.Event()
        self._node = node
        self._workers: dict[str, ThreadPoolExecutor] = {}
        self._preparations: list[ThreadFuture[None]] = []
        self._follow_up = ThreadPoolExecutor(1, "follow_up")
        self._follow_ups: list[Callable[[], None]] = []
        self._following = threading.Lock()
        self._pending = 0
        warnings.simplefilter("always", RobotWarning)
        warnings.showwarning = self._warn  # type: ignore[assignment]

    def offer(
        self,
        kind: Any,
        name: str,
        action: Callable[[Any, Any], None],
        failed: Callable[[Any], None] | None = None,
    ) -> None:
        """Offer a service.

        Args:
            kind: type of the service, whose answer has the fields ``success`` and ``message``.
            name: of the service.
            action: fills the answer to a request, in the service's thread. ``success`` is true unless it says
                otherwise or raises.
            failed: as of :meth:`AnsweringNode.offer`.
        """
        worker = ThreadPoolExecutor(1, name)
        self._workers[name] = worker

        async def answer(request: Any, response: Any) -> None:
            self._pending += 1
            try:
                await answer_of(self._node, worker.submit(action, request, response))
            except (CancelledError, RuntimeError):
                if self.closing.is_set():
                    raise HumanoidError(CLOSED) from None
                raise
            finally:
                self._pending -= 1

        self._node.offer(kind, name, answer, failed)

    def prepare(self, name: str, action: Callable[[], None]) -> None:
        """Let a service's thread do something before its first request."""
        self._preparations.append(self._workers[name].submit(self._try, action))

    def follow_up(self, action: Callable[[], None]) -> None:
        """Do something that no answer waits for, in a thread of its own; of several that wait the last one counts."""
        with self._following:
            self._follow_ups = [action]
        self._follow_up.submit(self._follow)

    def _follow(self) -> None:
        with self._following:
            actions, self._follow_ups = self._follow_ups, []
        for action in actions:
            self._try(action)

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._node.get_logger().error("".join(traceback.format_exception(error)))

    @property
    def busy(self) -> bool:
        """Whether a request is not answered yet, or a preparation not done."""
        return self._pending > 0 or not all(preparation.done() for preparation in self._preparations)

    def close(self) -> None:
        """Abort what is being computed; pending requests get an answer."""
        self.closing.set()
        for worker in self._workers.values():
            worker.shutdown(wait=False, cancel_futures=True)
        # What follows an answer takes milliseconds, and uses the node.
        self._follow_up.shutdown(wait=True, cancel_futures=True)

    def _warn(self, message: Warning | str, *_: object) -> None:
        self._node.get_logger().warning(str(message))


class ServingNode(AnsweringNode):
    """A node that answers by :class:`ServiceWorkers`.

    Attributes:
        workers: answer the requests; set by the node's own class.
    """

    workers: ServiceWorkers

    @property
    def busy(self) -> bool:
        """Whether somebody still waits for an answer."""
        return self.workers.busy

    async def close(self) -> None:
        """Abort what is being computed; pending requests get an answer."""
        self.workers.close()
