# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from humanoid_planner.distance.big_sphere import big_sphere

pytestmark = pytest.mark.feature("001-F110")

RIGHT = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
EQUILATERAL = np.array([[0, 0, 0], [0.1, 0, 0], [0.05, 0.1 * np.sqrt(0.75), 0]])


@pytest.mark.parametrize(
    ("R", "z"), [(1.0, -0.98747152), (10.0, -9.98974975), (20.0, -19.98987494), (100.0, -99.98997500)]
)
def test_centre_under_a_right_triangle(R, z):
    assert big_sphere(RIGHT, 0.01, R) == pytest.approx([0.05, 0.05, z], abs=5e-9)


def test_centre_under_an_equilateral_triangle():
    assert big_sphere(EQUILATERAL, 0.01, 20.0) == pytest.approx([0.05, 0.02886751, -19.98991662], abs=5e-9)


def test_orientation_says_which_side_is_below():
    assert big_sphere(RIGHT[::-1], 0.01, 20.0)[2] > 0


def test_sphere_passes_through_the_vertices_whichever_comes_first():
    triangle = np.array([[0.3, -0.2, 0.1], [0.3 + 1e-7, -0.2, 0.1], [-0.4, 0.2, 0.7]])
    for turn in range(3):
        centre = big_sphere(np.roll(triangle, turn, axis=0), 0.02, 15.0)
        assert np.linalg.norm(triangle - centre, axis=1) == pytest.approx(14.98, abs=1e-13)


def test_no_sphere_when_the_radius_is_below_the_circumradius():
    assert big_sphere(RIGHT, 0.01, 0.08) is None
    assert big_sphere(RIGHT, 0.01, 0.081) is not None


def test_no_sphere_through_points_on_a_line():
    assert big_sphere(np.outer([0.0, 1.0, 3.0], [1.0, 2.0, 3.0]), 0.01, 20.0) is None
