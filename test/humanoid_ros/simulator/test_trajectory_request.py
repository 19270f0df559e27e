# SPDX-License-Identifier: Apache-2.0
"""What a trajectory request may be; the refusals seen by a client are in test_joint_trajectory_server.py."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("control_msgs", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance, JointTolerance
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_ros.simulator.trajectory_request import (
    Tolerances,
    TrajectoryRequestError,
    read_tolerances,
    read_trajectory,
)

JOINTS = ("a", "b", "c")
DEFAULTS = Tolerances.uniform(3, path=0.1, goal=0.2, stopped_velocity=0.01, goal_time=0.5)


def trajectory(names: list[str], *rows: list[float], stamp: int = 0) -> JointTrajectory:
    message = JointTrajectory(joint_names=names)
    message.header.stamp = Time(sec=stamp)
    for index, row in enumerate(rows):
        point = JointTrajectoryPoint(positions=row, time_from_start=Duration(sec=index + 1))
        message.points.append(point)
    return message


def read(message: JointTrajectory, now: float = 0.0, **options: bool) -> object:
    settings = {"partial": False, "moving_end": False, **options}
    return read_trajectory(message, JOINTS, now, **settings)


def test_any_order_of_joints() -> None:
    request = read(trajectory(["c", "a", "b"], [3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(request.indices, [2, 0, 1])
    assert request.start is None


def test_some_of_the_joints_if_allowed() -> None:
    message = trajectory(["c"], [3.0])
    assert read(message, partial=True).indices.tolist() == [2]
    with pytest.raises(TrajectoryRequestError, match="a, b missing"):
        read(message)


def test_start_in_the_past_with_its_end_to_come() -> None:
    message = trajectory(list(JOINTS), [0.0] * 3, [1.0] * 3, stamp=10)
    assert read(message, now=11.5).start == 10.0
    with pytest.raises(TrajectoryRequestError, match=r"ends at 12 s, now is 12\.5 s") as error:
        read(message, now=12.5)
    assert error.value.code == FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP


def test_moving_end_if_allowed() -> None:
    message = trajectory(list(JOINTS), [0.0] * 3)
    message.points[0].velocities = [0.0, 0.0, 0.1]
    assert read(message, moving_end=True).points.end_time == 1.0
    with pytest.raises(TrajectoryRequestError, match=r"joint 'c' at the end is 0\.1"):
        read(message)


def test_zero_keeps_positive_sets_negative_erases() -> None:
    goal = FollowJointTrajectory.Goal()
    goal.path_tolerance = [
        JointTolerance(name="a", position=0.0, velocity=2.0, acceleration=3.0),
        JointTolerance(name="c", position=-1.0),
    ]
    goal.goal_tolerance = [JointTolerance(name="b", position=0.05, velocity=-1.0)]
    tolerances = read_tolerances(goal, JOINTS, DEFAULTS)
    np.testing.assert_array_equal(tolerances.path, [[0.1, 0.1, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    np.testing.assert_array_equal(tolerances.goal, [[0.2, 0.05, 0.2], [0.01, 0.0, 0.01], [0.0, 0.0, 0.0]])
    assert tolerances.goal_time == 0.5
    np.testing.assert_array_equal(DEFAULTS.path[0], [0.1] * 3)


@pytest.mark.parametrize(("sec", "expected"), [(0, 0.5), (2, 2.0), (-1, 0.0)])
def test_goal_time(sec: int, expected: float) -> None:
    goal = FollowJointTrajectory.Goal(goal_time_tolerance=Duration(sec=sec))
    assert read_tolerances(goal, JOINTS, DEFAULTS).goal_time == expected


def test_component_tolerances_are_refused() -> None:
    goal = FollowJointTrajectory.Goal(component_path_tolerance=[JointComponentTolerance()])
    with pytest.raises(TrajectoryRequestError, match="component_path_tolerance: is for joints of"):
        read_tolerances(goal, JOINTS, DEFAULTS)
