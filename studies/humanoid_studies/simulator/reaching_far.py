# SPDX-License-Identifier: Apache-2.0
"""Experiment E2: HRP-2 leans over a table to reach far, one hand on it (specification 000 §27, thesis Fig. 3.5)."""

from __future__ import annotations

import numpy as np

from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.leaning import ARMS_OVER_THE_TABLE, BACKWARDS, LOADED, JointGoal, lean

GOALS = (
    *ARMS_OVER_THE_TABLE,
    JointGoal(3.2, {"*LEG_JOINT4": -0.62, "LARM_JOINT0": -2.3, "RARM_JOINT0": -1.0}),
)
"""The whole body leans forward about the ankles, farther than its feet reach."""
_LIFTED = 1e-3
"""A heel higher than this has left the platform [m]."""

_CUT = 1000.0
"""Forces of the impacts are drawn up to this [N]."""


def run(duration: float = 4.0, *, progress: bool = False) -> ExperimentResult:
    """Lean until the robot falls onto its hand and against the table.

    Args:
        duration: s, 3.5 or more.
        progress: shows a bar.
    """
    simulation = Simulation("lean_over_table")
    seen = lean(simulation, GOALS, duration, instants=(1.2, 2.8, 3.0, duration), progress=progress)
    tips = seen.first(seen.heel_height > _LIFTED, after=2.0)
    slips = seen.first(seen.slip_speed < -BACKWARDS, after=2.0)
    touches = seen.first(seen.legs_load > LOADED)
    leans = seen.first(seen.hand_load > LOADED)
    moving = np.flatnonzero(np.abs(seen.slip - seen.slip[-1]) > 1e-3)
    stops = float(seen.time[moving[-1]]) if moving.size else float("nan")
    back = 1e3 * float(seen.slip[seen.time >= tips].max() - seen.slip[-1])
    yaw, deep = float(np.rad2deg(np.abs(seen.yaw).max())), 1e3 * float(seen.penetration.max())
    still = float(np.abs(simulation.v).max())
    rows = (
        Row("heels lift", "feet lift off", tips, "s", tips < slips),
        Row("feet slip backward from", "after that", slips, "s", tips <= slips < stops),
        Row("legs touch the table", "then", touches, "s", tips <= touches < stops),
        Row("right hand carries from", "", leans, "s"),
        Row("slip stops", "when the legs touch", stops, "s", touches < stops < duration - 0.2),
        Row("feet slipped back by", "", back, "mm", back > 5.0),
        Row("largest yaw", "none; < 5", yaw, "°", yaw < 5.0),
        Row("largest penetration", "< 1", deep, "mm", deep < 1.0),
        Row("fastest joint at the end", "", still, "rad/s"),
    )
    measured = {"feet on the platform": seen.feet_load, "hand on the table": seen.hand_load, "legs": seen.legs_load}
    loads = tuple(curve(seen.time, np.minimum(load, _CUT), name) for name, load in measured.items())
    fall = seen.time > 2.5
    slip = curve(seen.time[fall], 1e3 * seen.slip[fall])
    panels = (
        *seen.views,
        Panel("time [s]", "normal force [N]", loads, f"forces, cut at {_CUT:g} N"),
        Panel("time [s]", "feet, forward [mm]", (slip,), "slip of the feet"),
    )
    return ExperimentResult("E2", "Reaching a far object with a hand on the table", rows, panels)
