# SPDX-License-Identifier: Apache-2.0
"""An action server whose answers also reach clients that the middleware has discovered only half."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionServer
from rclpy.action.server import RCLError

from humanoid_ros.node.answering_node import ATTEMPTS

KEPT = 60.0
"""How long a client may ask for the result of a goal that has ended, by the node's clock [s].

Until then goal and result stay in memory: whole-body trajectories and gaits are megabytes, and rclpy keeps them for
900 s.
"""


class AnsweringActionServer(ActionServer):
    """Keeps sending whether a goal is accepted, and its result, until the client can hear it.

    What :class:`~humanoid_ros.node.answering_node.AnsweringNode` tells of services is true of an action's services too.
    Where the answer to a goal is dropped, rclpy warns, keeps the goal and never executes it, and the client waits for
    ever. Goals are executed as soon as they are accepted: there is no callback of one's own for that.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, result_timeout=KEPT, **options)

    async def _execute_goal_request(self, request_header_and_message: tuple[Any, Any]) -> None:
        await super()._execute_goal_request(request_header_and_message)
        header, request = request_header_and_message
        goal = self._goal_handles.get(bytes(request.goal_id.uuid))
        if goal is None or goal.status != GoalStatus.STATUS_ACCEPTED:
            return  # rejected, or accepted and under way: the answer was heard
        answer = self._action_type.Impl.SendGoalService.Response()
        answer.accepted = True
        answer.stamp = self._node.get_clock().now().to_msg()
        if self._is_heard(lambda: self._handle.send_goal_response(header, answer)):
            self._handle.publish_status()
            goal.execute()

    def _send_result_response(self, request_header: Any, future: Any) -> None:
        if not self._is_heard(lambda: self._handle.send_result_response(request_header, future.result())):
            self._logger.warning("A result didn't reach its client, which may be gone")

    def _is_heard(self, send: Callable[[], None]) -> bool:
        for _ in range(ATTEMPTS):
            try:
                send()
            except RCLError:
                continue
            return True
        return False
