# SPDX-License-Identifier: Apache-2.0
"""B2: BIP's cyclic double support (specification 003 section 4.5)."""

from __future__ import annotations

from humanoid_studies.gait.bip_walk import (
    most_loaded,
    range_rows,
    reference_rows,
    reference_walk,
    statement_rows,
    torque_row,
    walk,
)
from humanoid_studies.gait.experiment_result import ExperimentResult, Row, between, near, told
from humanoid_studies.planar_gait.report.phase_figure import phase_figure


def run() -> ExperimentResult:
    """Within friction, and the reference solution."""
    solution, reference = walk().phases[1], reference_walk().phases[1]
    rear, front = reference.forces["rear_toe"], reference.forces["front_foot"]
    loaded = most_loaded(solution)
    slap = reference.problem.model.slap(reference.q)[:, 0]
    toe = solution.forces["front_foot"].normal[:, 1]
    rows = (
        near("duration", "thesis", 0.17, solution.duration, "s", absolute=1e-12),
        told("J_e of the thesis", "thesis", "96.3", solution.energies.total, "J"),
        *statement_rows(solution, 96.3),
        told("closure gap of the thesis", "thesis", "0.3", 1e3 * float(solution.closure_gap.max()), "mm"),
        between("closure gap", "thesis", 1e3 * float(solution.closure_gap.max()), "mm", greatest=1.0),
        near("least toe force N_B2, saturated", "thesis", 6.0, float(toe.min()), "N", absolute=1e-3),
        Row(
            "the ankle is the most loaded joint", "thesis", "C12", float(loaded[0] == "C12"), passes=loaded[0] == "C12"
        ),
        *reference_rows(reference, 0.206606, 3.47645, 49.8),
        near(
            "reference: closure gap", "reference", 0.97, 1e3 * float(reference.closure_gap.max()), "mm", absolute=0.01
        ),
        *range_rows("F_B1", front.normal[:, 0], 64.0, 288.0),
        *range_rows("F_B2", front.normal[:, 1], 6.0, 396.0),
        *range_rows("F_B12", front.tangential, -129.0, 3.0),
        *range_rows("N_A2", rear.normal[:, 0], 525.0, 986.0),
        *range_rows("T_A2", rear.tangential, 83.0, 128.0),
        torque_row(reference, "C12", "rear ankle", 167.0),
        torque_row(reference, "C23", "rear knee", 49.0),
        torque_row(reference, "C45", "front knee", 92.0),
        told("reference: deepest slap angle", "reference", "-1.5", float(slap.min()) * 57.29578, "deg"),
    )
    return ExperimentResult("B2", "BIP, cyclic double support", rows, lambda: phase_figure(solution))
