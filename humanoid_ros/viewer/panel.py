# SPDX-License-Identifier: Apache-2.0
"""Panel of the page: the simulation, push and pull, postures, gaits, plans, mechanisms, what is shown, plot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import viser

from humanoid_ros.viewer.gait_studio import GaitPanel
from humanoid_ros.viewer.handles.posture_editor import PosturePanel
from humanoid_ros.viewer.later import Later
from humanoid_ros.viewer.mechanisms.mechanism_panel import MechanismPanel
from humanoid_ros.viewer.panels.force_plot import ForcePlot
from humanoid_ros.viewer.panels.message import show_message
from humanoid_ros.viewer.panels.status_text import SimulationView, status_html
from humanoid_ros.viewer.plans.plan_studio import PlanPanel
from humanoid_ros.viewer.simulator_calls import SimulatorCalls

NO_LINK = "no link"
SHOWN = {
    "robot": "Robot",
    "forces": "Contact forces",
    "cones": "Friction cones",
    "balance": "Centres of mass and pressure",
    "soles": "Deformed soles",
    "traces": "Traces",
    "floor": "Floor grid",
}
"""Parts of the drawing that can be hidden, and how the panel calls them."""
FOLLOW = "follow"
"""What is no such part: the camera goes with the robot."""


class Panel:
    """Panel beside the scene.

    Args:
        gui: GUI of the page.
        scenes: Scenes to choose from.
        mechanisms: Mechanisms to choose from.
        window: Length of the force plot [s].
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        scenes: Sequence[str],
        mechanisms: Sequence[str],
        window: float,
    ) -> None:
        self._paused = False
        self._html = gui.add_html(status_html(None, 0.0, None))
        self._message = gui.add_html("", visible=False)
        self._pause = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE)
        self._step = gui.add_button_group("Step", ("1", "10", "100"), visible=False)
        self._reset = gui.add_button("Reset", icon=viser.Icon.REFRESH, color="gray")
        self._forces = gui.add_folder("Normal forces [N] over time [s]", visible=False)
        with self._forces:
            self.plot = ForcePlot(gui, window)
        self._pushing = gui.add_folder("Push", visible=False)
        with self._pushing:
            self._push_body = gui.add_dropdown("Body", (NO_LINK,))
            self._direction = gui.add_slider(
                "Direction", 0, 355, 5, 0, hint="Degrees in the ground plane: 0 forward, 90 left"
            )
            self._force = gui.add_slider("Force [N]", 5, 500, 5, 90)
            self._duration = gui.add_slider("Duration [s]", 0.01, 1.0, 0.01, 0.15)
            self._push = gui.add_button("Push", icon=viser.Icon.HAND_MOVE, color="orange")
        self._pulling = gui.add_folder("Pull", expand_by_default=False, visible=False)
        with self._pulling:
            self._pull_link = gui.add_dropdown("Link", (NO_LINK,))
            gui.add_markdown("Drag the arrows on the link: a spring pulls it.")
        self.posture = PosturePanel(gui)
        self.gait = GaitPanel(gui)
        self.plan = PlanPanel(gui)
        self.mechanism = MechanismPanel(gui, mechanisms)
        with gui.add_folder("Show", expand_by_default=False):
            self._boxes = {part: gui.add_checkbox(label, True) for part, label in SHOWN.items()}
            self._boxes[FOLLOW] = gui.add_checkbox("Camera follows robot", False)
        self._loading = gui.add_folder("Scene", expand_by_default=False)
        with self._loading:
            self._scene = gui.add_dropdown("Name", tuple(scenes) or ("stand",))
            self._load = gui.add_button("Load", icon=viser.Icon.FOLDER_OPEN, color="gray")

    def connect(
        self,
        simulator: SimulatorCalls,
        pick: Callable[[str], None],
        show: Callable[[str, bool], None],
        later: Later,
    ) -> None:
        """Let what a person does be done later.

        Args:
            simulator: is paused, pushed, ...
            pick: puts the pulling handle on a link; an empty name takes it away.
            show: shows or hides a part of SHOWN; of FOLLOW, lets the camera go with the robot.
            later: lets it be done in the executor.
        """

        def push(_: viser.GuiEvent) -> None:
            if self._push_body.value == NO_LINK:
                self.say("There is no body to push yet.")
                return
            angle, force = np.deg2rad(self._direction.value), float(self._force.value)
            along = float(force * np.cos(angle)), float(force * np.sin(angle)), 0.0
            later(simulator.push, self._push_body.value, along, float(self._duration.value))

        self._pause.on_click(lambda _: later(simulator.pause, not self._paused))
        self._step.on_click(lambda event: later(simulator.step, int(event.target.value)))
        self._reset.on_click(lambda _: later(simulator.reset))
        self._push.on_click(push)
        self._pull_link.on_update(lambda event: later(pick, event.target.value.replace(NO_LINK, "")))
        self._load.on_click(lambda _: later(simulator.load_scene, self._scene.value))
        for part, box in self._boxes.items():
            box.on_update(partial(lambda part, event: later(show, part, bool(event.target.value)), part))

    def set_bodies(self, bodies: Sequence[str], preferred: str | None) -> None:
        """Offer these bodies for pushing and pulling; `preferred` is chosen for the push."""
        if tuple(self._pull_link.options) == (NO_LINK, *bodies):
            return
        self._push_body.options = tuple(bodies) or (NO_LINK,)
        if preferred is not None and preferred in bodies:
            self._push_body.value = preferred  # type: ignore[misc]  # viser's setter is real
        self._pull_link.options = (NO_LINK, *bodies)
        self._pull_link.value = NO_LINK  # type: ignore[misc]

    def offer_pushes(self, offered: bool) -> None:
        """Show the folders of pushes and pulls where somebody takes them, and that of forces where some are told."""
        _show((self._pushing, self._pulling), offered)
        _show((self._forces,), bool(self.plot.history.bodies))

    def offer_robots(self, robots: bool, gaits: bool) -> None:
        """Show what is about simulated and real robots, and the folder of gaits; a mechanism alone has neither."""
        simulation = self._html, self._pause, self._reset, self._loading
        _show((*simulation, self.posture.folder, self.plan.folder), robots)
        _show((self.gait.folder,), gaits)

    def show_status(self, view: SimulationView | None, normal_force: float, weight: float | None) -> None:
        """Show the simulation's state; None means that no simulator is heard."""
        text = status_html(view, normal_force, weight)
        if text != self._html.content:
            self._html.content = text
        silent = view is None
        self._paused = view is not None and view.paused
        label = "Run" if self._paused else "Pause"
        if label != self._pause.label:
            self._pause.label = label
            self._pause.icon = viser.Icon.PLAYER_PLAY if self._paused else viser.Icon.PLAYER_PAUSE
        for control, disabled in (
            (self._pause, silent),
            (self._reset, silent),
            (self._push, silent),
        ):
            if control.disabled != disabled:
                control.disabled = disabled
        if self._step.visible != self._paused:
            self._step.visible = self._paused

    def say(self, message: str) -> None:
        """Show a message under the state, or nothing when it is empty."""
        show_message(self._message, message, False)


def _show(parts: Iterable[viser.GuiFolderHandle | viser.GuiHtmlHandle | viser.GuiButtonHandle], visible: bool) -> None:
    """Show or hide parts of the panel; the browsers are told of what changes."""
    for part in parts:
        if part.visible != visible:
            part.visible = visible
