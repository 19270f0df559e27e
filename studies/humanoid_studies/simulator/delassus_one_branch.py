# SPDX-License-Identifier: Apache-2.0
"""Experiment E6: the Delassus operator where two bodies of one limb touch (specification 000 §27, N3, F094)."""

from __future__ import annotations

import numpy as np

from humanoid_model.robot import load_robot
from humanoid_sim.delassus.operation_counts import chang_khatib_count, unit_wrenches_count
from humanoid_studies.simulator.delassus_case import METHODS, ContactOn, DelassusCase
from humanoid_studies.simulator.delassus_standing import accuracy_rows
from humanoid_studies.simulator.experiment_result import ExperimentResult, Row

_SQUARE = 0.03 * np.array([[1.0, 1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0], [1.0, -1.0, -1.0]])
"""Four points on a link [m]; where they lie does not change the counts."""
LIMBS = {
    "leg": ("RLEG_LINK4", "RLEG_LINK5"),
    "arm": ("RARM_LINK5", "RARM_LINK6"),
}
"""Neighbouring links of HRP-2. The thesis' totals are those of a limb of six joints, which its leg is; the arm hangs
on the two joints of the chest besides."""


def run(*, progress: bool = False) -> ExperimentResult:
    """Count, compute and time the operator of four points on each of two neighbouring links.

    Args:
        progress: not used, this takes a second.
    """
    robot = load_robot("hrp2")
    rows = []
    for limb, links in LIMBS.items():
        case = DelassusCase(robot, robot.postures["half_sitting"], [ContactOn(link, _SQUARE) for link in links])
        t = case.topology
        theirs, new = chang_khatib_count(t).total, unit_wrenches_count(t).total
        printed = ("6323", "7590") if limb == "leg" else ("", "")
        rows += [
            Row(f"{limb}: joints of the branch", "6" if limb == "leg" else "", t.branch),
            Row(f"{limb}: chang_khatib: operations", printed[0], theirs, "", theirs == 6323 if printed[0] else None),
            Row(f"{limb}: unit_wrenches: operations", printed[1], new, "", new == 7590 if printed[1] else None),
        ]
        chosen = case.chosen
        rows.append(Row(f"{limb}: Chang–Khatib is chosen (1) or the new method (0)", "1", int(chosen), "", chosen))
        rows += [
            Row(f"{limb}: {row.quantity}", row.thesis, row.ours, row.unit, row.passes) for row in accuracy_rows(case)
        ]
        seconds = case.seconds()
        rows += [Row(f"{limb}: {name}: time", "", 1e6 * seconds[name], "µs", wall_clock=True) for name in METHODS]
    return ExperimentResult("E6", "Delassus operator of two bodies of one limb", tuple(rows))
