# SPDX-License-Identifier: Apache-2.0
"""Points kept of a patch: the wrenches that they carry against those of all points."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from humanoid_sim.detection.patch_reduction import convex_ring, keep_corners, reduce_patch, supporting_points

UP = np.array([0.0, 0.0, 1.0])


def kept_points(positions: np.ndarray, gaps: np.ndarray | None = None, most: int = 8) -> np.ndarray:
    kept = np.zeros(most, dtype=np.int64)
    gaps = np.zeros(len(positions)) if gaps is None else gaps
    return kept[: reduce_patch(np.ascontiguousarray(positions), gaps, UP, most, kept)]


def flat(points: np.ndarray) -> np.ndarray:
    return np.column_stack([points, np.zeros(len(points))])


def wrench_reach(positions: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How far the wrenches of unit normal force in all, friction 0.5, reach along directions of wrench space."""
    reach = np.full(len(directions), -np.inf)
    for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False):
        force = np.array([0.5 * np.cos(angle), 0.5 * np.sin(angle), 1.0])
        wrenches = np.hstack([np.tile(force, (len(positions), 1)), np.cross(positions, force)])
        reach = np.maximum(reach, (wrenches @ directions.T).max(axis=0))
    return reach


def test_hull_of_random_points_as_qhull_has_it() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        points = rng.normal(size=(rng.integers(3, 40), 2))
        ring = np.zeros(2 * len(points) + 2, dtype=np.int64)
        count = convex_ring(points[:, 0].copy(), points[:, 1].copy(), ring)
        expected = ConvexHull(points).vertices  # counter-clockwise as well
        first = int(np.flatnonzero(expected == ring[0])[0])
        assert_array_equal(ring[:count], np.roll(expected, -first))


@pytest.mark.feature("000-F103")
def test_up_to_eight_corners_all_wrenches_stay() -> None:
    """A square with many points on and in it: the four corners carry what all of them do."""
    rng = np.random.default_rng(1)
    corners = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    along = rng.uniform(size=(20, 1))
    sides = np.vstack([corners[i] + along * (corners[(i + 1) % 4] - corners[i]) for i in range(4)])
    points = flat(np.vstack([rng.uniform(size=(50, 2)), sides, corners, corners]))
    kept = kept_points(points)
    assert {tuple(point) for point in points[kept][:, :2]} == {tuple(corner) for corner in corners}
    assert len(kept) == 4
    directions = rng.normal(size=(200, 6))
    np.testing.assert_allclose(wrench_reach(points[kept], directions), wrench_reach(points, directions))


@pytest.mark.parametrize("most", [4, 6, 8])
def test_circle_keeps_the_largest_part_of_its_area(most: int) -> None:
    """No polygon of k corners in a circle is larger than the regular one; the points chosen come near it."""
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    points = flat(np.column_stack([np.cos(angles), np.sin(angles)]))
    kept = kept_points(points, most=most)
    assert len(kept) == most
    best = 0.5 * most * np.sin(2 * np.pi / most)
    assert ConvexHull(points[kept][:, :2]).volume > 0.92 * best
    directions = np.random.default_rng(2).normal(size=(200, 6))
    lost = wrench_reach(points, directions) - wrench_reach(points[kept], directions)
    assert lost.min() > -1e-12
    assert lost.max() < 4.0 * (1.0 - np.cos(np.pi / most)) * np.linalg.norm(directions, axis=1).max()


def test_noise_of_rounding_does_not_change_the_choice() -> None:
    rng = np.random.default_rng(3)
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    points = flat(np.column_stack([np.cos(angles), np.sin(angles)]))
    first = kept_points(points)
    for _ in range(50):
        assert_array_equal(kept_points(points + 1e-10 * rng.normal(size=points.shape)), first)


def test_deepest_point_stays_even_inside() -> None:
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    points = flat(np.vstack([np.column_stack([np.cos(angles), np.sin(angles)]), [[0.1, 0.2]]]))
    gaps = np.append(np.full(32, 1e-3), -1e-4)
    kept = kept_points(points, gaps)
    assert 32 in kept
    assert len(kept) == 8


@pytest.mark.parametrize("corners", [2, 3, 4, 7])
def test_points_on_sides_and_copies_of_corners_are_left_out(corners: int) -> None:
    """What stays has the corners of qhull's polygon, wherever the list begins; of a segment both ends."""
    rng = np.random.default_rng(corners)
    for _ in range(20):
        angles = np.sort(rng.uniform(0, 2 * np.pi, corners) * 0.3 + 0.7 * np.linspace(0, 2 * np.pi, corners, False))
        true = np.column_stack([np.cos(angles), np.sin(angles)])
        points = []
        for p, q in zip(true, np.roll(true, -1, axis=0), strict=True):
            points += [p, *(p + np.sort(rng.choice([0.0, 0.3, 0.6, 1.0], rng.integers(0, 4)))[:, None] * (q - p))]
        points = np.roll(points, rng.integers(len(points)), axis=0) + 1e-10 * rng.normal(size=(len(points), 2))
        kept = np.empty(len(points), dtype=np.int64)
        kept = kept[: keep_corners(flat(points), len(points), kept)]
        order = np.argsort(np.arctan2(*points[kept].T[::-1]) % (2 * np.pi))
        np.testing.assert_allclose(points[kept][order], true, atol=2e-7)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_points_in_one_place_or_on_a_line(count: int) -> None:
    one = np.tile([1.0, 2.0, 3.0], (count, 1))
    assert len(kept_points(one)) == 1
    line = flat(np.column_stack([np.linspace(0, 1, count + 1), np.linspace(0, 2, count + 1)]))
    assert_array_equal(kept_points(line), [0, count])


def supported(positions: np.ndarray, heights: np.ndarray, most: int = 8) -> list[int]:
    kept = np.empty(most, dtype=np.int64)
    return kept[: supporting_points(positions, heights, np.array([0.0, 0.0, 1.0]), most, kept)].tolist()


@pytest.mark.feature("000-F103")
def test_flat_face_is_carried_by_its_corners() -> None:
    """Of hundreds of points on a hexagon its six corners stay, whatever rounding makes of the heights."""
    rng = np.random.default_rng(5)
    angles = np.arange(6) * np.pi / 3.0
    corners = 0.1 * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])
    inside = rng.dirichlet(np.ones(6), 300) @ corners
    points = np.vstack([inside, corners])
    for _ in range(20):
        assert supported(points, 1e-11 * rng.normal(size=306)) == list(range(300, 306))


def test_what_a_step_does_not_bring_down_is_left_out() -> None:
    """The rim of a chamfer 2 mm up and 1 cm out waits; with the face tilted its lower side is what carries."""
    square = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]])
    points = np.vstack([0.11 * square, 0.1 * square])
    heights = np.array([2e-3] * 4 + [0.0] * 4)
    assert supported(points, heights) == [4, 5, 6, 7]
    assert supported(points, heights + 0.1 * points[:, 0]) == [5, 6]


@pytest.mark.parametrize("seed", range(5))
def test_no_point_sinks_while_the_kept_ones_are_carried(seed: int) -> None:
    """A ball of 500 vertices rolls by half a step's turn over a plane that carries the kept ones: none is below."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(500, 3))
    points = 0.1 * directions / np.linalg.norm(directions, axis=1)[:, None]
    heights = points[:, 2] - points[:, 2].min()
    kept = supported(points, heights)
    for _ in range(50):
        axis = np.append(rng.normal(size=2), 0.0)
        turned = points @ pin.exp3(0.025 * axis / np.linalg.norm(axis)).T
        assert turned[:, 2].min() > turned[kept, 2].min() - 1e-5


def least_height(positions: np.ndarray, heights: np.ndarray, kept: list[int], point: int, tilt: float) -> float:
    """Height to which a point can come down while the kept ones don't sink, as a linear programme."""
    planar = positions[:, :2] - positions[point, :2]
    rows = np.column_stack([np.ones(len(kept)), planar[kept]])
    found = linprog([1.0, 0.0, 0.0], -rows, heights[kept], bounds=[(None, None), (-tilt, tilt), (-tilt, tilt)])
    return float(heights[point] + found.fun)


@pytest.mark.feature("000-F103")
@pytest.mark.parametrize("seed", range(30))
def test_no_point_can_sink_while_the_kept_ones_carry(seed: int) -> None:
    """Points under a rough face, also lower ones amid higher ones: whatever is left out can't get below the plane."""
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(-0.1, 0.1, (12, 2)), np.zeros(12)])
    heights = rng.uniform(0.0, 2e-3, 12)
    kept = supported(points, heights, 12)
    tilt = 0.05 / np.sqrt(2.0)
    for point in set(range(12)) - set(kept):
        assert least_height(points, heights, kept, point, tilt) >= -2e-9


@pytest.mark.feature("000-F103")
def test_a_low_point_amid_higher_ones_stays() -> None:
    """A leg lies on two points of which one is amid higher ones: without it the leg rocks."""
    ring = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.1, 0.0, 0.0], [0.0, -0.1, 0.0]])
    points = np.vstack([ring, [[0.05, 0.0, 0.0], [-0.05, 0.0, 0.0]]])
    assert supported(points, np.array([1e-3, 1e-3, 1e-3, 1e-3, 0.0, 1e-6])) == [0, 1, 2, 3, 4, 5]
