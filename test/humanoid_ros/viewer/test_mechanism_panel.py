# SPDX-License-Identifier: Apache-2.0
"""The panel of mechanisms asks for what a person does, and shows what it is told."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fixtures.asked_feature import Asked, at_once
from fixtures.person import use

from humanoid_kinematics import KleinfingerKhalil
from humanoid_ros.viewer import mechanism_panel
from humanoid_ros.viewer.controls import CoupledNumber
from humanoid_ros.viewer.link_panel import LinkView
from humanoid_ros.viewer.mechanism_panel import HELD_RATE, OTHER, POSE, JointView, MechanismPanel
from humanoid_ros.viewer.mechanism_studio import MechanismStudio
from humanoid_ros.viewer.page import Page


@pytest.fixture
def panel(page: Page) -> tuple[MechanismPanel, Asked]:
    panel, asked = MechanismPanel(page.server.gui, ("cross", "fourbar")), Asked(MechanismStudio)
    panel.connect(asked, at_once)
    joints = [JointView("joint_1", True, 0.2, (-0.5, 0.5)), JointView("joint_2", False, 1.0, (-1.0, 2.0))]
    panel.set_mechanism(joints, ["tip"], ["link_1", "link_2"], ["left-right"])
    asked.clear()
    return panel, asked


def test_a_path_goes_before_the_list_of_files(panel: tuple[MechanismPanel, Asked]) -> None:
    control, asked = panel
    use(control._load)
    use(control._path, " own.mad ")
    use(control._load)
    assert [call for call in asked if call[0] == "load"] == [("load", "cross"), ("load", "own.mad")]


@pytest.mark.feature("002-F129")
def test_sliders_are_in_mm_and_degrees_and_end_at_the_limits(panel: tuple[MechanismPanel, Asked]) -> None:
    control, asked = panel
    slide, turn = control._joints["joint_1"]._slider, control._joints["joint_2"]._slider
    assert (slide.min, slide.max, turn.min, turn.max) == pytest.approx((-500, 500, math.degrees(-1), math.degrees(2)))
    use(slide, 120.0)
    use(turn, 30.0)
    assert asked == [
        ("move_joint", "joint_1", pytest.approx(0.12)), ("move_joint", "joint_2", pytest.approx(math.radians(30.0))),
    ]  # fmt: skip


@pytest.mark.feature("002-F105", "002-F106", "002-F108")
@pytest.mark.parametrize(("axis", "unit"), [(1, 1e-3), (5, math.radians(1.0))])
def test_steps_move_a_tool_along_or_about_an_axis_of_a_frame(
    panel: tuple[MechanismPanel, Asked], axis: int, unit: float
) -> None:
    control, asked = panel
    use(control._frame, "tool")
    use(control._scale, 2.0)
    use(control._steps[axis], "−10")
    expected = np.zeros(6)
    expected[axis] = -20.0 * unit
    assert asked == [("step", "tip", tuple(pytest.approx(x) for x in expected), "tool", 1)]


def test_tools_and_loops_are_switched(panel: tuple[MechanismPanel, Asked]) -> None:
    control, asked = panel
    use(control._tools[0], POSE)
    use(control._loops["left-right"], False)
    assert asked == [("set_mode", "tip", POSE), ("hold_loop", "left-right", False)]
    control.update({}, (), ())  # the node says that it is held
    assert control._loops["left-right"].value
    assert len(asked) == 2


@pytest.mark.feature("002-F127")
def test_several_links_are_open_at_once_and_each_is_closed_by_itself(panel: tuple[MechanismPanel, Asked]) -> None:
    control, _ = panel
    for link in ("link_1", "link_2", "link_1"):
        limits = -math.inf, math.inf
        control.open_link(LinkView(link, "joint", False, KleinfingerKhalil(), 0.0, limits, False, 1.0))
    assert control.open_links == ("link_1", "link_2")
    control.close_link("link_1")
    assert control.open_links == ("link_2",)


def test_a_link_that_a_person_closes_while_it_is_drawn_is_closed_after_that(
    panel: tuple[MechanismPanel, Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Viser's thread says so in the middle of a drawing, which sets controls: on one that is gone it would fail."""
    control, asked = panel
    view = LinkView("link_1", "joint", False, KleinfingerKhalil(), 0.0, (-math.inf, math.inf), False, 1.0)
    control.open_link(view)
    close, show = control._links["link_1"]._close, CoupledNumber.show

    def show_late(number: CoupledNumber, value: float) -> None:
        use(close)
        show(number, value)

    monkeypatch.setattr(CoupledNumber, "show", show_late)
    control.update({}, [replace(view, parameters=KleinfingerKhalil(alpha=1.0, d=0.3), position=0.5)], [])
    assert asked[-1] == ("close_link", "link_1")
    assert control.open_links == ("link_1",)


@pytest.mark.feature("002-F108")
def test_each_of_twelve_buttons_drives_a_tool_along_its_axis_while_it_is_held(
    panel: tuple[MechanismPanel, Asked],
) -> None:
    control, asked = panel
    use(control._speed, 30.0)
    for button in control._held:
        for told in button._button_impl.hold_cbs_from_freq[HELD_RATE]:
            told(SimpleNamespace(target=button, client_id=4))
    velocities = np.array([velocity for name, _, velocity, *_ in asked if name == "drive"])
    unit = np.diag([0.03] * 3 + [math.radians(30.0)] * 3)
    np.testing.assert_allclose(velocities, np.stack([-unit, unit], axis=1).reshape(12, 6), atol=1e-12)
    assert {browser for *_, browser in asked} == {4}


@pytest.mark.feature("002-F129", "002-F133")
def test_sliders_of_the_base_say_where_it_is_to_be_and_show_where_it_is(panel: tuple[MechanismPanel, Asked]) -> None:
    control, asked = panel
    control.show_base((0.1, 0.0, 0.0, 0.0, 0.0, 0.5))
    assert asked == []  # the model's own word is not sent back
    use(control._base[2]._slider, 250.0)
    ((name, pose),) = asked
    assert name == "move_base"
    assert pose == pytest.approx((0.1, 0.0, 0.25, 0.0, 0.0, 0.5), abs=1e-3)


@pytest.mark.feature("002-F130")
def test_a_plot_and_a_part_to_show_are_rows_of_a_table(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mechanism_panel.PLOTS, "margins", ("margin/",))
    monkeypatch.setitem(mechanism_panel.SHOWN, "shadows", True)
    control = MechanismPanel(page.server.gui, ("cross",))
    assert "margins" in control._plot.options
    assert control._boxes["shadows"].value


@pytest.mark.feature("002-F132")
def test_menus_offer_files_solvers_frames_and_what_the_mechanism_has(panel: tuple[MechanismPanel, Asked]) -> None:
    control, _ = panel
    assert control._file.options == ("cross", "fourbar", OTHER)
    assert control._solver.options == ("robust", "thesis")
    assert control._frame.options == ("world", "tool", "view")
    assert control._link.options == ("link_1", "link_2")
    assert control._tool.options == ("tip", "link_1", "link_2")


@pytest.mark.feature("002-F132")
def test_a_mechanism_without_anything_that_moves_is_shown(panel: tuple[MechanismPanel, Asked]) -> None:
    """And the next one in full."""
    control, _ = panel
    folders = control._joint_folder, control._tool_folder, control._link_folder
    control.set_mechanism([], [], [], [])
    assert not any(folder.visible for folder in folders)
    control.set_mechanism([JointView("joint_1", True, 0.2, (-0.5, 0.5))], [], ["link_1"], [])
    assert all(folder.visible for folder in folders)
    assert control._link.value == "link_1"


@pytest.mark.feature("002-F132")
def test_the_list_of_files_says_which_one_runs(panel: tuple[MechanismPanel, Asked]) -> None:
    control, asked = panel
    use(control._path, "fourbar")
    control.set_file("fourbar")
    assert (control._file.value, control._path.value) == ("fourbar", "")
    use(control._file, "cross")
    use(control._load)
    assert asked[-1] == ("load", "cross")
    control.set_file(None)
    assert control._file.value == OTHER
    asked.clear()
    use(control._load)
    assert asked == []
    assert "give a path" in control.said
