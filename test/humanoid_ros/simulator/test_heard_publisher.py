# SPDX-License-Identifier: Apache-2.0
"""When what is published, by who listens; publishers without a middleware."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.exceptions import InvalidHandle

from humanoid_ros.node.qos import STATE
from humanoid_ros.simulator.heard_publisher import HeardPublisher, Schedule


class Wire:
    """A node that makes one publisher, which has as many listeners as it is told."""

    def __init__(self) -> None:
        self.listeners = 0
        self.gone = False

    def create_publisher(self, *_: Any, **__: Any) -> Wire:
        return self

    def get_subscription_count(self) -> int:
        if self.gone:
            raise InvalidHandle
        return self.listeners

    def publish(self, message: object) -> None:
        if self.gone:
            raise InvalidHandle


@pytest.fixture
def wires() -> list[Wire]:
    return [Wire(), Wire()]


def schedule(wires: list[Wire], done: list[str]) -> Schedule:
    """``fast`` every 2 steps and ``slow`` every 5 steps, on a wire each; ``own`` every 20 whoever listens."""
    made = Schedule()
    topics = [HeardPublisher(wire, object, "topic", STATE) for wire in wires]  # type: ignore[arg-type]

    def told(name: str) -> Callable[[], None]:
        return lambda: done.append(name)

    made.add(2, told("fast"), lambda: topics[:1])
    made.add(5, told("slow"), lambda: topics[1:])
    made.add(20, told("own"), None)
    return made


def test_what_nobody_hears_is_never_due(wires: list[Wire]) -> None:
    done: list[str] = []
    made = schedule(wires, done)
    assert made.look() == []
    assert [made.due(step) for step in (0, 1, 19, 20)] == [20, 19, 1, 20]
    wires[1].listeners = 1
    assert made.due(1) == 19  # nobody has looked yet
    made.look()
    assert [made.due(step) for step in (0, 1, 4, 5, 19)] == [5, 4, 1, 5, 1]
    wires[0].listeners = 1
    made.look()
    assert [made.due(step) for step in (0, 3, 4, 7)] == [2, 1, 1, 1]
    wires[0].listeners = wires[1].listeners = 0
    made.look()
    assert made.due(3) == 17


def test_due_follows_a_jump_back(wires: list[Wire]) -> None:
    made = schedule(wires, [])
    assert made.due(39) == 1
    assert made.due(0) == 20


def test_publishes_what_is_due_and_heard(wires: list[Wire]) -> None:
    done: list[str] = []
    made = schedule(wires, done)
    wires[0].listeners = 1
    made.look()
    for step in range(1, 11):
        made.publish(step)
    assert done == ["fast"] * 5
    made.publish(20)
    assert done[5:] == ["fast", "own"]
    wires[1].listeners = 1
    made.publish_all()
    assert done[7:] == ["fast", "slow", "own"]


def test_one_that_another_thread_destroyed_is_not_heard() -> None:
    wire = Wire()
    wire.listeners = 1
    topic = HeardPublisher(wire, object, "topic", STATE)  # type: ignore[arg-type]
    assert topic.look()
    assert topic.heard
    wire.gone = True
    topic.publish(b"")
    assert not topic.look()
    assert not topic.heard


def test_only_newcomers_are_news(wires: list[Wire]) -> None:
    done: list[str] = []
    made = schedule(wires, done)
    wires[0].listeners = 1
    for publish in made.look():
        publish()
    assert done == ["fast"]
    assert made.look() == []
    wires[0].listeners = 2
    assert len(made.look()) == 1
    wires[0].listeners = 1
    assert made.look() == []
