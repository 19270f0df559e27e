# SPDX-License-Identifier: Apache-2.0
"""What an experiment of specification 000 §27 gave: numbers beside the thesis' own, and curves to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_studies.experiments.compared_numbers import ComparedNumbers, judgement

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

    @property
    def decides(self) -> bool:
        """Whether it is judged and no computing time."""
        return self.passes is not None and not self.wall_clock

    def cells(self) -> tuple[str, ...]:
        """Return the row as words."""
        judged = judgement(self.passes) + (" (time)" if self.wall_clock else "")
        return self.quantity, self.thesis, f"{self.ours:.6g}", self.unit, judged


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
    """Return a curve from anything that becomes an array.

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
class ExperimentResult(ComparedNumbers[Row]):
    """What one run of an experiment of specification 000 §27 gave.

    Attributes:
        panels: what the picture shows; none for an experiment of numbers only.
    """

    headings = ("quantity", "thesis", "here", "unit", "passes")

    panels: tuple[Panel, ...] = ()

    @property
    def has_picture(self) -> bool:
        """Whether there are panels."""
        return bool(self.panels)

    def figure(self) -> Figure:
        """Return the picture: the panels side by side, at most three in a row.

        Raises:
            InputError: there is nothing to draw.
        """
        if not self.panels:
            raise InputError("the experiment has no curves", element=self.id, remedy="Print its table")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

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
