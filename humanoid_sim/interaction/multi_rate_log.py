# SPDX-License-Identifier: Apache-2.0
"""Logs of an interaction at the rate of the device and at that of the simulation (specification 000 §15.6, F120)."""

from __future__ import annotations

import csv
from collections import deque
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DEVICE = {"time": "s", "position": "m", "force": "N", "displayed": "N", "button": "-"}
"""Columns of the device's log: the handle, the force on it before and after the device's limits, button 0."""
PHYSICS = {"time": "s", "position": "m", "force": "N"}
"""Columns of the simulation's log: the mean point of attack on the object, the sum of the forces on it."""

_VECTORS = ("position", "force", "displayed")


class MultiRateLog:
    """Both logs of an interaction; between two instants each side sees the other as it was (zero-order hold).

    A force that the slower side computes is therefore a staircase in the log of the faster one.
    """

    def __init__(self, most: int | None = None) -> None:
        """Start empty.

        Args:
            most: rows that are kept of each side, the last ones; all if not given.
        """
        self._rows: dict[str, deque[tuple[object, ...]]] = {"device": deque(maxlen=most), "physics": deque(maxlen=most)}

    def add_device(
        self,
        time: float,
        position: NDArray[np.float64],
        force: NDArray[np.float64],
        displayed: NDArray[np.float64],
        button: bool,
    ) -> None:
        """Keep what the device did at one of its ticks."""
        self._rows["device"].append((time, position, force, displayed, float(button)))

    def add_physics(self, time: float, position: NDArray[np.float64], force: NDArray[np.float64]) -> None:
        """Keep what acted in a step that begins at a time."""
        self._rows["physics"].append((time, position, force))

    @property
    def device(self) -> dict[str, NDArray[np.float64]]:
        """Columns of the device's log: times, shape (n,), vectors, shape (n, 3)."""
        return self._columns("device", DEVICE)

    @property
    def physics(self) -> dict[str, NDArray[np.float64]]:
        """Columns of the simulation's log."""
        return self._columns("physics", PHYSICS)

    def _columns(self, name: str, columns: dict[str, str]) -> dict[str, NDArray[np.float64]]:
        rows = self._rows[name]
        shapes = {column: (len(rows), 3) if column in _VECTORS else (len(rows),) for column in columns}
        return {
            column: np.array([row[i] for row in rows], dtype=float).reshape(shapes[column])
            for i, column in enumerate(columns)
        }

    def write(self, folder: str | Path) -> None:
        """Write ``device.csv`` and ``physics.csv`` into a folder, which is made if needed."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, units in (("device", DEVICE), ("physics", PHYSICS)):
            header: list[str] = []
            for column, unit in units.items():
                axes = ("_x", "_y", "_z") if column in _VECTORS else ("",)
                header += [f"{column}{axis} [{unit}]" for axis in axes]
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(header)
                for row in self._rows[name]:
                    writer.writerow(np.concatenate([np.atleast_1d(np.asarray(value)) for value in row]).tolist())
