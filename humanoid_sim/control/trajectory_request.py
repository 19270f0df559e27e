# SPDX-License-Identifier: Apache-2.0
"""Trajectories that a controller is asked to follow, checked as joint_trajectory_controller checks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory

MAX_DELAY = 86400.0
"""A trajectory that starts later than this has a stamp of another clock [s]."""
MAX_END_VELOCITY = float(np.finfo(np.float32).eps)
"""Velocity at the end of a trajectory that counts as zero [rad/s or m/s], as in ros2_control."""
POSITION_MARGIN = 1e-3
"""So far beyond a limit a joint is at it: its stop gives way a little, and files round [rad or m]."""
SPEED_MARGIN = 0.02
"""Share of a speed limit by which what was planned for it may exceed it: polynomials aren't the planner's own."""
START_MARGIN = 0.05
"""A first point may be so far beside where its joint is, whatever the time for it [rad or m]."""
_SHARES = np.linspace(0.0, 1.0, 9)
"""Places between two points at which their polynomial is looked at."""


class MotionCode(IntEnum):
    """How following a trajectory ends; names and values are those of `control_msgs/FollowJointTrajectory`'s result."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class TrajectoryRequestError(InputError):
    """A trajectory can't be executed.

    Attributes:
        code: in one word.
    """

    def __init__(
        self,
        problem: str,
        *,
        code: MotionCode = MotionCode.INVALID_GOAL,
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
        """Return the same for all joints.

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
class JointLimits:
    """What a controller's n joints can do; infinite where nothing limits them.

    Attributes:
        lower: (n,) lowest positions [rad or m].
        upper: (n,) highest positions [rad or m].
        velocity: (n,) largest speeds [rad/s or m/s].
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    velocity: NDArray[np.float64]

    @classmethod
    def none(cls, count: int) -> JointLimits:
        """Return those of joints that nothing limits."""
        return cls(np.full(count, -np.inf), np.full(count, np.inf), np.full(count, np.inf))


@dataclass(frozen=True)
class GivenTrajectory:
    """A trajectory as it is asked for, not checked.

    Attributes:
        joint_names: the n joints.
        times: (k,) from its start [s].
        rows: positions, velocities and accelerations per point, (n,) each; None where nothing is given.
        efforts: feed-forward efforts per point [N m or N]; None if there are none.
        start: simulated time at which it starts [s]; None: at once.
    """

    joint_names: Sequence[str]
    times: Sequence[float]
    rows: tuple[list[NDArray[np.float64] | None], ...]
    efforts: list[NDArray[np.float64]] | None = None
    start: float | None = None


@dataclass(frozen=True)
class TrajectoryRequest:
    """A checked trajectory of some of a controller's joints.

    Attributes:
        indices: the joints, as places in the controller's list, shape (n,).
        start: simulated time at which the trajectory starts [s]; None: at once.
        points: its points; times count from ``start``.
    """

    indices: NDArray[np.int64]
    start: float | None
    points: JointTrajectory


def check_trajectory(
    given: GivenTrajectory,
    joints: Sequence[str],
    now: float,
    *,
    limits: JointLimits,
    partial: bool,
    moving_end: bool,
) -> TrajectoryRequest:
    """Check a trajectory and put it in a controller's terms.

    Args:
        given: the trajectory.
        joints: joints of the controller.
        now: simulated time [s].
        limits: of the controller's joints.
        partial: whether joints may be left out.
        moving_end: whether the last point may have a velocity.

    Raises:
        TrajectoryRequestError: what joint_trajectory_controller refuses: unknown, missing or repeated
            joints, no points, lengths that don't match, values that aren't finite, times that don't increase, a
            moving end, efforts of some points alone, or an end that has passed; and what the joints can't do, at
            points or between them.
    """
    indices = _joint_indices(given.joint_names, joints, partial)
    times = given.times
    if not len(times):
        raise TrajectoryRequestError("the trajectory is empty", element="points", remedy="Give at least one point")
    if times[0] < 0.0:
        raise TrajectoryRequestError(
            f"time_from_start is {times[0]:g} s", element="points[0]", remedy="Times are 0 s or more and increase"
        )
    try:
        trajectory = JointTrajectory(given.joint_names, times, *given.rows, efforts=given.efforts)
    except InputError as error:
        raise TrajectoryRequestError(error.problem, element=error.element, remedy=error.remedy) from error
    last = given.rows[1][-1]
    if not moving_end and last is not None:
        for name, velocity in zip(given.joint_names, last, strict=True):
            if abs(velocity) > MAX_END_VELOCITY:
                raise TrajectoryRequestError(
                    f"the velocity of joint '{name}' at the end is {velocity:g}",
                    element=f"points[{len(times) - 1}]",
                    remedy="Let the trajectory end at rest, or set allow_nonzero_velocity_at_trajectory_end",
                )
    _check_limits(trajectory, limits, indices)
    _check_start(given.start, times[-1], now)
    return TrajectoryRequest(indices, given.start, trajectory)


def check_way(
    joined: JointTrajectory, begin: NDArray[np.float64], time: float, point: int, limits: JointLimits
) -> None:
    """Check that joints can go from where they are to where a trajectory begins.

    Args:
        joined: the trajectory of all joints of the controller, that way before it; what comes later was checked with
            the trajectory.
        begin: (n,) where the joints are [rad or m].
        time: that the way takes [s]; 0: there is none, the trajectory begins elsewhere at once.
        point: place in the request of the point that they go to.
        limits: of the joints.

    Raises:
        TrajectoryRequestError: a joint is too slow for it.
    """
    _, positions, velocities = joined.looks(_SHARES)
    if time > 0.0:
        end, speed = positions[len(_SHARES) - 1], np.abs(velocities[: len(_SHARES)]).max(axis=0)
        bound = limits.velocity * (1.0 + SPEED_MARGIN) + START_MARGIN / time
    else:
        end, bound = positions[0], limits.velocity
        speed = np.where(np.abs(end - begin) > START_MARGIN, np.inf, 0.0)
    if (speed > bound).any():
        j = int(np.argmax(speed > bound))
        raise TrajectoryRequestError(
            f"joint '{joined.joint_names[j]}' is at {begin[j]:.4g}; to be at {end[j]:.4g} {time:.4g} s later its "
            f"velocity would be {speed[j]:.4g}",
            element=f"points[{point}]",
            remedy=f"Its limit is {limits.velocity[j]:.4g}: give it more time",
        )


def _check_limits(trajectory: JointTrajectory, limits: JointLimits, indices: NDArray[np.int64]) -> None:
    times, positions, velocities = trajectory.looks(_SHARES)
    most = limits.velocity[indices]
    for quantity, values, low, high, margin in (
        ("position", positions, limits.lower[indices], limits.upper[indices], POSITION_MARGIN),
        ("velocity", velocities, -most, most, SPEED_MARGIN * most),
    ):
        beyond = np.maximum(low - values, values - high) - margin
        if (beyond > 0.0).any():
            look, j = np.unravel_index(np.argmax(beyond), beyond.shape)
            # The speed with which a polynomial begins is that of the way to the next point.
            ahead = quantity == "velocity" and look % len(_SHARES) == 0
            raise TrajectoryRequestError(
                f"{quantity} of joint '{trajectory.joint_names[j]}' is {values[look, j]:.4g} at {times[look]:.4g} s",
                element=f"points[{np.searchsorted(trajectory.times, times[look] + (1e-9 if ahead else -1e-9))}]",
                remedy=f"Its limits are {low[j]:.4g} and {high[j]:.4g}",
            )


def _joint_indices(names: Sequence[str], joints: Sequence[str], partial: bool) -> NDArray[np.int64]:
    remedy = f"The controller's joints are {', '.join(joints)}"

    def refuse(problem: str) -> TrajectoryRequestError:
        return TrajectoryRequestError(problem, code=MotionCode.INVALID_JOINTS, element="joint_names", remedy=remedy)

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


def _check_start(start: float | None, length: float, now: float) -> None:
    if start is None:
        return
    if start + length < now:
        raise TrajectoryRequestError(
            f"the trajectory starts at {start:g} s and ends at {start + length:g} s, now is {now:g} s",
            code=MotionCode.OLD_HEADER_TIMESTAMP,
            element="header.stamp",
            remedy="Give a later stamp, or 0 to start at once",
        )
    if start > now + MAX_DELAY:
        raise TrajectoryRequestError(
            f"the trajectory starts at {start:.9g} s, now is {now:g} s",
            element="header.stamp",
            remedy="Stamps are simulated time: set use_sim_time, or give 0 to start at once",
        )
