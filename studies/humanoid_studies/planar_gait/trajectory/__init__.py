# SPDX-License-Identifier: Apache-2.0
"""Gaits over time: angles, rates, torques, forces and points of all phases."""

from humanoid_studies.planar_gait.trajectory.gait_series import gait_series

__all__ = ["gait_series"]
