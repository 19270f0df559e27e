# SPDX-License-Identifier: Apache-2.0
"""Panel of contact plans: goal and options in, progress, what was found, and a slider over its stances."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import viser

from humanoid_ros.viewer.panels.message import show_message
from humanoid_ros.viewer.panels.request import CancelPlan, MotionRequest, PlanContacts, PlanRequest, SetGoal, ShowPlan
from humanoid_ros.viewer.plans.motion_panel import MotionPanel

CENTRE = "centre of mass"


class PlanPanel:
    """Folder of the panel. What a person asks for goes to `send` as a `PlanRequest`.

    Args:
        gui: GUI of the page.
        send: Takes each request; called from viser's threads.

    Attributes:
        folder: All of it.
        motion: Of the plan.
    """

    def __init__(self, gui: viser.GuiApi, send: Callable[[PlanRequest | MotionRequest], None]) -> None:
        self._send = send
        self._working = self._goal_shown = False
        self.folder = gui.add_folder("Contact plan", expand_by_default=False)
        with self.folder:
            self._set_goal = gui.add_button("Set goal", icon=viser.Icon.FLAG, hint="Drag the ball, or Shift-click")
            self._of = gui.add_dropdown("Goal of", (CENTRE,), visible=False)
            self._hands = gui.add_checkbox("Hands may hold", False, visible=False)
            self._collisions = gui.add_checkbox("Keep clear", True, visible=False, hint="Of itself and of the scene")
            self._plan = gui.add_button("Plan contacts", icon=viser.Icon.ROUTE, visible=False)
            self._cancel = gui.add_button("Cancel plan", icon=viser.Icon.X, color="red", visible=False)
            self._result = gui.add_html("", visible=False)
            self._shown = gui.add_checkbox("Show plan", True, visible=False)
            self._tree = gui.add_checkbox("Search tree", True, visible=False)
            self._step = gui.add_slider("Stance", 0, 1, 1, 0, visible=False)
            self.motion = MotionPanel(gui, send)
        self._set_goal.on_click(lambda _: send(SetGoal(self._of.value, not self._goal_shown)))
        self._of.on_update(lambda _: send(SetGoal(self._of.value, True)))
        self._plan.on_click(lambda _: send(PlanContacts(bool(self._hands.value), bool(self._collisions.value))))
        self._cancel.on_click(lambda _: send(CancelPlan()))
        for control in (self._shown, self._tree, self._step):
            control.on_update(lambda _: self._send_show())

    def _send_show(self) -> None:
        self._send(ShowPlan(bool(self._shown.value), bool(self._tree.value), int(self._step.value)))

    @property
    def goal_shown(self) -> bool:
        """Whether a goal is being set: then a plan may be asked for."""
        return self._goal_shown

    @goal_shown.setter
    def goal_shown(self, shown: bool) -> None:
        self._goal_shown = shown
        self._set_goal.label = "Hide goal" if shown else "Set goal"
        for control in (self._of, self._hands, self._collisions, self._plan):
            control.visible = shown

    @property
    def working(self) -> bool:
        """Whether a plan is being sought: then it can be cancelled, and no other one asked for."""
        return self._working

    @working.setter
    def working(self, working: bool) -> None:
        self._working = working
        self._plan.disabled = working
        self._cancel.visible = working

    def set_places(self, places: Sequence[str]) -> None:
        """Offer the centre of mass and these places of the robot for the goal."""
        if tuple(self._of.options) != (CENTRE, *places):
            self._of.options = (CENTRE, *places)

    def set_steps(self, count: int) -> None:
        """Offer so many stances, one or more, and choose the last one."""
        self._step.max = max(count - 1, 1)
        self._step.value = count - 1  # type: ignore[misc]  # viser's setter is real
        for control in (self._shown, self._tree, self._step):
            control.visible = True

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell how far it is, or what came of it.

        Args:
            message: In words, one line each; nothing is shown when it is empty.
            good: Whether a plan was found; None where that isn't known yet.
        """
        show_message(self._result, message, good)
