# SPDX-License-Identifier: Apache-2.0
"""Postures in time: trajectories, squats, and following a moving target."""

from humanoid_planner.posture.motion.squat import SquatMotion, squat_motion

__all__ = ["SquatMotion", "squat_motion"]
