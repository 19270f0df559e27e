# SPDX-License-Identifier: Apache-2.0
"""The plan panel turns clicks into requests, and offers what makes sense."""

from types import SimpleNamespace

import pytest

from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.panels.request import CancelPlan, PlanContacts, PlanRequest, SetGoal, ShowPlan
from humanoid_ros.viewer.plans.plan_panel import CENTRE, PlanPanel


@pytest.fixture
def panel(page: Page) -> tuple[PlanPanel, list[PlanRequest]]:
    sent: list[PlanRequest] = []
    return PlanPanel(page.server.gui, sent.append), sent


def click(control: object) -> None:
    """What viser does when a person presses a button."""
    for callback in control._impl.update_cb:  # type: ignore[attr-defined]
        callback(SimpleNamespace(target=control))


def test_a_goal_comes_before_a_plan(panel: tuple[PlanPanel, list[PlanRequest]]) -> None:
    control, sent = panel
    assert not control._plan.visible
    click(control._set_goal)
    control.goal_shown = True
    assert control._plan.visible
    control.set_places(["left_hand"])
    assert tuple(control._of.options) == (CENTRE, "left_hand")
    control._hands.value = True
    click(control._plan)
    click(control._set_goal)
    assert sent == [SetGoal(CENTRE, True), PlanContacts(True, True), SetGoal(CENTRE, False)]


def test_work_can_be_cancelled(panel: tuple[PlanPanel, list[PlanRequest]]) -> None:
    control, sent = panel
    control.working = True
    assert control._cancel.visible
    assert control._plan.disabled
    click(control._cancel)
    assert sent == [CancelPlan()]
    control.working = False
    assert not control._cancel.visible


def test_the_slider_goes_over_all_stances_and_begins_at_the_last(panel: tuple[PlanPanel, list[PlanRequest]]) -> None:
    control, sent = panel
    assert not control._step.visible
    control.set_steps(5)
    assert (control._step.visible, control._step.max, control._step.value) == (True, 4, 4)
    control._step.value = 2
    control._tree.value = False
    assert sent[-1] == ShowPlan(True, False, 2)


def test_messages_are_escaped(panel: tuple[PlanPanel, list[PlanRequest]]) -> None:
    control, _ = panel
    control.say("out of <reach>\nby far", False)
    assert "out of &lt;reach&gt;<br>by far" in control._result.content
