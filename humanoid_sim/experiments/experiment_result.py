# SPDX-License-Identifier: Apache-2.0
"""What an experiment of the thesis gave: numbers beside the thesis' own, and curves to draw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CurveStyle = Literal["line", "dashed", "points", "line and points"]
_STYLES: dict[str, dict[str, str]] = {
    "line": {"linestyle": "-"},
    "dashed": {"linestyle": "--"},
    "points": {"linestyle": "", "marker": "o"},
    "line and points": {"linestyle": "-", "marker": "o"},
}


@dataclass(frozen=True)
class Row:
    """A quantity of an experiment, ours beside the thesis'.

    Attributes:
        quantity: what it is.
        thesis: what the thesis or the specification says, as a person reads it; empty where it says nothing.
        ours: what came out here, in ``unit``.
        unit: empty for a plain number.
        passes: whether ours is as it should be; None where there is nothing to judge.
        wall_clock: whether it is a computing time or made from some: it is printed and judged, but does not decide
            whether the experiment passes, since other work on the machine changes it.
    """

    quantity: str
    thesis: str
    ours: float
    unit: str = ""
    passes: bool | None = None
    wall_clock: bool = False


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of a picture.

    Attributes:
        x: shape (n,).
        y: shape (n,).
        label: in the legend; empty for a curve without an entry there.
        style: how it is drawn.
        colour: any that matplotlib knows; the next one of its cycle if empty.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    label: str = ""
    style: CurveStyle = "line"
    colour: str = ""


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes of a picture.

    Attributes:
        x_label: quantity and unit.
        y_label: quantity and unit.
        curves: what is drawn.
        title: above it.
        x_log: whether the x axis is logarithmic.
        y_log: whether the y axis is.
        equal: whether both axes have the same scale, as a view of a scene needs.
    """

    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    title: str = ""
    x_log: bool = False
    y_log: bool = False
    equal: bool = False


def curve(x: ArrayLike, y: ArrayLike, label: str = "", style: CurveStyle = "line", colour: str = "") -> Curve:
    """A curve from anything that becomes an array.

    Raises:
        InputError: x and y do not have the same number of values, or there are none.
    """
    xs, ys = (np.array(values, dtype=float).reshape(-1) for values in (x, y))
    if xs.size != ys.size or xs.size == 0:
        raise InputError(
            f"x has {xs.size} values and y {ys.size}", element=f"curve '{label}'", remedy="Give as many, one or more"
        )
    return Curve(xs, ys, label, style, colour)


@dataclass(frozen=True, eq=False)
class ExperimentResult:
    """What one run of an experiment gave.

    Attributes:
        id: the experiment's name in specification 000 §27, ``"E1"``.
        title: what it is about.
        rows: numbers beside the thesis'.
        panels: what the picture shows; none for an experiment of numbers only.
    """

    id: str
    title: str
    rows: tuple[Row, ...]
    panels: tuple[Panel, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether all that is judged passes; computing times don't count."""
        return all(row.passes for row in self.rows if row.passes is not None and not row.wall_clock)

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
        head = ("quantity", "thesis", "here", "unit", "passes")
        cells = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
        lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
        return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])

    def figure(self) -> Figure:
        """The picture: the panels side by side, at most three in a row.

        Raises:
            InputError: there is nothing to draw, or matplotlib is missing.
        """
        if not self.panels:
            raise InputError("the experiment has no curves", element=self.id, remedy="Print its table")
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as problem:
            raise InputError("pictures need matplotlib", element="figure", remedy="pip install matplotlib") from problem
        columns = min(len(self.panels), 2 if len(self.panels) in (2, 4) else 3)
        rows = -(-len(self.panels) // columns)
        figure = Figure(figsize=(5.0 * columns, 3.9 * rows), layout="constrained")
        FigureCanvasAgg(figure)
        all_axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
        for axes in all_axes[len(self.panels) :]:
            axes.set_axis_off()
        for axes, panel in zip(all_axes, self.panels, strict=False):
            for curve in panel.curves:
                colour = {"color": curve.colour} if curve.colour else {}
                axes.plot(
                    curve.x, curve.y, label=curve.label or None, lw=1.2, ms=4.0, **_STYLES[curve.style], **colour
                )
            axes.set(xlabel=panel.x_label, ylabel=panel.y_label, title=panel.title)
            if panel.x_log:
                axes.set_xscale("log")
            if panel.y_log:
                axes.set_yscale("log")
            if panel.equal:
                axes.set_aspect("equal", adjustable="datalim")
            axes.grid(alpha=0.3)
            if any(curve.label for curve in panel.curves):
                axes.legend(fontsize="small")
        figure.suptitle(f"{self.id}: {self.title}")
        return figure

    def write_picture(self, path: str | Path) -> None:
        """Draw the picture into a file, of any kind that matplotlib knows.

        Raises:
            InputError: see :meth:`figure`; or the file can't be written.
        """
        figure = self.figure()
        try:
            figure.savefig(path, dpi=110)
        except (OSError, ValueError) as problem:
            raise InputError(
                f"the picture can't be written: {problem}", source=path, remedy="Give a .png in a folder that exists"
            ) from problem


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    """The row as words."""
    judged = "" if row.passes is None else ("yes" if row.passes else "NO")
    return row.quantity, row.thesis, f"{row.ours:.6g}", row.unit, judged + (" (time)" if row.wall_clock else "")
