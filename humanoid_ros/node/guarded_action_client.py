# SPDX-License-Identifier: Apache-2.0
"""An action client that any thread may use while another one spins its node, and that notices when a goal is lost."""

from __future__ import annotations

import threading
import time
from typing import Any

from rclpy.action import ActionClient
from rclpy.task import Future

LOOK = 0.5
"""Time between two looks at who offers an action [s]."""


class GuardedActionClient(ActionClient):
    """Takes no answer while a request is being sent.

    rclpy up to autumn 2025 sends first and notes down afterwards what it waits for: where the spinning thread takes the
    answer in between, it calls it unexpected, and the client waits without end (ros2/rclpy#1123).
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

    @property
    def servers(self) -> frozenset[bytes]:
        """Who offers the action now; a node that was started again is another one."""
        found = self._node.get_publishers_info_by_topic(f"{self._action_name}/_action/status")
        return frozenset(bytes(own.endpoint_gid) for own in found)

    def take_data(self) -> dict[str, Any]:
        """Whatever :class:`rclpy.waitable.Waitable` asks for."""
        with self._sending:
            return super().take_data()


class GoalServer:
    """Who has taken a goal.

    A goal ends with its server: where the node was killed and started again, the action is offered, and the goal's
    result never comes. The middleware finds out that a process was killed after its lease, 20 s by default.
    """

    def __init__(self, client: GuardedActionClient) -> None:
        """Remember who offers the client's action now."""
        self._client = client
        self._seen = client.servers
        self._gone = False
        self._next = 0.0

    @property
    def gone(self) -> bool:
        """Whether it offers the action no more."""
        now = time.monotonic()
        if not self._gone and now >= self._next:
            self._next = now + LOOK
            servers = self._client.servers
            self._seen = self._seen or servers
            self._gone = bool(self._seen) and self._seen.isdisjoint(servers)
        return self._gone
