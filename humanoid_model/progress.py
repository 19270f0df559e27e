# SPDX-License-Identifier: Apache-2.0
"""How work that takes long tells where it is: one record and one kind of callback for the whole stack."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from tqdm import tqdm

from humanoid_model.errors import HumanoidError, InputError

#: Time between two looks of a :class:`Watch` at its callback [s].
_EVERY = 0.1


@dataclass(frozen=True)
class Progress:
    """Where a piece of work is.

    Attributes:
        stage: what was done last or is under way, in words.
        fraction: share of the work that is done, from 0 to 1; None where that isn't known.
        part: what is worked on, from 0, of work that has several parts: the phase of a gait.
        residual: by how much equations or limits aren't met yet; NaN while that isn't known.
        nodes: of the mesh; 0 while there is none.
        iteration: of a solver, from 0.
        cost: of the best so far; NaN while there is none.
        result: what is solved so far, where that has just changed.
    """

    stage: str
    fraction: float | None = None
    part: int = 0
    residual: float = math.nan
    nodes: int = 0
    iteration: int = 0
    cost: float = math.nan
    result: object = None


ProgressCallback = Callable[[Progress], bool | None]
"""Takes progress; returns True to cancel. What it raises ends the work and is passed on."""


class CancelledWorkError(HumanoidError):
    """Work was cancelled that has no use half done."""


def tell(progress: ProgressCallback | None, item: Progress) -> None:
    """Tell a callback of work that has no use half done.

    Raises:
        CancelledWorkError: the callback cancels it.
    """
    if progress is not None and progress(item):
        raise CancelledWorkError(f"was cancelled: {item.stage}")


class Watch:
    """Looks at the clock and tells a callback while work goes on in loops that know neither.

    Attributes:
        now: what the callback is told now and then; whoever works sets it.
        why: what ended the work; empty while it goes on.
    """

    def __init__(self, progress: ProgressCallback | None = None, time_limit: float = math.inf) -> None:
        """Take a callback and a time limit [s].

        Raises:
            InputError: the limit is NaN.
        """
        if math.isnan(time_limit):
            raise InputError("is NaN", element="time_limit", remedy="Give a number, or infinity for none")
        self._progress, self._limit = progress, time_limit
        self._began, self._told = time.perf_counter(), -math.inf
        self.now, self.why = Progress(""), ""

    def over(self) -> bool:
        """Return whether the work has to end; may be asked as often as one likes."""
        now = time.perf_counter()
        if not self.why and now - self._began >= self._limit:
            self.why = f"the time limit of {self._limit:g} s is reached"
        elif not self.why and self._progress is not None and now - self._told >= _EVERY:
            self._told = now
            if self._progress(self.now):
                self.why = "it was cancelled"
        return bool(self.why)

    def check(self) -> None:
        """Go on, or raise.

        Raises:
            CancelledWorkError: the work has to end.
        """
        if self.over():
            raise CancelledWorkError(self.why)

    def tell(self, item: Progress) -> None:
        """Tell at once what is done from now on; raises like :meth:`check`."""
        self.now, self._told = item, -math.inf
        self.check()


@contextmanager
def progress_bar(file: TextIO, enabled: bool | None = None) -> Iterator[ProgressCallback]:
    """Yield a bar on the command line that shows progress: its share where that is known, its stage otherwise.

    Args:
        file: that it is written to.
        enabled: whether it is shown; None: where the file is a terminal.
    """
    hidden = None if enabled is None else not enabled
    look = "{desc}{percentage:3.0f} %|{bar}|"
    with tqdm(total=1.0, leave=False, file=file, disable=hidden, bar_format=look) as bar:

        def tell(progress: Progress) -> None:
            if progress.fraction is not None:
                bar.n = progress.fraction
            bar.set_description(progress.stage)

        yield tell


def as_part(progress: ProgressCallback | None, part: int, before: str = "") -> ProgressCallback:
    """Return a callback for one part of some work.

    Args:
        progress: callback of the whole; None: there is none.
        part: index of the part.
        before: what its stages are preceded by.
    """

    def tell(item: Progress) -> bool:
        if progress is None:
            return False
        return bool(progress(dataclasses.replace(item, stage=f"{before}{item.stage}", part=part)))

    return tell
