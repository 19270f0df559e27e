# SPDX-License-Identifier: Apache-2.0
"""What an experiment of the gait thesis gave: numbers beside the thesis' and the reference solutions' own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from humanoid_model.errors import InputError

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
    """A quantity that should be near a number, by a relative or an absolute tolerance.

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
    """A quantity that should be at least, at most, or between numbers."""
    if math.isinf(least):
        shown = f"<= {greatest:g}"
    elif math.isinf(greatest):
        shown = f">= {least:g}"
    else:
        shown = f"{least:g} to {greatest:g}"
    return Row(quantity, source, shown, ours, unit, least <= ours <= greatest)


def told(quantity: str, source: Source, expected: str, ours: float, unit: str = "") -> Row:
    """A quantity beside a statement that isn't judged."""
    return Row(quantity, source, expected, ours, unit)


@dataclass(frozen=True, eq=False)
class ExperimentResult:
    """What one run of an experiment gave.

    Attributes:
        id: the experiment's name in specification 003 Part 4, ``"B3"``.
        title: what it is about.
        rows: numbers beside what is expected.
        draw: draws its picture; None without one.
    """

    id: str
    title: str
    rows: tuple[Row, ...]
    draw: Callable[[], Figure] | None = None

    @property
    def passes(self) -> bool:
        """Whether all that is judged passes."""
        return all(row.passes for row in self.rows if row.passes is not None)

    def row(self, quantity: str) -> Row:
        """The row of a quantity.

        Raises:
            InputError: there is none.
        """
        for row in self.rows:
            if row.quantity == quantity:
                return row
        raise InputError(
            f"there is no quantity '{quantity}'",
            element=self.id,
            remedy=f"There are {'; '.join(row.quantity for row in self.rows)}",
        )

    def table(self) -> str:
        """The rows as a Markdown table with aligned columns, to read in a terminal or to put into a document."""
        head = ("quantity", "by", "expected", "here", "unit", "passes")
        cells = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
        lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
        return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def _cells(row: Row) -> tuple[str, str, str, str, str, str]:
    """The row as words."""
    judged = "" if row.passes is None else ("yes" if row.passes else "NO")
    return row.quantity, row.source, row.expected, f"{row.ours:.6g}", row.unit, judged
