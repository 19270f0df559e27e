# SPDX-License-Identifier: Apache-2.0
"""Postures from which a robot sees what it should."""

from humanoid_planner.posture.observation.next_best_view import next_best_view
from humanoid_planner.posture.observation.observation import observation_postures
from humanoid_planner.posture.observation.voxel_model import VoxelModel

__all__ = ["VoxelModel", "next_best_view", "observation_postures"]
