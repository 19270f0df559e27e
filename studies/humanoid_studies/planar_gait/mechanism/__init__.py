# SPDX-License-Identifier: Apache-2.0
"""Planar mechanisms with loops: cuts, trees in absolute angles, phase models affine in their controls."""

from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism

__all__ = ["open_mechanism"]
