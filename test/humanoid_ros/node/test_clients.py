# SPDX-License-Identifier: Apache-2.0
"""Requests end with an answer or with who was asked; the bridge hears that its client lives."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from unique_identifier_msgs.msg import UUID

from humanoid_ros.node.answering_node import AnsweringActionServer
from humanoid_ros.node.clients import GuardedActionClient, RequestServer, SignOfLife, WatchedCalls
from humanoid_ros.node.service_workers import waking_future
from test.humanoid_ros.node.test_process_mark import HANGING, start  # noqa: F401

PATIENCE = 60.0


def outcome(future: Any) -> Any:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(PATIENCE), "no answer"
    return future.result()


def test_goal_cancel_and_result_are_heard_however_quickly_they_come(
    answering_and_asking: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, asking = answering_and_asking
    cancelled = waking_future(server)

    async def execute(goal: ServerGoalHandle) -> FollowJointTrajectory.Result:
        await cancelled
        goal.canceled()
        return FollowJointTrajectory.Result(error_code=3)

    def cancel(_: ServerGoalHandle) -> CancelResponse:
        cancelled.set_result(None)
        return CancelResponse.ACCEPT

    AnsweringActionServer(server, FollowJointTrajectory, "follow", execute, cancel_callback=cancel)
    client = GuardedActionClient(asking, FollowJointTrajectory, "follow")
    assert client.wait_for_server(PATIENCE)

    def late(send: Any) -> Any:
        """Of a busy machine: the answer is there before the sender goes on."""

        def send_late(handle: Any, request: Any) -> Any:
            number = send(handle, request)
            time.sleep(0.3)
            return number

        return send_late

    handle = type(client._client_handle)
    for name in ("send_goal_request", "send_cancel_request", "send_result_request"):
        monkeypatch.setattr(handle, name, late(getattr(handle, name)))
    goal = outcome(client.send_goal_async(FollowJointTrajectory.Goal()))
    assert goal.accepted
    assert len(outcome(goal.cancel_goal_async()).goals_canceling) == 1
    answer = outcome(goal.get_result_async())
    assert (answer.status, answer.result.error_code) == (GoalStatus.STATUS_CANCELED, 3)


def test_all_feedback_is_told_before_the_result(answering_and_asking: tuple[Node, Node]) -> None:
    """The thread that spins both nodes sends all of it and the result before it takes any."""
    server, asking = answering_and_asking
    asked = waking_future(server)

    async def execute(goal: ServerGoalHandle) -> FollowJointTrajectory.Result:
        await asked
        for k in range(5):
            goal.publish_feedback(FollowJointTrajectory.Feedback(joint_names=[str(k)]))
        goal.succeed()
        return FollowJointTrajectory.Result()

    AnsweringActionServer(server, FollowJointTrajectory, "follow", execute)
    client = GuardedActionClient(asking, FollowJointTrajectory, "follow")
    assert client.wait_for_server(PATIENCE)
    told: list[str] = []
    goal = outcome(
        client.send_goal_async(
            FollowJointTrajectory.Goal(), lambda item: told.append(item.feedback.joint_names[0])
        )
    )
    answer = goal.get_result_async()
    answer.add_done_callback(lambda _: told.append("result"))
    time.sleep(0.3)  # the server has the request for the result: it sends it at once
    asked.set_result(None)
    assert outcome(answer).status == GoalStatus.STATUS_SUCCEEDED
    assert told == ["0", "1", "2", "3", "4", "result"]


def test_who_took_a_goal_is_gone_though_another_one_offers_the_action(
    answering_and_asking: tuple[Node, Node],
) -> None:
    first, second = answering_and_asking

    def execute(goal: ServerGoalHandle) -> FollowJointTrajectory.Result:
        return FollowJointTrajectory.Result()

    taker = AnsweringActionServer(first, FollowJointTrajectory, "follow", execute)
    client = GuardedActionClient(second, FollowJointTrajectory, "follow")
    assert client.wait_for_server(PATIENCE)
    server = RequestServer(client.servers)
    assert not server.gone
    AnsweringActionServer(second, FollowJointTrajectory, "follow", execute)
    end = time.monotonic() + PATIENCE
    while len(client.servers()) < 2:
        assert time.monotonic() < end, "the second one isn't found"
        time.sleep(0.02)
    first.executor.create_task(taker.destroy)
    while not server.gone:
        assert time.monotonic() < end, "the first one isn't missed"
        time.sleep(0.02)
    assert client.server_is_ready()


@pytest.mark.feature("000-F019")
def test_a_call_ends_with_its_answer_or_with_the_node_that_was_asked(
    start: Callable[..., subprocess.Popen[str]],  # noqa: F811
) -> None:
    rclpy.init()
    node = rclpy.create_node("asking")
    try:
        told: list[Any] = []
        calls, client = WatchedCalls(node), node.create_client(CancelGoal, "ask")

        def ask() -> Any:
            return calls.call(client, CancelGoal.Request(), told.append, told.append)

        def spin_until(done: Callable[[], bool], limit: float) -> None:
            end = time.monotonic() + limit
            while not done():
                assert time.monotonic() < end, told
                rclpy.spin_once(node, timeout_sec=0.05)

        assert ask() is None
        assert told == ["No node offers ask."]
        quick = start(HANGING.replace("time.sleep(600.0)", "return _[1]"))
        spin_until(lambda: ask() is not None, 60.0)
        spin_until(lambda: isinstance(told[-1], CancelGoal.Response), 60.0)
        quick.kill()
        spin_until(lambda: ask() is None, 6.0)  # soon nothing is asked of it any more
        hanging = start(HANGING)
        spin_until(lambda: ask() is not None, 60.0)
        assert hanging.stdout is not None
        assert hanging.stdout.readline() == "asked\n"
        told.clear()
        hanging.kill()
        spin_until(lambda: bool(told), 6.0)
        assert set(told) == {"The node that offers ask has ended."}
    finally:
        node.destroy_node()
        rclpy.shutdown()


class Told:
    """A node without messages: what it publishes, and the timers that run."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.timers: list[Any] = []

    def create_publisher(self, *_: Any) -> Told:
        return self

    def publish(self, message: Any) -> None:
        self.told.append(message)

    def create_timer(self, period: float, call: Any, **_: Any) -> Any:
        self.timers.append(call)
        return call

    def destroy_timer(self, timer: Any) -> None:
        self.timers.remove(timer)


def identity(number: int) -> UUID:
    return UUID(uuid=[number] * 16)


@pytest.mark.feature("000-F029")
def test_signs_begin_with_the_goal_and_end_when_they_are_not_wanted() -> None:
    node: Any = Told()
    goal, wanted = [None], [True]
    SignOfLife(node).give(lambda: goal[0], lambda: wanted[0], 1.0)
    (live,) = node.timers
    live()
    assert node.told == []  # it isn't accepted yet
    goal[0] = identity(1)
    live()
    assert node.told == [identity(1)]
    wanted[0] = False
    live()
    assert (node.told, node.timers) == ([identity(1)], [])


@pytest.mark.feature("000-F029")
@pytest.mark.parametrize("between", [None, identity(2)])
def test_no_sign_is_given_for_the_goal_that_somebody_else_asked_for_next(between: UUID | None) -> None:
    node: Any = Told()
    goal = [identity(1)]
    SignOfLife(node).give(lambda: goal[0], lambda: True, 1.0)
    (live,) = node.timers
    live()
    goal[0] = between
    live()
    assert (node.told, node.timers) == ([identity(1)], [])
