# SPDX-License-Identifier: Apache-2.0
"""B5: BIP goes from the walk to rest (specification 003 section 4.5)."""

from __future__ import annotations

from humanoid_studies.gait.bip_walk import (
    WEIGHT,
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
    """Within all limits, and the reference solution, which presses by itself."""
    solution, reference = walk().phases[4], reference_walk().phases[4]
    stance = reference.forces["stance"]
    loaded = most_loaded(solution)
    rows = (
        near("duration", "thesis", 0.5, solution.duration, "s", absolute=1e-12),
        told("J_e of the thesis", "thesis", "105.1", solution.energies.total, "J"),
        *statement_rows(solution, 105.1),
        Row(
            "stance knee and ankle are the most loaded joints",
            "thesis",
            "both",
            float(len({"C01", "C12"} & set(loaded[:2]))),
            passes={"C01", "C12"} == set(loaded[:2]),
        ),
        between(
            "normal force at the end over weight",
            "thesis",
            float(solution.forces["stance"].total_normal[-1] / WEIGHT),
            least=1.3,
        ),
        *reference_rows(reference, 0.45606, 0.06905, 85.9),
        *range_rows("N_B1", stance.normal[:, 0], 187.0, 450.0),
        *range_rows("N_B2", stance.normal[:, 1], 551.0, 1371.0),
        torque_row(reference, "C01", "stance ankle", 164.0),
        torque_row(reference, "C12", "stance knee", 203.0),
    )
    return ExperimentResult("B5", "BIP, from the walk to rest", rows, lambda: phase_figure(solution))
