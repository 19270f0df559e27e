# SPDX-License-Identifier: Apache-2.0
"""Controls of a walk on the page: velocities, pushes, how the balance is."""

from __future__ import annotations

import html
import math

import viser
from humanoid_stack.msg import ControllerStatus

MODES = {
    ControllerStatus.WAITING: "waits", ControllerStatus.STANDING: "stands", ControllerStatus.SHIFTING: "shifts",
    ControllerStatus.STEPPING: "steps", ControllerStatus.FALLEN: "has fallen", ControllerStatus.HOLDING: "holds",
    ControllerStatus.MOVING: "carries a motion out",
}  # fmt: skip
PUSHES = {"↑": (1.0, 0.0), "↓": (-1.0, 0.0), "←": (0.0, 1.0), "→": (0.0, -1.0)}
"""Ways of a push in the robot's axes: ahead, to the left."""


class WalkPanel:
    """A folder that is there while a controller is heard.

    Attributes:
        folder: of the controls.
        ahead, sideways, turn: sliders of the commanded velocity [m/s, m/s, rad/s].
        stop: button that puts them to 0.
        strength: slider of the change of velocity by a push [m/s].
        push: buttons of :data:`PUSHES`.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        """Add it to a page's GUI."""
        self.folder = gui.add_folder("Walk", visible=False)
        with self.folder:
            self._text = gui.add_html("")
            self.ahead = gui.add_slider("Ahead [m/s]", -0.3, 0.4, 0.05, 0.0)
            self.sideways = gui.add_slider("To the left [m/s]", -0.15, 0.15, 0.05, 0.0)
            self.turn = gui.add_slider("Turning [rad/s]", -0.5, 0.5, 0.1, 0.0)
            self.stop = gui.add_button("Stop", icon=viser.Icon.PLAYER_STOP, color="gray")
            self.strength = gui.add_slider("Push by [m/s]", 0.1, 1.0, 0.1, 0.4)
            self.push = gui.add_button_group("Push towards", tuple(PUSHES))

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Velocity that the sliders say [m/s, m/s, rad/s]."""
        return float(self.ahead.value), float(self.sideways.value), float(self.turn.value)

    def rest(self) -> None:
        """Put the sliders to 0."""
        for slider in (self.ahead, self.sideways, self.turn):
            slider.value = 0.0  # type: ignore[misc]  # viser's setter is real

    def show(self, status: ControllerStatus | None) -> None:
        """Show how a controller is doing; None: nobody is heard."""
        if self.folder.visible != (status is not None):
            self.folder.visible = status is not None
        if status is None:
            return
        balance = f"; DCM {100.0 * status.margin:.1f} cm inside the soles" if math.isfinite(status.margin) else ""
        lines = [
            f"<b>{MODES.get(status.mode, '?')}</b>" + balance,
            f"{1e3 * status.tick_seconds:.1f} ms a tick; {status.late_ticks} of {status.ticks} late",
            *(html.escape(fault[:200]) for fault in status.faults),
        ]
        content = f"<div style='margin:0.2em 0.8em;font-size:0.85em'>{'<br>'.join(lines)}</div>"
        if content != self._text.content:
            self._text.content = content
