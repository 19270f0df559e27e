# SPDX-License-Identifier: Apache-2.0
"""Postures in time: trajectories, squats, and following a moving target."""

from humanoid_planner.posture.motion.guide import GuidePath, NearGuide
from humanoid_planner.posture.motion.reactive import ReactivePosture
from humanoid_planner.posture.motion.squat import squat_motion
from humanoid_planner.posture.motion.trajectory import TrajectoryProblem, TrajectoryResult
from humanoid_planner.posture.motion.trajectory_program import Grid, SplineBasis

__all__ = [
    "Grid",
    "GuidePath",
    "NearGuide",
    "ReactivePosture",
    "SplineBasis",
    "TrajectoryProblem",
    "TrajectoryResult",
    "squat_motion",
]
