# SPDX-License-Identifier: Apache-2.0
"""F2: the five-bar mechanism carries its load a large way (specification 003 section 4.1)."""

from __future__ import annotations

import numpy as np

from humanoid_studies.gait.experiment_result import ExperimentResult, between, near, told
from humanoid_studies.gait.five_bar_transfer import base_forces, reference_rows, transfer, transfer_rows
from humanoid_studies.planar_gait.report.phase_figure import phase_figure


def run() -> ExperimentResult:
    """Return the thesis' large transfer beside the small one, and reference solution C."""
    small, large = transfer(0.075, 0.55, 0.5), transfer(0.165, 0.55, 0.5)
    peaks = [np.abs(solution.u[:, :5]).max(axis=0) for solution in (small, large)]
    first, second = base_forces(large)
    rows = (
        near("J_e", "thesis", 40.7, large.energies.total, "J", relative=0.25),
        between("J_e over that of F1", "thesis", large.energies.total / small.energies.total, least=1.0),
        between(
            "least ratio of a joint's torque peak to F1's", "thesis", float((peaks[1] / peaks[0]).min()), least=1.0
        ),
        between("ratio of the largest torques", "thesis", float(peaks[1].max() / peaks[0].max()), least=1.5),
        told("least F_O1y", "thesis", "weight goes to O5", float(first.min()), "N"),
        told("least F_O5y", "thesis", "weight goes to O5", float(second.min()), "N"),
        *transfer_rows(large),
        *reference_rows("C", transfer(0.30, 0.50, 0.1), 0.046761, 0.15597, 92.68, 0.022),
    )
    return ExperimentResult("F2", "Five-bar mechanism, large transfer of a load", rows, lambda: phase_figure(large))
