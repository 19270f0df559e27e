# SPDX-License-Identifier: Apache-2.0
"""A managed node whose every request for a transition is answered, and whose failures are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.lifecycle.node import LifecycleNodeMixin

from humanoid_model.errors import InputError
from humanoid_ros.node.answering_node import AnsweringNode, answer_until_heard


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
