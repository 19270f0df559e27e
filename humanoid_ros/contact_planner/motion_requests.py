# SPDX-License-Identifier: Apache-2.0
"""The action `generate_motion`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humanoid_stack.action import GenerateMotion
from humanoid_stack.msg import WholeBodyTrajectory

from humanoid_model.progress import Progress
from humanoid_ros.contact_planner.plan_request import PlanDefaults
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.process_requests import ProcessRequests
from humanoid_ros.node.process_workers import ProcessWorkers


class MotionRequests(ProcessRequests):
    """Motions along contact plans."""

    name, action = "generate_motion", GenerateMotion
    field, content = "trajectory", WholeBodyTrajectory
    function = "humanoid_ros.contact_planner.motion_task:move"
    limit_field = "time_limit"

    def __init__(
        self,
        node: AnsweringNode,
        workers: ProcessWorkers,
        cache: tuple[int, float, float],
        defaults: Callable[[], PlanDefaults],
        show: Callable[[WholeBodyTrajectory], None],
    ) -> None:
        """Offer the action.

        Args:
            node: that offers it.
            workers: that work.
            cache: what each of them keeps, see :func:`humanoid_ros.contact_planner.plan_task.planning_cache`.
            defaults: what requests may leave open.
            show: takes each motion along a whole plan, in the executor's thread.
        """
        super().__init__(node, workers)
        self._cache, self._defaults, self._show = cache, defaults, show

    def asked(self, goal: Any) -> Any:
        """Return the goal, which is the request."""
        return goal

    def arguments(self) -> tuple[tuple[int, float, float]]:
        """Return what processes keep."""
        return (self._cache,)

    def time_limit(self, request: GenerateMotion.Goal) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.time_limit) or self._defaults().motion_time_limit

    def read(self, progress: Progress) -> tuple[GenerateMotion.Feedback, None]:
        """Return feedback of a step."""
        steps = round(progress.part / progress.fraction) if progress.fraction else 0
        return GenerateMotion.Feedback(step=progress.part, steps=steps, stage=progress.stage), None

    def take(self, content: WholeBodyTrajectory, success: bool) -> None:
        """Publish a motion along a whole plan; its stamp stays 0: it begins when it is played."""
        if success:
            self._show(content)
