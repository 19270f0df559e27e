# SPDX-License-Identifier: Apache-2.0
"""Gaits as controllers take them: the robot's joints, torques, contacts and forces over time (003-F111)."""

from humanoid_studies.planar_gait.trajectory.from_solution import gait_trajectory
from humanoid_studies.planar_gait.trajectory.gait_series import gait_series
from humanoid_studies.planar_gait.trajectory.gait_trajectory import GaitTrajectory
from humanoid_studies.planar_gait.trajectory.trajectory_files import (
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
