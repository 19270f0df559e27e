# SPDX-License-Identifier: Apache-2.0
"""Drives of the joints: their limits, friction, feed-forward and trajectories from files (specification 000 §20)."""

from humanoid_sim.actuation.actuator_lag import ActuatorLag, ActuatorSettings
from humanoid_sim.actuation.feedforward import FeedForward
from humanoid_sim.actuation.motors import MotorLimiter, MotorMonitor
from humanoid_sim.actuation.trajectory_player import TrajectoryPlayer

__all__ = ["ActuatorLag", "ActuatorSettings", "FeedForward", "MotorLimiter", "MotorMonitor", "TrajectoryPlayer"]
