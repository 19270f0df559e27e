# SPDX-License-Identifier: Apache-2.0
"""Messages whose numbers are written into their serialised form, read back by the middleware's own reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_ros.messages.link_transforms import write_transforms
from humanoid_ros.messages.serialized_message import SerializedMessage, SerializedMessages


def write_joints(message: JointState, values: list[float], time: Time) -> None:
    count = len(message.name)
    message.header.stamp = time
    message.position, message.velocity = values[:count], values[count:]


@pytest.mark.parametrize("names", [("a",), ("left_knee", "r", "right"), ()])
def test_reads_as_the_message_that_was_written(names: tuple[str, ...]) -> None:
    message = SerializedMessage(JointState(name=list(names)), 2 * len(names), write_joints)
    rng = np.random.default_rng(len(names))
    for step in range(3):
        values, time = rng.normal(size=2 * len(names)), Time(sec=step, nanosec=999_999_999 - step)
        expected = JointState(name=list(names))
        write_joints(expected, values.tolist(), time)
        assert deserialize_message(message.filled(values, time), JointState) == expected


def test_every_transform_gets_its_numbers_and_the_time() -> None:
    # Names of all lengths: the numbers lie at different distances from each other.
    names = ["n" * (i % 9) for i in range(40)]
    layout = TFMessage(transforms=[TransformStamped(child_frame_id=name) for name in names])
    message = SerializedMessage(layout, 7 * len(names), write_transforms)
    values, time = np.arange(7.0 * len(names)), Time(sec=12, nanosec=34)
    read = deserialize_message(message.filled(values, time), TFMessage)
    for i, (name, one) in enumerate(zip(names, read.transforms, strict=True)):
        place, turn = one.transform.translation, one.transform.rotation
        assert one.child_frame_id == name
        assert [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w] == values[7 * i : 7 * i + 7].tolist()
        assert one.header.stamp == time


def test_times_of_two_kinds() -> None:
    def write(message: JointTrajectoryPoint, values: list[float], since: Time) -> None:
        message.positions = values
        message.time_from_start = Duration(sec=since.sec, nanosec=since.nanosec)

    data = SerializedMessage(JointTrajectoryPoint(), 2, write).filled([1.0, -2.0], Duration(sec=-3, nanosec=5))
    read = deserialize_message(data, JointTrajectoryPoint)
    assert (list(read.positions), read.time_from_start) == ([1.0, -2.0], Duration(sec=-3, nanosec=5))


def test_a_number_without_a_place_of_64_bits_is_told() -> None:
    def write(message: ColorRGBA, values: list[float]) -> None:
        message.a = 0.5

    with pytest.raises(RuntimeError, match=r"numbers \[0\] of ColorRGBA are in no place of their own"):
        SerializedMessage(ColorRGBA(), 1, write, times=0)


def test_layouts_are_made_once() -> None:
    made: list[tuple[str, ...]] = []

    def layout(*names: str) -> JointState:
        made.append(names)
        return JointState(name=list(names))

    messages = SerializedMessages(layout, write_joints)

    def read(names: tuple[str, ...], values: list[float]) -> Any:
        return deserialize_message(messages.filled(names, values, Time()), JointState)

    assert list(read(("a",), [1.0, 2.0]).position) == [1.0]
    assert list(read(("a", "b"), [1.0, 2.0, 3.0, 4.0]).velocity) == [3.0, 4.0]
    assert list(read(("a",), [5.0, 6.0]).velocity) == [6.0]
    assert made == [("a",), ("a", "b")]
