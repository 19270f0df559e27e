# SPDX-License-Identifier: Apache-2.0
"""Each joint has its own age, whatever its messages look like."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from humanoid_ros.controller_bridge.watches import MeasuredJoints
from humanoid_ros.messages.conversions import stamp

pytestmark = pytest.mark.feature("000-F029")

AGE, AHEAD = 0.2, 0.2
BOTH = ("a", "b")


class Node:
    """A clock that is set."""

    time = 100.0

    def create_subscription(self, *_: Any, **__: Any) -> None:
        pass

    def get_clock(self) -> Node:
        return self

    def now(self) -> Node:
        return self

    @property
    def nanoseconds(self) -> int:
        return round(1e9 * self.time)


class Joints(MeasuredJoints):
    def __init__(self) -> None:
        self.node = Node()
        super().__init__(self.node, "joint_states", lambda *_: None)  # type: ignore[arg-type]

    def hear(self, stamped: float | None = None, **positions: float) -> None:
        self.say(JointState(name=list(positions), position=list(positions.values())), stamped)

    def say(self, message: JointState, stamped: float | None = None) -> None:
        message.header.stamp = stamp(self.node.time if stamped is None else stamped)
        self._on_message(serialize_message(message))

    def reason(self, joints: tuple[str, ...] = BOTH) -> str:
        return self.stale(joints, AGE, AHEAD)


def test_a_joint_that_drops_out_is_missed_though_the_other_comes() -> None:
    joints = Joints()
    assert joints.reason() == "no joint states come on joint_states"
    joints.hear(a=1.0, b=2.0)
    assert joints.reason() == ""
    joints.node.time += 0.3
    joints.hear(a=1.0)
    assert joints.reason() == "joint 'b' was measured 0.30 s ago"
    assert joints.reason(("a",)) == ""
    assert "joint 'c' isn't measured" in joints.reason(("a", "c"))


@pytest.mark.parametrize(
    "message", [JointState(name=["a", "b"], position=[1.0]), JointState(name=["a", "b"], position=[float("nan")] * 2)]
)
def test_what_gives_no_positions_makes_nothing_fresh(message: JointState) -> None:
    joints = Joints()
    joints.hear(a=1.0, b=2.0)
    joints.node.time += 0.3
    joints.say(message)
    assert "the newest joint states are 0.30 s old; a message" in joints.reason()
    assert list(joints.of(BOTH)) == [1.0, 2.0]


def test_stamps_ahead_of_the_clock_are_told_and_hide_nothing() -> None:
    joints = Joints()
    joints.hear(stamped=105.0, a=1.0, b=2.0)
    assert "stamped 5.00 s ahead" in joints.reason()
    joints.node.time += 0.3
    assert joints.reason() == "the newest joint states are 0.30 s old"


def test_messages_without_a_stamp_are_taken_when_they_come() -> None:
    joints = Joints()
    joints.hear(stamped=0.0, a=1.0, b=2.0)
    assert joints.reason() == ""
    assert list(joints.times(BOTH)) == [100.0, 100.0]
