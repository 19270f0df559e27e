# SPDX-License-Identifier: Apache-2.0
"""What publishers offered comes back from a recording, of this recorder and of rosbag2's versions."""

from __future__ import annotations

from copy import copy

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.duration import Duration
from rclpy.qos import LivelinessPolicy, QoSProfile

from humanoid_ros.messages.message_log import quality_text, recorded_quality
from humanoid_ros.node.qos import LATCHED, SENSOR, STATE, STATIC_TRANSFORMS, TRANSFORMS
from humanoid_sim.recording.mcap_recorder import LATCHED_PROFILE

IMU = "sensor_msgs/msg/Imu"
JOINTS = "sensor_msgs/msg/JointState"
HUMBLE = """\
- history: 3
  depth: 0
  reliability: {}
  durability: {}
  deadline:
    sec: 9223372036
    nsec: 854775807
  lifespan:
    sec: 9223372036
    nsec: 854775807
  liveliness: 1
  liveliness_lease_duration:
    sec: 9223372036
    nsec: 854775807
  avoid_ros_namespace_conventions: false
"""
JAZZY = HUMBLE.replace("history: 3", "history: unknown").replace("liveliness: 1", "liveliness: automatic")
FOREVER = Duration(nanoseconds=2**63 - 1)


def kept(quality: QoSProfile) -> tuple[str, str]:
    return quality.reliability.short_key, quality.durability.short_key


@pytest.mark.feature("000-F024")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HUMBLE.format(2, 2), ("best_effort", "volatile")),
        (HUMBLE.format(1, 1), ("reliable", "transient_local")),
        (JAZZY.format("best_effort", "volatile"), ("best_effort", "volatile")),
        (JAZZY.format("reliable", "volatile"), ("reliable", "volatile")),
        (LATCHED_PROFILE, ("reliable", "transient_local")),
        # Two publishers: what serves who heard both, and asks nothing of one that it hadn't.
        (JAZZY.format("best_effort", "volatile") + JAZZY.format("reliable", "volatile"), ("reliable", "volatile")),
        (HUMBLE.format(1, 1) + HUMBLE.format(1, 2), ("reliable", "volatile")),
        (JAZZY.format("system_default", "system_default"), ("reliable", "volatile")),
    ],
)
def test_what_rosbag2_wrote_is_offered_whatever_the_type(text: str, expected: tuple[str, str]) -> None:
    for kind in (IMU, JOINTS):
        assert kept(recorded_quality("/told", kind, text)) == expected


@pytest.mark.parametrize(
    "text", ["", "words", "- 3", "[", JAZZY.format("often", 1), HUMBLE.format(77, 1), "- {durability: 1}"]
)
def test_where_it_cant_be_read_topic_and_type_decide(text: str) -> None:
    assert recorded_quality("/imu", IMU, text) == SENSOR
    assert recorded_quality("/joint_states", JOINTS, text) == STATE
    assert recorded_quality("/tf", "tf2_msgs/msg/TFMessage", text) == TRANSFORMS
    assert recorded_quality("/tf_static", "tf2_msgs/msg/TFMessage", text) == STATIC_TRANSFORMS


def test_what_is_written_is_read_once_more() -> None:
    asked = copy(SENSOR)
    asked.deadline, asked.lifespan = Duration(seconds=0.25), Duration(seconds=3)
    asked.liveliness, asked.liveliness_lease_duration = LivelinessPolicy.MANUAL_BY_TOPIC, Duration(seconds=1.5)
    told = recorded_quality("/imu", JOINTS, quality_text([asked, asked]))
    for name in ("reliability", "durability", "deadline", "lifespan", "liveliness", "liveliness_lease_duration"):
        assert getattr(told, name) == getattr(asked, name), name
    other = copy(asked)
    other.deadline = FOREVER
    told = recorded_quality("/imu", JOINTS, quality_text([asked, other]))
    assert told.deadline == STATE.deadline
    assert told.lifespan == asked.lifespan
    assert recorded_quality("/tf_static", "", quality_text([LATCHED])).depth == STATIC_TRANSFORMS.depth
    assert kept(recorded_quality("/words", "", quality_text([LATCHED]))) == ("reliable", "transient_local")
