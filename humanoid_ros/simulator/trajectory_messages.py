# SPDX-License-Identifier: Apache-2.0
"""Trajectories and tolerances of a controller's clients, and points of its state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_ros.messages.conversions import duration, seconds
from humanoid_sim.control.trajectory_request import (
    GivenTrajectory,
    MotionCode,
    Tolerances,
    TrajectoryRequestError,
)


def given_trajectory(message: JointTrajectoryMessage) -> GivenTrajectory:
    """Return what a message asks for, not checked."""
    points = message.points
    return GivenTrajectory(
        message.joint_names,
        [seconds(point.time_from_start) for point in points],
        (
            [np.array(point.positions) for point in points],
            [_given(point.velocities) for point in points],
            [_given(point.accelerations) for point in points],
        ),
        [np.array(point.effort) for point in points] if any(len(point.effort) for point in points) else None,
        seconds(message.header.stamp) or None,
    )


def read_tolerances(goal: FollowJointTrajectory.Goal, joints: Sequence[str], defaults: Tolerances) -> Tolerances:
    """Return tolerances of a goal: positive values count, 0 keeps the default, a negative one takes the limit away.

    Raises:
        TrajectoryRequestError: an unknown joint, or a value that isn't a number.
    """
    path = _merge(goal.path_tolerance, joints, defaults.path, "path_tolerance")
    end = _merge(goal.goal_tolerance, joints, defaults.goal, "goal_tolerance")
    for field in ("component_path_tolerance", "component_goal_tolerance"):
        if getattr(goal, field):
            raise _refusal("is for joints of several degrees of freedom", field, "Leave it empty")
    given = seconds(goal.goal_time_tolerance)
    goal_time = defaults.goal_time if given == 0.0 else max(given, 0.0)
    return Tolerances(path, end, goal_time)


def check_single_dof(goal: FollowJointTrajectory.Goal) -> None:
    """Refuse what only joints of several degrees of freedom could follow.

    Raises:
        TrajectoryRequestError: the goal has a multi_dof_trajectory.
    """
    multi = goal.multi_dof_trajectory
    if multi.joint_names or multi.points:
        raise _refusal(
            f"names {list(multi.joint_names)}",
            "multi_dof_trajectory",
            "This controller's joints have one degree of freedom each; use trajectory",
        )


def _merge(
    given: Sequence[JointTolerance], joints: Sequence[str], defaults: NDArray[np.float64], field: str
) -> NDArray[np.float64]:
    merged = defaults.copy()
    for tolerance in given:
        if tolerance.name not in joints:
            raise TrajectoryRequestError(
                f"'{tolerance.name}' is none of the controller's joints",
                code=MotionCode.INVALID_JOINTS,
                element=field,
                remedy=f"The controller's joints are {', '.join(joints)}",
            )
        column = joints.index(tolerance.name)
        for row, quantity in enumerate(("position", "velocity", "acceleration")):
            value = getattr(tolerance, quantity)
            if np.isnan(value):
                raise _refusal(
                    f"{quantity} of joint '{tolerance.name}' is nan",
                    field,
                    "Give a positive number, 0 for the default or -1 for no limit",
                )
            if value != 0.0:
                merged[row, column] = max(value, 0.0)
    return merged


def _given(values: Sequence[float]) -> NDArray[np.float64] | None:
    return np.array(values) if len(values) else None


def _refusal(problem: str, element: str, remedy: str) -> TrajectoryRequestError:
    return TrajectoryRequestError(problem, element=element, remedy=remedy)


def trajectory_point(rows: NDArray[np.float64], time: float) -> JointTrajectoryPoint:
    """Point message of positions, velocities and accelerations, (3, n), at a time of a trajectory [s]."""
    point = JointTrajectoryPoint()
    point.positions, point.velocities, point.accelerations = rows.tolist()
    point.time_from_start = duration(time)
    return point
