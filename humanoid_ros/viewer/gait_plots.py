# SPDX-License-Identifier: Apache-2.0
"""Charts of a gait over time: joint torques, forces under the feet, the Hamiltonian."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import viser

from humanoid_ros.viewer.panels.line_chart import add_line_chart

TORQUES, FORCES, HAMILTONIAN = "Torques [N m] over time [s]", "Forces under the feet [N]", "Hamiltonian [1/s]"


@dataclass(frozen=True)
class GaitCurves:
    """Series of a gait.

    Attributes:
        time: (k,) [s].
        torques: (k,) by joint [N m].
        force_time: (l,) [s].
        forces: (l,) by foot and direction [N].
        hamiltonian_time: (m,) [s].
        hamiltonian: (m,) [1/s]; constant in each phase of an optimal gait.
    """

    time: np.ndarray
    torques: Mapping[str, np.ndarray]
    force_time: np.ndarray
    forces: Mapping[str, np.ndarray]
    hamiltonian_time: np.ndarray
    hamiltonian: np.ndarray


class GaitPlots:
    """Charts in a folder of their own, which is there once there is a gait.

    Args:
        gui: GUI of the page.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self._gui = gui
        self._folder = gui.add_folder("Gait over time", visible=False)
        self._parts: list[viser.GuiUplotHandle | viser.GuiMarkdownHandle] = []

    def show(self, curves: GaitCurves) -> None:
        """Draw these series in place of the last ones."""
        for part in self._parts:
            part.remove()
        self._parts = []
        self._folder.visible = True
        with self._folder:
            for title, time, series in (
                (TORQUES, curves.time, curves.torques),
                (FORCES, curves.force_time, curves.forces),
                (HAMILTONIAN, curves.hamiltonian_time, {"H": curves.hamiltonian}),
            ):
                if len(time) > 1 and series:
                    self._parts.append(self._gui.add_markdown(title))
                    self._parts.append(add_line_chart(self._gui, _increasing(time), series))


def _increasing(time: np.ndarray) -> np.ndarray:
    """Return times with those that are equal moved apart a little: a chart needs them to increase."""
    return np.asarray(time + 1e-9 * np.arange(len(time)))
