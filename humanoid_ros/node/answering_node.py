# SPDX-License-Identifier: Apache-2.0
"""What every node of the stack is: its answers reach their clients, it tells what it refuses, and how it ends."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.service import Service
from rclpy.subscription import Subscription

from humanoid_model.errors import InputError
from humanoid_ros.node.process_mark import mark_process
from humanoid_ros.node.qos import SERVICE
from humanoid_ros.node.refusals import Refusals
from humanoid_ros.node.worker_process import give_back_memory

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
