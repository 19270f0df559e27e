# SPDX-License-Identifier: Apache-2.0
"""An action client that any thread may use while another one spins its node."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.action import ActionClient
from rclpy.task import Future


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

    def take_data(self) -> dict[str, Any]:
        """Whatever :class:`rclpy.waitable.Waitable` asks for."""
        with self._sending:
            return super().take_data()
