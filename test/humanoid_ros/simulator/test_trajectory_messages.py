# SPDX-License-Identifier: Apache-2.0
"""Trajectories and tolerances of clients in the library's terms."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("control_msgs", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance, JointTolerance
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_ros.simulator.joint_trajectory_server import given_trajectory, read_tolerances
from humanoid_sim.control.trajectory_request import MotionCode, Tolerances, TrajectoryRequestError

JOINTS = ("a", "b", "c")
DEFAULTS = Tolerances.uniform(3, path=0.1, goal=0.2, stopped_velocity=0.01, goal_time=0.5)


def test_codes_are_those_of_the_action() -> None:
    for code in MotionCode:
        assert getattr(FollowJointTrajectory.Result, code.name) == code.value


def test_fields_are_read_and_empty_ones_are_none() -> None:
    message = JointTrajectory(joint_names=["a"])
    message.points = [
        JointTrajectoryPoint(positions=[1.0], velocities=[0.5], time_from_start=Duration(nanosec=250_000_000)),
        JointTrajectoryPoint(positions=[2.0], time_from_start=Duration(sec=1)),
    ]
    given = given_trajectory(message)
    assert (given.joint_names, given.times, given.start, given.efforts) == (["a"], [0.25, 1.0], None, None)
    assert [row.tolist() for row in given.rows[0] if row is not None] == [[1.0], [2.0]]
    assert given.rows[1][0] == [0.5]
    assert given.rows[1][1] is None
    assert given.rows[2] == [None, None]
    message.header.stamp = Time(sec=3)
    message.points[0].effort = [4.0]
    given = given_trajectory(message)
    assert given.start == 3.0
    assert given.efforts is not None
    assert [effort.tolist() for effort in given.efforts] == [[4.0], []]


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
