# SPDX-License-Identifier: Apache-2.0
"""Motions along plans of contacts: ways between postures, time laws, forces and torques."""

from humanoid_planner.motion.generate_motion import generate_motion
from humanoid_planner.motion.motion import (
    MotionResult,
    MotionSettings,
    PlannedPostures,
    find_transitions,
    stabiliser_events,
    waist_references,
)
from humanoid_planner.motion.stance_postures import stances_of, with_reserve

__all__ = [
    "MotionResult",
    "MotionSettings",
    "PlannedPostures",
    "find_transitions",
    "generate_motion",
    "stabiliser_events",
    "stances_of",
    "waist_references",
    "with_reserve",
]
