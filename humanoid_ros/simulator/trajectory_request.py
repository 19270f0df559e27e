# SPDX-License-Identifier: Apache-2.0
"""Requests to a joint trajectory controller: messages checked and put in the controller's joint order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import duration, seconds
from humanoid_sim.control import JointTrajectory

MAX_DELAY = 86400.0
"""A trajectory that starts later than this has a stamp of another clock [s]."""
MAX_END_VELOCITY = float(np.finfo(np.float32).eps)
"""Velocity at the end of a trajectory that counts as zero [rad/s or m/s], as in ros2_control."""


class TrajectoryRequestError(InputError):
    """A trajectory can't be executed.

    Attributes:
        code: error code of FollowJointTrajectory's result.
    """

    def __init__(
        self,
        problem: str,
        *,
        code: int,
        element: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(problem, element=element, remedy=remedy)
        self.code = code


@dataclass(frozen=True)
class Tolerances:
    """How far joints may be from a trajectory; 0 is no limit.

    Attributes:
        path: while moving: position, velocity, acceleration [rad or m, and per s, s^2], shape (3, n).
        goal: at the end, likewise.
        goal_time: how much later than the trajectory's end the goal may be reached [s]; 0: any time.
    """

    path: NDArray[np.float64]
    goal: NDArray[np.float64]
    goal_time: float

    @classmethod
    def uniform(cls, count: int, path: float, goal: float, stopped_velocity: float, goal_time: float) -> Tolerances:
        """The same for all joints.

        Args:
            count: number of joints.
            path: position tolerance while moving [rad or m].
            goal: position tolerance at the end [rad or m].
            stopped_velocity: velocity tolerance at the end [rad/s or m/s].
            goal_time: time tolerance of the end [s].
        """
        path_rows, goal_rows = np.zeros((3, count)), np.zeros((3, count))
        path_rows[0] = path
        goal_rows[0] = goal
        goal_rows[1] = stopped_velocity
        return cls(path_rows, goal_rows, goal_time)


@dataclass(frozen=True)
class TrajectoryRequest:
    """A checked trajectory of some of a controller's joints.

    Attributes:
        indices: the joints, as places in the controller's list, shape (n,).
        start: simulated time at which the trajectory starts [s]; None: at once.
        points: its points; times count from ``start``.
        rows: positions, velocities and accelerations per point as given; None where nothing is.
        efforts: feed-forward efforts per point [N m or N], (n,) each; None if there are none.
    """

    indices: NDArray[np.int64]
    start: float | None
    points: JointTrajectory
    rows: tuple[list[NDArray[np.float64] | None], ...]
    efforts: list[NDArray[np.float64]] | None = None


def read_trajectory(
    message: JointTrajectoryMessage,
    joints: Sequence[str],
    now: float,
    *,
    partial: bool,
    moving_end: bool,
) -> TrajectoryRequest:
    """Check a trajectory and put it in a controller's terms.

    Args:
        message: the trajectory.
        joints: joints of the controller.
        now: simulated time [s].
        partial: whether joints may be left out.
        moving_end: whether the last point may have a velocity.

    Raises:
        TrajectoryRequestError: what joint_trajectory_controller refuses: unknown, missing or repeated
            joints, no points, lengths that don't match, values that aren't finite, times that don't increase, a
            moving end, efforts of some points alone, or an end that has passed.
    """
    indices = _joint_indices(message.joint_names, joints, partial)
    points = message.points
    if not points:
        raise _invalid("the trajectory is empty", "points", "Give at least one point")
    times = [seconds(point.time_from_start) for point in points]
    if times[0] < 0.0:
        raise _invalid(f"time_from_start is {times[0]:g} s", "points[0]", "Times are 0 s or more and increase")
    rows: tuple[list[NDArray[np.float64] | None], ...] = (
        [np.array(point.positions) for point in points],
        [_given(point.velocities) for point in points],
        [_given(point.accelerations) for point in points],
    )
    efforts = [np.array(point.effort) for point in points] if any(len(point.effort) for point in points) else None
    try:
        trajectory = JointTrajectory(message.joint_names, times, *rows, efforts=efforts)
    except InputError as error:
        raise _invalid(error.problem, error.element, error.remedy) from error
    last = points[-1].velocities
    if not moving_end:
        for name, velocity in zip(message.joint_names, last, strict=bool(len(last))):
            if abs(velocity) > MAX_END_VELOCITY:
                raise _invalid(
                    f"the velocity of joint '{name}' at the end is {velocity:g}",
                    f"points[{len(points) - 1}]",
                    "Let the trajectory end at rest, or set allow_nonzero_velocity_at_trajectory_end",
                )
    start = _start(message, times[-1], now)
    return TrajectoryRequest(indices, start, trajectory, rows, efforts)


def read_tolerances(goal: FollowJointTrajectory.Goal, joints: Sequence[str], defaults: Tolerances) -> Tolerances:
    """Tolerances of a goal: positive values count, 0 keeps the default, a negative one takes the limit away.

    Raises:
        TrajectoryRequestError: an unknown joint, or a value that isn't a number.
    """
    path = _merge(goal.path_tolerance, joints, defaults.path, "path_tolerance")
    end = _merge(goal.goal_tolerance, joints, defaults.goal, "goal_tolerance")
    for field in ("component_path_tolerance", "component_goal_tolerance"):
        if getattr(goal, field):
            raise _invalid("is for joints of several degrees of freedom", field, "Leave it empty")
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
        raise _invalid(
            f"names {list(multi.joint_names)}",
            "multi_dof_trajectory",
            "This controller's joints have one degree of freedom each; use trajectory",
        )


def _joint_indices(names: Sequence[str], joints: Sequence[str], partial: bool) -> NDArray[np.int64]:
    remedy = f"The controller's joints are {', '.join(joints)}"
    code = FollowJointTrajectory.Result.INVALID_JOINTS

    def refuse(problem: str) -> TrajectoryRequestError:
        return TrajectoryRequestError(problem, code=code, element="joint_names", remedy=remedy)

    if not names:
        raise refuse("no joint is named")
    for index, name in enumerate(names):
        if name not in joints:
            raise refuse(f"'{name}' is none of the controller's joints")
        if name in names[:index]:
            raise refuse(f"'{name}' occurs twice")
    missing = [name for name in joints if name not in names]
    if missing and not partial:
        raise refuse(f"{', '.join(missing)} missing and allow_partial_joints_goal is false")
    return np.array([joints.index(name) for name in names], dtype=np.int64)


def _start(message: JointTrajectoryMessage, length: float, now: float) -> float | None:
    start = seconds(message.header.stamp)
    if start == 0.0:
        return None
    if start + length < now:
        raise TrajectoryRequestError(
            f"the trajectory starts at {start:g} s and ends at {start + length:g} s, now is {now:g} s",
            code=FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP,
            element="header.stamp",
            remedy="Give a later stamp, or 0 to start at once",
        )
    if start > now + MAX_DELAY:
        raise _invalid(
            f"the trajectory starts at {start:.9g} s, now is {now:g} s",
            "header.stamp",
            "Stamps are simulated time: set use_sim_time, or give 0 to start at once",
        )
    return start


def _merge(
    given: Sequence[JointTolerance], joints: Sequence[str], defaults: NDArray[np.float64], field: str
) -> NDArray[np.float64]:
    merged = defaults.copy()
    for tolerance in given:
        if tolerance.name not in joints:
            raise TrajectoryRequestError(
                f"'{tolerance.name}' is none of the controller's joints",
                code=FollowJointTrajectory.Result.INVALID_JOINTS,
                element=field,
                remedy=f"The controller's joints are {', '.join(joints)}",
            )
        column = joints.index(tolerance.name)
        for row, quantity in enumerate(("position", "velocity", "acceleration")):
            value = getattr(tolerance, quantity)
            if np.isnan(value):
                raise _invalid(
                    f"{quantity} of joint '{tolerance.name}' is nan",
                    field,
                    "Give a positive number, 0 for the default or -1 for no limit",
                )
            if value != 0.0:
                merged[row, column] = max(value, 0.0)
    return merged


def _given(values: Sequence[float]) -> NDArray[np.float64] | None:
    return np.array(values) if len(values) else None


def _invalid(problem: str, element: str | None, remedy: str | None) -> TrajectoryRequestError:
    return TrajectoryRequestError(
        problem,
        code=FollowJointTrajectory.Result.INVALID_GOAL,
        element=element,
        remedy=remedy,
    )


def trajectory_point(rows: NDArray[np.float64], time: float) -> JointTrajectoryPoint:
    """Point message of positions, velocities and accelerations, (3, n), at a time of a trajectory [s]."""
    point = JointTrajectoryPoint()
    point.positions, point.velocities, point.accelerations = rows.tolist()
    point.time_from_start = duration(time)
    return point
