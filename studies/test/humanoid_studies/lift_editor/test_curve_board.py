# SPDX-License-Identifier: Apache-2.0
"""The board of a joint's curve: places and angles, and lines that are red where limits are broken (000-F158)."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.lift_page import ELBOW, elbow_height
from fixtures.lifting import straight_lift, thesis_lift

from humanoid_ros.viewer.page import Page
from humanoid_studies.lift_editor.curve_board import BLUE, TOP, CurveBoard, broken_line
from humanoid_studies.lifting.judgement import judge

EYE = np.array([1.5, -4.0, 1.0])


@pytest.mark.feature("000-F158")
def test_rays_meet_the_board_where_its_angle_is(page: Page) -> None:
    board = CurveBoard(page.server.scene, thesis_lift().lifter, lambda point, angle, ends: None)
    board.show(ELBOW, straight_lift(), straight_lift(), judge(thesis_lift(), straight_lift()))
    for angle in (-2.0, 0.0):
        at = board.place(np.array([0.3]), np.array([angle]))[0]
        assert board.angle(EYE, EYE + 0.4 * (at - EYE)) == pytest.approx(angle)
    top = board.angle(EYE, np.array([1.0, 0.0, 9.0]))
    assert top is not None
    assert elbow_height(top) == pytest.approx(TOP)
    assert board.angle(EYE, EYE + np.array([1.0, 0.0, 0.3])) is None
    assert board.angle(EYE, EYE - np.array([0.0, 1.0, 0.0])) is None


def test_lines_are_red_where_limits_are_broken() -> None:
    places = np.arange(18.0).reshape(6, 3)
    lines = broken_line(places, np.array([False, False, False, True, False, False]))
    parts = [(line.positions[0, 0], line.positions[-1, 0], line.colour == BLUE) for line in lines.values()]
    assert parts == [(0.0, 6.0, True), (6.0, 12.0, False), (12.0, 15.0, True)]
    assert len(broken_line(places, np.zeros(6, dtype=bool))) == 1
