# SPDX-License-Identifier: Apache-2.0
"""Experiment E4: cost against the number of contacts, HRP-2 on studs (specification 000 §27, N2, F027, F075)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from humanoid_sim.contact.solve import solve_contacts
from humanoid_sim.simulation import Simulation
from humanoid_sim.stepping.profile import STAGES
from humanoid_studies.contact.complementarity import FACETS, faceted_size
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.power_law import log_log_slope
from humanoid_studies.simulator.studded_feet import studded_hrp2

NUMBERS = (8, 12, 16, 20, 28, 40, 54, 67, 84, 100)
"""Of contacts."""
LARGE = 67
"""The thesis' largest number, and ours at which shares are given."""
FIT_FROM = 20
"""The slope is that from so many contacts on."""
_SETTLING, _DURATION = 0.1, 0.4


def run(numbers: Sequence[int] = NUMBERS, duration: float = _DURATION, *, progress: bool = False) -> ExperimentResult:
    """Let HRP-2 bend its knees a little on soles with more and more studs, so that every step has forces to find.

    Lemke's pivoting on cones of 8 facets is given the last problem of each run, for comparison.

    Args:
        numbers: of contacts; :data:`LARGE` among them, and another one from :data:`FIT_FROM` on.
        duration: s, measured after a settling time.
        progress: shows a bar.
    """
    seconds: list[float] = []
    pivoting: list[float] = []
    residuals: list[float] = []
    loads: list[float] = []
    shares: list[dict[str, float]] = []
    for m in tqdm(numbers, unit="number of contacts", disable=not progress):
        simulation = Simulation(studded_hrp2(m))
        simulation.run(_SETTLING)
        simulation.profile.reset()
        loads.append(float(simulation.contacts.normal_force.sum()))
        worst, median = bend_knees(simulation, duration)
        seconds.append(median)
        shares.append(dict(simulation.profile.shares))
        residuals.append(worst)
        problem = simulation.contact_problem
        assert problem is not None
        assert problem.mu.size == m
        if not pivoting:
            solve_contacts(problem, "lemke_faceted")  # compiles
        pivoting.append(solve_contacts(problem, "lemke_faceted").time)
    sizes, times = np.array(numbers), np.array(seconds)
    slope = log_log_slope(sizes[sizes >= FIT_FROM], times[sizes >= FIT_FROM])
    at = list(numbers).index(LARGE)
    load = loads[at]
    unknowns, faceted = 3 * LARGE, faceted_size(LARGE, FACETS)
    rows = [
        Row("67 contacts: unknowns of the iterative solver", "201", unknowns, "", unknowns == 201),
        Row("67 contacts: unknowns with 8 facets", "670", faceted, "", faceted == 670),
        Row("67 contacts: largest residual of a step", "converges", residuals[at], "", residuals[at] <= 1e-9),
        Row("67 contacts: force of the ground", "weight, 568.4", load, "N", abs(load / 568.4 - 1.0) < 0.02),
        Row("slope of time over contacts, 20 to 100", "1.6 to 2.4", slope, "", 1.6 <= slope <= 2.4, wall_clock=True),
        Row("67 contacts: step", "", 1e6 * times[at], "µs", wall_clock=True),
        Row("67 contacts: Lemke with 8 facets", "", 1e6 * pivoting[at], "µs", wall_clock=True),
    ]
    for stage in STAGES:
        thesis = {"detection": "largest", "contacts": "second, with assembly"}.get(stage, "")
        rows.append(Row(f"67 contacts: share of {stage}", thesis, 100.0 * shares[at][stage], "%", wall_clock=True))
    panels = (
        Panel(
            "contacts",
            "time [µs]",
            (
                curve(sizes, 1e6 * times, f"step, slope {slope:.2f}", "line and points"),
                curve(sizes, 1e6 * np.array(pivoting), "Lemke, 8 facets: the solve only", "line and points"),
            ),
            x_log=True,
            y_log=True,
        ),
        Panel(
            "contacts",
            "share of a step [%]",
            tuple(curve(sizes, [100.0 * s[stage] for s in shares], stage, "line and points") for stage in STAGES),
        ),
    )
    return ExperimentResult("E4", "Cost against the number of contacts", tuple(rows), panels)


def bend_knees(simulation: Simulation, duration: float) -> tuple[float, float]:
    """Bend and stretch both knees at 1 Hz by a tenth of a radian.

    Args:
        simulation: of :func:`~humanoid_studies.simulator.studded_feet.studded_hrp2`.
        duration: s.

    Returns:
        The largest relative residual of a step, and the median time of a step [s].
    """
    robot = simulation.robots["hrp2"]
    start = dict(zip(robot.joint_names, robot.joint_positions.tolist(), strict=True))
    bends = {f"{side}LEG_JOINT{i}": part for side in "RL" for i, part in ((2, -0.05), (3, 0.1), (4, -0.05))}
    began = simulation.time
    residuals, seconds = [], []
    for _ in range(round(duration / simulation.dt)):
        swing = np.sin(2.0 * np.pi * (simulation.time - began))
        robot.set_position_target([start[j] + part * swing for j, part in bends.items()], joints=list(bends))
        simulation.step()
        solved = simulation.solver
        assert solved is not None
        residuals.append(solved.residuals.natural_map)
        seconds.append(sum(simulation.profile.last.values()))
    return max(residuals), float(np.median(seconds))
