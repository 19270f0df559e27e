# SPDX-License-Identifier: Apache-2.0
"""An action, and a service of the same name, whose requests go to processes: progress and answers come back."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, ClassVar

from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model.progress import Progress
from humanoid_ros.node.answering_node import AnsweringActionServer, AnsweringNode
from humanoid_ros.node.process_workers import ProcessWorkers, Task
from humanoid_ros.node.qos import SERVICE
from humanoid_ros.node.service_workers import CLOSED, ServiceWorkers, answer_of

CANCELLED = "Cancelled."
STARTING = "starting a worker"
"""Stage of a request that waits for its process to start; it is told where feedback has a stage."""
GRACE = 5.0, 0.25
"""What may pass beyond a time limit before a process is ended: [s], and parts of the limit. Solvers look at the clock
themselves, but not at every moment."""


@dataclass(frozen=True)
class Answer:
    """The end of the work.

    Attributes:
        success: whether it is what was asked for.
        message: why not, or what isn't kept.
        content: serialised message; what was found, or what there is of it.
    """

    success: bool
    message: str
    content: bytes


@dataclass
class RequestCounts:
    """What became of requests.

    Attributes:
        answered: with what was asked for.
        failed: with less.
        cancelled: by who asked.
        seconds: wall-clock time of those answered.
    """

    answered: int = 0
    failed: int = 0
    cancelled: int = 0
    seconds: float = 0.0


class ProcessRequests(ABC):
    """Offers an action and a service; a request is worked on by a process, and its cancel ends that.

    Attributes:
        name: of both.
        action: type of the action.
        service: type of the service; None offers none.
        field: of the answers, what was found.
        content: type of that message.
        function: "module:function" of the process: takes the serialised request, :meth:`arguments` and a function for
            :class:`Progress`, and returns an :class:`Answer`.
        limit_field: of the request, its time limit.
        counts: what became of requests.
    """

    name: ClassVar[str]
    action: ClassVar[Any]
    service: ClassVar[Any] = None
    field: ClassVar[str]
    content: ClassVar[Any]
    function: ClassVar[str]
    limit_field: ClassVar[str] = "time_limit"

    def __init__(
        self,
        node: AnsweringNode,
        workers: ProcessWorkers,
        defaults: Callable[[], Any],
        show: Callable[[Any], None],
        *kept: Any,
    ) -> None:
        """Offer both.

        Args:
            node: that offers them.
            workers: that work.
            defaults: what requests may leave open.
            show: takes what was found, in the executor's thread.
            kept: what the function takes beside request and defaults.
        """
        self.counts = RequestCounts()
        self._defaults, self._show, self._kept = defaults, show, kept
        self._node = node
        self._closing = False
        self._workers = workers
        self._goals: dict[bytes, Task] = {}
        self._answering = 0
        if self.service is not None:
            node.create_service(self.service, self.name, self._serve, qos_profile=SERVICE, callback_group=node.group)
        self._actions = AnsweringActionServer(
            node, self.action, self.name, self._execute, cancel_callback=self._on_cancel, callback_group=node.group
        )

    # What a kind of request tells ---------------------------------------------------------------------------------

    def asked(self, goal: Any) -> Any:
        """Return the request in a goal of the action, or in a request of the service."""
        return goal.request

    def arguments(self) -> tuple[Any, ...]:
        """Return what the function takes beside the request."""
        return self._defaults(), *self._kept

    @abstractmethod
    def time_limit(self, request: Any) -> float:
        """Wall-clock time that a request may take [s]."""

    @abstractmethod
    def read(self, progress: Progress) -> tuple[Any, Any]:
        """Feedback message and what is found so far, None where that isn't new; in a thread of the workers."""

    def take(self, content: Any, success: bool) -> None:
        """Look at what was found, and whether it is what was asked for, in the executor's thread before it is sent."""
        if success:
            self._show(content)

    # ----------------------------------------------------------------------------------------------------------------

    @property
    def under_way(self) -> int:
        """Requests that aren't answered yet, those that wait for a process included."""
        return self._answering

    def close(self) -> None:
        """Abort what is under way; pending requests get an answer."""
        self._closing = True
        self._workers.close()

    async def _serve(self, request: Any, response: Any) -> Any:
        response.success, response.message, content = await self._answer(self.asked(request), None)
        setattr(response, self.field, content)
        self._answering -= 1
        return response

    async def _execute(self, goal: ServerGoalHandle) -> Any:
        success, message, content = await self._answer(self.asked(goal.request), goal)
        if goal.is_cancel_requested:
            goal.canceled()
        elif success:
            goal.succeed()
        else:
            goal.abort()
        self._answering -= 1
        return self.action.Result(success=success, message=message, **{self.field: content})

    def _on_cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        task = self._goals.get(bytes(goal.goal_id.uuid))
        if task is not None:
            task.cancel()
        return CancelResponse.ACCEPT

    async def _answer(self, request: Any, goal: ServerGoalHandle | None) -> tuple[bool, str, Any]:
        """Whether it succeeded, why not, and what was found, or what there is of it."""
        began = time.monotonic()
        partial = self.content()
        expired = False

        def expire(task: Task) -> None:
            nonlocal expired
            expired = True
            task.cancel()

        def news(item: object) -> None:
            nonlocal partial
            if isinstance(item, Progress):
                feedback, found = self.read(item)
                partial = partial if found is None else found
                if feedback is not None and goal is not None and goal.is_active:
                    goal.publish_feedback(feedback)

        self._answering += 1
        key = None if goal is None else bytes(goal.goal_id.uuid)
        try:
            arguments = bytes(serialize_message(request)), *self.arguments()
            task = self._workers.submit(self.function, arguments, news, lambda: news(Progress(STARTING)))
            if goal is not None and key is not None:
                self._goals[key] = task
                if goal.is_cancel_requested:  # before there was a task to cancel
                    task.cancel()
            limit = self.time_limit(request)
            watchdog = threading.Timer(max(limit, 0.0) + max(GRACE[0], GRACE[1] * limit), expire, (task,))
            watchdog.daemon = True
            watchdog.start()
            try:
                answer = await answer_of(self._node, task.outcome)
            finally:
                watchdog.cancel()
            found = deserialize_message(answer.content, self.content)
            self.take(found, answer.success)
            if answer.success:
                self.counts.answered += 1
                self.counts.seconds += time.monotonic() - began
            else:
                self.counts.failed += 1
            return bool(answer.success), str(answer.message), found
        except CancelledError:
            if expired:
                self.counts.failed += 1
                return False, f"{self.limit_field}: {limit:g} s were not enough", partial
            self.counts.cancelled += 1
            return False, CLOSED if self._closing else CANCELLED, partial
        except Exception as error:
            return False, self._node.refusals.refuse(self.name, error), partial
        finally:
            if key is not None:
                self._goals.pop(key, None)


class RequestWorkers(ServiceWorkers):
    """A node's quick services, each in a thread, together with its requests to processes.

    Attributes:
        requests: of all kinds.
    """

    def __init__(self, node: AnsweringNode) -> None:
        """As :class:`ServiceWorkers`, without requests to processes."""
        super().__init__(node)
        self.requests: tuple[ProcessRequests, ...] = ()

    @property
    def busy(self) -> bool:
        """Whether a request isn't answered yet."""
        return super().busy or any(kind.under_way > 0 for kind in self.requests)

    def close(self) -> None:
        """Abort what is being computed; pending requests get an answer."""
        super().close()
        for kind in self.requests:
            kind.close()
