# SPDX-License-Identifier: Apache-2.0
"""Panel of gaits: speed and step length in, progress, what was found, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable

import viser

from humanoid_ros.viewer.gait_plots import GaitPlots
from humanoid_ros.viewer.panels.message import show_message
from humanoid_ros.viewer.panels.request import CancelGait, GaitRequest, GenerateGait, ShowGait

MODELS = ("bip", "rabbit", "hrp2")
"""Models that are offered; others are typed into the node's parameters or sent by other clients."""
WALKS, STRIP, BOTH, HIDDEN = "walks", "all along", "walks, all along", "hidden"
FIGURES = (BOTH, WALKS, STRIP, HIDDEN)
"""How a gait is drawn: a figure that walks in real time, figures along the way, both, or not at all."""


class GaitPanel:
    """Folder of the panel. What a person asks for goes to `send` as a `GaitRequest`.

    Args:
        gui: GUI of the page.
        send: Takes each request; called from viser's threads.

    Attributes:
        folder: All of it.
    """

    def __init__(self, gui: viser.GuiApi, send: Callable[[GaitRequest], None]) -> None:
        self._send = send
        self._working = False
        self.folder = gui.add_folder("Gait", expand_by_default=False)
        with self.folder:
            self._model = gui.add_dropdown("Walker", MODELS)
            self._whole = gui.add_checkbox("Whole robot", False, hint="All joints, in space, from rest to rest")
            self._speed = gui.add_slider("Speed [m/s]", 0.1, 1.5, 0.05, 0.75)
            self._length = gui.add_slider("Step length [m]", 0.0, 0.9, 0.05, 0.0, hint="0: as the optimum has it")
            self._steps = gui.add_slider("Steps", 1, 12, 1, 4)
            self._proof = gui.add_checkbox("Prove optimality", False, hint="By Pontryagin's conditions: slower")
            self._generate = gui.add_button("Generate gait", icon=viser.Icon.RUN)
            self._cancel = gui.add_button("Cancel gait", icon=viser.Icon.X, color="red", visible=False)
            self._result = gui.add_html("", visible=False)
            self._figure = gui.add_dropdown("Figure", FIGURES, visible=False)
            self._forces = gui.add_checkbox("Foot forces", True, visible=False)
            self._aside = gui.add_slider("Aside [m]", -2.0, 2.0, 0.1, 0.8, visible=False)
            self.plots = GaitPlots(gui)
        self._generate.on_click(lambda _: self._send_generate())
        self._cancel.on_click(lambda _: send(CancelGait()))
        self._whole.on_update(lambda _: self._choose_whole())
        for control in (self._figure, self._forces, self._aside):
            control.on_update(lambda _: self._send_show())

    def _send_generate(self) -> None:
        length, steps = float(self._length.value), int(self._steps.value)
        proof, whole = bool(self._proof.value), bool(self._whole.value)
        self._send(GenerateGait(self._model.value, float(self._speed.value), length, steps, proof, whole))

    def _choose_whole(self) -> None:
        """Hide speed and step length for a whole robot's level walk, which has its own."""
        self._speed.visible = self._length.visible = not self._whole.value

    def _send_show(self) -> None:
        self._send(ShowGait(self._figure.value, bool(self._forces.value), float(self._aside.value)))

    @property
    def working(self) -> bool:
        """Whether a gait is being generated: then it can be cancelled, and no other one asked for."""
        return self._working

    @working.setter
    def working(self, working: bool) -> None:
        self._working = working
        self._generate.disabled = working
        self._cancel.visible = working

    def offer_figures(self) -> None:
        """Show how a gait can be looked at, now that there is one."""
        for control in (self._figure, self._forces, self._aside):
            control.visible = True

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell how far it is, or what came of it.

        Args:
            message: In words, one line each; nothing is shown when it is empty.
            good: Whether a gait was found; None where that isn't known yet.
        """
        show_message(self._result, message, good)
