# SPDX-License-Identifier: Apache-2.0
"""A joint trajectory of the library as a message."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_ros.messages.conversions import duration


def floats(row: NDArray[np.float64]) -> array[float]:
    """Return numbers as fields of messages take them without looking at each."""
    return array("d", row.tobytes())


def joint_trajectory_message(
    trajectory: JointTrajectory, *, start: float = 0.0, efforts: bool = True
) -> JointTrajectoryMessage:
    """Return the message of a joint trajectory, with what its points give.

    Args:
        trajectory: of the library.
        start: its time at which the message's trajectory starts [s].
        efforts: whether feed-forward efforts go along.
    """
    message = JointTrajectoryMessage(joint_names=list(trajectory.joint_names))
    tables = {
        "positions": trajectory.positions,
        "velocities": trajectory.velocities,
        "accelerations": trajectory.accelerations,
        "effort": trajectory.efforts if efforts else None,
    }
    for k, time in enumerate(trajectory.times):
        point = JointTrajectoryPoint(time_from_start=duration(float(time - start)))
        for field, table in tables.items():
            if table is not None and not np.isnan(table[k, 0]):
                setattr(point, field, floats(table[k]))
        message.points.append(point)
    return message
