# SPDX-License-Identifier: Apache-2.0
"""Answers of nodes reach their clients: of services, actions and requests for transitions."""

from __future__ import annotations

import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from fixtures.ros_domain import claim_domain
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rclpy.action.server import RCLError, ServerGoalHandle
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.service import Service
from std_msgs.msg import String
from std_srvs.srv import Trigger

import humanoid_ros
from humanoid_model.errors import InputError
from humanoid_ros.node import answering_node
from humanoid_ros.node.answering_node import (
    ATTEMPTS,
    LOST,
    AnsweringActionServer,
    AnsweringNode,
    ManagedNode,
    send_until_heard,
)
from humanoid_ros.node.clients import GuardedActionClient
from humanoid_ros.node.qos import LATCHED, SENSOR


class Middleware:
    """Drops the first answers it is given, as rclpy tells of it."""

    def __init__(self, dropped: int) -> None:
        self.dropped = dropped
        self.sent = 0

    def __call__(self) -> None:
        self.sent += 1
        if self.sent <= self.dropped:
            warnings.warn(f"{LOST}: client will not receive response", RuntimeWarning, stacklevel=2)


@pytest.mark.parametrize("dropped", [0, 1, 7])
def test_an_answer_is_sent_until_it_is_heard(dropped: int) -> None:
    middleware = Middleware(dropped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        send_until_heard(middleware)
    assert middleware.sent == dropped + 1


def test_in_the_end_the_loss_is_told() -> None:
    middleware = Middleware(1000)
    with pytest.warns(RuntimeWarning, match="client will not receive response"):
        send_until_heard(middleware)
    assert middleware.sent == ATTEMPTS


def test_other_warnings_are_passed_on_and_nothing_is_sent_twice() -> None:
    sent = []

    def send() -> None:
        sent.append(1)
        warnings.warn("the answer is long", UserWarning, stacklevel=2)

    with pytest.warns(UserWarning, match="the answer is long"):
        send_until_heard(send)
    assert len(sent) == 1


def test_a_client_gets_its_answer_although_the_first_ones_were_dropped(
    answering_and_asking: tuple[AnsweringNode, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = answering_and_asking
    middleware = Middleware(2)
    send = Service.send_response

    def send_response(service: Any, response: Any, header: Any) -> None:
        middleware()
        if middleware.sent > middleware.dropped:
            send(service, response, header)

    monkeypatch.setattr(Service, "send_response", send_response)

    def answer(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        return response

    server.create_service(Trigger, "greet", answer)
    greet = client.create_client(Trigger, "greet")
    assert greet.wait_for_service(60.0)
    done = threading.Event()
    future = greet.call_async(Trigger.Request())
    future.add_done_callback(lambda _: done.set())
    assert done.wait(60.0)
    assert future.result().success
    assert middleware.sent == 3


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("simulator.simulator_node", "SimulatorNode"),
        ("model_generator", "ModelGeneratorNode"),
        ("contact_planner.contact_planner_node", "ContactPlannerNode"),
        ("gait_generator.gait_generator_node", "GaitGeneratorNode"),
        ("viewer.viewer_node", "ViewerNode"),
    ],
)
def test_every_node_of_the_stack_is_one(module: str, name: str) -> None:
    assert issubclass(getattr(import_module(f"humanoid_ros.{module}"), name), AnsweringNode)


@pytest.fixture
def overridden() -> Iterator[Callable[..., AnsweringNode]]:
    """Makes a node with parameters; all are destroyed."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=claim_domain())
    nodes = []

    def make(*words: str) -> AnsweringNode:
        arguments = ["--ros-args", *(part for word in words for part in ("-p", word))]
        nodes.append(AnsweringNode("overridden", context=context, cli_args=arguments))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()


def test_quality_of_service_is_a_parameter(overridden: Callable[..., AnsweringNode]) -> None:
    node = overridden(
        *("qos_overrides./imu.publisher.reliability:=reliable", "qos_overrides./imu.publisher.depth:=3"),
        *("qos_overrides./imu.subscription.history:=keep_all", "use_sim_time:=true"),
    )
    before = SENSOR.reliability, SENSOR.depth, SENSOR.history
    for _ in range(2):  # as when a scene is replaced
        topic = node.create_publisher(String, "imu", SENSOR)
        (told,) = node.get_publishers_info_by_topic("/imu")
        assert told.qos_profile.reliability.name == "RELIABLE"
        node.destroy_publisher(topic)
    node.create_subscription(String, "imu", print, SENSOR)
    (told,) = node.get_subscriptions_info_by_topic("/imu")
    assert told.qos_profile.reliability.name == "BEST_EFFORT"
    assert node.get_parameter("qos_overrides./imu.publisher.depth").value == 3
    assert node.get_parameter("qos_overrides./imu.subscription.history").value == "keep_all"
    assert (SENSOR.reliability, SENSOR.depth, SENSOR.history) == before


def test_what_is_kept_for_late_listeners_stays_as_it_is(overridden: Callable[..., AnsweringNode]) -> None:
    node = overridden("qos_overrides./plan.publisher.reliability:=best_effort")
    node.create_publisher(String, "plan", LATCHED)
    (told,) = node.get_publishers_info_by_topic("/plan")
    assert told.qos_profile.reliability.name == "RELIABLE"


def test_a_word_that_ros_doesnt_know_is_refused(overridden: Callable[..., AnsweringNode]) -> None:
    node = overridden("qos_overrides./imu.publisher.reliability:=sometimes")
    with pytest.raises(InputError, match=r"qos_overrides of imu.*sometimes.*best_effort"):
        node.create_publisher(String, "imu", SENSOR)


PATIENCE = 60.0


class LossyMiddleware:
    """Drops the first answers of each kind that action servers give it, as rclpy tells of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, handle: type, goals: int, results: int) -> None:
        self.sent = {"send_goal_response": 0, "send_result_response": 0}
        for name, dropped in zip(self.sent, (goals, results), strict=True):
            monkeypatch.setattr(handle, name, self._dropping(name, getattr(handle, name), dropped))

    def _dropping(self, name: str, send: Any, dropped: int) -> Any:
        def lossy(handle: Any, header: Any, response: Any) -> None:
            self.sent[name] += 1
            if self.sent[name] <= dropped:
                raise RCLError("Failed to send response: client will not receive response")
            send(handle, header, response)

        return lossy


def outcome(future: Any) -> Any:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(PATIENCE), "no answer"
    return future.result()


def serve(node: Node) -> tuple[AnsweringActionServer, list[ServerGoalHandle]]:
    """Goals succeed with error code 3; those that were executed."""
    executed: list[ServerGoalHandle] = []

    def execute(goal: ServerGoalHandle) -> FollowJointTrajectory.Result:
        executed.append(goal)
        goal.succeed()
        return FollowJointTrajectory.Result(error_code=3)

    return AnsweringActionServer(node, FollowJointTrajectory, "follow", execute), executed


def test_goals_that_ended_are_forgotten_after_a_while(
    answering_and_asking: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their messages are large."""
    monkeypatch.setattr(answering_node, "KEPT", 1.0)
    server, executed = serve(answering_and_asking[0])
    client = GuardedActionClient(answering_and_asking[1], FollowJointTrajectory, "follow")
    assert client.wait_for_server(PATIENCE)
    goal = outcome(client.send_goal_async(FollowJointTrajectory.Goal()))
    assert outcome(goal.get_result_async()).result.error_code == 3
    end = time.monotonic() + PATIENCE
    while server._goal_handles:
        assert time.monotonic() < end, "the goal is still there"
        time.sleep(0.05)
    assert len(executed) == 1


@pytest.mark.parametrize("dropped", [0, 1, 4])
def test_a_goal_is_executed_once_and_its_result_told_although_answers_were_dropped(
    answering_and_asking: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch, dropped: int
) -> None:
    server, executed = serve(answering_and_asking[0])
    client = GuardedActionClient(answering_and_asking[1], FollowJointTrajectory, "follow")
    assert client.wait_for_server(PATIENCE)
    middleware = LossyMiddleware(monkeypatch, type(server._handle), dropped, dropped)
    goal = outcome(client.send_goal_async(FollowJointTrajectory.Goal()))
    assert goal.accepted
    answer = outcome(goal.get_result_async())
    assert (answer.status, answer.result.error_code) == (GoalStatus.STATUS_SUCCEEDED, 3)
    assert len(executed) == 1
    # The goal's answer: rclpy's own try first, and the rest of the tries after it.
    assert middleware.sent == {"send_goal_response": dropped + 1, "send_result_response": dropped + 1}


def test_a_goal_whose_client_never_hears_is_not_executed(
    answering_and_asking: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, executed = serve(answering_and_asking[0])
    client = GuardedActionClient(answering_and_asking[1], FollowJointTrajectory, "follow")
    assert client.wait_for_server(PATIENCE)
    middleware = LossyMiddleware(monkeypatch, type(server._handle), ATTEMPTS + 1, 0)
    client.send_goal_async(FollowJointTrajectory.Goal())
    goal = outcome(client.send_goal_async(FollowJointTrajectory.Goal()))  # heard again: the one before it was given up
    assert goal.accepted
    outcome(goal.get_result_async())
    assert [bytes(handle.goal_id.uuid) for handle in executed] == [bytes(goal.goal_id.uuid)]
    assert middleware.sent["send_goal_response"] == ATTEMPTS + 2


def test_actions_of_the_stack_have_no_other_servers_and_clients() -> None:
    own = {"answering_node.py", "clients.py"}
    others = [path for path in Path(humanoid_ros.__file__).parent.rglob("*.py") if path.name not in own]
    assert len(others) > 50
    for path in others:
        assert not re.search(r"\bimport .*\bAction(Server|Client)\b", path.read_text()), path


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
