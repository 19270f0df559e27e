# SPDX-License-Identifier: Apache-2.0
"""What an experiment gave: numbers beside those that were expected, as a table, and its picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from humanoid_model.errors import InputError
from humanoid_model.files import save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ComparedRow(Protocol):
    """A quantity of an experiment beside what is expected of it."""

    @property
    def quantity(self) -> str:
        """What it is."""

    @property
    def passes(self) -> bool | None:
        """Whether it is as it should be; None where there is nothing to judge."""

    @property
    def decides(self) -> bool:
        """Whether the experiment's passing depends on it."""

    def cells(self) -> tuple[str, ...]:
        """Return the row as words, one below each heading."""


RowT = TypeVar("RowT", bound=ComparedRow)


@dataclass(frozen=True, eq=False)
class ComparedNumbers(ABC, Generic[RowT]):
    """What one run of an experiment gave.

    Attributes:
        id: the experiment's name in its specification.
        title: what it is about.
        rows: numbers beside those that are expected.
    """

    headings: ClassVar[tuple[str, ...]]

    id: str
    title: str
    rows: tuple[RowT, ...]

    @property
    def passes(self) -> bool:
        """Whether all passes that the experiment depends on."""
        return all(row.passes for row in self.rows if row.decides)

    @property
    @abstractmethod
    def has_picture(self) -> bool:
        """Whether there is something to draw."""

    @abstractmethod
    def figure(self) -> Figure:
        """Return the picture.

        Raises:
            InputError: there is nothing to draw.
        """

    def row(self, quantity: str) -> RowT:
        """Return the row of a quantity.

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
        """Return the rows as a Markdown table with aligned columns, to read in a terminal or to put into a document."""
        cells = [self.headings, *(row.cells() for row in self.rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(self.headings))]
        lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
        return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])

    def write_picture(self, path: str | Path) -> None:
        """Draw the picture into a file, of any kind that matplotlib knows.

        Raises:
            InputError: see :meth:`figure`; or the file can't be written.
        """
        save_picture(self.figure(), path)


def judgement(passes: bool | None) -> str:
    """Return how a table tells whether a row passes; empty where there is nothing to judge."""
    return "" if passes is None else ("yes" if passes else "NO")
