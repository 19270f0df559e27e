# SPDX-License-Identifier: Apache-2.0
"""Tables of a replay: errors per joint and axis, positions and efforts over time (CSV, SI units)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from humanoid_studies.humod.coordinates import JOINTS, POSITION_JOINTS
from humanoid_studies.humod.replay import Replay


def write_tables(folder: Path, replay: Replay) -> list[Path]:
    """Write ``errors.csv``, ``positions.csv`` and ``efforts.csv`` and returns their paths."""
    errors = []
    for kind in replay.errors:
        largest, rms = replay.largest(kind), replay.rms(kind)
        for i, joint in enumerate(POSITION_JOINTS):
            errors += [(kind, joint, "xyz"[k], f"{largest[i, k]:.6g}", f"{rms[i, k]:.6g}") for k in range(3)]
    time = replay.recording.time
    places = {"model": replay.positions, **replay.recording.positions}
    names = [f"{joint}_{axis}_{source}" for source in places for joint in POSITION_JOINTS for axis in "xyz"]
    columns = np.column_stack([time, *(values.reshape(len(time), -1) for values in places.values())])
    grounded = replay.recording.ground is not None
    efforts = [replay.efforts, replay.unsupported[:, :6]] if grounded else [replay.efforts]
    base = [f"{joint}_without_ground" for joint in JOINTS[:6]] if grounded else []
    return [
        _write(folder / "errors.csv", ("against", "joint", "axis", "largest_m", "rms_m"), errors),
        _write(folder / "positions.csv", ("time_s", *names), _texts(columns)),
        _write(folder / "efforts.csv", ("time_s", *JOINTS, *base), _texts(np.column_stack([time, *efforts]))),
    ]


def _texts(rows: np.ndarray) -> Iterable[Sequence[str]]:
    return ([f"{value:.9g}" for value in row] for row in rows)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path
