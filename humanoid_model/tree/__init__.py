# SPDX-License-Identifier: Apache-2.0
"""The one tree of a robot's joints as flat arrays, and its compiled kernels: kinematics, Jacobians, dynamics."""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported
