# SPDX-License-Identifier: Apache-2.0
"""What asks other nodes: actions from any thread, services in a node's executor, signs of life to the bridge.

Each request ends: with an answer, or with the node that was asked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.action import ActionClient
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future
from unique_identifier_msgs.msg import UUID

from humanoid_ros.node.process_mark import PROCESS, has_ended
from humanoid_ros.node.qos import SENSOR

LOOK = 0.5
"""Time between two looks at who offers an action [s]."""


class GuardedActionClient(ActionClient):
    """Takes no answer while a request is being sent, and tells a goal's feedback before its result.

    rclpy up to autumn 2025 sends first and notes down afterwards what it waits for: where the spinning thread takes the
    answer in between, it calls it unexpected, and the client waits without end (ros2/rclpy#1123). It takes one feedback
    at a time, the result before it, and with the result it forgets who wanted the feedback.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._sending = threading.RLock()
        super().__init__(*arguments, **options)

    def send_goal_async(self, *arguments: Any, **options: Any) -> Future:
        """Return as of :class:`rclpy.action.ActionClient`."""
        with self._sending:
            return super().send_goal_async(*arguments, **options)

    def _cancel_goal_async(self, goal_handle: Any) -> Future:
        with self._sending:
            return super()._cancel_goal_async(goal_handle)

    def _get_result_async(self, goal_handle: Any) -> Future:
        with self._sending:
            return super()._get_result_async(goal_handle)

    def server_is_ready(self) -> bool:
        """Return whether a node that hasn't ended offers the action."""
        return bool(super().server_is_ready() and self.servers())

    def servers(self) -> frozenset[bytes]:
        """Return who offers the action now; a node that was started again is another one."""
        asked = self._node.resolve_service_name(f"{self._action_name}/_action/get_result")
        return _living(self._node, f"{self._action_name}/_action/status", asked)

    def take_data(self) -> dict[str, Any]:
        """Whatever :class:`rclpy.waitable.Waitable` asks for."""
        with self._sending:
            data: dict[str, Any] = super().take_data()
            if "result" in data:
                data["feedback"] = [data["feedback"]] if "feedback" in data else []
                while (item := self._client_handle.take_feedback(self._action_type.Impl.FeedbackMessage)) is not None:
                    data["feedback"].append(item)
            return data

    async def execute(self, taken_data: dict[str, Any]) -> None:
        """Whatever :class:`rclpy.waitable.Waitable` asks for."""
        if "result" in taken_data:
            for item in taken_data.pop("feedback"):
                await super().execute({"feedback": item})
        await super().execute(taken_data)


def service_servers(node: Node, client: Client) -> frozenset[bytes]:
    """Return who offers a client's service now, by what it answers with."""
    name = node.resolve_service_name(client.srv_name)
    return _living(node, f"rr{name}Reply", name)


def service_is_ready(node: Node, client: Client) -> bool:
    """Return whether a node that hasn't ended offers a client's service."""
    return bool(client.service_is_ready() and service_servers(node, client))


def _living(node: Node, told: str, asked: str) -> frozenset[bytes]:
    """Return who publishes a topic and hears the requests of a service, and whose process isn't known to have ended.

    A node that was killed stays in the graph for the middleware's lease. One that takes its place is discovered piece
    by piece, and what is asked before its ear is known is lost.
    """
    published = node.get_publishers_info_by_topic(told, no_mangle=told.startswith("rr/"))
    heard = node.get_subscriptions_info_by_topic(f"rq{asked}Request", no_mangle=True)
    ears = {bytes(own.endpoint_gid[:PROCESS]) for own in heard}
    found = (bytes(own.endpoint_gid) for own in published if bytes(own.endpoint_gid[:PROCESS]) in ears)
    return frozenset(own for own in found if not has_ended(own))


class RequestServer:
    """Who has taken a goal or a request.

    It ends with its server: where the node was killed and started again, action and service are offered, and the answer
    never comes. On this machine the kernel tells that a process was killed, elsewhere the middleware, after its lease.
    """

    def __init__(self, servers: Callable[[], frozenset[bytes]]) -> None:
        """Remember who offers it now.

        Args:
            servers: tells who does.
        """
        self._servers = servers
        self._seen = servers()
        self._missed = 0
        self._next = 0.0

    @property
    def gone(self) -> bool:
        """Whether it offers it no more, at two looks: an answer that came before the end has been read by then."""
        now = time.monotonic()
        if self._missed < 2 and now >= self._next:
            self._next = now + LOOK
            servers = self._servers()
            self._seen = self._seen or servers
            self._missed = self._missed + 1 if self._seen and self._seen.isdisjoint(servers) else 0
        return self._missed == 2


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


TOPIC = "execute_trajectory/alive"
SIGNS = 5
"""So many come in the time for which the bridge may miss them."""


class SignOfLife:
    """Publishes ids of goals of `execute_trajectory`, from the node's executor: it tells that this one goes on."""

    def __init__(self, node: Node) -> None:
        """Be found by the bridge; to be made before a goal is sent.

        Args:
            node: that asks.
        """
        self._node = node
        self._publisher = node.create_publisher(UUID, TOPIC, SENSOR)

    def give(self, goal_id: Callable[[], Any], wanted: Callable[[], bool], missed: float) -> None:
        """Give signs of a goal until they aren't wanted any more, or it is another one, for which others answer.

        Args:
            goal_id: tells the goal's id, as a message; None while it isn't accepted.
            wanted: whether the goal is under way, and whoever asked for it is there.
            missed: how long the bridge may miss them [s].
        """
        begun: Any = None

        def live() -> None:
            nonlocal begun
            own = goal_id()
            if not wanted() or (begun is not None and own != begun):
                self._node.destroy_timer(timer)
            elif own is not None:
                begun = own
                self._publisher.publish(own)

        timer = self._node.create_timer(missed / SIGNS, live, clock=Clock(clock_type=ClockType.STEADY_TIME))
