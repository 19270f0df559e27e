# SPDX-License-Identifier: Apache-2.0
"""Postures in time: trajectories, squats, and following a moving target."""

from humanoid_planner.posture.motion.guide import NearGuide
from humanoid_planner.posture.motion.squat import squat_motion

__all__ = ["NearGuide", "squat_motion"]
