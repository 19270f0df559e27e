# SPDX-License-Identifier: Apache-2.0
"""Numbers to message fields and back."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("geometry_msgs", reason="ROS 2 is not installed")

from geometry_msgs.msg import Pose, Transform

from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import (
    duration,
    fill_pose,
    fill_transform,
    placement,
    seconds,
    stamp,
)


@given(st.integers(0, 2_000_000), st.sampled_from([1e-3, 5e-4, 1e-2, 1 / 240]))
def test_times_are_exact_to_the_nanosecond(steps: int, dt: float) -> None:
    message = stamp(steps * dt)
    assert 0 <= message.nanosec < 1_000_000_000
    assert abs(message.sec * 1_000_000_000 + message.nanosec - steps * dt * 1e9) <= 1.0
    assert seconds(message) == pytest.approx(steps * dt, abs=1e-9)


def test_negative_duration() -> None:
    message = duration(-1.25)
    assert (message.sec, message.nanosec) == (-2, 750_000_000)
    assert seconds(message) == -1.25


def test_pose_and_transform_of_a_placement() -> None:
    placed = pin.SE3.Random()
    pose, transform = Pose(), Transform()
    fill_pose(pose, placed)
    fill_transform(transform, placed)
    np.testing.assert_allclose(placement(pose, "pose").homogeneous, placed.homogeneous, atol=1e-12)
    turn = transform.rotation
    rotation = pin.Quaternion(turn.w, turn.x, turn.y, turn.z).toRotationMatrix()
    np.testing.assert_allclose(rotation, placed.rotation, atol=1e-12)
    move = transform.translation
    np.testing.assert_allclose([move.x, move.y, move.z], placed.translation)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("position.y", float("inf"), r"p.position: is \[0.0, inf, 0.0\]. Give finite numbers"),
        ("orientation.x", float("nan"), r"p.orientation: is \[nan, 0.0, 0.0, 1.0\]"),
        ("orientation.w", 0.5, r"\[0.0, 0.0, 0.0, 0.5\] has the length 0.5"),
        ("orientation.w", 0.0, "has the length 0. Give a quaternion x, y, z, w of length 1"),
    ],
)
def test_refused_pose(field: str, value: float, message: str) -> None:
    pose = Pose()
    pose.orientation.w = 1.0
    part, name = field.split(".")
    setattr(getattr(pose, part), name, value)
    with pytest.raises(InputError, match=message):
        placement(pose, "p")
