# SPDX-License-Identifier: Apache-2.0
"""The panel of a link edits its six parameters, its joint's type, limits and lock."""

from __future__ import annotations

import math
import threading
from dataclasses import replace

import pytest
from fixtures.asked_feature import Asked, at_once
from fixtures.person import use

from humanoid_kinematics import KleinfingerKhalil
from humanoid_ros.viewer.link_panel import ABSOLUTE, NO_LIMITS, RELATIVE, LinkPanel, LinkView
from humanoid_ros.viewer.mechanism_studio import MechanismStudio
from humanoid_ros.viewer.page import Page

KK = KleinfingerKhalil(theta=0.5, r=0.2, alpha=-0.3, d=0.4, gamma=0.1, epsilon=0.05)
VIEW = LinkView("link_3", "joint_3", False, KK, 0.6, (-1.0, 2.0), False, 0.5)


@pytest.fixture
def panel(page: Page) -> tuple[LinkPanel, Asked]:
    asked = Asked(MechanismStudio)
    return LinkPanel(page.server.gui, VIEW, asked, at_once), asked


@pytest.mark.feature("002-F120")
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("r", 150.0, 0.15), ("alpha", 30.0, math.radians(30.0)), ("d", -250.0, -0.25), ("gamma", 45.0, math.pi / 4),
     ("epsilon", 10.0, 0.01)],
)  # fmt: skip
def test_each_parameter_is_edited_and_the_others_stay(
    panel: tuple[LinkPanel, Asked], name: str, value: float, expected: float
) -> None:
    control, asked = panel
    use(control._numbers[name]._slider, value)
    ((_, change),) = asked
    assert getattr(change.parameters, name) == pytest.approx(expected)
    for other in ("theta", "r", "alpha", "d", "gamma", "epsilon"):
        if other != name:
            assert getattr(change.parameters, other) == getattr(KK, other)
    assert (change.link, change.type, change.locked) == ("link_3", 2, False)
    assert change.limits == pytest.approx((-1.0, 2.0))


@pytest.mark.feature("002-F124")
def test_the_variable_is_marked_and_moves_the_joint(panel: tuple[LinkPanel, Asked]) -> None:
    control, asked = panel
    assert control._numbers["theta"].label == "● θ [°]"
    assert control._numbers["r"].label == "r [mm]"
    assert control._numbers["theta"].value == pytest.approx(math.degrees(0.6), abs=0.01)  # where the joint is
    use(control._numbers["theta"]._field, 90.0)
    assert asked == [("move_joint", "joint_3", pytest.approx(math.pi / 2))]


@pytest.mark.feature("002-F121")
def test_a_joint_may_become_a_slide_whose_variable_is_r(panel: tuple[LinkPanel, Asked]) -> None:
    control, asked = panel
    use(control._kind, "prismatic")
    ((name, change),) = asked
    assert (name, change.type, change.limits, change.parameters) == ("change_link", 1, None, KK)
    assert (control._numbers["r"].label, control._numbers["theta"].label) == ("● r [mm]", "θ [°]")


@pytest.mark.feature("002-F122")
def test_without_a_branch_its_parameters_are_zero_and_hidden(panel: tuple[LinkPanel, Asked]) -> None:
    control, asked = panel
    assert control._numbers["gamma"].visible
    use(control._branch, False)
    assert asked[-1][1].parameters == replace(KK, gamma=0.0, epsilon=0.0)
    assert not control._numbers["gamma"].visible
    assert not control._numbers["epsilon"].visible
    assert control._numbers["d"].visible


@pytest.mark.feature("002-F125")
def test_limits_are_absolute_or_counted_from_where_the_joint_is(panel: tuple[LinkPanel, Asked]) -> None:
    control, asked = panel
    assert control._limits.value == ABSOLUTE
    use(control._limits, RELATIVE)
    assert control._lower.value == pytest.approx(math.degrees(-1.6))
    assert asked[-1][1].limits == pytest.approx((-1.0, 2.0))  # the same, counted otherwise
    use(control._lower, -30.0)
    assert asked[-1][1].limits == pytest.approx((0.6 - math.radians(30.0), 2.0))
    use(control._limits, NO_LIMITS)
    assert asked[-1][1].limits is None
    assert not control._lower.visible


@pytest.mark.feature("002-F128")
def test_what_the_model_does_is_shown(panel: tuple[LinkPanel, Asked]) -> None:
    control, asked = panel
    control.update(replace(VIEW, position=1.0, locked=True))
    assert control._numbers["theta"].value == pytest.approx(math.degrees(1.0), abs=0.1)
    assert control._locked.value
    use(control._close)
    assert asked == [("close_link", "link_3")]


def test_a_link_without_such_parameters_has_limits_and_a_lock(page: Page) -> None:
    asked = Asked(MechanismStudio)
    control = LinkPanel(page.server.gui, replace(VIEW, parameters=None), asked, at_once)
    assert list(control._numbers) == ["theta"]
    assert not control._kind.visible
    use(control._locked, True)
    assert (asked[-1][1].type, asked[-1][1].locked) == (None, True)


def test_what_a_person_does_on_a_panel_that_is_taken_off_meanwhile_is_dropped(panel: tuple[LinkPanel, Asked]) -> None:
    control, asked = panel
    control.remove()
    use(control._kind, "prismatic")
    use(control._numbers["d"]._field, 100.0)
    assert asked == []


def test_an_edit_is_not_undone_by_a_drawing_of_what_was_before(
    panel: tuple[LinkPanel, Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executor draws between a person's edit and the change that is sent of it; it has to wait for that."""
    control, asked = panel
    change, drawing = LinkPanel._change, threading.Thread(target=lambda: control.update(VIEW))

    def change_late(panel: LinkPanel) -> None:
        drawing.start()
        drawing.join(0.2)
        change(panel)

    monkeypatch.setattr(LinkPanel, "_change", change_late)
    use(control._numbers["d"]._field, -250.0)
    drawing.join(10.0)
    assert asked[-1][1].parameters.d == pytest.approx(-0.25)
