# SPDX-License-Identifier: Apache-2.0
"""The service and the action `generate_gait`: requests go to processes, progress and answers come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass

from humanoid_stack.action import GenerateGait as GenerateGaitAction
from humanoid_stack.msg import Gait, GaitRequest
from humanoid_stack.srv import GenerateGait
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model.progress import Progress, ProgressCallback
from humanoid_planner.gait import GaitDefaults
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.answering_action_server import AnsweringActionServer
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.executor_future import answer_of
from humanoid_ros.node.process_workers import ProcessWorkers, Task
from humanoid_ros.node.qos import SERVICE
from humanoid_ros.node.service_workers import CLOSED

NAME = "generate_gait"
MODULE = "humanoid_ros.gait_generator.gait_task"
CANCELLED = "Cancelled."
GRACE = 5.0, 0.25
"""What may pass beyond a time limit before a process is ended: [s], and parts of the limit. Solvers look at the clock
themselves, but not at every moment."""


@dataclass
class GaitCounts:
    """What became of requests.

    Attributes:
        answered: with a gait whose phases all converged.
        failed: with one that isn't solved.
        cancelled: by who asked.
        seconds: wall-clock time of those answered.
    """

    answered: int = 0
    failed: int = 0
    cancelled: int = 0
    seconds: float = 0.0


class GaitRequests:
    """Offers service and action; several requests are worked on at a time, each in a process of its own.

    Attributes:
        counts: what became of requests.
    """

    def __init__(
        self, node: AnsweringNode, processes: int, defaults: Callable[[], GaitDefaults], show: Callable[[Gait], None]
    ) -> None:
        """Start the processes and offer both.

        Args:
            node: that offers them.
            processes: that work.
            defaults: what requests may leave open.
            show: takes each gait that was generated, in the executor's thread.
        """
        self.counts = GaitCounts()
        self._node = node
        self._defaults = defaults
        self._show = show
        self._closing = False
        self._workers = ProcessWorkers(processes, MODULE)
        self._goals: dict[bytes, Task] = {}
        self._answering = 0
        node.create_service(GenerateGait, NAME, self._serve, qos_profile=SERVICE, callback_group=node.group)
        self._actions = AnsweringActionServer(
            node,
            GenerateGaitAction,
            NAME,
            self._execute,
            cancel_callback=self._on_cancel,
            callback_group=node.group,
        )

    @property
    def under_way(self) -> int:
        """Requests that aren't answered yet, those that wait for a process included."""
        return self._answering

    def close(self) -> None:
        """Abort what is under way; pending requests get an answer."""
        self._closing = True
        self._workers.close()

    async def _serve(self, request: GenerateGait.Request, response: GenerateGait.Response) -> GenerateGait.Response:
        response.success, response.message, response.gait = await self._answer(request.request, lambda _: None, None)
        self._answered()
        return response

    async def _execute(self, goal: ServerGoalHandle) -> GenerateGaitAction.Result:
        def feedback(news: Progress) -> None:
            if goal.is_active:
                goal.publish_feedback(_feedback(news))

        success, message, gait = await self._answer(goal.request.request, feedback, goal)
        if goal.is_cancel_requested:
            goal.canceled()
        elif success:
            goal.succeed()
        else:
            goal.abort()
        self._answered()
        return GenerateGaitAction.Result(success=success, message=message, gait=gait)

    def _answered(self) -> None:
        """Note that an answer is on its way once the tasks that send it, now or next in the executor, are done."""
        executor = self._node.executor
        assert executor is not None

        def done() -> None:
            self._answering -= 1

        executor.create_task(lambda: executor.create_task(done))

    def _on_cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        task = self._goals.get(bytes(goal.goal_id.uuid))
        if task is not None:
            task.cancel()
        return CancelResponse.ACCEPT

    async def _answer(
        self, request: GaitRequest, feedback: ProgressCallback, goal: ServerGoalHandle | None
    ) -> tuple[bool, str, Gait]:
        """Whether it succeeded, why not, and the gait, or what was solved of it."""
        began = time.monotonic()
        partial: bytes | None = None

        def solved() -> Gait:
            return Gait() if partial is None else deserialize_message(partial, Gait)

        expired = False

        def expire(task: Task) -> None:
            nonlocal expired
            expired = True
            task.cancel()

        def news(item: object) -> None:
            nonlocal partial
            if isinstance(item, Progress) and isinstance(item.result, bytes):
                partial = item.result
            elif isinstance(item, Progress):
                feedback(item)

        self._answering += 1
        key = None if goal is None else bytes(goal.goal_id.uuid)
        try:
            defaults = self._defaults()
            arguments = (bytes(serialize_message(request)), defaults)
            task = self._workers.submit(f"{MODULE}:generate", arguments, news)
            if goal is not None and key is not None:
                self._goals[key] = task
                if goal.is_cancel_requested:  # before there was a task to cancel
                    task.cancel()
            limit = seconds(request.options.time_limit) or defaults.time_limit
            watchdog = threading.Timer(max(limit, 0.0) + max(GRACE[0], GRACE[1] * limit), expire, (task,))
            watchdog.daemon = True
            watchdog.start()
            try:
                answer = await answer_of(self._node, task.outcome)
            finally:
                watchdog.cancel()
            gait = deserialize_message(answer.gait, Gait)
            gait.header.stamp = self._node.get_clock().now().to_msg()
            if answer.success:
                self.counts.answered += 1
                self.counts.seconds += time.monotonic() - began
                self._show(gait)
            else:
                self.counts.failed += 1
            return bool(answer.success), str(answer.message), gait
        except CancelledError:
            if expired:
                self.counts.failed += 1
                return False, f"options.time_limit: {limit:g} s were not enough", solved()
            self.counts.cancelled += 1
            return False, CLOSED if self._closing else CANCELLED, solved()
        except Exception as error:
            return False, self._node.refusals.refuse(NAME, error), solved()
        finally:
            if key is not None:
                self._goals.pop(key, None)


def _feedback(progress: Progress) -> GenerateGaitAction.Feedback:
    return GenerateGaitAction.Feedback(
        phase=progress.part,
        stage=progress.stage,
        residual=progress.residual,
        nodes=progress.nodes,
        cost=progress.cost,
    )
