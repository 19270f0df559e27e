# SPDX-License-Identifier: Apache-2.0
"""What makes joints move: trajectories and position control."""

from humanoid_sim.control.trajectory import JointTrajectory, TrajectorySample

__all__ = ["JointTrajectory", "TrajectorySample"]
