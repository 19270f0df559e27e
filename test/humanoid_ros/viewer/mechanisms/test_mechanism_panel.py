# SPDX-License-Identifier: Apache-2.0
"""The panel of mechanisms turns what a person does into requests, and shows what it is told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fixtures.person import use

from humanoid_kinematics import KleinfingerKhalil
from humanoid_ros.viewer.mechanisms.link_panel import LinkView
from humanoid_ros.viewer.mechanisms.mechanism_panel import POSE, JointView, MechanismPanel
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.panels.request import HoldLoop, LoadMechanism, MoveJoint, SetToolMode, StepTool


@pytest.fixture
def panel(page: Page) -> tuple[MechanismPanel, list]:
    sent: list = []
    panel = MechanismPanel(page.server.gui, sent.append, ("cross", "fourbar"))
    joints = [JointView("joint_1", True, 0.2, (-0.5, 0.5)), JointView("joint_2", False, 1.0, (-1.0, 2.0))]
    panel.set_mechanism(joints, ["tip"], ["link_1", "link_2"], ["left-right"])
    sent.clear()
    return panel, sent


def test_a_path_goes_before_the_list_of_files(panel: tuple[MechanismPanel, list]) -> None:
    control, sent = panel
    use(control._load)
    use(control._path, " own.mad ")
    use(control._load)
    assert [request for request in sent if isinstance(request, LoadMechanism)] == [
        LoadMechanism("cross"), LoadMechanism("own.mad"),
    ]  # fmt: skip


def test_sliders_are_in_mm_and_degrees_and_end_at_the_limits(panel: tuple[MechanismPanel, list]) -> None:
    control, sent = panel
    slide, turn = control._joints["joint_1"]._slider, control._joints["joint_2"]._slider
    assert (slide.min, slide.max, turn.min, turn.max) == pytest.approx((-500, 500, math.degrees(-1), math.degrees(2)))
    use(slide, 120.0)
    use(turn, 30.0)
    assert sent == [MoveJoint("joint_1", pytest.approx(0.12)), MoveJoint("joint_2", pytest.approx(math.radians(30.0)))]


@pytest.mark.parametrize(("axis", "unit"), [(1, 1e-3), (5, math.radians(1.0))])
def test_steps_move_a_tool_along_or_about_an_axis_of_a_frame(
    panel: tuple[MechanismPanel, list], axis: int, unit: float
) -> None:
    control, sent = panel
    use(control._frame, "tool")
    use(control._scale, 2.0)
    use(control._steps[axis], "−10")
    expected = np.zeros(6)
    expected[axis] = -20.0 * unit
    assert sent == [StepTool("tip", tuple(pytest.approx(x) for x in expected), "tool")]


def test_tools_and_loops_are_switched(panel: tuple[MechanismPanel, list]) -> None:
    control, sent = panel
    use(control._tools[0], POSE)
    use(control._loops["left-right"], False)
    assert sent == [SetToolMode("tip", POSE), HoldLoop("left-right", False)]
    control.update({}, (), ())  # the node says that it is held
    assert control._loops["left-right"].value
    assert len(sent) == 2


def test_several_links_are_open_at_once_and_each_is_closed_by_itself(panel: tuple[MechanismPanel, list]) -> None:
    control, _ = panel
    for link in ("link_1", "link_2", "link_1"):
        limits = -math.inf, math.inf
        control.open_link(LinkView(link, "joint", False, KleinfingerKhalil(), 0.0, limits, False, 1.0))
    assert control.open_links == ("link_1", "link_2")
    use(control._links["link_1"]._close)
    assert control.open_links == ("link_2",)
