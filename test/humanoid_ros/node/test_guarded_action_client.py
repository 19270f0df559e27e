# SPDX-License-Identifier: Apache-2.0
"""Answers that come while the request is still being noted down are heard."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from humanoid_ros.node.answering_action_server import AnsweringActionServer
from humanoid_ros.node.executor_future import waking_future
from humanoid_ros.node.guarded_action_client import GuardedActionClient, RequestServer

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
