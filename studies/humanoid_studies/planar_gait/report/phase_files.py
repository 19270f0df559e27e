# SPDX-License-Identifier: Apache-2.0
"""A solved phase as files: every series as CSV, summary and series as JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_studies.planar_gait.report.phase_report import phase_report
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution


def phase_series(solution: PhaseSolution) -> dict[str, NDArray[np.floating[Any]]]:
    """Columns (K,) by name: t, q, v, joint angles and rates, controls, forces, H, closure gap and costates."""
    model = solution.problem.model
    columns: dict[str, NDArray[np.floating[Any]]] = {"t": solution.t}
    for j, name in enumerate(model.tree.coordinates):
        columns[f"q.{name}"], columns[f"v.{name}"] = solution.q[:, j], solution.v[:, j]
        columns[f"p.{name}"] = solution.p[:, j]
    angles, rates = model.joint_angles(solution.q), model.joint_rates(solution.v)
    for j, name in enumerate(model.joint_names):
        columns[f"angle.{name}"], columns[f"rate.{name}"] = angles[:, j], rates[:, j]
    for j, name in enumerate(model.control_names):
        columns[f"u.{name}"] = solution.u[:, j]
    feet = {foot.name: foot for foot in solution.problem.checked_feet}
    for name, series in solution.forces.items():
        for row, normal in zip(feet[name].normal, series.normal.T, strict=True):
            columns[f"force.{name}.{row.name}"] = normal
        columns[f"force.{name}.tangential"] = series.tangential
    columns["hamiltonian"], columns["closure_gap"] = solution.hamiltonian, solution.closure_gap
    n = model.n
    for j, name in enumerate(model.tree.coordinates):
        columns[f"w_q.{name}"], columns[f"w_p.{name}"] = solution.costates[:, j], solution.costates[:, n + j]
    return columns


def write_csv(solution: PhaseSolution, path: str | Path) -> None:
    """One row for each sample, a header of names; SI units and radians."""
    columns = phase_series(solution)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([repr(float(value)) for value in row] for row in np.stack(list(columns.values()), axis=1))


def write_json(solution: PhaseSolution, path: str | Path) -> None:
    """Summary, log and series in one file."""
    content = {
        "report": phase_report(solution).as_dict(),
        "log": list(solution.log),
        "series": {name: [float(value) for value in column] for name, column in phase_series(solution).items()},
    }
    Path(path).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
