# SPDX-License-Identifier: Apache-2.0
"""Smooth distances between strictly convex volumes."""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported

from humanoid_planner.distance.distance_pairs import distance  # noqa: E402
from humanoid_planner.distance.placed_volumes import HalfSpace  # noqa: E402
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume  # noqa: E402

__all__ = ["HalfSpace", "SphereTorusVolume", "distance"]
