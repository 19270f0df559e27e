# SPDX-License-Identifier: Apache-2.0
"""B3: BIP's cyclic single support (specification 003 section 4.5)."""

from __future__ import annotations

import dataclasses

import numpy as np

from humanoid_studies.gait.bip_walk import (
    range_rows,
    reference_rows,
    reference_walk,
    statement_rows,
    torque_row,
    walk,
)
from humanoid_studies.gait.experiment_result import ExperimentResult, between, near, told
from humanoid_studies.planar_gait.optimal_control.control_rows import ControlRow
from humanoid_studies.planar_gait.report.phase_figure import phase_figure
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize import synthesize_phase

_TIMES = 0.0625 * np.arange(9)
_HEEL = (1139.0, 895.0, 690.0, 508.0, 328.0, 143.0, 6.0, 6.0, 6.0)
_TOE = (9.0, 146.0, 324.0, 501.0, 666.0, 831.0, 923.0, 904.0, 762.0)
"""Forces of the reference with heel and toe held at 6 N or more, every 0.0625 s [N]."""


def run() -> ExperimentResult:
    """Feet held down within all limits; the reference solution; and the reference with heel and toe held down."""
    solution, reference = walk().phases[2], reference_walk().phases[2]
    held = _held(reference)
    stance, forces = reference.forces["stance"], held.forces["stance"]
    heel, toe = solution.forces["stance"].normal.T
    samples = [np.interp(_TIMES, held.t, column) for column in forces.normal.T]
    rows = (
        near("duration", "thesis", 0.5, solution.duration, "s", absolute=1e-12),
        told("J_e of the thesis", "thesis", "109.5", solution.energies.total, "J"),
        *statement_rows(solution, 109.5),
        between("friction needed: about 0.1", "thesis", solution.friction_required, greatest=0.15),
        between("correlation of heel and toe force", "thesis", float(np.corrcoef(heel, toe)[0, 1]), greatest=-0.9),
        *reference_rows(reference, 0.770026, 4.33902, 128.3),
        *range_rows("N_B1", stance.normal[:, 0], -366.0, 1082.0),
        *range_rows("N_B2", stance.normal[:, 1], 165.0, 1023.0),
        torque_row(reference, "C01", "stance ankle", 188.0),
        torque_row(reference, "C12", "stance knee", 227.0),
        torque_row(reference, "C26", "stance hip", 120.0),
        torque_row(reference, "C63", "swing hip", 115.0),
        near("N >= 6 N: J", "reference", 0.793, held.cost, relative=1e-3),
        near("N >= 6 N: J_e", "reference", 128.9, held.energies.total, "J", relative=5e-3),
        near("N >= 6 N: friction needed", "reference", 0.099, held.friction_required, absolute=5e-3),
        near(
            "N >= 6 N: heel force, worst of nine times", "reference", 0.0, _worst(samples[0], _HEEL), "N", absolute=20.0
        ),
        near(
            "N >= 6 N: toe force, worst of nine times", "reference", 0.0, _worst(samples[1], _TOE), "N", absolute=20.0
        ),
    )
    return ExperimentResult("B3", "BIP, cyclic single support", rows, lambda: phase_figure(solution))


def _held(reference: PhaseSolution) -> PhaseSolution:
    """Return the reference's problem with heel and toe held at 6 N or more by the maximising control."""
    (foot,) = reference.problem.checked_feet
    rows: tuple[ControlRow, ...] = foot.unilateral(6.0)
    return synthesize_phase(dataclasses.replace(reference.problem, rows=rows))


def _worst(ours: np.ndarray, theirs: tuple[float, ...]) -> float:
    difference = ours - np.array(theirs)
    return float(difference[np.abs(difference).argmax()])
