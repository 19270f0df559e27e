# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step goes (specification 000, F026 and F027)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_sim.stepping.step_data import ClockArrays

STAGES = ("modules", "dynamics", "detection", "assembly", "contacts", "integration")
_PLACES = {stage: place for place, stage in enumerate(STAGES)}


class Profile:
    """Seconds spent in each stage of a simulation step.

    The stages: ``modules`` (what acts around the step), ``dynamics`` (placements, inertia, bias), ``detection`` of
    contact points, ``assembly`` (free motion, contact Jacobian, Delassus operator), ``contacts`` (their solver),
    ``integration`` (position correction, integration, bookkeeping).

    Attributes:
        steps: number of steps measured.
        last_seconds: seconds of the last step, in the order of :data:`STAGES`, shape (6,).
        all_seconds: seconds of all steps, likewise, shape (6,).
        longest_seconds: seconds of the longest step, shape (1,).
    """

    def __init__(self) -> None:
        """Start with nothing measured."""
        self.last_seconds: NDArray[np.float64] = np.zeros(len(STAGES))
        self.all_seconds: NDArray[np.float64] = np.zeros(len(STAGES))
        self.longest_seconds: NDArray[np.float64] = np.zeros(1)
        self.steps = 0
        self._mark = 0.0
        self._marched = False

    def reset(self) -> None:
        """Forget everything."""
        self.steps = 0
        self.last_seconds[:] = 0.0
        self.all_seconds[:] = 0.0
        self.longest_seconds[:] = 0.0

    def clock(self) -> ClockArrays:
        """Return arrays of many steps in one call that writes its times here."""
        return ClockArrays(
            np.zeros(2, dtype=np.int64), self.last_seconds, self.all_seconds, self.longest_seconds,
            np.zeros(1, dtype=np.int64), np.zeros(3),
        )  # fmt: skip

    def begin(self) -> None:
        """Start a step."""
        self.last_seconds[:] = 0.0
        self._marched = False
        self._mark = time.perf_counter()

    def end(self, stage: str) -> None:
        """Give the time since the last call to a stage."""
        now = time.perf_counter()
        self.last_seconds[_PLACES[stage]] += now - self._mark
        self._mark = now

    def split(self, stages: Sequence[str], seconds: NDArray[np.float64]) -> None:
        """Give parts of the time since the last call to stages; the rest is the next stage's.

        Args:
            stages: which ones.
            seconds: what each of them took, in their order; further entries are not read.
        """
        for stage, own in zip(stages, seconds.tolist(), strict=False):
            self.last_seconds[_PLACES[stage]] += own
            self._mark += own

    def skip(self) -> None:
        """Leave the time since the last call out: :mod:`humanoid_sim.stepping.run_steps` has written it down."""
        self._marched = True
        self._mark = time.perf_counter()

    def finish(self, steps: int) -> None:
        """Close some steps; those of one call are added already, but for the modules that acted around them."""
        self.steps += steps
        if not self._marched:
            self.all_seconds += self.last_seconds
        elif (modules := self.last_seconds[0]) > 0.0:
            self.all_seconds[0] += modules
        else:
            return
        self.longest_seconds[0] = max(self.longest, self.last_seconds.sum())

    @property
    def last(self) -> dict[str, float]:
        """Seconds of the last step by stage."""
        return dict(zip(STAGES, self.last_seconds.tolist(), strict=True))

    @property
    def sums(self) -> dict[str, float]:
        """Seconds of all steps by stage."""
        return dict(zip(STAGES, self.all_seconds.tolist(), strict=True))

    @property
    def longest(self) -> float:
        """Seconds of the longest step."""
        return float(self.longest_seconds[0])

    @property
    def stages(self) -> dict[str, float]:
        """Mean seconds per step by stage."""
        return {stage: seconds / max(self.steps, 1) for stage, seconds in self.sums.items()}

    @property
    def mean(self) -> float:
        """Mean seconds per step."""
        return sum(self.sums.values()) / max(self.steps, 1)

    @property
    def shares(self) -> dict[str, float]:
        """Share of each stage in the time of all steps; they sum to 1 once a step was measured."""
        total = sum(self.sums.values())
        return {stage: seconds / total if total > 0.0 else 0.0 for stage, seconds in self.sums.items()}

    def table(self, dt: float) -> str:
        """Table to print: a line per stage and the real-time factor of steps of size ``dt`` [s]."""
        means, shares = self.stages, self.shares
        lines = [f"{'stage':<14}{'µs/step':>10}{'share':>9}"]
        lines += [f"{stage:<14}{1e6 * means[stage]:>10.1f}{100 * shares[stage]:>8.1f}%" for stage in means]
        lines.append(f"{'all':<14}{1e6 * self.mean:>10.1f}{100 * sum(shares.values()):>8.1f}%")
        lines.append(
            f"longest step {1e6 * self.longest:.1f} µs of {1e6 * dt:g}, {self.steps} steps, "
            f"{self.real_time_factor(dt):.3g} x real time"
        )
        return "\n".join(lines)

    def real_time_factor(self, dt: float) -> float:
        """Return how many times faster than real time the steps of size ``dt`` [s] are, on average."""
        return dt / self.mean if self.mean > 0.0 else float("inf")
