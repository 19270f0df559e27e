# SPDX-License-Identifier: Apache-2.0
"""What all recorders share: which steps they record, and which groups of signals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from humanoid_model.errors import InputError
from humanoid_sim.module import Module
from humanoid_sim.recording.table import TABLES

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class Recorder(Module):
    """Writes signals of every n-th step to a file.

    A recorder has no memory that decides anything: a restored simulation goes on recording where it is.

    Attributes:
        name: of the module.
        path: file or folder that it writes.
        every: steps from one record to the next.
        groups: names of the groups of signals.
    """

    def __init__(self, name: str, path: str | Path, every: int, groups: Sequence[str] | None) -> None:
        """Check what a user asked for.

        Args:
            name: of the module.
            path: of the file or folder.
            every: number of steps, 1 or more.
            groups: of :data:`~humanoid_sim.recording.table.TABLES`; all if not given.

        Raises:
            InputError: ``every`` is less than 1, or a group is unknown.
        """
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(f"every is {every!r}", element="every", remedy="Give a number of steps, 1 or more")
        self.name = name
        self.path = Path(path)
        self.every = every
        self.groups = tuple(TABLES if groups is None else groups)
        for group in self.groups:
            if group not in TABLES:
                raise InputError(
                    f"there is no group of signals '{group}'",
                    element="groups",
                    remedy=f"Choose of {', '.join(TABLES)}",
                )

    def after_step(self, simulation: Simulation) -> None:
        """Record the step if it is its turn."""
        if simulation.step_count % self.every == 0:
            self.record(simulation)

    def record(self, simulation: Simulation) -> None:
        """Write what the last step gave."""
        raise NotImplementedError
