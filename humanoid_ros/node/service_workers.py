# SPDX-License-Identifier: Apache-2.0
"""Services whose requests are answered in threads of their own, and a node that ends with nobody left waiting."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from humanoid_model import RobotWarning
from humanoid_model.errors import HumanoidError
from humanoid_ros.node.executor_future import answer_of
from humanoid_ros.node.qos import SERVICE

PATIENCE = 1.0
"""Time that answers to pending requests have to leave when a node ends [s]."""
CLOSED = "The node is shut down."


class ServiceWorkers:
    """Services of a node; requests of one service are answered one after the other in a thread of its own.

    Callbacks run in the node's one executor thread, which only hands requests on: however long one answer takes, the
    other services go on. Whatever goes wrong in an answer is told to who asked, and never ends the node.

    Attributes:
        closing: set once the node is being shut down; a long answer may look at it and raise a HumanoidError.
        refusals: requests that could not be served so far.
        last_refusal: why the last of them could not.
    """

    def __init__(self, node: Node) -> None:
        self.closing = threading.Event()
        self.refusals = 0
        self.last_refusal = ""
        self._node = node
        self._workers: dict[str, ThreadPoolExecutor] = {}
        self._preparations: list[Future[None]] = []
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
        failed: Callable[[Any, str], None] | None = None,
    ) -> None:
        """Offer a service.

        Args:
            kind: type of the service, whose answer has the fields ``success`` and ``message``.
            name: of the service.
            action: fills the answer to a request, in the service's thread. ``success`` is true unless it says
                otherwise or raises.
            failed: marks an empty answer as failed, with the reason, beyond ``success`` and ``message``.
        """
        worker = ThreadPoolExecutor(1, name)
        self._workers[name] = worker

        async def serve(request: Any, response: Any) -> Any:
            self._pending += 1
            try:
                response.success = True
                await answer_of(self._node, worker.submit(action, request, response))
            except Exception as error:
                response = type(response)(success=False, message=self.refusal(name, error))
                if failed is not None:
                    failed(response, response.message)
            finally:
                self._pending -= 1
            return response

        self._node.create_service(kind, name, serve, qos_profile=SERVICE, callback_group=ReentrantCallbackGroup())

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
        """Give up what is being computed; whoever waits for it is told."""
        self.closing.set()
        for worker in self._workers.values():
            worker.shutdown(wait=False, cancel_futures=True)
        # What follows an answer takes milliseconds, and uses the node.
        self._follow_up.shutdown(wait=True, cancel_futures=True)

    def refusal(self, name: str, error: Exception) -> str:
        """Note that a request could not be served, and why; returns what to tell who asked.

        Args:
            name: of the service.
            error: that came up; what isn't a HumanoidError is logged with its traceback.
        """
        if isinstance(error, HumanoidError):
            message = str(error)
        elif isinstance(error, CancelledError | RuntimeError) and self.closing.is_set():
            message = CLOSED
        else:
            message = f"{type(error).__name__}: {error}"
            self._node.get_logger().error("".join(traceback.format_exception(error)))
        self.refusals += 1
        self.last_refusal = f"{name}: {message}"
        self._node.get_logger().warning(f"refused {self.last_refusal}")
        return message

    def _warn(self, message: Warning | str, *_: object) -> None:
        self._node.get_logger().warning(str(message))


def run(name: str, make: Callable[[], Any]) -> None:
    """Run a node with service workers until SIGINT or SIGTERM; then pending requests are answered so.

    Args:
        name: of the node.
        make: makes it, with an attribute ``workers``.
    """
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # ROS's own handler would take the services away before pending requests are answered.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        node = make()
    except (ParameterException, HumanoidError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        rclpy.shutdown()
        sys.exit(1)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    workers: ServiceWorkers = node.workers

    def spin(end: Callable[[], bool]) -> None:
        while not end():
            try:
                executor.spin_once(timeout_sec=0.1)
            except Exception:
                node.get_logger().error(traceback.format_exc())

    spin(stop.is_set)
    workers.close()
    rounds = iter(range(math.ceil(PATIENCE / 0.1)))
    spin(lambda: not workers.busy or next(rounds, None) is None)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
    if workers.busy:
        # What is being computed ends at its own time, which may be far away; Python would wait for it.
        os._exit(0)
