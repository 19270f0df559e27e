# SPDX-License-Identifier: Apache-2.0
"""Experiment E13: HRP-2 walks on rigid feet, flexible ankles and deformable soles (specification 000 §27, Fig. 4.7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_control.walking import WalkingPattern
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.walk_run import WalkRun, run_walk, thesis_walk, walking_scene

ROTATIONAL_DAMPING = 25.0
"""Of the ankle bushings about both axes [N m s/rad], ten times that of the robot's file.

A ratio of 0.04 for the robot swaying on one foot, usual for rubber; with 0.004 the same pattern ends in a fall unless
the efforts of inverse dynamics are fed forward. The thesis does not print its constants.
"""
SOLE_HEIGHT = 0.02
"""m."""
CASES = ("rigid", "ankle", "sole")
_SCENES = {"rigid": "walk", "ankle": "walk_bushing", "sole": "walk_soles"}


def run(*, progress: bool = False) -> ExperimentResult:
    """Play one pattern three times, on stiff servos and without a stabiliser, and compare the torso's motion.

    Args:
        progress: shows bars.
    """
    pattern = thesis_walk()
    runs = {case: _walk(case, pattern, progress) for case in CASES}
    undamped = run_walk(Simulation(walking_scene(scene="walk_bushing")), pattern, progress="ankle" if progress else "")
    fed = run_walk(
        Simulation(walking_scene(scene="walk_bushing")), pattern, feedforward=True, progress="fed" if progress else ""
    )
    peaks = {case: runs[case].landing_peaks(pattern) for case in CASES}
    largest = {case: float(np.nanmax(peaks[case])) for case in CASES}
    usual = {case: float(np.nanmedian(peaks[case])) for case in CASES}
    rows = [
        Row(f"{case}: stands at the end", "1", float(runs[case].fell_at is None), "", runs[case].fell_at is None)
        for case in CASES
    ]
    for case, thesis in zip(CASES, ("50", "30", "5"), strict=True):
        rows.append(Row(f"{case}: largest peak of the torso's acceleration", thesis, largest[case], "m/s^2"))
        rows.append(Row(f"{case}: median of the six landings' peaks", "", usual[case], "m/s^2"))
    ankle, sole = usual["ankle"] / usual["rigid"], usual["sole"] / usual["rigid"]
    apart = float(np.abs(_sole_over_rigid(runs)).max())
    sway = {case: _oscillation(runs[case], runs["rigid"], pattern) for case in ("ankle", "sole")}
    rows += [
        Row("rigid > ankle > sole, of the medians", "1", float(1.0 > ankle > sole), "", 1.0 > ankle > sole),
        Row("ankle / rigid, of the medians", "0.6 ± 0.2", ankle, "", bool(0.4 <= ankle <= 0.8)),
        Row("sole / rigid, of the medians", "0.1 ± 0.1", sole, "", bool(0.0 <= sole <= 0.2)),
        Row("centre of mass: sole from rigid, less 2 cm", "< 2", 1e3 * apart, "mm", apart < 2e-3),
        Row("ankle: oscillation of the height's speed", "visible", 1e3 * sway["ankle"], "mm/s"),
        Row("sole: oscillation of the height's speed", "none", 1e3 * sway["sole"], "mm/s"),
        Row("ankle over sole, oscillation", "> 1", sway["ankle"] / sway["sole"], "", sway["ankle"] > 3 * sway["sole"]),
        Row("ankle damped as in the file: falls at", "", undamped.fell_at or np.nan, "s"),
        Row("the same with feed-forward: stands", "", float(fed.fell_at is None), "", fed.fell_at is None),
    ]
    return ExperimentResult("E13", "Walking on rigid feet, flexible ankles and soles", tuple(rows), _panels(runs))


def _walk(case: str, pattern: WalkingPattern, progress: bool) -> WalkRun:
    """One walk."""
    simulation = Simulation(walking_scene(scene=_SCENES[case]))
    if case == "ankle":
        springs = simulation.robots["hrp2"].robot.springs
        bent = [name for name in springs if name.endswith(("_X", "_Y"))]
        simulation.robots["hrp2"].set_gains(
            [springs[name].stiffness for name in bent], [ROTATIONAL_DAMPING] * len(bent), bent
        )
    return run_walk(simulation, pattern, progress=case if progress else "")


def _sole_over_rigid(runs: dict[str, WalkRun]) -> NDArray[np.float64]:
    """By how much the centre of mass is higher on soles than their height [m], at each step of both."""
    k = min(len(runs["sole"].time), len(runs["rigid"].time))
    return np.asarray(runs["sole"].centre_of_mass[:k, 2] - runs["rigid"].centre_of_mass[:k, 2] - SOLE_HEIGHT)


def _oscillation(run: WalkRun, rigid: WalkRun, pattern: WalkingPattern) -> float:
    """Root mean square of what the vertical speed of the centre of mass has more than on rigid feet [m/s].

    In single support only, from a tenth of a second after a foot is lifted to one before it lands.
    """
    k = min(len(run.time), len(rigid.time))
    speed = [np.gradient(each.centre_of_mass[:k, 2], each.time[:k]) for each in (run, rigid)]
    single = np.interp(run.time[:k], pattern.times, pattern.support.sum(axis=1)) < 1.5
    window = np.convolve(single, np.ones(201), mode="same") >= 201
    return float(np.sqrt(((speed[0] - speed[1])[window] ** 2).mean()))


def _panels(runs: dict[str, WalkRun]) -> tuple[Panel, ...]:
    height, speed, acceleration, knee = [], [], [], []
    for case, each in runs.items():
        t = each.time
        z = each.centre_of_mass[:, 2]
        height.append(curve(t, 1e3 * (z - z[0]), case))
        speed.append(curve(t, 1e3 * np.gradient(z, t), case))
        acceleration.append(curve(t, np.clip(each.acceleration, -10.0, 10.0), case))
        knee.append(curve(t, each.knee_torque[:, 0], case))
    return (
        Panel("time [s]", "mm", tuple(height), "Height of the centre of mass, from its start"),
        Panel("time [s]", "mm/s", tuple(speed), "Its speed"),
        Panel("time [s]", "m/s²", tuple(acceleration), "Acceleration of the torso, cut at 10 as in the thesis"),
        Panel("time [s]", "N m", tuple(knee), "Torque of the right knee"),
    )
