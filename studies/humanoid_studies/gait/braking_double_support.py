# SPDX-License-Identifier: Apache-2.0
"""B4: BIP's braking double support (specification 003 section 4.5)."""

from __future__ import annotations

from humanoid_studies.gait.bip_walk import (
    range_rows,
    reference_rows,
    reference_walk,
    statement_rows,
    walk,
)
from humanoid_studies.gait.experiment_result import ExperimentResult, between, near, told
from humanoid_studies.planar_gait.report.phase_figure import phase_figure


def run() -> ExperimentResult:
    """Within friction, and the reference solution."""
    solution, reference = walk().phases[3], reference_walk().phases[3]
    gap = 1e3 * float(solution.closure_gap.max())
    hip = solution.problem.model.points["hip"].jacobian(solution.q[-1]) @ solution.v[-1]
    rows = (
        near("duration", "thesis", 0.186, solution.duration, "s", absolute=1e-12),
        near("speed of the hip at the end", "thesis", 0.65, float(hip[0]), "m/s", absolute=1e-9),
        told("J_e of the thesis", "thesis", "112.1", solution.energies.total, "J"),
        *statement_rows(solution, 112.1),
        told("closure gap of the thesis", "thesis", "0.3", gap, "mm"),
        between("closure gap", "thesis", gap, "mm", greatest=1.0),
        *reference_rows(reference, 0.175264, 0.47611, 50.5),
        near(
            "reference: closure gap", "reference", 0.82, 1e3 * float(reference.closure_gap.max()), "mm", absolute=0.01
        ),
        *range_rows("N_A2", reference.forces["rear_toe"].normal[:, 0], 588.0, 773.0),
    )
    return ExperimentResult("B4", "BIP, braking double support", rows, lambda: phase_figure(solution))
