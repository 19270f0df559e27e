# SPDX-License-Identifier: Apache-2.0
"""Planar mechanisms with loops: cuts, trees in absolute angles, phase models affine in their controls."""

from humanoid_planner.gait.mechanism.open_mechanism import open_mechanism
from humanoid_planner.gait.mechanism.phase_model import PhaseModel
from humanoid_planner.gait.mechanism.planar_mechanism import PlanarMechanism
from humanoid_planner.gait.mechanism.planar_tree import PlanarTree

__all__ = [
    "PhaseModel",
    "PlanarMechanism",
    "PlanarTree",
    "open_mechanism",
]
