# SPDX-License-Identifier: Apache-2.0
"""Panel of the posture editor: which places hold, how balance is kept, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import viser

from humanoid_ros.viewer.panels.message import show_message
from humanoid_ros.viewer.panels.request import (
    PostureRequest,
    ResetPosture,
    SetPostureOptions,
    ShowPosture,
    UsePlace,
)

FREE, HOLD, GRASP, TOUCH = "free", "holds", "grasps", "touches"
USES = (FREE, HOLD, GRASP, TOUCH)
"""What a place of the robot does: nothing, it pushes on what it is held on, it may also pull, it bears no force."""
NO_BALANCE, POLYGON, FORCES, POLYTOPE = "none", "support polygon", "contact forces", "force polytope"
BALANCES = (FORCES, POLYGON, POLYTOPE, NO_BALANCE)
"""How equilibrium is tested, the usual way first."""
NEAR, ANY, CENTRED, LEAST_TORQUE = "near the robot's", "any", "well balanced", "least torque"
CRITERIA = (NEAR, ANY, CENTRED, LEAST_TORQUE)
"""Which posture is wanted among those that do, the usual one first."""


class PosturePanel:
    """Folder of the panel. What a person asks for goes to `send` as a `PostureRequest`.

    Args:
        gui: GUI of the page.
        send: Takes each request; called from viser's threads.

    Attributes:
        folder: All of it.
    """

    def __init__(self, gui: viser.GuiApi, send: Callable[[PostureRequest], None]) -> None:
        self._gui = gui
        self._send = send
        self._shown = False
        self._uses: dict[str, viser.GuiDropdownHandle[str]] = {}
        self.folder = gui.add_folder("Posture", expand_by_default=False)
        with self.folder:
            self._show = gui.add_button("Show posture", icon=viser.Icon.WALK, hint="A second robot follows handles")
            self._reset = gui.add_button("Reset handles", icon=viser.Icon.REFRESH, color="gray", visible=False)
            self._result = gui.add_html("", visible=False)
            self._places = gui.add_folder("Places", visible=False)
            self._others = gui.add_folder("More places", visible=False, expand_by_default=False)
            self._balance = gui.add_dropdown("Balance", BALANCES, visible=False)
            self._criterion = gui.add_dropdown("Posture", CRITERIA, visible=False)
            self._torques = gui.add_checkbox("Torque limits", False, visible=False)
            self._collisions = gui.add_checkbox("Avoid collisions", False, visible=False)
        self._show.on_click(lambda _: send(ShowPosture(not self._shown)))
        self._reset.on_click(lambda _: send(ResetPosture()))
        for control in (self._balance, self._criterion, self._torques, self._collisions):
            control.on_update(lambda _: self._send_options())

    def _send_options(self) -> None:
        options = self._balance.value, self._criterion.value, bool(self._torques.value), bool(self._collisions.value)
        self._send(SetPostureOptions(*options))

    def _send_use(self, place: str, event: viser.GuiEvent) -> None:
        self._send(UsePlace(place, event.target.value))

    @property
    def shown(self) -> bool:
        """Whether the editor is shown."""
        return self._shown

    @shown.setter
    def shown(self, shown: bool) -> None:
        self._shown = shown
        self._show.label = "Hide posture" if shown else "Show posture"
        options = self._balance, self._criterion, self._torques, self._collisions
        for control in (self._reset, self._places, *options):
            control.visible = shown
        self._others.visible = shown and bool(self._uses)
        self._result.visible = shown and bool(self._result.content)

    def set_places(self, first: Sequence[str], others: Sequence[str]) -> None:
        """Offer these places in place of the last ones.

        Args:
            first: Names of the places that are used most, feet and hands.
            others: Names of the rest, in a folder of their own that is closed at first.
        """
        for control in self._uses.values():
            control.remove()
        self._uses = {}
        for folder, names in ((self._places, first), (self._others, others)):
            with folder:
                for name in names:
                    control = self._gui.add_dropdown(name.replace("_", " "), USES)
                    control.on_update(partial(self._send_use, name))
                    self._uses[name] = control
        self.shown = self._shown

    def set_use(self, place: str, use: str) -> None:
        """Show what a place does."""
        self._uses[place].value = use  # type: ignore[misc]  # viser's setter is real

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell what came of it.

        Args:
            message: In words; nothing is shown when it is empty.
            good: Whether a posture was found; None where there was no attempt.
        """
        show_message(self._result, message, good)
        self._result.visible = self._shown and bool(message)
