# SPDX-License-Identifier: Apache-2.0
"""Motions along plans of contacts: ways between postures, time laws, forces and torques."""

from humanoid_planner.motion.generate_motion import generate_motion
from humanoid_planner.motion.motion import MotionResult, MotionSettings, PlannedPostures

__all__ = ["MotionResult", "MotionSettings", "PlannedPostures", "generate_motion"]
