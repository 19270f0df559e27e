# SPDX-License-Identifier: Apache-2.0
"""The service and the action `generate_gait`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from humanoid_stack.action import GenerateGait as GenerateGaitAction
from humanoid_stack.msg import Gait, GaitRequest
from humanoid_stack.srv import GenerateGait
from rclpy.serialization import deserialize_message

from humanoid_model.progress import Progress
from humanoid_planner.gait import GaitDefaults
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.process_requests import ProcessRequests
from humanoid_ros.node.process_workers import ProcessWorkers

MODULE = "humanoid_ros.gait_generator.gait_task"


class GaitRequests(ProcessRequests):
    """Gaits; several requests are worked on at a time, each in a process of its own."""

    name, service, action = "generate_gait", GenerateGait, GenerateGaitAction
    field, content = "gait", Gait
    function = f"{MODULE}:generate"
    limit_field = "options.time_limit"

    def __init__(
        self,
        node: AnsweringNode,
        workers: ProcessWorkers,
        defaults: Callable[[], GaitDefaults],
        show: Callable[[Gait], None],
    ) -> None:
        """Offer both.

        Args:
            node: that offers them.
            workers: that work.
            defaults: what requests may leave open.
            show: takes each gait that was generated, in the executor's thread.
        """
        super().__init__(node, workers)
        self._defaults = defaults
        self._show = show

    def asked(self, goal: Any) -> Any:
        """Return the request in a goal of the action, or in a request of the service."""
        return goal.request

    def arguments(self) -> tuple[GaitDefaults]:
        """Return what requests may leave open."""
        return (self._defaults(),)

    def time_limit(self, request: GaitRequest) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.options.time_limit) or self._defaults().time_limit

    def read(self, progress: Progress) -> tuple[GenerateGaitAction.Feedback | None, Gait | None]:
        """Return feedback of a stage, or what is solved so far."""
        if isinstance(progress.result, bytes):
            return None, deserialize_message(progress.result, Gait)
        return _feedback(progress), None

    def take(self, content: Gait, success: bool) -> None:
        """Stamp a gait; draw and play one that is solved, also where it doesn't keep everything."""
        content.header.stamp = self._node.get_clock().now().to_msg()
        if success or content.trajectory.joints.points:
            self._show(content)


def _feedback(progress: Progress) -> GenerateGaitAction.Feedback:
    return GenerateGaitAction.Feedback(
        phase=progress.part,
        stage=progress.stage,
        residual=progress.residual,
        nodes=progress.nodes,
        cost=progress.cost,
    )
