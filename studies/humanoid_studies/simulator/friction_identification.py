# SPDX-License-Identifier: Apache-2.0
"""Experiment E17: friction found by pulling a foot over the floor (specification 000 §27, F148, N12)."""

from __future__ import annotations

import numpy as np
from tqdm import tqdm

from humanoid_model.sensor import Noise
from humanoid_sim.monitoring.friction_identification import FRICTION, MASS, PULLS, PullTest, identify_friction
from humanoid_sim.sensing.signals import NoisySignal
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve

SLIP_FORCE = 114.06
"""N12: 0.983 times 11.84 kg times 9.8 m/s^2 [N]."""
GAUGE_NOISE = 2.0
"""Standard deviation of the force gauge [N]; the thesis does not tell its own."""


def run(pulls: int = PULLS, seed: int = 0, *, progress: bool = False) -> ExperimentResult:
    """Pull once with a perfect gauge, then many times in random directions with a noisy one.

    Args:
        pulls: number of noisy pulls.
        seed: of directions and noise.
        progress: shows a bar.
    """
    test = PullTest()
    exact = test.pull(rate=200.0)
    rng = np.random.default_rng(seed)
    gauge = NoisySignal([Noise(deviation=GAUGE_NOISE, resolution=0.1)], 1e-3, rng)
    directions = rng.uniform(-np.pi, np.pi, pulls)
    read = []
    for angle in tqdm(directions, unit="pull", disable=not progress):
        read.append(float(gauge.sample(np.array([test.pull(angle, rate=200.0, start=100.0)]))[0]))
    found = identify_friction(read, MASS)
    rows = (
        Row("force at which it slips", "114.06", exact, "N", abs(exact / SLIP_FORCE - 1.0) < 0.005),
        Row(f"friction from {pulls} pulls", "0.983", found.friction, "", abs(found.friction / FRICTION - 1.0) < 0.01),
        Row("deviation of single pulls", "", found.deviation),
        Row("standard error of the mean", "", found.standard_error),
    )
    number = np.arange(1, pulls + 1)
    coefficients = np.array(read) / (MASS * 9.8)
    panel = Panel(
        "pull",
        "friction coefficient",
        (
            curve(number, coefficients, "single pulls", "points"),
            curve(number, np.cumsum(coefficients) / number, "mean so far"),
            curve([1, pulls], [FRICTION] * 2, "thesis, 0.983", "dashed", "grey"),
        ),
    )
    return ExperimentResult("E17", "Friction of a foot, found by pulling", rows, (panel,))
