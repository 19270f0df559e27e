# SPDX-License-Identifier: Apache-2.0
"""Checks of fields of a request that are messages themselves; each error names the field and its value."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, Vector3
from numpy.typing import NDArray

from humanoid_model.checks import LARGEST, check_numbers
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import array, placement, seconds

MAX_FORCE = 1e7
"""Largest force [N] or torque [N m] that is no mistake."""


def vector(message: Vector3 | Point, field: str, largest: float = LARGEST) -> NDArray[np.float64]:
    """(3,) values of a message.

    Raises:
        InputError: one is not finite, or absurdly large.
    """
    values = array(message)
    check_numbers(values, field, largest)
    return values


def pose(message: Pose, field: str) -> pin.SE3:
    """Return the placement that a pose tells.

    Raises:
        InputError: a number is not finite or absurdly large, or the quaternion is not of unit length.
    """
    vector(message.position, f"{field}.position")
    return placement(message, field)


def time_limit(message: Duration, default: float) -> float:
    """Return the wall-clock time that a request may take [s]; 0 in it takes a node's default.

    Raises:
        InputError: it is negative.
    """
    limit = seconds(message)
    if limit < 0.0:
        raise InputError(
            f"is {limit:g} s", element="time_limit", remedy="Give a duration above 0, or 0 for the node's default"
        )
    return limit or default
