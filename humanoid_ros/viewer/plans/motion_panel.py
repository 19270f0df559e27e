# SPDX-License-Identifier: Apache-2.0
"""Panel of a plan's motion: made, played by the simulator, run through the controller bridge."""

from __future__ import annotations

from collections.abc import Callable

import viser

from humanoid_ros.viewer.panels.message import show_message
from humanoid_ros.viewer.panels.request import BeginMotion, CancelMotion, MakeMotion, MotionRequest, RunMotion


class MotionPanel:
    """Folder of the panel. What a person asks for goes to `send` as a `MotionRequest`.

    Args:
        gui: GUI of the page.
        send: Takes each request; called from viser's threads.
    """

    def __init__(self, gui: viser.GuiApi, send: Callable[[MotionRequest], None]) -> None:
        self._folder = gui.add_folder("Motion", visible=False)
        with self._folder:
            self._clear = gui.add_checkbox("Move clear", True, hint="Of the robot itself and of the scene")
            self._make = gui.add_button("Make motion", icon=viser.Icon.RUN, hint="Along the plan that is shown")
            self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY, hint="The simulated robot, from its start")
            self._begin = gui.add_button("Put at start", icon=viser.Icon.PLAYER_SKIP_BACK, color="gray")
            self._speed = gui.add_slider("Speed of the bridge", 0.1, 1.0, 0.05, 1.0, hint="Of the motion's own")
            self._run = gui.add_button(
                "Run through bridge",
                icon=viser.Icon.ROBOT,
                color="orange",
                hint="Moves the robot; from its start alone",
            )
            self._cancel = gui.add_button("Cancel motion", icon=viser.Icon.X, color="red", visible=False)
            self._result = gui.add_html("", visible=False)
        self._make.on_click(lambda _: send(MakeMotion(bool(self._clear.value))))
        self._play.on_click(lambda _: send(BeginMotion(play=True)))
        self._begin.on_click(lambda _: send(BeginMotion(play=False)))
        self._run.on_click(lambda event: send(RunMotion(float(self._speed.value), event.client_id)))
        self._cancel.on_click(lambda _: send(CancelMotion()))
        self.set(offered=False, ready=False, working=False)

    def set(self, *, offered: bool, ready: bool, working: bool) -> None:
        """Offer what can be done now.

        Args:
            offered: Whether there is a plan.
            ready: Whether a motion was made of it.
            working: Whether something is under way: then it can be cancelled, and nothing else be begun.
        """
        self._folder.visible = offered
        for control in (self._play, self._begin, self._speed, self._run):
            control.visible = ready
        for button in (self._make, self._play, self._begin, self._run):
            button.disabled = working
        self._cancel.visible = working

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell how far it is, or what came of it; nothing is shown when it is empty.

        Args:
            message: In words, one line each.
            good: Whether it went well; None where that isn't known yet.
        """
        show_message(self._result, message, good)
