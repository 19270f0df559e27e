# SPDX-License-Identifier: Apache-2.0
"""Postures in time: trajectories, squats, and following a moving target."""

from humanoid_planner.posture.motion.guide import NearGuide
from humanoid_planner.posture.motion.reactive import ReactivePosture
from humanoid_planner.posture.motion.squat import squat_motion
from humanoid_planner.posture.motion.trajectory import TrajectoryProblem

__all__ = ["NearGuide", "ReactivePosture", "TrajectoryProblem", "squat_motion"]
