# SPDX-License-Identifier: Apache-2.0
"""How punctual a controller is."""

from __future__ import annotations


class Punctuality:
    """Counts ticks, and those whose command left later than a tick after the measurement had come.

    Attributes:
        ticks: so far.
        late: of them.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.ticks = self.late = 0
        self._last = 0.0
        self._sum, self._count, self._longest = 0.0, 0, 0.0

    def take(self, time: float, seconds: float) -> None:
        """Take note of a tick.

        Args:
            time: stamp of the measurement [s].
            seconds: wall-clock time from its coming to its command [s].
        """
        period, self._last = time - self._last, time
        self.ticks += 1
        self.late += seconds > period > 0.0
        self._sum, self._count, self._longest = self._sum + seconds, self._count + 1, max(self._longest, seconds)

    def since(self) -> tuple[float, float]:
        """Return mean and longest time since it was asked last [s]."""
        mean, longest = self._sum / max(self._count, 1), self._longest
        self._sum, self._count, self._longest = 0.0, 0, 0.0
        return mean, longest
