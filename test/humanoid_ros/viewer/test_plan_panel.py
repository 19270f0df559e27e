# SPDX-License-Identifier: Apache-2.0
"""The plan panel asks for what is clicked at, and offers what makes sense."""

from types import SimpleNamespace

import pytest
from fixtures.asked_feature import Asked, at_once

from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.plan_studio import CENTRE, PlanPanel, PlanStudio


@pytest.fixture
def panel(page: Page) -> tuple[PlanPanel, Asked]:
    control, asked = PlanPanel(page.server.gui), Asked(PlanStudio)
    control.connect(asked, at_once)
    return control, asked


def click(control: object) -> None:
    """What viser does when a person presses a button."""
    for callback in control._impl.update_cb:  # type: ignore[attr-defined]
        callback(SimpleNamespace(target=control))


def test_a_goal_comes_before_a_plan(panel: tuple[PlanPanel, Asked]) -> None:
    control, asked = panel
    assert not control._plan.visible
    click(control._set_goal)
    control.goal_shown = True
    assert control._plan.visible
    control.set_places(["left_hand"])
    assert tuple(control._of.options) == (CENTRE, "left_hand")
    control._hands.value = True
    click(control._plan)
    click(control._set_goal)
    assert asked == [("set_goal", CENTRE, True), ("plan", True, True, True), ("set_goal", CENTRE, False)]


def test_work_can_be_cancelled(panel: tuple[PlanPanel, Asked]) -> None:
    control, asked = panel
    control.show_working(True)
    assert control._cancel.visible
    assert control._plan.disabled
    click(control._cancel)
    assert asked == [("cancel",)]
    control.show_working(False)
    assert not control._cancel.visible


def test_the_slider_goes_over_all_stances_and_begins_at_the_last(panel: tuple[PlanPanel, Asked]) -> None:
    control, asked = panel
    assert not control._step.visible
    control.set_steps(5)
    assert (control._step.visible, control._step.max, control._step.value) == (True, 4, 4)
    control._step.value = 2
    control._tree.value = False
    assert asked[-1] == ("show", True, False, 2)


def test_messages_are_escaped(panel: tuple[PlanPanel, Asked]) -> None:
    control, _ = panel
    control.say("out of <reach>\nby far", False)
    assert "out of &lt;reach&gt;<br>by far" in control._result.content
