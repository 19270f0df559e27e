# SPDX-License-Identifier: Apache-2.0
"""A goal that the page asks for ends once, in a result or in words, whatever its server does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fixtures.page_client import wait_for
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.page_partner import ToldServer, spun_node  # noqa: E402
from humanoid_stack.action import PlanContacts  # noqa: E402
from rclpy.action import GoalResponse  # noqa: E402
from rclpy.node import Node  # noqa: E402

from humanoid_model.errors import HumanoidError  # noqa: E402
from humanoid_ros.viewer.planner_calls import AskedGoal  # noqa: E402

pytestmark = pytest.mark.ros


@pytest.fixture
def asked() -> Iterator[tuple[AskedGoal, ToldServer, list[Any]]]:
    """What asks, whom, and what it was told: feedback, and results or words."""
    told: list[Any] = []
    with spun_node(lambda context: Node("both", context=context), claim_domain()) as node:
        news = PlanContacts.Feedback(parents=[7])
        server = ToldServer(node, PlanContacts, "plan_contacts", [news], PlanContacts.Result(message="Cancelled."))
        goal = AskedGoal(
            node, (PlanContacts, "plan_contacts"), "planner", told.append, lambda *end: told.append(end)
        )  # fmt: skip
        wait_for(goal._client.server_is_ready, "it is found")
        yield goal, server, told


def test_feedback_and_result_of_one_goal_at_a_time(asked: tuple[AskedGoal, ToldServer, list[Any]]) -> None:
    goal, server, told = asked
    server.hold.clear()
    goal.ask(PlanContacts.Goal())
    goal.ask(PlanContacts.Goal())
    wait_for(lambda: told, "feedback comes")
    assert list(told[0].parents) == [7]
    assert goal.working
    server.answer = PlanContacts.Result(success=True, message="found")
    server.hold.set()
    wait_for(lambda: len(told) == 2, "the result comes")
    result, why = told[1]
    assert (result.message, why, goal.working, len(server.asked)) == ("found", "", False, 1)


def test_a_goal_cancelled_before_it_is_accepted_is_cancelled(asked: tuple[AskedGoal, ToldServer, list[Any]]) -> None:
    goal, server, told = asked
    server.hold.clear()
    goal.ask(PlanContacts.Goal())
    goal.cancel()
    wait_for(lambda: told and isinstance(told[-1], tuple), "it ends")
    assert told[-1][0].message == "Cancelled."
    assert server.cancelled


def test_a_server_that_refuses_or_goes_is_told(asked: tuple[AskedGoal, ToldServer, list[Any]]) -> None:
    goal, server, told = asked
    server._server.register_goal_callback(lambda _: GoalResponse.REJECT)
    goal.ask(PlanContacts.Goal())
    wait_for(lambda: told, "it ends")
    assert told == [(None, "planner didn't take the request.")]
    server._server.register_goal_callback(lambda _: GoalResponse.ACCEPT)
    server.hold.clear()
    goal.ask(PlanContacts.Goal())
    wait_for(lambda: len(told) == 2, "feedback comes")
    server.withdraw()
    wait_for(lambda: goal.watch() or not goal.working, "it ends")
    assert told[2:] == [(None, "planner is gone.")]
    server.hold.set()
    with pytest.raises(HumanoidError, match=r"No node offers plan_contacts\. Start planner\."):
        goal.ask(PlanContacts.Goal())
