# SPDX-License-Identifier: Apache-2.0
"""What compares and reproduces: experiments of the theses, other integrators, solvers, baselines.

``import humanoid_studies`` makes the solvers and integrators of this package known to simulator and planner by their
names; their modules are imported when they are first used. ``python -m humanoid_studies`` does the experiments.
"""

from pathlib import Path

from humanoid_model.kernel_cache import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported

from humanoid_studies.registration import register  # noqa: E402

register()
