# SPDX-License-Identifier: Apache-2.0
"""Motion of mechanisms with loops: commands in, joint positions out, every loop kept closed."""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported
