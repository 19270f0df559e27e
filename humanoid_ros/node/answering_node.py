# SPDX-License-Identifier: Apache-2.0
"""What every node of the stack is: its answers reach their clients, it tells what it refuses, and how it ends.

Answers of its actions also reach clients that the middleware has discovered only half; a managed node answers every
request for a transition.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from action_msgs.msg import GoalStatus
from lifecycle_msgs.srv import ChangeState
from rclpy.action import ActionServer
from rclpy.action.server import RCLError, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.lifecycle.node import LifecycleNodeMixin
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.service import Service
from rclpy.subscription import Subscription

from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.node.process_mark import mark_process
from humanoid_ros.node.process_workers import give_back_memory
from humanoid_ros.node.qos import SERVICE

LONGEST = 2000
"""Characters of a reason that are logged and told in diagnostics; who asked is told all of it."""


class Refusals:
    """What a node refused.

    Attributes:
        count: how many requests and messages so far.
        last: the last one's name and why it was refused, shortened; empty before the first one.
    """

    def __init__(self, node: Any) -> None:
        """Begin with none.

        Args:
            node: in whose log they are told.
        """
        self._node = node
        self.count = 0
        self.last = ""

    def refuse(self, name: str, reason: str | Exception) -> str:
        """Return the note that something could not be served.

        Args:
            name: of the service, action or topic.
            reason: in words, or the error that came up; what isn't a HumanoidError is logged with its traceback.

        Returns:
            What to tell who asked.
        """
        message = str(reason)
        if isinstance(reason, Exception) and not isinstance(reason, HumanoidError):
            first, *_ = message.splitlines() or [""]
            message = f"{type(reason).__name__}: {first}"
            self._node.get_logger().error(shortened("".join(traceback.format_exception(reason)), 4 * LONGEST))
        self.count += 1
        self.last = f"{name}: {shortened(message)}"
        self._node.get_logger().warning(f"refused: {self.last}")
        return message


def shortened(text: str, most: int = LONGEST) -> str:
    """Return a text with at most so many characters of it, from both ends: a remedy stands at the end."""
    if len(text) <= most:
        return text
    return f"{text[: most * 3 // 4]} [... {len(text)} characters ...] {text[len(text) - most // 4 :]}"


LOST = "failed to send response (timeout)"
"""How rclpy's warning begins when an answer was thrown away because its client isn't known yet."""

ATTEMPTS = 30
"""Each takes the middleware 0.1 s."""


class AnsweringNode(Node):
    """A node that keeps sending an answer until its client can hear it.

    A client that finds a service may ask at once, and its request may come in before the service has discovered where
    answers go. Fast DDS then waits for 0.1 s, drops the answer and warns; the client waits without end
    (ros2/rmw_fastrtps#842). That happens when a node starts on a busy machine, which is when launch files and tests
    ask. An answer whose client is gone isn't tried again: the middleware doesn't call that a failure.

    Attributes:
        refusals: what it could not serve.
        group: of callbacks of which several may be under way.
        patience: time that answers to pending requests have to leave when the node ends [s].
    """

    patience = 1.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """As :class:`rclpy.node.Node`."""
        self.refusals = Refusals(self)
        self.group = ReentrantCallbackGroup()
        self._takes_overrides = False  # not yet: rclpy's own topics are made before there are parameters
        super().__init__(*arguments, **options)
        self._takes_overrides = True
        own = self.get_name(), self.get_namespace()
        events = self.get_publishers_info_by_topic(self.resolve_topic_name("/parameter_events"))
        ends = [bytes(found.endpoint_gid) for found in events if (found.node_name, found.node_namespace) == own]
        if len(ends) == 1:  # nobody else has this node's name
            mark_process(ends[0])
        give_back_memory()  # what reading the modules has left over

    def _declare_parameters(self) -> None:
        """Declare the parameters, and do nothing else: ``--help`` calls it where no node runs."""

    @property
    def busy(self) -> bool:
        """Whether somebody still waits for an answer."""
        return False

    async def close(self) -> None:
        """Give up what is under way, in the executor; whoever waits for it is told before the node is destroyed."""

    def offer(
        self,
        kind: Any,
        name: str,
        answer: Callable[[Any, Any], Awaitable[None]],
        failed: Callable[[Any], None] | None = None,
    ) -> None:
        """Offer a service; whatever goes wrong in an answer is told to who asked, and never ends the node.

        Args:
            kind: type of the service, whose answer has the fields ``success`` and ``message``.
            name: of the service.
            answer: fills the answer to a request, in the executor. ``success`` is true unless it says otherwise or
                raises.
            failed: fills the other fields of the answer, which are empty otherwise, when it raised.
        """

        async def serve(request: Any, response: Any) -> Any:
            response.success = True
            try:
                await answer(request, response)
            except Exception as error:
                response = kind.Response(success=False, message=self.refusals.refuse(name, error))
                if failed is not None:
                    failed(response)
            return response

        self.create_service(kind, name, serve, qos_profile=SERVICE, callback_group=self.group)

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: QoSProfile | int, **options: Any) -> Publisher:
        """As :meth:`rclpy.node.Node.create_publisher`; its quality of service is a parameter.

        ``qos_overrides.<topic>.publisher.*`` change history, depth and reliability, unless it is kept for late
        listeners.

        Raises:
            InputError: one of them is none that ROS knows.
        """
        with _read_overrides(topic):
            given = self._overrides(qos_profile)
            return super().create_publisher(msg_type, topic, copy(qos_profile), **given, **options)

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Callable[[Any], None], qos_profile: QoSProfile | int, **options: Any
    ) -> Subscription:
        """As :meth:`rclpy.node.Node.create_subscription`, and as :meth:`create_publisher`."""
        with _read_overrides(topic):
            given = self._overrides(qos_profile)
            return super().create_subscription(msg_type, topic, callback, copy(qos_profile), **given, **options)

    def _overrides(self, quality: QoSProfile | int) -> dict[str, Any]:
        if not self._takes_overrides or getattr(quality, "durability", None) == DurabilityPolicy.TRANSIENT_LOCAL:
            return {}
        return {"qos_overriding_options": QoSOverridingOptions.with_default_policies()}

    def create_service(self, *arguments: Any, **options: Any) -> Service:
        """As :meth:`rclpy.node.Node.create_service`; rclpy's own services for parameters are made by it too."""
        return answer_until_heard(super().create_service(*arguments, **options))


def answer_until_heard(service: Service) -> Service:
    """Return a service that keeps sending an answer until its client can hear it."""
    send = service.send_response

    def send_response(response: Any, header: Any) -> None:
        send_until_heard(lambda: send(response, header))

    service.send_response = send_response  # type: ignore[method-assign]
    return service


@contextmanager
def _read_overrides(topic: str) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        if "policy" not in str(error):
            raise
        raise InputError(
            str(error), element=f"qos_overrides of {topic}", remedy="Give a word of ROS, such as best_effort"
        ) from error


def send_until_heard(send: Callable[[], None]) -> None:
    """Send an answer again while the middleware drops it.

    Args:
        send: sends it, and warns with :data:`LOST` when it was dropped.
    """
    for attempt in range(ATTEMPTS):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            send()
        lost = [warning for warning in caught if str(warning.message).startswith(LOST)]
        for warning in caught:
            if warning not in lost or attempt == ATTEMPTS - 1:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        if not lost:
            return


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


def conclude(handle: ServerGoalHandle, success: bool) -> None:
    """End a goal as what it has come to: done, cancelled by its client, or given up."""
    if success:
        handle.succeed()
    elif handle.is_cancel_requested:
        handle.canceled()
    else:
        handle.abort()


class ManagedNode(LifecycleNodeMixin, AnsweringNode):
    """A node with ROS' states: unconfigured, inactive, active, finalized.

    rclpy raises where a transition isn't possible in the state at hand, and the client waits without end. It says
    nothing of what a transition's callback raises.
    """

    def __init__(self, name: str, **options: Any) -> None:
        """Begin unconfigured.

        Args:
            name: of the node.
            options: of :class:`rclpy.node.Node`.
        """
        AnsweringNode.__init__(self, name, **options)
        LifecycleNodeMixin.__init__(self, callback_group=self.group)
        self._callbacks = {number: self._told(callback) for number, callback in self._callbacks.items()}
        for own in ("change_state", "get_state", "get_available_states", "get_available_transitions"):
            answer_until_heard(getattr(self, f"_service_{own}"))  # rclpy makes them without create_service
        answer_until_heard(self._service_get_transition_graph)
        change = self._service_change_state.callback

        def answer(request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
            try:
                self._check_possible(request.transition.id, request.transition.label)
            except InputError as error:
                self.refusals.refuse("change_state", error)
                return ChangeState.Response(success=False)
            return change(request, response)

        self._service_change_state.callback = answer

    def _check_possible(self, number: int, label: str) -> None:
        """Raise an InputError for a transition that doesn't begin in the state at hand; a label counts more."""
        possible = [own[:2] for own in self._state_machine.available_transitions]
        if label not in [name for _, name in possible] if label else number not in [own for own, _ in possible]:
            raise InputError(
                f"is {label or number}, which doesn't begin in the state {self._state_machine.current_state[1]}",
                element="transition",
                remedy=f"Give {' or '.join(f'{name} ({own})' for own, name in possible)}" if possible else None,
            )

    def _told(self, callback: Callable[[LifecycleState], Any]) -> Callable[[LifecycleState], Any]:
        """Return a transition's callback whose exception is told before ROS processes it as an error."""

        def call(state: LifecycleState) -> Any:
            try:
                return callback(state)
            except Exception as error:
                self.refusals.refuse(callback.__name__, error)
                return TransitionCallbackReturn.ERROR

        return call
