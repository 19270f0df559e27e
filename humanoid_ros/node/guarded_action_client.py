# SPDX-License-Identifier: Apache-2.0
"""An action client that any thread may use while another one spins its node, and what notices a lost request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

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

    def servers(self) -> frozenset[bytes]:
        """Return who offers the action now; a node that was started again is another one."""
        found = self._node.get_publishers_info_by_topic(f"{self._action_name}/_action/status")
        return frozenset(bytes(own.endpoint_gid) for own in found)

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
    found = node.get_publishers_info_by_topic(f"rr{node.resolve_service_name(client.srv_name)}Reply", no_mangle=True)
    return frozenset(bytes(own.endpoint_gid) for own in found)


class RequestServer:
    """Who has taken a goal or a request.

    It ends with its server: where the node was killed and started again, action and service are offered, and the answer
    never comes. The middleware finds out that a process was killed after its lease, 20 s by default.
    """

    def __init__(self, servers: Callable[[], frozenset[bytes]]) -> None:
        """Remember who offers it now.

        Args:
            servers: tells who does.
        """
        self._servers = servers
        self._seen = servers()
        self._gone = False
        self._next = 0.0

    @property
    def gone(self) -> bool:
        """Whether it offers it no more."""
        now = time.monotonic()
        if not self._gone and now >= self._next:
            self._next = now + LOOK
            servers = self._servers()
            self._seen = self._seen or servers
            self._gone = bool(self._seen) and self._seen.isdisjoint(servers)
        return self._gone
