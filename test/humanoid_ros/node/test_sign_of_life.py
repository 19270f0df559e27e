# SPDX-License-Identifier: Apache-2.0
"""Signs of life are of the goal that they were begun for alone."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from unique_identifier_msgs.msg import UUID

from humanoid_ros.node.sign_of_life import SignOfLife

pytestmark = pytest.mark.feature("000-F029")


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
