# SPDX-License-Identifier: Apache-2.0
"""Experiment E15: HRP-2 walks on soles of two layers and on rounded ones (specification 000 §27, Figs. 4.12–4.15)."""

from __future__ import annotations

import numpy as np

from humanoid_model import Robot
from humanoid_model.sole import BlockSole, Material, RoundedSole, TwoPadSole
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.walk_run import run_walk, soled, thesis_walk, walking_scene

SIMPLE = BlockSole((0.22, 0.13, 0.02), (8, 5, 2))
"""The thesis' simple sole."""
TWO_LAYERS = TwoPadSole((0.22, 0.13, 0.01), heel=0.12, toe=0.08, pad_height=0.01, cells=(11, 5, 1, 1))
"""A layer glued to the foot and two pads, the one at the heel bigger; the thesis prints no lengths."""
ROUNDED = RoundedSole((0.22, 0.13, 0.07), (11, 4, 3), radius=0.065)
"""For a gait that strikes with the heel; the thesis prints no radius: of the length it leaves 9 cm flat."""


def shaped_robots() -> dict[str, Robot]:
    """HRP-2 on each of the soles, of the thesis' materials."""
    rubber, layer, pads = Material(3e6, 0.4), Material(3e6, 0.25), Material(1e6, 0.25)
    return {
        "simple": soled(SIMPLE, {"sole": rubber}),
        "two layers": soled(TWO_LAYERS, {"layer": layer, "pads": pads}),
        "rounded": soled(ROUNDED, {"sole": rubber}),
    }


def run(*, progress: bool = False) -> ExperimentResult:
    """Walk on each of the soles with the pattern made for flat feet.

    Args:
        progress: shows bars.
    """
    pattern = thesis_walk()
    runs = {
        name: run_walk(Simulation(walking_scene(robot)), pattern, progress=name if progress else "")
        for name, robot in shaped_robots().items()
    }
    peaks = {name: each.landing_peaks(pattern) for name, each in runs.items()}
    largest = {name: float(np.nanmax(peaks[name])) for name in ("simple", "two layers")}
    ratio = largest["two layers"] / largest["simple"]
    fell = runs["rounded"].fell_at
    behind = float(runs["rounded"].centre_of_mass[-1, 0] - np.interp(
        runs["rounded"].time[-1], pattern.times, pattern.centre_of_mass[:, 0]
    ))
    rows = (
        Row("simple: largest peak of the torso's acceleration", "5", largest["simple"], "m/s^2"),
        Row("two layers: largest peak", "2", largest["two layers"], "m/s^2", largest["two layers"] < largest["simple"]),
        Row("two layers / simple", "0.4 ± 0.25", ratio, "", bool(0.15 <= ratio <= 0.65)),
        Row("simple: median of the landings' peaks", "", float(np.nanmedian(peaks["simple"])), "m/s^2"),
        Row("two layers: median of the landings' peaks", "", float(np.nanmedian(peaks["two layers"])), "m/s^2"),
        Row("two layers: stands at the end", "1", float(runs["two layers"].fell_at is None), "",
            runs["two layers"].fell_at is None),
        Row("rounded: falls", "first steps", np.nan if fell is None else fell, "s", fell is not None),
        Row("rounded: centre of mass before its place, at the end", "behind", behind, "m"),
    )  # fmt: skip
    acceleration = tuple(
        curve(each.time, np.clip(each.acceleration, -10.0, 10.0), name)
        for name, each in runs.items() if name != "rounded"
    )  # fmt: skip
    height = tuple(curve(each.time, each.torso_height - each.torso_height[0], name) for name, each in runs.items())
    panels = (
        Panel("time [s]", "m/s²", acceleration, "Vertical acceleration of the torso"),
        Panel("time [s]", "m", height, "Height of the torso, from its start"),
    )
    return ExperimentResult("E15", "Walking on shaped soles", rows, panels)
