# SPDX-License-Identifier: Apache-2.0
"""Presses and releases of the emergency stop, as they come by several subscriptions and late."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_msgs.msg import Bool

from humanoid_ros.controller_bridge.bridge_settings import EmergencySettings
from humanoid_ros.controller_bridge.watches import EmergencyStop

pytestmark = pytest.mark.feature("000-F029")

RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
VOLATILE, LATCHED = DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL


class Graph:
    """What of a node an emergency stop asks for."""

    def __init__(self) -> None:
        self.publishers: list[Any] = []
        self.asked: list[tuple[Any, Any]] = []

    def create_subscription(self, kind: Any, topic: str, callback: Any, quality: Any) -> Any:
        self.asked.append((quality.reliability, quality.durability))
        return SimpleNamespace(topic_name=f"/{topic}")

    def create_timer(self, period: float, callback: Any, clock: Any) -> Any:
        self.look = callback

    def get_publishers_info_by_topic(self, topic: str) -> list[Any]:
        return [SimpleNamespace(qos_profile=quality) for quality in self.publishers]


def stop(**settings: Any) -> EmergencyStop:
    node: Any = Graph()
    return EmergencyStop(node, EmergencySettings(**settings), lambda: None)


def tell(found: EmergencyStop, *messages: tuple[int, bool]) -> bool:
    """Whether it is pressed after messages that were sent at these times."""
    for sent, pressed in messages:
        found._on_message(Bool(data=pressed), {"source_timestamp": sent})
    return "is pressed" in found.problem


@pytest.mark.parametrize("order", list(itertools.permutations([(1, True), (2, False), (3, True)])))
def test_the_last_press_counts_in_whatever_order_messages_come(order: Any) -> None:
    assert tell(stop(), *order)


def test_a_message_that_comes_again_by_another_subscription_is_known() -> None:
    found = stop()
    assert not tell(found, (1, True), (2, False), (1, True))
    assert tell(found, (3, True), (2, False))
    assert not tell(found, (4, False))


def test_a_release_that_was_sent_before_the_press_releases_nothing() -> None:
    found = stop()
    assert tell(found, (5, True), (4, False))
    assert not tell(found, (6, False))


def test_messages_without_a_time_count_as_they_come() -> None:
    found = stop()
    assert tell(found, (0, True))
    assert not tell(found, (0, False))
    assert tell(found, (0, True))


def test_nothing_moves_until_a_latch_or_a_heartbeat_has_come() -> None:
    for settings in ({"latched": True}, {"heartbeat": 100.0}):
        found = stop(**settings)
        assert found.problem
        assert not tell(found, (1, False))
        assert found.problem == ""
    assert stop().problem == ""


def test_a_heartbeat_that_ceases_stops() -> None:
    found = stop(heartbeat=0.05)
    tell(found, (1, False))
    time.sleep(0.06)
    assert "last heartbeat on emergency_stop came" in found.problem


def test_it_listens_as_its_publishers_speak() -> None:
    """A best-effort publisher isn't heard by a reliable subscription, nor a latched press by a volatile one.

    One that doesn't latch isn't asked to: it would warn of us.
    """
    for quality, asked in {
        (BEST_EFFORT, VOLATILE): {(BEST_EFFORT, VOLATILE)},
        (RELIABLE, VOLATILE): {(BEST_EFFORT, VOLATILE), (RELIABLE, VOLATILE)},
        (RELIABLE, LATCHED): {(BEST_EFFORT, VOLATILE), (RELIABLE, VOLATILE), (RELIABLE, LATCHED)},
    }.items():
        node: Any = Graph()
        EmergencyStop(node, EmergencySettings(), lambda: None)
        node.publishers = [SimpleNamespace(reliability=quality[0], durability=quality[1])]
        for _ in range(2):
            node.look()
        assert set(node.asked) == asked
        assert len(node.asked) == len(asked)
