# SPDX-License-Identifier: Apache-2.0
"""Numbers of the library to fields of ROS messages and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Transform, Vector3

from humanoid_model.errors import InputError

QUATERNION_TOLERANCE = 1e-3
"""A quaternion whose length differs from 1 by more than this is a mistake, not rounding."""


def stamp(seconds: float) -> Time:
    """Time message of a time of 0 s or more, to the nearest nanosecond."""
    sec, nanosec = divmod(round(seconds * 1e9), 1_000_000_000)
    return Time(sec=sec, nanosec=nanosec)


def duration(seconds: float) -> Duration:
    """Duration message of a time span, to the nearest nanosecond."""
    sec, nanosec = divmod(round(seconds * 1e9), 1_000_000_000)
    return Duration(sec=sec, nanosec=nanosec)


def seconds(time: Time | Duration) -> float:
    """Time or duration message in s."""
    return float(time.sec + 1e-9 * time.nanosec)


def fill_vector(vector: Vector3 | Point, values: Sequence[float] | np.ndarray) -> None:
    """Write (3,) values into a Vector3 or a Point."""
    vector.x, vector.y, vector.z = float(values[0]), float(values[1]), float(values[2])


def fill_quaternion(quaternion: Any, values: Sequence[float] | np.ndarray) -> None:
    """Write (4,) values x, y, z, w into a Quaternion."""
    fill_vector(quaternion, values)
    quaternion.w = float(values[3])


def fill_transform(transform: Transform, placement: pin.SE3) -> None:
    """Write a placement into a Transform."""
    values = pin.SE3ToXYZQUAT(placement).tolist()
    fill_vector(transform.translation, values)
    fill_quaternion(transform.rotation, values[3:])


def fill_pose(pose: Pose, placement: pin.SE3) -> None:
    """Write a placement into a Pose."""
    values = pin.SE3ToXYZQUAT(placement).tolist()
    fill_vector(pose.position, values)
    fill_quaternion(pose.orientation, values[3:])


def vector(values: Sequence[float] | np.ndarray) -> Vector3:
    """Vector3 of (3,) values."""
    return Vector3(x=float(values[0]), y=float(values[1]), z=float(values[2]))


def point(values: Sequence[float] | np.ndarray) -> Point:
    """Return the point of (3,) values."""
    return Point(x=float(values[0]), y=float(values[1]), z=float(values[2]))


def array(vector: Vector3 | Point) -> np.ndarray:
    """Return values of a Vector3 or Point, shape (3,)."""
    return np.array([vector.x, vector.y, vector.z])


def placement(pose: Pose, field: str) -> pin.SE3:
    """Return the placement that a Pose tells.

    Args:
        pose: the message.
        field: its name, for the error message.

    Raises:
        InputError: a number is not finite, or the quaternion is not of unit length.
    """
    position = array(pose.position)
    turn = pose.orientation
    quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
    check_finite(position, f"{field}.position")
    check_finite(quaternion, f"{field}.orientation")
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise InputError(
            f"the quaternion {quaternion.tolist()} has the length {length:g}",
            element=f"{field}.orientation",
            remedy="Give a quaternion x, y, z, w of length 1",
        )
    return pin.XYZQUATToSE3(np.concatenate([position, quaternion / length]))


def check_finite(values: np.ndarray, field: str) -> None:
    """Raise an InputError that names the field if a value is infinite or not a number."""
    if not np.isfinite(values).all():
        raise InputError(f"is {values.tolist()}", element=field, remedy="Give finite numbers")
