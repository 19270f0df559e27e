# SPDX-License-Identifier: Apache-2.0
"""Points of pressure and the polygon of the soles."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control.stepping.support_polygon import SupportPolygon

SQUARE = SupportPolygon(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]]))


@pytest.mark.parametrize(
    ("point", "nearest", "margin"),
    [
        ((0.5, 0.75), (0.5, 0.75), 0.25),
        ((1.5, 0.5), (1.0, 0.5), -0.5),
        ((2.0, 2.0), (1.0, 1.0), -np.sqrt(2.0)),
        ((0.2, -0.1), (0.2, 0.0), -0.1),
    ],
)
def test_points_outside_go_to_the_nearest_one(point, nearest, margin):
    assert SQUARE.margin(np.array(point)) == pytest.approx(margin)
    np.testing.assert_allclose(SQUARE.nearest(np.array(point)), nearest)
