# SPDX-License-Identifier: Apache-2.0
"""Experiment E7: sliding cubes, each a group of its own or all one group (specification 000 §27, F099)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from tqdm import tqdm

from humanoid_model.description import Box
from humanoid_model.scene import Scene
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.made_scene import made_body, made_scene
from humanoid_studies.simulator.power_law import log_log_slope

NUMBERS = (1, 2, 4, 8, 16, 30, 60, 100)
"""Of cubes; the thesis stops at 30, where the quadratic part does not yet show here."""
THESIS_NUMBER = 30
"""The thesis' largest number of cubes."""
FIT_FROM = 8
"""The slopes are those from so many cubes on."""
_EDGE = 0.2
_STEPS = 40


def run(numbers: Sequence[int] = NUMBERS, *, progress: bool = False) -> ExperimentResult:
    """Let more and more cubes slide and turn, so that every step has forces to find.

    Without groups the operator between bodies and that between contacts are full of zeros, which are treated
    like any other numbers.

    Args:
        numbers: of cubes, two or more of them from :data:`FIT_FROM` to :data:`THESIS_NUMBER`.
        progress: shows a bar.
    """
    grouped, whole, apart = [], [], 0.0
    for k in tqdm(numbers, unit="number of cubes", disable=not progress):
        own, one = step_times(k)
        grouped.append(own)
        whole.append(one)
        if k <= THESIS_NUMBER:
            apart = max(apart, difference(k))
    sizes = np.array(numbers)
    fitted, printed = sizes >= FIT_FROM, (sizes >= FIT_FROM) & (sizes <= THESIS_NUMBER)
    slope, slope_whole = (log_log_slope(sizes[fitted], np.array(times)[fitted]) for times in (grouped, whole))
    slope_printed = log_log_slope(sizes[printed], np.array(whole)[printed])
    rows = (
        Row("groups: slope of time over cubes", "linear; ≤ 1.2", slope, "", slope <= 1.2, wall_clock=True),
        Row("one group: slope", "quadratic; ≥ 1.6", slope_whole, "", slope_whole >= 1.6, wall_clock=True),
        Row("one group: slope up to 30 cubes", "quadratic; ≥ 1.6", slope_printed, "", slope_printed >= 1.6, True),
        Row(f"groups: step with {numbers[-1]} cubes", "", 1e6 * grouped[-1], "µs", wall_clock=True),
        Row(f"one group: step with {numbers[-1]} cubes", "", 1e6 * whole[-1], "µs", wall_clock=True),
        Row("largest difference of a contact force", "identical", apart, "N", apart < 1e-6),
    )
    panel = Panel(
        "number of cubes",
        "time of a step [µs]",
        (
            curve(sizes, 1e6 * np.array(grouped), f"a group for each cube, slope {slope:.2f}", "line and points"),
            curve(sizes, 1e6 * np.array(whole), f"one group, slope {slope_whole:.2f}", "line and points"),
        ),
        x_log=True,
        y_log=True,
    )
    return ExperimentResult("E7", "Cubes and collision groups", rows, (panel,))


def cubes(k: int, seed: int = 0) -> Scene:
    """Return a field of cubes that slide and turn on a floor, none of them near another.

    Args:
        k: their number.
        seed: of their velocities.
    """
    rng = np.random.default_rng(seed)
    bodies = []
    for i in range(k):
        place = pin.SE3(np.eye(3), np.array([3.0 * (i % 6), 3.0 * (i // 6), 0.5 * _EDGE]))
        twist = np.concatenate([rng.uniform(-2.0, 2.0, 2), [0.0, 0.0, 0.0], rng.uniform(-5.0, 5.0, 1)])
        bodies.append(made_body(f"cube_{i}", [(Box(np.full(3, _EDGE)), pin.SE3.Identity())], 1.0, place, twist))
    return made_scene("cubes", bodies)


def step_times(k: int) -> tuple[float, float]:
    """Median seconds of a step with a group for each of k cubes, and with one group for all."""
    simulations = [Simulation(cubes(k), groups=groups) for groups in (True, False)]
    seconds: list[list[float]] = [[], []]
    for _ in range(_STEPS):
        for simulation, own in zip(simulations, seconds, strict=True):
            simulation.step()
            own.append(sum(simulation.profile.last.values()))
    return float(np.median(seconds[0])), float(np.median(seconds[1]))


def difference(k: int) -> float:
    """Largest difference of a component of a contact force between both ways, in all steps [N]."""
    simulations = [Simulation(cubes(k), groups=groups, method="nsgs", tolerance=1e-12) for groups in (True, False)]
    worst = 0.0
    for _ in range(_STEPS):
        for simulation in simulations:
            simulation.step()
        forces = [simulation.contacts.force for simulation in simulations]
        worst = max(worst, float(np.abs(forces[1] - forces[0]).max()))
    return worst
