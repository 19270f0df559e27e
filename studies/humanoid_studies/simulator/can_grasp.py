# SPDX-License-Identifier: Apache-2.0
"""Experiment E0: a gripper closes on a can, by penalties and by constraints (specification 000 §27, F165)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from tqdm import tqdm

from humanoid_studies.baselines.can_grasp import (
    CAN_RADIUS,
    GRIP_FORCE,
    GraspRun,
    grasp_with_constraints,
    grasp_with_penalty,
)
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve

SOFTER = (3e3, 10.0)
"""Penalty stiffness and damping with which the light can does not diverge [N/m, N s/m]."""
_MIN_DEPTH, _MIN_FORCE = 1e-4, 1.0
"""What the logarithmic axes show of zeros [mm, N]."""


def run(duration: float = 5.0, *, progress: bool = False) -> ExperimentResult:
    """Close the gripper with constraints, with penalties as tuned for walking, and with softer penalties.

    Args:
        duration: of the grips with constraints and softer penalties [s].
        progress: shows a bar.
    """
    grips: dict[str, Callable[[], GraspRun]] = {
        "constraints": lambda: grasp_with_constraints(duration),
        "penalty, gains of walking": lambda: grasp_with_penalty(min(duration, 1.0)),
        "penalty, softer": lambda: grasp_with_penalty(duration, stiffness=SOFTER[0], damping=SOFTER[1]),
    }
    runs = {name: grip() for name, grip in tqdm(grips.items(), unit="grip", disable=not progress)}
    ours, walking, softer = runs.values()
    depth, soft_depth = 1e3 * float(ours.penetration.max()), 1e3 * float(softer.penetration.max())
    late = ours.time > 1.0
    force = float(ours.force[late].max()) if late.any() else float(ours.force.max())
    rows = (
        Row("constraints: penetration", "< 1 mm", depth, "mm", depth < 1.0),
        Row("constraints: force when closed", "bounded", force, "N", not ours.diverged and force < 2.2 * GRIP_FORCE),
        Row("constraints: lasts", "≥ 5 s", float(ours.time[-1]), "s", not ours.diverged),
        Row("penalty, gains of walking: diverges at", "diverges", float(walking.time[-1]), "s", walking.diverged),
        Row("penalty, softer: penetration", "> 3.3 mm or diverges", soft_depth, "mm", soft_depth > 100.0 * CAN_RADIUS),
    )
    return ExperimentResult("E0", "A gripper closes on a can", rows, grasp_panels(runs))


def grasp_panels(runs: Mapping[str, GraspRun]) -> tuple[Panel, ...]:
    """Penetration and grip force of several runs over time; a cross marks where one diverged.

    Args:
        runs: by the name to show.
    """
    depths, forces = [], []
    for i, (name, run) in enumerate(runs.items()):
        colour = f"C{i}"
        depths.append(curve(run.time, np.maximum(1e3 * run.penetration, _MIN_DEPTH), name, colour=colour))
        forces.append(curve(run.time, np.maximum(run.force, _MIN_FORCE), colour=colour))
        if run.diverged:
            end = run.time[-1:]
            depths.append(curve(end, [_MIN_DEPTH], f"{name}: diverged", "points", colour))
            forces.append(curve(end, [_MIN_FORCE], "", "points", colour))
    last = max(float(run.time[-1]) for run in runs.values())
    depths.append(curve([0.0, last], [100.0 * CAN_RADIUS] * 2, "10 % of the radius", "dashed", "grey"))
    depths.append(curve([0.0, last], [1.0] * 2, "1 mm", "dashed", "black"))
    return (
        Panel("time [s]", "penetration [mm]", tuple(depths), y_log=True),
        Panel("time [s]", "grip force [N]", tuple(forces), y_log=True),
    )
