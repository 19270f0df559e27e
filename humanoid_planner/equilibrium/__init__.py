# SPDX-License-Identifier: Apache-2.0
"""Tests of static equilibrium: support polygon, contact forces, wrench cones."""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported

from humanoid_planner.equilibrium.contact_points import ContactPoints  # noqa: E402
from humanoid_planner.equilibrium.force_distribution import check_equilibrium  # noqa: E402

__all__ = ["ContactPoints", "check_equilibrium"]
