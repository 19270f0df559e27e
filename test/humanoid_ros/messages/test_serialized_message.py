# SPDX-License-Identifier: Apache-2.0
"""Messages of a fixed layout, and contacts as such, are the ones that rclpy would have sent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("humanoid_stack", reason="the interfaces are not built")

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import TransformStamped
from humanoid_stack.msg import ContactForces
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_ros.messages import serialized_message
from humanoid_ros.messages.conversions import array, stamp
from humanoid_ros.messages.link_transforms import write_transforms
from humanoid_ros.messages.serialized_message import (
    ContactMessages,
    NumberReader,
    SerializedMessage,
    SerializedMessages,
)
from humanoid_sim.stepping.contacts import Contacts


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


def test_every_field_is_told() -> None:
    rng = np.random.default_rng(3)
    contacts = Contacts(
        position=rng.normal(size=(3, 3)),
        normal=rng.normal(size=(3, 3)),
        force=rng.normal(size=(3, 3)),
        torque=rng.normal(size=(3, 3)),
        gap=rng.normal(size=3),
        velocity=rng.normal(size=(3, 3)),
        friction=rng.uniform(size=3),
        state=np.array([0, 1, 2]),
        bodies=[("hrp2/RLEG_LINK5", "floor"), ("box", "floor"), ("box", "hrp2/RARM_LINK6")],
    )
    message = deserialize_message(ContactMessages("world").update(contacts, stamp(0.25)), ContactForces)
    assert (message.header.frame_id, message.header.stamp.nanosec) == ("world", 250_000_000)
    for i, contact in enumerate(message.contacts):
        np.testing.assert_array_equal(array(contact.position), contacts.position[i])
        np.testing.assert_array_equal(array(contact.normal), contacts.normal[i])
        np.testing.assert_array_equal(array(contact.force), contacts.force[i])
        np.testing.assert_array_equal(array(contact.torque), contacts.torque[i])
        assert (contact.gap, contact.friction) == (contacts.gap[i], contacts.friction[i])
        assert contact.state == i
        assert (contact.body_a, contact.body_b) == contacts.bodies[i]
    assert len(message.contacts) == 3


def test_no_contact() -> None:
    data = ContactMessages("world").update(Contacts.none(), stamp(0.0))
    assert len(deserialize_message(data, ContactForces).contacts) == 0


def joint_states(names: list[str], numbers: list[float], time: float) -> JointState:
    message = JointState(name=names, position=numbers[: len(names)], velocity=numbers[len(names) :])
    message.header.stamp = stamp(time)
    return message


def of_joints(message: JointState) -> list[float]:
    return [*message.position, *message.velocity]


@pytest.mark.feature("000-F147")
def test_numbers_are_read_as_rclpy_reads_them_whatever_changes_in_between() -> None:
    reader, rng = NumberReader(JointState, of_joints, write_joints), np.random.default_rng(5)
    for k in range(60):
        names = [["a", "b"], ["a", "bc"], ["a"], []][int(rng.integers(4))]
        numbers = rng.choice([0.0, math.nan, math.inf, -1.5, rng.normal()], 2 * len(names)).tolist()
        data = serialize_message(joint_states(names, numbers, 0.25 * k))
        message, read, time = reader.read(data)
        assert message.name == names
        np.testing.assert_array_equal(read, numbers)
        assert time == 0.25 * k


def test_a_known_form_is_not_read_through_python(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = NumberReader(JointState, of_joints, write_joints)
    reader.read(serialize_message(joint_states(["a"], [1.0, 2.0], 1.0)))
    monkeypatch.setattr(serialized_message, "deserialize_message", None)
    _, numbers, time = reader.read(serialize_message(joint_states(["a"], [3.0, 4.0], 2.5)))
    assert numbers.tolist() == [3.0, 4.0]
    assert time == 2.5


def test_what_is_no_message_is_refused() -> None:
    reader = NumberReader(JointState, of_joints, write_joints)
    whole = serialize_message(joint_states(["a"], [1.0, 2.0], 1.0))
    reader.read(whole)
    with pytest.raises(Exception, match="deserialize"):
        reader.read(whole[:20])


def test_bytes_that_only_align_others_may_be_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other senders leave in them what was in their memory: none of their messages would be read in the short way."""
    reader = NumberReader(JointState, lambda m: [*m.position, *m.velocity], write_joints)
    joints = JointState(name=["a", "bcd"], position=[1.0, 2.0], velocity=[3.0, 4.0])
    data = serialize_message(joints)
    padding = data.index(b"a\0") + 2
    first, _, _ = reader.read(data[:padding] + b"\x11\x22" + data[padding + 2 :])
    assert reader.read(data[:padding] + b"\x33\x44" + data[padding + 2 :])[0] is first
    monkeypatch.setattr(serialized_message, "deserialize_message", None)
    message, numbers, _ = reader.read(data[:padding] + b"\x55\x66" + data[padding + 2 :])
    assert message is first
    assert numbers.tolist() == [1.0, 2.0, 3.0, 4.0]
    monkeypatch.undo()
    joints.name[0] = "b"
    other, _, _ = reader.read(serialize_message(joints))
    assert other.name == ["b", "bcd"]
