# SPDX-License-Identifier: Apache-2.0
"""The service and the action `plan_contacts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humanoid_stack.action import PlanContacts as PlanContactsAction
from humanoid_stack.msg import ContactPlan, ContactPlanRequest
from humanoid_stack.srv import PlanContacts
from rclpy.serialization import deserialize_message

from humanoid_model.progress import Progress
from humanoid_ros.contact_planner.plan_request import PlanDefaults
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.process_requests import ProcessRequests
from humanoid_ros.node.process_workers import ProcessWorkers

MODULE = "humanoid_ros.contact_planner.plan_task"


class PlanRequests(ProcessRequests):
    """Contact plans."""

    name, service, action = "plan_contacts", PlanContacts, PlanContactsAction
    field, content = "plan", ContactPlan
    function = f"{MODULE}:plan"
    limit_field = "time_limit"

    def __init__(
        self,
        node: AnsweringNode,
        workers: ProcessWorkers,
        cache: tuple[int, float, float],
        defaults: Callable[[], PlanDefaults],
        show: Callable[[ContactPlan], None],
    ) -> None:
        """Offer both.

        Args:
            node: that offers them.
            workers: that work.
            cache: what each of them keeps, see :func:`humanoid_ros.contact_planner.plan_task.planning_cache`.
            defaults: what requests may leave open.
            show: takes each plan that was found, in the executor's thread.
        """
        super().__init__(node, workers)
        self._cache, self._defaults, self._show = cache, defaults, show

    def asked(self, goal: Any) -> Any:
        """Return the request in a goal of the action, or in a request of the service."""
        return goal.request

    def arguments(self) -> tuple[PlanDefaults, tuple[int, float, float]]:
        """Return what requests may leave open, and what processes keep."""
        return self._defaults(), self._cache

    def time_limit(self, request: ContactPlanRequest) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.time_limit) or self._defaults().plan_time_limit

    def read(self, progress: Progress) -> tuple[PlanContactsAction.Feedback | None, ContactPlan | None]:
        """Return feedback of the search, and the path to the best node where that is new."""
        if not isinstance(progress.result, bytes):
            return None, None  # before the search begins; this feedback has no words
        feedback = deserialize_message(progress.result, PlanContactsAction.Feedback)
        return feedback, feedback.partial_plan if feedback.partial_plan.steps else None

    def take(self, content: ContactPlan, success: bool) -> None:
        """Stamp a plan; publish and draw one that reaches its goal."""
        content.header.stamp = self._node.get_clock().now().to_msg()
        if success:
            self._show(content)
