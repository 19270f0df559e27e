# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts.search_volume import SearchVolume, surface_volume

RECTANGLE = np.array([(0, 0), (1, 0), (1, 0.6), (0, 0.6)])


@pytest.mark.feature("001-F180")
def test_the_worked_example():
    volume = SearchVolume(RECTANGLE, 0.0, 2 * math.pi)
    assert volume.measure == pytest.approx(0.6 * 2 * math.pi)
    pieces = volume.without_box(0.5, 0.3, math.pi / 2, 0.2, math.pi / 3)
    assert len(pieces) == 5
    turned, left, right, under, above = pieces
    assert turned.high - turned.low == pytest.approx(5 * math.pi / 3)
    assert turned.area == pytest.approx(0.6)
    assert [piece.area for piece in (left, right, under, above)] == pytest.approx([0.24, 0.24, 0.04, 0.04])
    assert left.polygon[:, 0].max() == pytest.approx(0.4)
    assert above.polygon[:, 1].min() == pytest.approx(0.4)
    assert sum(piece.measure for piece in pieces) == pytest.approx(0.6 * 2 * math.pi - 0.04 * math.pi / 3)


@pytest.mark.feature("001-F177", "001-F180")
@pytest.mark.parametrize("seed", range(4))
def test_pieces_cover_all_but_the_box_and_are_disjoint(seed):
    rng = np.random.default_rng(seed)
    pentagon = np.array([(math.cos(a), math.sin(a)) for a in 2 * math.pi * np.arange(5) / 5])
    low = rng.uniform(-4, 4)
    volume = SearchVolume(pentagon, low, low + (2 * math.pi if seed == 0 else rng.uniform(0.5, 5)))
    x, y, theta = *rng.uniform(-0.4, 0.4, 2), rng.uniform(volume.low, volume.high)
    pieces = volume.without_box(x, y, theta, 0.3, 0.7)
    for px, py, pt in zip(*rng.uniform(-1, 1, (2, 400)), rng.uniform(low, low + 2 * math.pi, 400), strict=True):
        away = abs((pt - theta + math.pi) % (2 * math.pi) - math.pi)
        boxed = abs(px - x) < 0.15 and abs(py - y) < 0.15 and away < 0.35
        expected = volume.contains(px, py, pt) and not boxed
        assert sum(piece.contains(px, py, pt) for piece in pieces) == expected


def count(size, angle):
    """Number of boxes that fit when one is removed about each piece's middle until nothing is left."""
    pieces, found = [SearchVolume(RECTANGLE)], 0
    while pieces:
        piece = pieces.pop()
        found += 1
        middle = piece.polygon.mean(axis=0)
        pieces += piece.without_box(*middle, 0.5 * (piece.low + piece.high), size, angle)
    return found


@pytest.mark.feature("001-F181")
def test_larger_boxes_make_fewer_candidates():
    counts = [count(size, angle) for size, angle in ((0.18, 2.0), (0.3, 2.0), (0.3, 7.0), (2.0, 7.0))]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.feature("001-F180")
def test_points_of_a_recursion_are_a_box_apart():
    rng = np.random.default_rng(3)
    pieces, points = [SearchVolume(RECTANGLE)], []
    while pieces and len(points) < 12:
        piece = pieces.pop()
        corners = rng.dirichlet(np.ones(len(piece.polygon))) @ piece.polygon
        points.append((*corners, rng.uniform(piece.low, piece.high)))
        pieces = [rest for other in (*pieces, piece) for rest in other.without_box(*points[-1], 0.45, 1.5)]
    assert len(points) > 5
    for i, a in enumerate(points):
        for b in points[:i]:
            turn = abs((a[2] - b[2] + math.pi) % (2 * math.pi) - math.pi)
            assert max(abs(a[0] - b[0]) / 0.225, abs(a[1] - b[1]) / 0.225, turn / 0.75) >= 1 - 1e-9


def test_a_box_elsewhere_leaves_the_volume_whole():
    volume = SearchVolume(RECTANGLE, 0.0, 1.0)
    for x, y, theta in ((2.0, 0.3, 0.5), (0.5, 0.3, 3.0)):
        assert volume.without_box(x, y, theta, 0.2, 0.4) == [volume]


@pytest.mark.feature("001-F177")
def test_an_unbounded_surface_is_searched_about_a_point():
    assert surface_volume(None, [3, 4], 0.5).area == pytest.approx(1.0)
    assert surface_volume(RECTANGLE, [0, 0], 0.5).area == pytest.approx(0.25)
    assert surface_volume(RECTANGLE, [5, 0], 0.5) is None


def test_bad_volumes_are_named():
    with pytest.raises(InputError, match="polygon of a search volume"):
        SearchVolume(RECTANGLE[:2])
    with pytest.raises(InputError, match="angles of a search volume"):
        SearchVolume(RECTANGLE, 0.0, 7.0)
    with pytest.raises(InputError, match="size of the removed box"):
        SearchVolume(RECTANGLE).without_box(0, 0, 0, 0.0, 1.0)
