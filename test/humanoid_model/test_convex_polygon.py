# SPDX-License-Identifier: Apache-2.0
"""Convex hulls and margins against scipy and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from humanoid_model.convex_polygon import convex_hull, polygon_area, polygon_margin
from humanoid_model.errors import InputError

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])


def test_hulls_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    for n in (3, 4, 8, 50):
        for _ in range(20):
            points = rng.normal(size=(n, 2)) * rng.uniform(1e-3, 10.0)
            expected = ConvexHull(points)
            hull = convex_hull(points)
            assert {tuple(row) for row in hull} == {tuple(row) for row in points[expected.vertices]}
            assert polygon_area(hull) == pytest.approx(expected.volume)  # counter-clockwise: positive


def test_degenerate_sets_of_points() -> None:
    assert convex_hull([]).shape == (0, 2)
    assert_allclose(convex_hull([[1.0, 2.0]] * 3), [[1.0, 2.0]])
    line = np.outer(np.linspace(0.0, 1.0, 7), [0.3, -0.4]) + np.ones(2)
    assert_allclose(convex_hull(line[::-1]), [[1.0, 1.0], [1.3, 0.6]])
    repeated = np.vstack([SQUARE, SQUARE + 1e-15, [[1.0, 0.0], [2.0, 0.5]]])
    assert len(convex_hull(repeated)) == 4


def test_margin_is_the_distance_from_the_edge() -> None:
    assert polygon_margin(SQUARE, [0.7, 0.4]) == pytest.approx(0.4)
    assert polygon_margin(SQUARE, [1.9, 0.4]) == pytest.approx(0.1)
    assert polygon_margin(SQUARE, [2.0, 0.3]) == pytest.approx(0.0)
    assert polygon_margin(SQUARE, [3.0, 2.0]) == pytest.approx(-math.sqrt(2.0))
    assert polygon_margin(SQUARE, [1.0, -0.5]) == pytest.approx(-0.5)
    assert polygon_margin(SQUARE[:2], [1.0, 0.5]) == pytest.approx(-0.5)
    assert polygon_margin(SQUARE[:1], [3.0, 4.0]) == pytest.approx(-5.0)
    assert polygon_margin(np.zeros((0, 2)), [0.0, 0.0]) == -math.inf


def test_sign_of_the_margin_is_membership() -> None:
    """A point is inside where it is a convex combination of the points, says a linear program."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        points, p = rng.normal(size=(7, 2)), rng.normal(size=2)
        ones = np.ones(len(points))
        inside = linprog(ones, A_eq=np.vstack([points.T, ones]), b_eq=[*p, 1.0]).status == 0
        assert (polygon_margin(convex_hull(points), p) >= 0.0) == inside


def test_points_that_are_none_are_refused() -> None:
    for points in ([[0.0, math.nan]], [[1.0, 2.0, 3.0]]):
        with pytest.raises(InputError):
            convex_hull(points)
