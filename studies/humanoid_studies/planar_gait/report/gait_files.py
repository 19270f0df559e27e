# SPDX-License-Identifier: Apache-2.0
"""A gait as files: all series in the world as CSV, report and series as JSON, and a folder with all there is of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.report.gait_animation import write_animation, write_strip
from humanoid_studies.planar_gait.report.gait_figure import write_gait_figure
from humanoid_studies.planar_gait.report.gait_report import GaitReport, gait_report
from humanoid_studies.planar_gait.report.phase_files import write_csv, write_json
from humanoid_studies.planar_gait.report.phase_report import plain_values
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.trajectory.gait_series import gait_series


def write_gait_csv(gait: GaitSolution, path: str | Path) -> None:
    """One row for each sample, a header of names; SI units and radians, in the world; empty where there is no value.

    A transition has two rows of the same time: the end of one phase and the beginning of the next.
    """
    columns = gait_series(gait).columns()
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in np.stack(list(columns.values()), axis=1):
            writer.writerow(["" if np.isnan(value) else repr(float(value)) for value in row])


def write_gait_json(gait: GaitSolution, path: str | Path) -> None:
    """Report, each phase's log, and the series of :func:`write_gait_csv`; null where there is no value."""
    content = {
        "report": gait_report(gait).as_dict(),
        "logs": [list(solution.log) for solution in gait.phases],
        "offsets": [[float(value) for value in offset] for offset in gait.plan.offsets],
        "series": plain_values({name: column.tolist() for name, column in gait_series(gait).columns().items()}),
    }
    Path(path).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def write_gait_folder(
    gait: GaitSolution, folder: str | Path, animation: bool = True, progress: bool = False
) -> GaitReport:
    """Write report.txt, gait.json, gait.csv, gait.png, strip.png, gait.gif and a CSV and JSON of each phase.

    Args:
        gait: to write.
        folder: made if it isn't there.
        animation: whether gait.gif is written, which takes longest.
        progress: show a bar.

    Returns:
        The report.

    Raises:
        InputError: the folder can't be written to.
    """
    place = Path(folder)
    report = gait_report(gait)
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / "report.txt").write_text(report.text() + "\n", encoding="utf-8")
        write_gait_csv(gait, place / "gait.csv")
        write_gait_json(gait, place / "gait.json")
        for phase, solution in zip(report.phases, gait.phases, strict=True):
            name = f"phase_{phase.number}_{phase.kind}"
            write_csv(solution, place / f"{name}.csv")
            write_json(solution, place / f"{name}.json")
    except OSError as problem:
        raise InputError(f"can't be written to: {problem}", source=place, remedy="Give a folder of your own") from None
    write_gait_figure(gait, place / "gait.png")
    write_strip(gait, place / "strip.png")
    if animation:
        write_animation(gait, place / "gait.gif", progress=progress)
    return report
