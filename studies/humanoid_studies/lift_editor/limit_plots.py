# SPDX-License-Identifier: Apache-2.0
"""Charts of what is limited along a lift, between its limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import viser

from humanoid_ros.viewer.controls import add_line_chart
from humanoid_studies.lifting.judgement import Judgement, LimitedQuantity


class LimitPlots:
    """Charts of some quantities, one below the other.

    Args:
        gui: GUI of the page; the charts are where it is when they are made.
        count: Number of charts.
    """

    def __init__(self, gui: viser.GuiApi, count: int) -> None:
        self._gui = gui
        self._folders = [gui.add_folder("") for _ in range(count)]
        self._charts: list[viser.GuiUplotHandle | None] = [None] * count
        self._limits: list[tuple[str, ...]] = [()] * count

    def show(self, judgement: Judgement, names: Sequence[str]) -> None:
        """Draw these quantities over time, in place of the last ones; the title tells of a limit that is exceeded.

        Args:
            judgement: That they are of.
            names: One for each chart.
        """
        time = judgement.series.time
        for place, name in enumerate(names):
            quantity, folder = judgement.quantities[name], self._folders[place]
            broken = ": exceeded" if name in judgement.violations else ""
            title = f"{name[0].upper()}{name[1:]} [{quantity.unit}]{broken}"
            if folder.label != title:
                folder.label = title
            limits = _limits(quantity)
            data = (time, quantity.value, *limits.values())
            chart = self._charts[place]
            if chart is not None and self._limits[place] == tuple(limits):
                chart.data = data
                continue
            if chart is not None:
                chart.remove()
            with folder:
                self._charts[place] = add_line_chart(self._gui, time, {"lift": quantity.value}, limits)
            self._limits[place] = tuple(limits)


def _limits(quantity: LimitedQuantity) -> dict[str, np.ndarray]:
    """Return the limits that there are."""
    both = {"least": quantity.lower, "most": quantity.upper}
    return {name: limit for name, limit in both.items() if np.isfinite(limit).all()}
