# SPDX-License-Identifier: Apache-2.0
"""Experiment E12b, the walk of E12: HRP-2 walks on soles of several materials (specification 000, F169, Fig. 4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from humanoid_model.sole import BlockSole, Material
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.walk_run import run_walk, soled, thesis_walk, walking_scene
from humanoid_studies.soles.material_sweep import SweepTable, sweep_materials

YOUNG_MODULI = (0.3e6, 1e6, 3e6, 10e6)
"""Pa; the thesis' range and one below it."""
POISSON_RATIOS = (0.01, 0.4)
"""Of the thesis' range."""
_SETTLING = 0.2
"""How long the robot settles on its soles; what happens then is not part of the walk [s]."""
PEAK, TILT = "peak acceleration [m/s^2]", "largest torso tilt [deg]"


@dataclass(frozen=True)
class WalkTrial:
    """HRP-2 walks on block soles of a material.

    Attributes:
        duration: how much of the walk is walked [s]; all of it if None.
    """

    duration: float | None = None

    def __call__(self, material: Material) -> Mapping[str, float]:
        """Walk on one material.

        Returns:
            The torso's largest vertical acceleration in the walk and its largest angle from the vertical; not numbers
            where the robot falls.
        """
        pattern = thesis_walk()
        robot = soled(BlockSole((0.22, 0.13, 0.02), (8, 5, 2)), {"sole": material})
        seen = run_walk(Simulation(walking_scene(robot)), pattern, duration=self.duration)
        if seen.fell_at is not None:
            return {PEAK: np.nan, TILT: np.nan}
        walking = seen.time > _SETTLING
        return {
            PEAK: float(np.abs(seen.acceleration[walking]).max()),
            TILT: float(np.degrees(seen.torso_tilt[walking].max())),
        }


def run(
    young_moduli: Sequence[float] = YOUNG_MODULI,
    poisson_ratios: Sequence[float] = POISSON_RATIOS,
    executor: Executor | None = None,
    *,
    trial: WalkTrial | None = None,
    progress: bool = False,
) -> ExperimentResult:
    """Walk on every pair of elastic constants.

    Args:
        young_moduli: Pa, ascending.
        poisson_ratios: each above -1 and below 0.5.
        executor: of any kind, a pool of processes for example; one walk after the other here if not given.
        trial: what is done with each material; the whole walk if not given.
        progress: shows a bar.
    """
    table = sweep_materials(
        WalkTrial() if trial is None else trial, young_moduli, poisson_ratios, executor, progress=progress
    )
    rows = [
        Row(f"E = {E / 1e6:g} MPa, ν = {nu:g}: {name.split(' [')[0]}", "", float(table.results[name][i, j]), unit)
        for i, E in enumerate(table.young_moduli)
        for j, nu in enumerate(table.poisson_ratios)
        for name, unit in ((PEAK, "m/s^2"), (TILT, "deg"))
    ]
    tilt = table.results[TILT]
    stands = np.isfinite(tilt)
    rows.append(Row("materials on which it falls", "", float((~stands).sum())))
    if min(young_moduli) < 1e6:
        falls = not bool(stands[int(np.argmin(table.young_moduli)), int(np.argmin(table.poisson_ratios))])
        rows.append(Row("falls on the softest material of least ν", "below 1 MPa, ν ≈ 0", float(falls), "", falls))
    if stands[[0, -1]].all() and len(young_moduli) > 1:
        stiffer = bool((tilt[-1] < tilt[0]).all())
        rows.append(Row("the torso tilts less on the stiffest than on the softest", "1", float(stiffer), "", stiffer))
    return ExperimentResult("E12b", "Walking on soles of several materials", tuple(rows), _panels(table))


def _panels(table: SweepTable) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            "Young's modulus [MPa]",
            name,
            tuple(
                curve(table.young_moduli / 1e6, values[:, j], f"ν = {nu:g}", "line and points")
                for j, nu in enumerate(table.poisson_ratios)
            ),
            x_log=True,
        )
        for name, values in table.results.items()
    )
