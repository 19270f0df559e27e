# SPDX-License-Identifier: Apache-2.0
"""What compares and reproduces: experiments of the theses, other integrators, solvers, baselines, the thesis' script.

Simulator, planner and model generator find its solvers, integrators and language by their names, through the entry
points of this package. ``python -m humanoid_studies`` does the experiments.
"""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported
