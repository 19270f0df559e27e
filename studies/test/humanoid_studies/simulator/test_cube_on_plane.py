# SPDX-License-Identifier: Apache-2.0
"""Experiment E24 of specification 000 §27."""

from __future__ import annotations

import pytest

from humanoid_studies.simulator import cube_on_plane


@pytest.mark.parametrize("yaw", [0.0, 0.3])
def test_points_are_the_four_corners_of_the_bottom(yaw: float) -> None:
    result = cube_on_plane.run(yaw)
    assert result.passes, result.table()
    for backend in ("compiled", "coal"):
        assert result.row(f"{backend}: triangles, filtered: points").ours == 4
        assert result.row(f"{backend}: face of the nearest points: points").ours == 4
        assert result.row(f"{backend}: pairs of triangles that intersect").ours > 4
