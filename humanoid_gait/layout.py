# SPDX-License-Identifier: Apache-2.0
"""Where the unknowns of a transcription are: a state for every node and controls for every interval, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from humanoid_gait.problem import Phase


@dataclass(frozen=True, eq=False)
class Layout:
    """Places of unknowns.

    A state is (y, rate, free durations of all phases, and what is carried along from the start); controls
    are (accelerations of the s points, multipliers of the s points).

    Attributes:
        phases: of the problem.
        n: coordinates.
        points: s of every interval.
        multipliers: of each phase.
        carried: numbers of the start that all states carry along, so that a cycle has the structure of stages.
    """

    phases: Sequence[Phase]
    n: int
    points: int
    multipliers: tuple[int, ...]
    carried: int

    @cached_property
    def durations(self) -> dict[int, int]:
        """Place within a state of each free duration, by phase."""
        free = [index for index, phase in enumerate(self.phases) if phase.free]
        return {index: 2 * self.n + place for place, index in enumerate(free)}

    @cached_property
    def state(self) -> int:
        """Length of a state."""
        return 2 * self.n + len(self.durations) + self.carried

    def controls(self, phase: int) -> int:
        """Length of controls."""
        return self.points * (self.n + self.multipliers[phase])

    @cached_property
    def phase_of(self) -> NDArray[np.int64]:
        """(N,) phase of each interval."""
        return np.repeat(np.arange(len(self.phases)), [phase.intervals for phase in self.phases])

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(P + 1,) node that each phase begins with; the last one is N."""
        return np.concatenate([[0], np.cumsum([phase.intervals for phase in self.phases])])

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(N + 1,) first unknown of each node's state."""
        sizes = [self.state + self.controls(int(phase)) for phase in self.phase_of]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def unknowns(self) -> int:
        """Number of all."""
        return int(self.starts[-1]) + self.state

    def states(self) -> NDArray[np.int64]:
        """(N + 1, state) unknowns of the states."""
        return self.starts[:, None] + np.arange(self.state)

    def stages(self, phase: int) -> NDArray[np.int64]:
        """(intervals, state + controls) unknowns of the intervals of a phase."""
        own = self.starts[self.first[phase] : self.first[phase + 1]]
        return np.asarray(own[:, None] + np.arange(self.state + self.controls(phase)))
