# SPDX-License-Identifier: Apache-2.0
"""A managed node answers every request for a transition, and tells what its own steps raise."""

from __future__ import annotations

import threading
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import (
    ChangeState,
    GetAvailableStates,
    GetAvailableTransitions,
    GetState,
)
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.node import Node

from humanoid_ros.node.managed_node import ManagedNode

PATIENCE = 60.0


class Managed(ManagedNode):
    """Its ways to fail are set from outside."""

    recovers = True

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        raise KeyError("motor")

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS if self.recovers else TransitionCallbackReturn.FAILURE


@pytest.fixture
def managed(answering_and_asking: tuple[Node, Node]) -> Any:
    """A managed node, and a function that asks it."""
    beside, asking = answering_and_asking
    node = Managed("managed", context=beside.context)
    beside.executor.add_node(node)

    def ask(kind: Any, name: str, **fields: Any) -> Any:
        client = asking.create_client(kind, f"managed/{name}")
        assert client.wait_for_service(PATIENCE)
        done = threading.Event()
        future = client.call_async(kind.Request(**fields))
        future.add_done_callback(lambda _: done.set())
        assert done.wait(PATIENCE), "no answer"
        return future.result()

    def state() -> int:
        return int(ask(GetState, "get_state").current_state.id)

    yield node, ask, state
    done = threading.Event()
    beside.executor.create_task(lambda: (node.destroy_node(), done.set()))
    assert done.wait(PATIENCE)


def change(ask: Any, number: int = 0, label: str = "") -> bool:
    transition = Transition(id=number, label=label)
    return bool(ask(ChangeState, "change_state", transition=transition).success)


@pytest.mark.feature("000-F029")
def test_a_transition_that_is_not_possible_is_refused_with_those_that_are(managed: Any) -> None:
    node, ask, state = managed
    for number, label in ((Transition.TRANSITION_ACTIVATE, ""), (250, ""), (0, ""), (0, "activate"), (0, "fly")):
        assert not change(ask, number, label)
        assert state() == State.PRIMARY_STATE_UNCONFIGURED
    assert node.refusals.count == 5
    assert node.refusals.last == (
        "change_state: transition: is fly, which doesn't begin in the state unconfigured. "
        "Give configure (1) or shutdown (5)."
    )
    assert change(ask, Transition.TRANSITION_CONFIGURE)
    assert change(ask, label="cleanup")
    assert change(ask, Transition.TRANSITION_CONFIGURE, "shutdown")  # the label counts
    assert state() == State.PRIMARY_STATE_FINALIZED
    assert not change(ask, Transition.TRANSITION_CONFIGURE)


def test_what_is_possible_is_told_in_every_state(managed: Any) -> None:
    _, ask, _ = managed

    def possible() -> set[str]:
        found = ask(GetAvailableTransitions, "get_available_transitions").available_transitions
        return {own.transition.label for own in found}

    assert possible() == {"configure", "shutdown"}
    assert change(ask, Transition.TRANSITION_CONFIGURE)
    assert possible() == {"cleanup", "activate", "shutdown"}
    assert len(ask(GetAvailableStates, "get_available_states").available_states) == 11
    assert len(ask(GetAvailableTransitions, "get_transition_graph").available_transitions) > 20


@pytest.mark.feature("000-F029")
@pytest.mark.parametrize(
    ("recovers", "after"), [(True, State.PRIMARY_STATE_UNCONFIGURED), (False, State.PRIMARY_STATE_FINALIZED)]
)
def test_a_step_that_raises_is_told_and_processed_as_an_error(managed: Any, recovers: bool, after: int) -> None:
    node, ask, state = managed
    node.recovers = recovers
    assert change(ask, Transition.TRANSITION_CONFIGURE)
    assert not change(ask, Transition.TRANSITION_ACTIVATE)
    assert state() == after
    assert node.refusals.last == "on_activate: KeyError: 'motor'"
