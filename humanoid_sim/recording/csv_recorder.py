# SPDX-License-Identifier: Apache-2.0
"""Logs as tables, one CSV file per group of signals (specification 000, F024)."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humanoid_model.errors import InputError
from humanoid_sim.recording.recorder import Recorder
from humanoid_sim.recording.table import TABLES

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class CsvRecorder(Recorder):
    """Writes a folder of tidy tables: ``contacts.csv``, ``joints.csv``, ...

    A table has a row per instant and thing, its header names the units (``force_x [N]``). Numbers are written so that
    reading them gives the same ones.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        every: int = 1,
        groups: Sequence[str] | None = None,
        name: str = "csv",
    ) -> None:
        """Record into a folder, which is made when the module is added.

        Args:
            folder: tables of the same names in it are replaced.
            every: steps from one row to the next.
            groups: of :data:`~humanoid_sim.recording.table.TABLES`; all if not given.
            name: of the module.

        Raises:
            InputError: see :class:`~humanoid_sim.recording.recorder.Recorder`.
        """
        super().__init__(name, folder, every, groups)
        self._writers: dict[str, Any] = {}
        self._files = ExitStack()

    def attach(self, simulation: Simulation) -> None:
        """Open the tables and write their headers.

        Raises:
            InputError: the folder can't be made or written to.
        """
        with ExitStack() as files:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                for group in self.groups:
                    file = files.enter_context((self.path / f"{group}.csv").open("w", newline="", encoding="utf-8"))
                    self._writers[group] = csv.writer(file)
                    self._writers[group].writerow(TABLES[group].header)
            except OSError as problem:
                raise InputError(
                    f"no tables can be written there: {problem.strerror}",
                    source=self.path,
                    element="csv",
                    remedy="Name a folder to write to",
                ) from problem
            self._files = files.pop_all()

    def record(self, simulation: Simulation) -> None:
        """Write the rows of the last step."""
        time = simulation.time
        for group in self.groups:
            self._writers[group].writerows((time, *row) for row in TABLES[group].rows(simulation))

    def detach(self, simulation: Simulation) -> None:
        """Close the tables."""
        self._files.close()
