# SPDX-License-Identifier: Apache-2.0
"""Plot of the normal forces over simulated time: each supporting body, their sum, the weight."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

import numpy as np
import viser
from viser import uplot

from humanoid_ros.viewer.panels.line_chart import COLOURS, FONT

TOTAL_COLOUR = "#222222"
WEIGHT_COLOUR = "#999999"
SAMPLES = 400
"""Most samples kept over the window: more than a chart of this size can show."""


class ForceHistory:
    """Normal force per body over the last seconds of simulated time.

    Args:
        window: Length of the history [s].
    """

    def __init__(self, window: float) -> None:
        self.window = window
        self._samples: deque[tuple[float, Mapping[str, float] | Callable[[], Mapping[str, float]]]] = deque()

    def append(self, time: float, forces: Mapping[str, float] | Callable[[], Mapping[str, float]]) -> None:
        """Add the normal force of each loaded body [N], or what finds it, at a simulated time [s].

        Time that goes backwards means that the simulation was reset: the history starts anew. Forces are found when
        somebody looks at them.
        """
        if self._samples and time < self._samples[-1][0]:
            self._samples.clear()
        if self._samples and time - self._samples[-1][0] < self.window / SAMPLES:
            return
        self._samples.append((time, forces))
        while time - self._samples[0][0] > self.window:
            self._samples.popleft()

    @property
    def bodies(self) -> list[str]:
        """Bodies that carried force within the window, in alphabetic order."""
        return sorted({body for forces in self._forces() for body in forces})

    def table(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return times (k,) and forces (k,) per body; zero where a body had no contact."""
        times, found = np.array([time for time, _ in self._samples]), self._forces()
        return times, {body: np.array([forces.get(body, 0.0) for forces in found]) for body in self.bodies}

    def _forces(self) -> list[Mapping[str, float]]:
        for index, (time, forces) in enumerate(self._samples):
            if callable(forces):
                self._samples[index] = time, forces()
        return [forces for _, forces in self._samples if not callable(forces)]


class ForcePlot:
    """Chart of a `ForceHistory` in the panel it is created in.

    Args:
        gui: GUI of the page.
        window: Length of the history [s].
    """

    def __init__(self, gui: viser.GuiApi, window: float) -> None:
        self.history = ForceHistory(window)
        self.weight: float | None = None
        self._gui = gui
        self._folder = gui.add_folder(None)
        self._chart: viser.GuiUplotHandle | None = None
        self._bodies: list[str] = []
        self._drawn_time: float | None = None

    def refresh(self) -> None:
        """Send the history to the browsers if it grew since the last time."""
        times, forces = self.history.table()
        if len(times) < 2 or times[-1] == self._drawn_time:
            return
        self._drawn_time = float(times[-1])
        columns = [times, *forces.values()]
        total = np.sum(list(forces.values()), axis=0) if forces else np.zeros(len(times))
        columns.append(total)
        if self.weight is not None:
            columns.append(np.full(len(times), self.weight))
        bodies = [*forces, *(["weight"] if self.weight is not None else [])]
        if self._chart is None or bodies != self._bodies:
            self._create_chart(tuple(columns), list(forces))
            self._bodies = bodies
            return
        self._chart.data = tuple(columns)

    def _create_chart(self, data: tuple[np.ndarray, ...], bodies: list[str]) -> None:
        if self._chart is not None:
            self._chart.remove()
        series: list[uplot.Series] = [{"label": "t [s]"}]
        for i, body in enumerate(bodies):
            name = body.rsplit("/", 1)[-1]
            line: uplot.Series = {"label": name, "stroke": COLOURS[i % len(COLOURS)], "width": 2}
            if i % 2:
                line["dash"] = (8, 8)  # feet that carry the same would hide each other
            series.append(line)
        series.append({"label": "sum", "stroke": TOTAL_COLOUR, "width": 1.5})
        if self.weight is not None:
            series.append({"label": "weight", "stroke": WEIGHT_COLOUR, "width": 1, "dash": (6, 4)})
        with self._folder:
            self._chart = self._gui.add_uplot(
                data,
                tuple(series),
                scales={"x": {"time": False}, "y": {"range": (0.0, None)}},
                axes=({"size": 34, "font": FONT}, {"size": 44, "font": FONT}),
                height=210,
                padding=(8, 8, 0, 0),
            )
