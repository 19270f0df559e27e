# SPDX-License-Identifier: Apache-2.0
"""Traces are lines through all their positions; those that are gone are taken off."""

from __future__ import annotations

import numpy as np
import viser

from humanoid_ros.viewer.drawing.trace_drawing import TraceDrawing, TraceLine
from humanoid_ros.viewer.page import Page

WAY = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [2.0, 1.0, 0.5]])


def lines(page: Page) -> list[viser.LineSegmentsHandle]:
    return [n for n in page.server.scene._handle_from_node_name.values() if isinstance(n, viser.LineSegmentsHandle)]


def test_a_line_grows_and_goes(page: Page) -> None:
    drawing = TraceDrawing(page.server.scene)
    drawing.set({"hand": TraceLine(WAY[:2], (1.0, 0.5, 0.0))})
    (line,) = lines(page)
    np.testing.assert_allclose(line.points, [WAY[:2]])
    np.testing.assert_array_equal(line.colors[0, 0], [255, 128, 0])
    drawing.set({"hand": TraceLine(WAY, (1.0, 0.5, 0.0)), "foot": TraceLine(WAY - 1.0, (0.0, 0.0, 1.0))})
    assert lines(page)[0] is line
    np.testing.assert_allclose(line.points, [WAY[:2], WAY[1:]])
    assert line.colors.shape == (2, 2, 3)
    drawing.set({"foot": TraceLine(WAY - 1.0, (0.0, 0.0, 1.0))})
    (left,) = lines(page)
    np.testing.assert_allclose(left.points[0, 0], WAY[0] - 1.0)
    drawing.visible = False
    assert not drawing.visible
