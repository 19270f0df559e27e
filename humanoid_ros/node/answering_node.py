# SPDX-License-Identifier: Apache-2.0
"""A node whose answers also reach clients that the middleware has discovered only half."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.service import Service

LOST = "failed to send response (timeout)"
"""How rclpy's warning begins when an answer was thrown away because its client isn't known yet."""

ATTEMPTS = 30
"""Each takes the middleware 0.1 s."""


class AnsweringNode(Node):
    """Keeps sending an answer until its client can hear it.

    A client that finds a service may ask at once, and its request may come in before the service has discovered where
    answers go. Fast DDS then waits for 0.1 s, drops the answer and warns; the client waits for ever
    (ros2/rmw_fastrtps#842). That happens when a node starts on a busy machine, which is when launch files and tests
    ask. An answer whose client is gone isn't tried again: the middleware doesn't call that a failure.
    """

    def create_service(self, *arguments: Any, **options: Any) -> Service:
        """As :meth:`rclpy.node.Node.create_service`; rclpy's own services for parameters are made by it too."""
        service = super().create_service(*arguments, **options)
        send = service.send_response

        def send_response(response: Any, header: Any) -> None:
            send_until_heard(lambda: send(response, header))

        service.send_response = send_response  # type: ignore[method-assign]
        return service


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
