# SPDX-License-Identifier: Apache-2.0
"""Where the time of a step goes (specification 000, F026 and F027)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

STAGES = ("modules", "dynamics", "detection", "assembly", "contacts", "integration")


class Profile:
    """Seconds spent in each stage of a simulation step.

    The stages: ``modules`` (what acts around the step), ``dynamics`` (placements, inertia, bias), ``detection`` of
    contact points, ``assembly`` (free motion, contact Jacobian, Delassus operator), ``contacts`` (their solver),
    ``integration`` (position correction, integration, bookkeeping).

    Attributes:
        steps: number of steps measured.
        last: seconds of the last step by stage.
        sums: seconds of all steps by stage.
        longest: seconds of the longest step.
    """

    def __init__(self) -> None:
        """Start with nothing measured."""
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.steps = 0
        self.last = dict.fromkeys(STAGES, 0.0)
        self.sums = dict.fromkeys(STAGES, 0.0)
        self.longest = 0.0
        self._mark = 0.0

    def begin(self) -> None:
        """Start a step."""
        for stage in STAGES:
            self.last[stage] = 0.0
        self._mark = time.perf_counter()

    def end(self, stage: str) -> None:
        """Give the time since the last call to a stage."""
        now = time.perf_counter()
        self.last[stage] += now - self._mark
        self._mark = now

    def split(self, stages: Sequence[str], seconds: NDArray[np.float64]) -> None:
        """Give parts of the time since the last call to stages; the rest is the next stage's.

        Args:
            stages: which ones.
            seconds: what each of them took, in their order; further entries are not read.
        """
        for stage, own in zip(stages, seconds.tolist(), strict=False):
            self.last[stage] += own
            self._mark += own

    def finish(self) -> None:
        """Close a step."""
        self.steps += 1
        total = 0.0
        for stage, seconds in self.last.items():
            self.sums[stage] += seconds
            total += seconds
        self.longest = max(self.longest, total)

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
        """How many times faster than real time the steps of size ``dt`` [s] are, on average."""
        return dt / self.mean if self.mean > 0.0 else float("inf")
