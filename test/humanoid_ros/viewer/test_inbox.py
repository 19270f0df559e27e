# SPDX-License-Identifier: Apache-2.0
"""Messages wait until they are looked at, and wake nobody up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fixtures.page_client import wait_for
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import QoSProfile, ReliabilityPolicy  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from humanoid_ros.viewer.inbox import Inbox  # noqa: E402

KEPT = QoSProfile(depth=5)


@pytest.fixture
def listener() -> Iterator[tuple[Node, Callable[..., None]]]:
    """A node, and what lets its executor wait for something to do, or do all that there is."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=claim_domain())
    node = Node("listener", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin(times: int = 20, wait: float = 0.0) -> None:
        for _ in range(times):
            executor.spin_once(timeout_sec=wait)

    yield node, spin
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


def words(messages: list[bytes]) -> list[str]:
    return [deserialize_message(message, String).data for message in messages]


def test_messages_lie_there_until_they_are_taken_the_last_ones_of_many(listener: Any) -> None:
    node, spin = listener
    inbox = Inbox(node, String, "talk", KEPT)
    talk = node.create_publisher(String, "talk", KEPT)
    wait_for(talk.get_subscription_count, "it is found")
    for number in range(8):
        talk.publish(String(data=str(number)))
    spin()
    came: list[str] = []
    wait_for(lambda: came.extend(words(inbox.take())) or came[-1:] == ["7"], "they come")
    assert came[-5:] == ["3", "4", "5", "6", "7"] or len(came) == 8  # a slow reader finds the last five
    assert inbox.take() == []
    assert inbox.newest() is None


def test_an_executor_wakes_up_for_them_while_they_are_attended_to_alone(listener: Any) -> None:
    node, spin = listener
    arrived: list[int] = []
    inbox = Inbox(node, String, "talk", KEPT, lambda: arrived.append(1))
    talk = node.create_publisher(String, "talk", KEPT)
    wait_for(talk.get_subscription_count, "it is found")

    def say(word: str) -> None:
        talk.publish(String(data=word))
        time.sleep(0.2)
        spin()

    say("nobody looks")
    assert not arrived
    began = time.monotonic()
    spin(1, 0.3)
    assert time.monotonic() - began > 0.25, "what lies there doesn't wake it up"
    inbox.attended = True
    wait_for(lambda: spin() or arrived, "what lay there is handed on")
    say("all look")
    wait_for(lambda: spin() or len(arrived) == 2, "so is what comes")
    assert words(inbox.take()) == ["nobody looks", "all look"]


def test_a_publisher_that_can_not_be_heard_is_told(listener: Any, capfd: pytest.CaptureFixture[str]) -> None:
    node, _ = listener
    inbox = Inbox(node, String, "talk", KEPT)
    node.create_publisher(String, "talk", QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
    told: list[str] = []
    wait_for(lambda: inbox.take() or told.append(capfd.readouterr().err) or "incompatible QoS" in "".join(told), "told")
    time.sleep(1.1)
    inbox.take()
    assert "incompatible" not in capfd.readouterr().err, "once"
