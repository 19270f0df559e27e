# SPDX-License-Identifier: Apache-2.0
"""Calls of services in a node's executor, of which each ends: with an answer, or with the node that was asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from humanoid_ros.node.guarded_action_client import LOOK, RequestServer, service_is_ready, service_servers


class WatchedCalls:
    """What one node has asked others and has no answer to yet."""

    def __init__(self, node: Node) -> None:
        """Begin without any.

        Args:
            node: that asks.
        """
        self._node = node
        self._waiting: list[tuple[Future, RequestServer, Callable[[], None]]] = []
        node.create_timer(LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def call(
        self, client: Client, request: Any, answered: Callable[[Any], None], complain: Callable[[str], None]
    ) -> Future | None:
        """Ask a service.

        Args:
            client: of the service.
            request: to send.
            answered: takes the answer.
            complain: takes why there is none, in words.

        Returns:
            What is done with the answer, cancelled without; None where nobody offers the service.
        """
        if not service_is_ready(self._node, client):
            complain(f"No node offers {client.srv_name}.")
            return None
        taker = RequestServer(partial(service_servers, self._node, client))
        future = client.call_async(request)

        def ended() -> None:
            client.remove_pending_request(future)
            future.cancel()
            complain(f"The node that offers {client.srv_name} has ended.")

        def done(future: Future) -> None:
            if not future.cancelled() and (answer := future.result()) is not None:
                answered(answer)

        future.add_done_callback(done)
        self._waiting.append((future, taker, ended))
        return future

    def _look(self) -> None:
        self._waiting = [own for own in self._waiting if not own[0].done()]
        for _, taker, ended in self._waiting:
            if taker.gone:
                ended()
