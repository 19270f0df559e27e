# SPDX-License-Identifier: Apache-2.0
"""The five-bar mechanism carries its load from one side to the other (specification 003 section 4.1).

The thesis gives neither base nor configurations nor weights (G-09). Here the load goes from (L/2 - d, y) to
(L/2 + d, y) with L = 0.4 m; for F1 and F2 y = 0.55 m and mu_f = 0.5, and d was chosen so that the energies come out
near the thesis': 0.075 m and 0.165 m.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from humanoid_studies.gait.experiment_result import Row, near
from humanoid_studies.planar_gait.models.five_bar import load_five_bar
from humanoid_studies.planar_gait.optimal_control.control_rows import root_point
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize import synthesize_phase

DURATION = 0.42
"""Of a transfer [s]."""


@cache
def transfer(half_way: float, height: float, force_weight: float) -> PhaseSolution:
    """Optimal transfer of the load.

    Args:
        half_way: d, half of the distance that the load goes [m].
        height: y of the load at both ends [m].
        force_weight: mu_f.
    """
    bars = load_five_bar()
    model, still = bars.phase(), np.zeros(4)
    ends = [bars.posture(complex(0.5 * bars.base + side * half_way, height)) for side in (-1.0, 1.0)]
    problem = PhaseProblem(
        model,
        EndState(ends[0], still),
        EndState(ends[1], still),
        DURATION,
        QuadraticEffort(force_weight=force_weight, force_scale=1e-2),
        feet=(root_point(model, "O1"),),
    )
    return synthesize_phase(problem)


def base_forces(solution: PhaseSolution) -> tuple[np.ndarray, np.ndarray]:
    """(K,) vertical forces of the base at O1 and O5 [N]."""
    column = solution.problem.model.control_names.index("F_O5y")
    return solution.forces["O1"].normal[:, 0], solution.u[:, column]


def apex_path(solution: PhaseSolution) -> np.ndarray:
    """(K, 2) path of the load [m]."""
    return np.asarray(solution.problem.model.points["apex"].position(solution.q))


def transfer_rows(solution: PhaseSolution) -> tuple[Row, ...]:
    """Return what has to come out whatever the configurations are."""
    first, second = base_forces(solution)
    weight = 13.0 * 9.81
    energies = solution.energies
    return (
        near("H: spread", "reference", 0.0, solution.hamiltonian_spread, "", absolute=1e-4),
        near("closure gap", "thesis", 0.0, 1e3 * float(solution.closure_gap.max()), "mm", absolute=0.1),
        near(
            "work: positive plus negative", "reference", 0.0, energies.positive + energies.negative, "J", absolute=0.05
        ),
        Row("F_O1y: end less start", "thesis", "< 0", float(first[-1] - first[0]), "N", bool(first[-1] < first[0])),
        Row("F_O5y: end less start", "thesis", "> 0", float(second[-1] - second[0]), "N", bool(second[-1] > second[0])),
        Row(
            "base forces at the end less weight",
            "thesis",
            "< 0: unloads as it brakes",
            float(first[-1] + second[-1] - weight),
            "N",
            bool(first[-1] + second[-1] < weight),
        ),
    )


def reference_rows(
    name: str, solution: PhaseSolution, cost: float, hamiltonian: float, energy: float, gap: float
) -> tuple[Row, ...]:
    """Return a reference solution's figures beside ours."""
    return (
        near(f"{name}: J", "reference", cost, solution.cost, relative=1e-3),
        near(f"{name}: H", "reference", hamiltonian, float(solution.hamiltonian.mean()), "1/s", absolute=1e-4),
        near(f"{name}: J_e", "reference", energy, solution.energies.total, "J", relative=5e-3),
        near(f"{name}: gap", "reference", gap, 1e3 * float(solution.closure_gap.max()), "mm", absolute=1e-3),
    )
