# SPDX-License-Identifier: Apache-2.0
"""The gait panel asks for what is clicked at, and shows how far a gait is and what came of it."""

from types import SimpleNamespace

import numpy as np
import pytest
import viser
from fixtures.asked_feature import Asked, at_once

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import GaitRequest

from humanoid_ros.viewer.gait_studio import BASE, FORCES, TORQUES, GaitPanel, GaitStudio
from humanoid_ros.viewer.page import Page


@pytest.fixture
def panel(page: Page) -> tuple[GaitPanel, Asked]:
    control, asked = GaitPanel(page.server.gui), Asked(GaitStudio)
    control.connect(asked, at_once)
    return control, asked


def click(control: object) -> None:
    """What viser does when a person presses a button."""
    for callback in control._impl.update_cb:  # type: ignore[attr-defined]
        callback(SimpleNamespace(target=control))


def test_the_walk_that_is_chosen_is_asked_for(panel: tuple[GaitPanel, Asked]) -> None:
    control, asked = panel
    for name, value in (("length", -0.1), ("turn", 0.3), ("rise", 0.1), ("double_support", 0.3)):
        control._sliders[name].value = value
    control._robot.value = "bip"
    control._steps.value = 2
    control._stop.value = False
    control._proof.value = True
    click(control._generate)
    ((name, wanted),) = asked
    assert name == "generate"
    assert wanted == {
        "robot": "bip", "length": -0.1, "side": 0.0, "turn": 0.3, "slope": 0.0, "rise": 0.1, "single_support": [0.6],
        "double_support": [0.3], "steps": 2, "start": True, "stop": False, "proof": True,
    }  # fmt: skip
    assert GaitRequest(**wanted).length == -0.1  # all of them are fields


def test_work_can_be_cancelled(panel: tuple[GaitPanel, Asked]) -> None:
    control, asked = panel
    assert not control._cancel.visible
    control.show_working(True)
    assert control._cancel.visible
    assert control._generate.disabled
    click(control._cancel)
    assert asked == [("cancel",)]
    control.show_working(False)
    assert not control._cancel.visible
    assert not control._generate.disabled


def test_how_it_is_shown_is_asked_for_once_there_is_something(panel: tuple[GaitPanel, Asked]) -> None:
    control, asked = panel
    assert not control._shown.visible
    control.offer_figures()
    assert all(part.visible for part in (control._shown, control._forces, control._aside))
    control._shown.value = False
    control._forces.value = False
    assert asked[-1] == ("show", False, False, 0.8)


def test_messages_are_escaped_and_coloured(panel: tuple[GaitPanel, Asked]) -> None:
    control, _ = panel
    control.say("too <long>\nby far", False)
    assert "too &lt;long&gt;<br>by far" in control._result.content
    bad = control._result.content
    control.say("too <long>\nby far", True)
    assert control._result.content != bad
    control.say("")
    assert not control._result.visible


def test_curves_are_drawn_and_replaced(page: Page, panel: tuple[GaitPanel, Asked]) -> None:
    control, _ = panel

    def charts() -> list[viser.GuiUplotHandle]:
        return [part for part in control.plots._parts if isinstance(part, viser.GuiUplotHandle)]

    time = np.array([0.0, 0.1, 0.1, 0.2])
    knee = np.array([1.0, 2.0, 3.0, 4.0])
    left, aside = {"left normal": 100 * knee}, {"y": knee}
    control.plots.show([(TORQUES, time, {"knee": knee}), (FORCES, time, left), (BASE, time, aside)])
    assert len(charts()) == 3
    torques = charts()[0]
    assert (np.diff(torques.data[0]) > 0.0).all()  # transitions have two samples at one time
    np.testing.assert_allclose(torques.data[0], time, atol=1e-6)
    np.testing.assert_allclose(torques.data[1], knee)
    assert [series["label"] for series in torques.series] == ["t", "knee"]
    control.plots.show([(TORQUES, np.zeros(0), {}), (FORCES, time, left), (BASE, time, aside)])
    assert len(charts()) == 2
