# SPDX-License-Identifier: Apache-2.0
"""B1: BIP goes from rest into the walk (specification 003 section 4.5)."""

from __future__ import annotations

from humanoid_studies.gait.bip_walk import (
    WEIGHT,
    most_loaded,
    reference_rows,
    reference_walk,
    statement_rows,
    torque_row,
    walk,
)
from humanoid_studies.gait.experiment_result import ExperimentResult, Row, between, near, told
from humanoid_studies.planar_gait.report.phase_figure import phase_figure


def run() -> ExperimentResult:
    """Return the feet that press from a leaning rest, and the reference solution, whose stance foot has to pull."""
    solution, reference = walk().phases[0], reference_walk().phases[0]
    stance = reference.forces["stance"]
    clearance = min(
        float(solution.problem.model.points[name].position(solution.q)[:, 1].min())
        for name in solution.problem.model.clearance_points
    )
    loaded = most_loaded(solution)
    rows = (
        near("duration", "thesis", 0.45, solution.duration, "s", absolute=1e-12),
        told("J_e of the thesis", "thesis", "81.9", solution.energies.total, "J"),
        *statement_rows(solution, 81.9),
        between("height of the swinging foot", "thesis", 1e3 * clearance, "mm", least=-1.0),
        Row(
            "stance ankle and knee among the three most loaded joints",
            "thesis",
            "both",
            float(len({"C01", "C12"} & set(loaded[:3]))),
            passes={"C01", "C12"} <= set(loaded[:3]),
        ),
        between(
            "normal force at the start over weight",
            "thesis",
            float(solution.forces["stance"].total_normal[0] / WEIGHT),
            least=1.3,
        ),
        *reference_rows(reference, 1.62334, 8.622, 106.0),
        near("reference: greatest N_B1", "reference", 2173.0, float(stance.normal[:, 0].max()), "N", absolute=5.0),
        torque_row(reference, "C01", "stance ankle", 327.0),
        torque_row(reference, "C12", "stance knee", 414.0),
        told("reference: least normal force", "reference", "negative", stance.min_normal, "N"),
    )
    return ExperimentResult("B1", "BIP, from rest into the walk", rows, lambda: phase_figure(solution))
