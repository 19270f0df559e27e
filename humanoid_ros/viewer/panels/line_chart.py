# SPDX-License-Identifier: Apache-2.0
"""A chart of values over time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import viser
from viser import uplot

COLOURS = ("#d62828", "#1e6fd9", "#2a9d4a", "#e08a00", "#8e44ad", "#0a9396", "#b5651d", "#555555")
FONT = "11px sans-serif"


LIMIT: uplot.Series = {"stroke": "#555555", "width": 1.0, "dash": (3, 3)}


def add_line_chart(
    gui: viser.GuiApi,
    time: np.ndarray,
    series: Mapping[str, np.ndarray],
    limits: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> viser.GuiUplotHandle:
    """Add a chart of series (k,) by name over times (k,) [s], which rise, and of their limits, dotted in grey."""
    lines: list[uplot.Series] = [{"label": "t"}]
    for i, name in enumerate(series):
        line: uplot.Series = {"label": name.replace("_", " "), "stroke": COLOURS[i % len(COLOURS)], "width": 1.5}
        if i % 2:
            line["dash"] = (6, 3)
        lines.append(line)
    lines += [{"label": name, **LIMIT} for name in limits]
    return gui.add_uplot(
        (time, *series.values(), *limits.values()),
        tuple(lines),
        scales={"x": {"time": False}},
        axes=({"size": 34, "font": FONT}, {"size": 48, "font": FONT}),
        height=210,
        padding=(8, 8, 0, 0),
    )
