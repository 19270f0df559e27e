# SPDX-License-Identifier: Apache-2.0
"""B6: BIP's five phases from rest to rest, and the cyclic step's totals (specification 003 section 4.5)."""

from __future__ import annotations

from humanoid_studies.gait.bip_walk import min_normal, reference_walk, trunk_deviation, walk
from humanoid_studies.gait.experiment_result import ExperimentResult, Row, between, near
from humanoid_studies.planar_gait.report.gait_figure import gait_figure
from humanoid_studies.planar_gait.specification.step_data import load_walk


def run() -> ExperimentResult:
    """Totals with feet that press and hold, and with the settings of the reference solutions."""
    gait, reference = walk(), reference_walk()
    jumps = gait.jumps()
    cycle = sum(solution.energies.total for solution in gait.phases[1:3])
    reference_cycle = sum(solution.energies.total for solution in reference.phases[1:3])
    duration = sum(solution.duration for solution in gait.phases[1:3])
    length = load_walk("bip_cyclic").step.step_length
    rows = (
        Row("phases that converge", "thesis", "5", float(sum(s.converged for s in gait.phases)), passes=gait.converged),
        near("duration", "thesis", 1.806, gait.duration, "s", absolute=1e-12),
        near("J_e of the five phases", "thesis", 504.9, gait.totals.energy, "J", relative=0.35),
        near("J_e of the cyclic step", "thesis", 205.8, cycle, "J", relative=0.35),
        near("mean power of the cyclic step", "thesis", 307.0, cycle / duration, "W", relative=0.35),
        near("speed of the cyclic step", "thesis", 0.75, length / duration, "m/s", absolute=5e-3),
        near("jump of places", "thesis", 0.0, max(jump.place for jump in jumps), "m", absolute=1e-8),
        near("jump of velocities", "thesis", 0.0, max(jump.velocity for jump in jumps), "m/s", absolute=1e-8),
        near("jump of rates", "thesis", 0.0, max(jump.rate for jump in jumps), "rad/s", absolute=1e-8),
        between("trunk deviates by", "thesis", max(trunk_deviation(s) for s in gait.phases), "deg", greatest=5.0),
        between("least normal force", "thesis", min(min_normal(s) for s in gait.phases), "N", least=0.0),
        between("friction needed", "thesis", gait.friction_required, greatest=0.301),
        near("reference: J_e of the five phases", "reference", 420.5, reference.totals.energy, "J", relative=5e-3),
        near("reference: J_e of the cyclic step", "reference", 178.1, reference_cycle, "J", relative=5e-3),
        near(
            "reference: mean power of the cyclic step",
            "reference",
            266.0,
            reference_cycle / duration,
            "W",
            relative=5e-3,
        ),
    )
    return ExperimentResult("B6", "BIP, the five phases from rest to rest", rows, lambda: gait_figure(gait))
