# SPDX-License-Identifier: Apache-2.0
"""What compares and reproduces: experiments of the theses, other integrators, solvers, baselines."""

from pathlib import Path

from humanoid_model.kernel_cache import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported

from humanoid_studies.integration.registration import register as register_integrators  # noqa: E402

register_integrators()
