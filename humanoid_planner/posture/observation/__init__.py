# SPDX-License-Identifier: Apache-2.0
"""Postures from which a robot sees what it should."""

from humanoid_planner.posture.observation.next_best_view import (
    MountedCamera,
    NextBestView,
    SlidingFeet,
    ViewSearch,
    next_best_view,
)
from humanoid_planner.posture.observation.observation import (
    Eye,
    PairedFeet,
    View,
    observation_postures,
    observation_task,
)
from humanoid_planner.posture.observation.unknown_area import unknown_area
from humanoid_planner.posture.observation.voxel_model import PinholeCamera, VoxelModel, VoxelState, look_at

__all__ = [
    "Eye",
    "MountedCamera",
    "NextBestView",
    "PairedFeet",
    "PinholeCamera",
    "SlidingFeet",
    "View",
    "ViewSearch",
    "VoxelModel",
    "VoxelState",
    "look_at",
    "next_best_view",
    "observation_postures",
    "observation_task",
    "unknown_area",
]
