# SPDX-License-Identifier: Apache-2.0
"""Postures that hold a stance: the problem, its solution, and the reason when there is none."""

from pathlib import Path

from humanoid_model.kernel_cache import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported
