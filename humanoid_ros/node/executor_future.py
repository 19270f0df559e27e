# SPDX-License-Identifier: Apache-2.0
"""Waiting in an executor's coroutine for what another thread does."""

from __future__ import annotations

from concurrent.futures import Future as ThreadFuture
from typing import TypeVar

from rclpy.node import Node
from rclpy.task import Future

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
