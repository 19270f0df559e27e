# SPDX-License-Identifier: Apache-2.0
"""F1: the five-bar mechanism carries its load a small way (specification 003 section 4.1)."""

from __future__ import annotations

import numpy as np

from humanoid_studies.gait.experiment_result import ExperimentResult, between, near, told
from humanoid_studies.gait.five_bar_transfer import (
    apex_path,
    base_forces,
    reference_rows,
    transfer,
    transfer_rows,
)
from humanoid_studies.planar_gait.report.phase_figure import phase_figure


def run() -> ExperimentResult:
    """Return the thesis' small transfer, and reference solutions A and B."""
    solution = transfer(0.075, 0.55, 0.5)
    torques = np.abs(solution.u[:, :5])
    sample, joint = np.unravel_index(int(torques.argmax()), torques.shape)
    first, second = base_forces(solution)
    rise = float(np.ptp(apex_path(solution)[:, 1]))
    rows = (
        near("J_e", "thesis", 12.0, solution.energies.total, "J", relative=0.25),
        told("joint with the largest torque", "thesis", "O1", float(joint + 1)),
        told("time of the largest torque", "thesis", "at the start", float(solution.t[sample]), "s"),
        between("load's path: curved by", "thesis", 1e3 * rise, "mm", least=1.0),
        told("least F_O1y", "thesis", "almost always positive", float(first.min()), "N"),
        told("least F_O5y", "thesis", "slightly negative at the start", float(second.min()), "N"),
        *transfer_rows(solution),
        *reference_rows("A", transfer(0.10, 0.60, 0.1), 0.014520, 0.00926, 10.06, 0.009),
        *reference_rows("B", transfer(0.15, 0.60, 1.0), 0.044464, 0.05985, 41.21, 0.017),
    )
    return ExperimentResult("F1", "Five-bar mechanism, small transfer of a load", rows, lambda: phase_figure(solution))
