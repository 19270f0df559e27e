# SPDX-License-Identifier: Apache-2.0
"""Whether a simulation keeps up with time (specification 000, F026)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class RealTimeReport:
    """Computing times of steps.

    Attributes:
        steps: their number.
        mean: s.
        median: s.
        longest: s.
        percentile_99: 99 of 100 steps took no longer [s].
        factor: how many times faster than real time the simulation was, on average.
        late: share of the steps that took longer than the time that they simulated.
        counts: steps in each bin of the histogram, shape (b,).
        edges: of the bins, in geometric progression [s], shape (b + 1,).
    """

    steps: int
    mean: float
    median: float
    longest: float
    percentile_99: float
    factor: float
    late: float
    counts: NDArray[np.int64]
    edges: NDArray[np.float64]

    def __str__(self) -> str:
        """Return a few lines for a person, with the histogram."""
        lines = [
            f"{self.steps} steps: mean {1e6 * self.mean:.0f} µs, median {1e6 * self.median:.0f}, "
            f"99 % {1e6 * self.percentile_99:.0f}, longest {1e6 * self.longest:.0f}; "
            f"{self.factor:.1f} x real time, {100 * self.late:.2g} % late"
        ]
        widest = max(int(self.counts.max(initial=0)), 1)
        for count, low, high in zip(self.counts, self.edges[:-1], self.edges[1:], strict=True):
            bar = "#" * round(40 * count / widest)
            lines.append(f"{1e6 * low:9.0f} ... {1e6 * high:9.0f} µs {count:8d} {bar}".rstrip())
        return "\n".join(lines)


class RealTimeMonitor(Module):
    """Keeps the computing time of each step, all modules included, as the simulation's profile measures it.

    Attributes:
        name: ``"real_time"``.
    """

    name = "real_time"

    def __init__(self) -> None:
        """Start without any time."""
        self._seconds: list[float] = []
        self._simulation: Simulation | None = None
        self._counted = 0
        self._total = 0.0

    def attach(self, simulation: Simulation) -> None:
        """Begin with the next step."""
        self._simulation = simulation
        self._seconds.clear()
        self._counted, self._total = simulation.profile.steps, sum(simulation.profile.sums.values())

    def before_step(self, simulation: Simulation) -> None:
        """Take over the last step's time, which the profile knows only once all modules are done."""
        self._collect(simulation)

    def _collect(self, simulation: Simulation) -> None:
        steps, total = simulation.profile.steps, sum(simulation.profile.sums.values())
        if steps == self._counted + 1:
            self._seconds.append(total - self._total)
        self._counted, self._total = steps, total  # a profile that was reset counts anew

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Computing time of each step so far [s], shape (k,)."""
        if self._simulation is not None:
            self._collect(self._simulation)
        return np.array(self._seconds)

    def report(self, bins: int = 12) -> RealTimeReport:
        """Return statistics of the steps so far.

        Args:
            bins: of the histogram.

        Raises:
            InputError: no step was done since the module was added, or fewer than one bin.
        """
        if bins < 1:
            raise InputError(f"bins is {bins}", element="bins", remedy="Give 1 or more")
        seconds = self.seconds
        if seconds.size == 0 or self._simulation is None:
            raise InputError("no step has been measured", element=self.name, remedy="Run the simulation first")
        edges = np.geomspace(seconds.min(), seconds.max() * (1.0 + 1e-12), bins + 1)
        edges[0], edges[-1] = seconds.min(), max(seconds.max(), edges[-1])
        counts, _ = np.histogram(seconds, edges)
        return RealTimeReport(
            steps=int(seconds.size),
            mean=float(seconds.mean()),
            median=float(np.median(seconds)),
            longest=float(seconds.max()),
            percentile_99=float(np.percentile(seconds, 99)),
            factor=float(self._simulation.dt / seconds.mean()),
            late=float(np.mean(seconds > self._simulation.dt)),
            counts=counts.astype(np.int64),
            edges=edges,
        )
