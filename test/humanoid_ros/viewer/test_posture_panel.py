# SPDX-License-Identifier: Apache-2.0
"""The posture editor's panel asks for what is clicked at and tells what was found."""

from types import SimpleNamespace

import pytest
from fixtures.asked_feature import Asked, at_once

from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.posture_editor import (
    ANY,
    FORCES,
    HOLD,
    NEAR,
    POLYGON,
    TOUCH,
    PostureEditor,
    PosturePanel,
)


@pytest.fixture
def panel(page: Page) -> tuple[PosturePanel, Asked]:
    control, asked = PosturePanel(page.server.gui), Asked(PostureEditor)
    control.connect(asked, at_once)
    return control, asked


def click(control: object) -> None:
    """What viser does when a person presses a button."""
    for callback in control._impl.update_cb:  # type: ignore[attr-defined]
        callback(SimpleNamespace(target=control))


def test_it_is_shown_and_put_away(panel: tuple[PosturePanel, Asked]) -> None:
    control, asked = panel
    control.set_places(["right_sole"], ["seat"])
    assert not any(c.visible for c in (control._reset, control._balance, control._places, control._others))
    click(control._show)
    control.shown = True
    assert all(c.visible for c in (control._reset, control._balance, control._places, control._others))
    click(control._show)
    click(control._reset)
    assert asked == [("show", True), ("show", False), ("reset",)]


def test_uses_of_places_are_asked_for_and_shown(panel: tuple[PosturePanel, Asked]) -> None:
    control, asked = panel
    control.set_places(["right_sole", "left_sole"], ["seat"])
    control._uses["seat"].value = TOUCH
    control.set_use("left_sole", HOLD)
    assert asked == [("use", "seat", TOUCH), ("use", "left_sole", HOLD)]
    assert control._uses["left_sole"].value == HOLD
    control.set_places(["tail"], [])
    assert list(control._uses) == ["tail"]


def test_options_come_together(panel: tuple[PosturePanel, Asked]) -> None:
    control, asked = panel
    control._torques.value = True
    control._balance.value = POLYGON
    control._collisions.value = True
    control._criterion.value = ANY
    assert asked == [
        ("seek", FORCES, NEAR, True, False),
        ("seek", POLYGON, NEAR, True, False),
        ("seek", POLYGON, NEAR, True, True),
        ("seek", POLYGON, ANY, True, True),
    ]


def test_the_result_is_told_in_its_colour_and_escaped(panel: tuple[PosturePanel, Asked]) -> None:
    control, _ = panel
    control.say("no <hand> there", False)
    assert not control._result.visible
    control.shown = True
    assert control._result.visible
    assert "no &lt;hand&gt; there" in control._result.content
    bad = control._result.content
    control.say("no <hand> there", True)
    assert control._result.content != bad
    control.say("")
    assert not control._result.visible
