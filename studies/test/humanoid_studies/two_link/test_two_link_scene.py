# SPDX-License-Identifier: Apache-2.0
"""The two-link robot between a triangle on the ground and a block above it (F027): six components, and a walk."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_studies.two_link.two_link import TwoLinkRobot
from humanoid_studies.two_link.two_link_figure import draw_walk
from humanoid_studies.two_link.two_link_scene import TwoLinkScene

ROBOT = TwoLinkRobot(1.0, 0.6)
ANGLES = 120
PLACES = np.linspace(-2.0, 2.0, 41)
TRIANGLE = [(-0.2, 0.0), (0.2, 0.0), (0.0, 0.35)]


def _block(height: float) -> list[tuple[float, float]]:
    return [(-0.6, height), (0.6, height), (0.6, 1.6), (-0.6, 1.6)]


@pytest.fixture(scope="module")
def scene() -> TwoLinkScene:
    return TwoLinkScene(ROBOT, [TRIANGLE, _block(0.94)], PLACES, angles=ANGLES)


def _inside(points: np.ndarray, polygon: list[tuple[float, float]]) -> np.ndarray:
    """Which points (k, 2) are inside, by ray casting."""
    x, y = points.T
    inside = np.zeros(len(points), dtype=bool)
    for (ax, ay), (bx, by) in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        if ay != by:
            inside ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) / (by - ay) * (bx - ax))
    return inside


def _collides(q: np.ndarray, obstacles: list) -> bool:
    """Points along both links inside an obstacle."""
    shares = np.linspace(0.0, 1.0, 60)[:, None]
    points = np.concatenate([q[:2] + shares * (foot - q[:2]) for foot in ROBOT.feet(q)])
    return any(bool(_inside(points, obstacle).any()) for obstacle in obstacles)


def test_without_obstacles_the_two_orders_of_feet_are_two_components() -> None:
    components = TwoLinkScene(ROBOT, [], PLACES).components()
    assert components.max() == 2
    first, second = np.meshgrid(PLACES, PLACES, indexing="ij")
    spans = np.abs(first - second)
    assert (components[(spans > 0.41) & (spans < 1.59)] > 0).all()
    assert not components[(spans < 0.39) | (spans > 1.61)].any()
    assert len(set(components[(components > 0) & (first > second)])) == 1


@pytest.mark.feature("001-F027")
def test_six_components(scene: TwoLinkScene) -> None:
    """Both feet on one side or astride the triangle, in both orders; each transition tested point by point."""
    components = scene.components()
    assert components.max() == 6
    sides = set()
    for number in range(1, 7):
        places = PLACES[np.argwhere(components == number)]
        side = tuple(np.unique(np.sign(places), axis=0).ravel())
        assert len(side) == 2
        sides.add((*side, float(np.sign(places[0, 0] - places[0, 1]))))
    assert len(sides) == 6
    rng = np.random.default_rng(0)
    obstacles = [TRIANGLE, _block(0.94)]
    tested = 0
    for i, j in rng.integers(0, len(PLACES), (400, 2)):
        if 0.4 < abs(PLACES[i] - PLACES[j]) < 1.6:
            q = ROBOT.transition(PLACES[i], PLACES[j])
            if components[i, j]:
                assert not _collides(q, obstacles)
            tested += 1
    assert tested > 100


def test_neighbours_make_some_components_dead_ends(scene: TwoLinkScene) -> None:
    """Two of them have one neighbour only, as T4 and T5 of the thesis; who goes from one to the other passes three."""
    neighbours = scene.neighbours()
    degree = {number: sum(number in pair for pair in neighbours) for number in range(1, 7)}
    assert sorted(degree.values())[:2] == [1, 1]
    ends = [number for number in degree if degree[number] == 1]
    reached, distance = {ends[0]}, 0
    while ends[1] not in reached:
        reached |= {other for pair in neighbours for other in pair if reached & set(pair)}
        distance += 1
        assert distance < 7
    assert distance == 4


def _ends(scene: TwoLinkScene) -> tuple[tuple[int, int], tuple[int, int]]:
    """Transitions in the middle of the two dead ends."""
    components, neighbours = scene.components(), scene.neighbours()
    ends = [number for number in range(1, 7) if sum(number in pair for pair in neighbours) == 1]
    chosen = []
    for number in ends:
        cells = np.argwhere(components == number)
        middle = cells[np.argmin(((cells - cells.mean(axis=0)) ** 2).sum(axis=1))]
        chosen.append((int(middle[0]), int(middle[1])))
    return chosen[0], chosen[1]


@pytest.mark.feature("001-F027")
def test_plan(scene: TwoLinkScene) -> None:
    """A walk over the triangle: one foot moves at a time, in contact all along, and nothing touches an obstacle."""
    start, goal = _ends(scene)
    walk = scene.plan(start, goal)
    assert walk is not None
    assert (walk[0], walk[-1]) == (start, goal)
    components = scene.components()
    visited = [number for number, _ in itertools.groupby(int(components[where]) for where in walk)]
    assert len(visited) >= 5
    assert {tuple(sorted(pair)) for pair in itertools.pairwise(visited)} <= scene.neighbours()
    assert ROBOT.is_walk([scene.transition(where) for where in walk])
    path = scene.path(walk)
    obstacles = [TRIANGLE, _block(0.94)]
    turns = (np.diff(path[:, 2:], axis=0) + math.pi) % (2 * math.pi) - math.pi
    assert np.abs(turns).max() < 3 * 2 * math.pi / ANGLES
    for before, after, turn in zip(path[:-1], path[1:], turns, strict=True):
        places = ROBOT.feet([before, after][ROBOT.stands_on_both(before)])  # of a configuration on one foot, if any
        foot = 1 if abs(places[0, 1]) < abs(places[1, 1]) else 2
        place = float(places[foot - 1, 0])
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            q = ROBOT.leaf(foot, place, before[2:] + share * turn)
            assert float(ROBOT.feet(q)[:, 1].min()) > -1e-3  # between neighbours of the grid
            assert not _collides(q, obstacles)
        assert ROBOT.in_contact(before)
        assert_allclose(np.mod(q[2:] - after[2:] + 1.0, 2 * math.pi), 1.0, atol=1e-9)


def test_no_plan_under_a_low_block() -> None:
    """The block at 0.8 m leaves no way across."""
    low = TwoLinkScene(ROBOT, [TRIANGLE, _block(0.8)], PLACES, angles=ANGLES)
    left, right = (4, 10), (30, 36)
    assert low.plan(left, right) is None
    near = low.plan(left, (6, 12))
    assert near is not None
    assert len(near) <= 4


def test_figure(scene: TwoLinkScene, tmp_path: Path) -> None:
    start, goal = _ends(scene)
    walk = scene.plan(start, goal)
    assert walk is not None
    picture = tmp_path / "walk.png"
    draw_walk(scene, walk, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_bad_input(scene: TwoLinkScene) -> None:
    with pytest.raises(InputError, match="convex"):
        TwoLinkScene(ROBOT, [TRIANGLE[::-1]], PLACES)
    with pytest.raises(InputError, match="shape"):
        TwoLinkScene(ROBOT, [TRIANGLE[:2]], PLACES)
    with pytest.raises(InputError, match="rise"):
        TwoLinkScene(ROBOT, [], PLACES[::-1])
    with pytest.raises(InputError, match="start"):
        scene.plan((0, 0), (4, 10))
    with pytest.raises(InputError, match="no step"):
        scene.path([(4, 10), (30, 36)])
