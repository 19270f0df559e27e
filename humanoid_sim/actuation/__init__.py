# SPDX-License-Identifier: Apache-2.0
"""Drives of the joints: their limits, friction, feed-forward and trajectories from files (specification 000 §20)."""

from humanoid_sim.actuation.feedforward import FeedForward
from humanoid_sim.actuation.motor_limiter import MotorLimiter
from humanoid_sim.actuation.motor_monitor import MotorMonitor
from humanoid_sim.actuation.trajectory_file import read_joint_trajectory
from humanoid_sim.actuation.trajectory_player import TrajectoryPlayer

__all__ = ["FeedForward", "MotorLimiter", "MotorMonitor", "TrajectoryPlayer", "read_joint_trajectory"]
