# SPDX-License-Identifier: Apache-2.0
"""Kinematics and statics of a robot over plain coordinates, with derivatives."""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported

from humanoid_planner.kinematics.robot_kinematics import RobotKinematics  # noqa: E402

__all__ = ["RobotKinematics"]
