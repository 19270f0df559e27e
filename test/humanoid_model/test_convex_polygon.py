# SPDX-License-Identifier: Apache-2.0
"""Convex hulls and margins against scipy and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.path import Path
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from humanoid_model.contact import polygon_problem
from humanoid_model.convex_polygon import convex_hull, convex_pieces, nearest_point, polygon_area, polygon_margin
from humanoid_model.errors import InputError

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])


@pytest.mark.feature("000-F150")
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


def test_points_on_an_oblique_line_have_its_ends_as_their_hull() -> None:
    """Rounding puts the points a little beside the line, to either side."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        along = np.sort(rng.normal(size=9))
        points = np.outer(along, rng.normal(size=2)) + rng.normal(size=2)
        ends = sorted(points[[0, -1]].tolist())
        assert convex_hull(rng.permutation(points)).tolist() == ends


def test_soles_side_by_side_keep_their_corners() -> None:
    """Corners whose x differ by rounding come in any order."""
    sole = np.array([[-0.12, -0.06], [0.17, -0.09], [0.17, 0.09], [-0.12, 0.06]])
    aside = np.array([0.0, 0.11])
    soles = np.vstack([sole + aside, sole - aside])
    expected = [[-0.12, -0.17], [0.17, -0.2], [0.17, 0.2], [-0.12, 0.17]]
    for seed in range(20):
        corners = convex_hull(soles + 1e-12 * np.random.default_rng(seed).standard_normal(soles.shape))
        assert len(corners) == 4
        start = int(np.argmin(np.abs(corners - expected[0]).sum(axis=1)))
        assert_allclose(np.roll(corners, -start, axis=0), expected, atol=1e-11)


def test_margin_is_the_distance_from_the_edge() -> None:
    assert polygon_margin(SQUARE, [0.7, 0.4]) == pytest.approx(0.4)
    assert polygon_margin(SQUARE, [1.9, 0.4]) == pytest.approx(0.1)
    assert polygon_margin(SQUARE, [2.0, 0.3]) == pytest.approx(0.0)
    assert polygon_margin(SQUARE, [3.0, 2.0]) == pytest.approx(-math.sqrt(2.0))
    assert polygon_margin(SQUARE, [1.0, -0.5]) == pytest.approx(-0.5)
    assert polygon_margin(SQUARE[:2], [1.0, 0.5]) == pytest.approx(-0.5)
    assert polygon_margin(SQUARE[:1], [3.0, 4.0]) == pytest.approx(-5.0)
    assert polygon_margin(np.zeros((0, 2)), [0.0, 0.0]) == -math.inf


@pytest.mark.feature("000-F150")
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


@pytest.mark.feature("001-F010")
def test_outlines_are_cut_into_convex_pieces_that_cover_each_point_once() -> None:
    rng = np.random.default_rng(1)
    for n in (4, 6, 9, 15):
        for _ in range(10):
            angles = 2 * np.pi * (np.arange(n) + rng.uniform(0.1, 0.9, n)) / n
            star = rng.uniform(0.3, 1.0, n)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
            pieces = convex_pieces(star)
            assert all(polygon_problem(piece) is None for piece in pieces)
            assert sum(polygon_area(piece) for piece in pieces) == pytest.approx(polygon_area(star))
            points = rng.uniform(-1.0, 1.0, (200, 2))
            within = sum(Path(piece).contains_points(points).astype(int) for piece in pieces)
            np.testing.assert_array_equal(within, Path(star).contains_points(points).astype(int))


def test_an_outline_in_the_shape_of_an_l_becomes_two_rectangles() -> None:
    pieces = convex_pieces([[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]])
    assert sorted(polygon_area(piece) for piece in pieces) in ([1.0, 3.0], [2.0, 2.0])
    assert [len(piece) for piece in pieces] == [4, 4]
    assert len(convex_pieces(SQUARE)) == 1


@pytest.mark.parametrize("seed", range(4))
def test_no_point_of_a_polygon_is_nearer_than_the_nearest_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hull = convex_hull(rng.normal(size=(8, 2)))
    for point in rng.normal(scale=2.0, size=(20, 2)):
        found = nearest_point(hull, point)
        # In the polygon, and every corner lies behind the line through it across the way: no point of it is nearer.
        assert polygon_margin(hull, found) > -1e-9
        assert ((hull - found) @ (point - found)).max() < 1e-9
        assert (polygon_margin(hull, point) > 0.0) == np.array_equal(found, point)
