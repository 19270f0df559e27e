# SPDX-License-Identifier: Apache-2.0
"""The gait panel asks for what is clicked at, and shows how far a gait is and what came of it."""

from types import SimpleNamespace

import numpy as np
import pytest
import viser
from fixtures.asked_feature import Asked, at_once

from humanoid_ros.viewer.gait_studio import FORCES, HAMILTONIAN, STRIP, TORQUES, GaitPanel, GaitStudio
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


def test_speed_and_step_length_are_asked_for(panel: tuple[GaitPanel, Asked]) -> None:
    control, asked = panel
    control._speed.value = 0.9
    control._length.value = 0.45
    control._model.value = "rabbit"
    control._steps.value = 2
    click(control._generate)
    control._proof.value = True
    click(control._generate)
    assert asked == [("generate", "rabbit", False, 0.9, 0.45, 2, proof) for proof in (False, True)]


def test_a_whole_robot_has_its_own_speed_and_step_length(panel: tuple[GaitPanel, Asked]) -> None:
    control, asked = panel
    control._whole.value = True
    assert not control._speed.visible
    assert not control._length.visible
    click(control._generate)
    assert [own[2] for own in asked] == [True]
    control._whole.value = False
    assert control._speed.visible
    assert control._length.visible


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
    assert not control._figure.visible
    control.offer_figures()
    assert all(part.visible for part in (control._figure, control._forces, control._aside))
    control._figure.value = STRIP
    control._forces.value = False
    assert asked[-1] == ("show", STRIP, False, 0.8)


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
    left, along = {"left normal": 100 * knee}, {"H": knee}
    control.plots.show([(TORQUES, time, {"knee": knee}), (FORCES, time, left), (HAMILTONIAN, time, along)])
    assert len(charts()) == 3
    torques = charts()[0]
    assert (np.diff(torques.data[0]) > 0.0).all()  # transitions have two samples at one time
    np.testing.assert_allclose(torques.data[0], time, atol=1e-6)
    np.testing.assert_allclose(torques.data[1], knee)
    assert [series["label"] for series in torques.series] == ["t", "knee"]
    control.plots.show([(TORQUES, np.zeros(0), {}), (FORCES, time, left), (HAMILTONIAN, time, along)])
    assert len(charts()) == 2
