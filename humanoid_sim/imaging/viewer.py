# SPDX-License-Identifier: Apache-2.0
"""Who looks on while a simulation runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from humanoid_sim.imaging.pictures import Placements

if TYPE_CHECKING:
    from typing_extensions import Self


class Viewer(ABC):
    """Looks at a simulation every so many steps, until it is closed; a ``with`` block closes it at its end.

    Attributes:
        left: steps until it looks again, 1 or more.
    """

    def __init__(self, viewers: list[Viewer], period: int) -> None:
        """Begin to look.

        Args:
            viewers: of the simulation; it is among them until it is closed.
            period: steps from one look to the next, 1 or more.
        """
        self._viewers, self._period = viewers, period
        self.left = period
        viewers.append(self)

    def passed(self, steps: int, time: float, joints: Callable[[], Placements]) -> None:
        """Look if it is time to, after some steps were made: at a simulated time [s], with the joint frames then."""
        self.left -= steps
        if self.left <= 0:
            self.left = self._period
            self.look(time, joints())

    @abstractmethod
    def look(self, time: float, joints: Placements) -> None:
        """Look at the present; the arrays hold only now."""

    def close(self) -> None:
        """Look no more. Once more does nothing."""
        if self in self._viewers:
            self._viewers.remove(self)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, whatever happened."""
        self.close()
