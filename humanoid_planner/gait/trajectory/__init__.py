# SPDX-License-Identifier: Apache-2.0
"""Gaits as controllers take them: the robot's joints, torques, contacts and forces over time (003-F111)."""

from humanoid_planner.gait.trajectory.from_solution import gait_trajectory
from humanoid_planner.gait.trajectory.gait_series import gait_series
from humanoid_planner.gait.trajectory.gait_trajectory import GaitTrajectory
from humanoid_planner.gait.trajectory.trajectory_files import (
    load_gait_trajectory,
    save_gait_trajectory,
    write_gait_json,
    write_joints,
)

__all__ = [
    "GaitTrajectory",
    "gait_series",
    "gait_trajectory",
    "load_gait_trajectory",
    "save_gait_trajectory",
    "write_gait_json",
    "write_joints",
]
