# SPDX-License-Identifier: Apache-2.0
"""Sagittal gaits lifted to the whole robot: lateral sway, inverse kinematics, dynamic filter, ground forces."""

from humanoid_studies.planar_gait.lift.level_walk import SWING_FROM_REST, level_lift, level_walk, with_reserves
from humanoid_studies.planar_gait.lift.lifted_gait import LiftedGait, LiftSettings, lift_gait
from humanoid_studies.planar_gait.lift.whole_trajectory import whole_trajectory

__all__ = [
    "SWING_FROM_REST",
    "LiftSettings",
    "LiftedGait",
    "level_lift",
    "level_walk",
    "lift_gait",
    "whole_trajectory",
    "with_reserves",
]
