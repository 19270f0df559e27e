# SPDX-License-Identifier: Apache-2.0
"""Postures in time: trajectories, squats, and following a moving target."""

from humanoid_planner.posture.motion.guide_path import GuidePath
from humanoid_planner.posture.motion.near_guide import NearGuide
from humanoid_planner.posture.motion.reactive import ReactivePosture
from humanoid_planner.posture.motion.spline import SplineBasis
from humanoid_planner.posture.motion.squat import squat_motion
from humanoid_planner.posture.motion.trajectory import TrajectoryProblem, TrajectoryResult
from humanoid_planner.posture.motion.trajectory_program import Grid

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
