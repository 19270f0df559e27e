# SPDX-License-Identifier: Apache-2.0
"""Fields of messages from YAML and back, and what is said of those that don't fit."""

import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import DeviceState
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import ByteMultiArray, Float32, String, UInt8

from humanoid_model import InputError
from humanoid_ros.messages.message_fields import fill_fields, plain_fields

pytestmark = pytest.mark.feature("000-F028")


def test_what_is_written_is_read():
    values = yaml.safe_load("{header: {frame_id: a, stamp: {sec: 3}}, name: [b, c], position: [1, 2.5e0, 1e-3]}")
    message = JointState()
    fill_fields(message, values)
    assert (message.header.frame_id, message.header.stamp.sec, message.name) == ("a", 3, ["b", "c"])
    assert list(message.position) == [1.0, 2.5, 1e-3]  # YAML takes 1e-3 for a text
    told = plain_fields(message)
    again = JointState()
    fill_fields(again, yaml.safe_load(yaml.safe_dump(told)))
    assert again == message


def test_arrays_of_fixed_length_and_bytes():
    message = Imu()
    fill_fields(message, {"orientation_covariance": [1, *[0] * 8]})
    assert plain_fields(message)["orientation_covariance"] == [1.0, *[0.0] * 8]
    data = ByteMultiArray()
    fill_fields(data, {"data": [1, 255]})
    assert plain_fields(data)["data"] == [1, 255]


def test_long_lists_and_texts_are_cut_where_asked():
    message = JointState(name=["a" * 9] * 5)
    assert plain_fields(message, 4)["name"] == [*["aaaa..."] * 4, "..."]
    assert plain_fields(message, arrays=False)["name"] == "<5 items>"


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        (String, "{daat: a}", "daat: there is no field 'daat'. Known are: data"),
        (String, "{data: 5}", "data: is 5. Give a text, in quotes"),
        (String, "[a]", "values: is ['a']. Give fields by name: data"),
        (UInt8, "{data: 256}", "data: is 256. Give a whole number from 0 to 255"),
        (UInt8, "{data: 1.5}", "data: is 1.5. Give a whole number from 0 to 255"),
        (UInt8, "{data: true}", "data: is True. Give a whole number from 0 to 255"),
        (Float32, "{data: 1e+39}", "Give a number that fits float"),
        (JointState, "{position: 1}", "position: is 1. Give a list"),
        (JointState, "{position: [0, x]}", "position[1]: is 'x'. Give a number that fits double"),
        (JointState, "{header: {stamp: {sec: 3000000000}}}", "header.stamp.sec: is 3000000000. Give a whole number"),
        (Imu, "{orientation_covariance: [1]}", "orientation_covariance: is [1]. Give a list of 9 items"),
        (DeviceState, "{pose: {position: 1}}", "pose.position: is 1. Give fields by name: x, y, z"),
    ],
)
def test_what_does_not_fit_is_named(kind, values, told):
    with pytest.raises(InputError) as caught:
        fill_fields(kind(), yaml.safe_load(values))
    assert told in str(caught.value)
