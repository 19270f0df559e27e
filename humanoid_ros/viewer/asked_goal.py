# SPDX-License-Identifier: Apache-2.0
"""A goal of an action that the page asks for: one at a time, cancelled when wanted, late answers left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from humanoid_model.errors import HumanoidError
from humanoid_ros.node.guarded_action_client import GuardedActionClient, RequestServer


class AskedGoal:
    """Asks one server for one goal at a time; all of it in the node's executor.

    Args:
        node: that asks.
        action: type of the action and its name.
        server: name of the node that offers it, for messages.
        take_feedback: takes the feedback of the goal under way.
        take_end: takes its result; or None, and in words why there is none.
    """

    def __init__(
        self,
        node: Node,
        action: tuple[Any, str],
        server: str,
        take_feedback: Callable[[Any], None],
        take_end: Callable[[Any, str], None],
    ) -> None:
        self._client = GuardedActionClient(node, *action)
        self._name, self._server = action[1], server
        self._take_feedback, self._take_end = take_feedback, take_end
        self._goal: Any = None
        self._taker: RequestServer | None = None
        self._round = 0
        self._working = self._cancelled = False

    @property
    def offered(self) -> bool:
        """Whether a node offers the action."""
        return self._client.server_is_ready()

    @property
    def working(self) -> bool:
        """Whether a goal is under way."""
        return self._working

    @property
    def goal_id(self) -> Any:
        """Id of the goal under way, as a message; None while it isn't accepted."""
        return None if self._goal is None else self._goal.goal_id

    def ask(self, goal: Any) -> None:
        """Send a goal, unless one is under way.

        Raises:
            HumanoidError: no node offers the action.
        """
        if self._working:
            return
        if not self.offered:
            raise HumanoidError(f"No node offers {self._name}. Start {self._server}.")
        self._working, self._cancelled = True, False
        self._taker = RequestServer(self._client.servers)
        self._round += 1
        own = self._round
        sent = self._client.send_goal_async(
            goal, feedback_callback=lambda item: self._take_feedback(item.feedback) if own == self._round else None
        )
        sent.add_done_callback(lambda future: self._take_handle(own, future))

    def cancel(self) -> None:
        """Cancel the goal under way; its result still comes. One that isn't accepted yet is cancelled when it is."""
        self._cancelled = True
        if self._goal is not None:
            self._goal.cancel_goal_async()

    def watch(self) -> None:
        """End the goal whose server is gone, even if there is another one by now."""
        if self._working and self._taker is not None and self._taker.gone:
            self._end(None, f"{self._server} is gone.")

    def _take_handle(self, own: int, future: Future) -> None:
        goal = future.result()
        if own != self._round:
            return
        if goal is None or not goal.accepted:
            self._end(None, f"{self._server} didn't take the request.")
            return
        self._goal = goal
        if self._cancelled:
            goal.cancel_goal_async()
        goal.get_result_async().add_done_callback(lambda result: self._take_result(own, result))

    def _take_result(self, own: int, future: Future) -> None:
        if own != self._round:
            return
        answer = future.result()
        if answer is None:
            self._end(None, f"{self._server} gave no answer.")
        else:
            self._end(answer.result, "")

    def _end(self, result: Any, why: str) -> None:
        self._goal, self._working = None, False
        self._round += 1
        self._take_end(result, why)
