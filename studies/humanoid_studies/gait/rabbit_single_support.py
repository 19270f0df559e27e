# SPDX-License-Identifier: Apache-2.0
"""R2: RABBIT's single support and the whole step (specification 003 section 4.3)."""

from __future__ import annotations

import numpy as np

from humanoid_studies.gait.experiment_result import ExperimentResult, between, near, told
from humanoid_studies.gait.rabbit_step import WEIGHT, step
from humanoid_studies.planar_gait.report.gait_figure import gait_figure


def run() -> ExperimentResult:
    """With a torque at the stance tip, which agrees with the thesis' statements (ER-19), and without."""
    gait, raised, point = step(), step(clearance=True), step(ankle_torque=False)
    double, solution = gait.phases
    tip = solution.forces["stance_tip"]
    trunk = np.degrees(solution.q[:, 4]) - 90.0
    legs = float(solution.energies.per_torque[:4].sum())
    swing = solution.problem.model.points["swing_tip"]
    lowest = [1e3 * float(swing.position(phase.q)[:, 1].min()) for phase in (solution, raised.phases[1])]
    bare = point.phases[1]
    totals = gait.totals
    rows = (
        told("J_e of the four leg joints", "thesis", "18.2", legs, "J"),
        near("J_e over that of double support", "thesis", 18.2 / 6.7, legs / double.energies.total, absolute=0.1),
        between("tangential force", "thesis", float(np.abs(tip.tangential).max()), "N", greatest=30.0),
        near("least normal force", "thesis", WEIGHT, float(tip.normal.min()), "N", absolute=140.0),
        near("greatest normal force", "thesis", WEIGHT, float(tip.normal.max()), "N", absolute=140.0),
        between("trunk deviates by", "thesis", float(np.abs(trunk).max()), "deg", greatest=3.0),
        near(
            "jump of velocities in the step",
            "thesis",
            0.0,
            max(jump.velocity for jump in gait.jumps()),
            "m/s",
            absolute=1e-8,
        ),
        near("duration of the step", "thesis", 0.528, totals.duration, "s", absolute=1e-9),
        near("mean speed of the step", "thesis", 0.852, totals.mean_speed, "m/s", absolute=5e-4),
        told(
            "mean power of the step, leg joints", "thesis", "47", (legs + double.energies.total) / totals.duration, "W"
        ),
        near("J", "reference", 0.098415, solution.cost, relative=1e-3),
        near("H", "reference", 0.33593, float(solution.hamiltonian.mean()), "1/s", absolute=1e-4),
        near("H: spread", "reference", 0.0, solution.hamiltonian_spread, absolute=1e-4),
        near("J_e of the four leg joints by the reference", "reference", 33.2, legs, "J", relative=5e-3),
        near("J_e of all joints", "reference", 44.6, solution.energies.total, "J", relative=5e-3),
        near("lowest swinging tip", "reference", -80.0, lowest[0], "mm", absolute=1.0),
        between("lowest swinging tip, with clearance", "thesis", lowest[1], "mm", least=-1.0),
        told("with clearance: J", "thesis", "", raised.phases[1].cost),
        told("without torque at the tip: J", "reference", "another optimum", bare.cost),
        told(
            "without: trunk deviates by",
            "reference",
            "about 20",
            float(np.abs(np.degrees(bare.q[:, 4]) - 90.0).max()),
            "deg",
        ),
        told("without: least normal force", "reference", "negative", bare.forces["stance_tip"].min_normal, "N"),
    )
    return ExperimentResult("R2", "RABBIT, single support and the whole step", rows, lambda: gait_figure(raised))
