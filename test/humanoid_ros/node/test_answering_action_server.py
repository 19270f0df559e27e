# SPDX-License-Identifier: Apache-2.0
"""Answers of an action that the middleware drops, because their client isn't known yet, are sent again."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action.server import RCLError, ServerGoalHandle
from rclpy.node import Node

import humanoid_ros
from humanoid_ros.node import answering_action_server
from humanoid_ros.node.answering_action_server import AnsweringActionServer
from humanoid_ros.node.answering_node import ATTEMPTS
from humanoid_ros.node.guarded_action_client import GuardedActionClient

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
    monkeypatch.setattr(answering_action_server, "KEPT", 1.0)
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
    own = {"answering_action_server.py", "guarded_action_client.py"}
    others = [path for path in Path(humanoid_ros.__file__).parent.rglob("*.py") if path.name not in own]
    assert len(others) > 50
    for path in others:
        assert not re.search(r"\bimport .*\bAction(Server|Client)\b", path.read_text()), path
