# SPDX-License-Identifier: Apache-2.0
"""What an experiment of specification 003 Part 4 gave: numbers beside the thesis' and the reference solutions'."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from humanoid_model.errors import InputError
from humanoid_studies.experiments.compared_numbers import ComparedNumbers, judgement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Source = Literal["thesis", "reference"]
"""The thesis' own numbers and statements, or solutions recomputed with settings given in full."""


@dataclass(frozen=True)
class Row:
    """A quantity of an experiment.

    Attributes:
        quantity: what it is.
        source: where what is expected comes from.
        expected: as a person reads it, tolerance included.
        ours: what came out here, in ``unit``.
        unit: empty for a plain number.
        passes: whether ours is as expected; None where there is nothing to judge.
    """

    quantity: str
    source: Source
    expected: str
    ours: float
    unit: str = ""
    passes: bool | None = None

    @property
    def decides(self) -> bool:
        """Whether it is judged."""
        return self.passes is not None

    def cells(self) -> tuple[str, ...]:
        """Return the row as words."""
        return self.quantity, self.source, self.expected, f"{self.ours:.6g}", self.unit, judgement(self.passes)


def near(
    quantity: str,
    source: Source,
    expected: float,
    ours: float,
    unit: str = "",
    *,
    relative: float = 0.0,
    absolute: float = 0.0,
) -> Row:
    """Return a quantity that should be near a number, by a relative or an absolute tolerance.

    Raises:
        InputError: both tolerances are zero, or one isn't finite and at least zero.
    """
    if not (relative >= 0.0 and absolute >= 0.0 and 0.0 < relative + absolute < math.inf):
        raise InputError(f"tolerances {relative} and {absolute}", element=quantity, remedy="Give one of them, above 0")
    width = max(relative * abs(expected), absolute)
    shown = f"{expected:g} ± {100.0 * relative:g} %" if relative > 0.0 else f"{expected:g} ± {absolute:g}"
    return Row(quantity, source, shown, ours, unit, abs(ours - expected) <= width)


def between(
    quantity: str, source: Source, ours: float, unit: str = "", *, least: float = -math.inf, greatest: float = math.inf
) -> Row:
    """Return a quantity that should be at least, at most, or between numbers."""
    if math.isinf(least):
        shown = f"<= {greatest:g}"
    elif math.isinf(greatest):
        shown = f">= {least:g}"
    else:
        shown = f"{least:g} to {greatest:g}"
    return Row(quantity, source, shown, ours, unit, least <= ours <= greatest)


def told(quantity: str, source: Source, expected: str, ours: float, unit: str = "") -> Row:
    """Return a quantity beside a statement that isn't judged."""
    return Row(quantity, source, expected, ours, unit)


@dataclass(frozen=True, eq=False)
class ExperimentResult(ComparedNumbers[Row]):
    """What one run of an experiment of specification 003 Part 4 gave.

    Attributes:
        draw: draws its picture; None without one.
    """

    headings = ("quantity", "by", "expected", "here", "unit", "passes")

    draw: Callable[[], Figure] | None = None

    @property
    def has_picture(self) -> bool:
        """Whether something draws it."""
        return self.draw is not None

    def figure(self) -> Figure:
        """Return the picture.

        Raises:
            InputError: there is none.
        """
        if self.draw is None:
            raise InputError("the experiment has no picture", element=self.id, remedy="Print its table")
        return self.draw()
