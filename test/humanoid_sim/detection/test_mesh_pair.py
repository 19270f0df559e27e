# SPDX-License-Identifier: Apache-2.0
"""Intersecting triangles of meshes with both backends, and the points made of them (E24)."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import place
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.description import Box
from humanoid_sim.detection.backends import (
    BACKENDS,
    COPLANAR,
    NONE,
    SEGMENT,
    MeshPair,
    distinct_points,
    triangle_intersection,
)
from humanoid_sim.detection.solids import TriangleMesh
from humanoid_sim.detection.special_pair import surface_mesh

FLAT = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])


def segment_of(other: list[list[float]]) -> tuple[int, np.ndarray]:
    ends = np.zeros((2, 3))
    outcome = triangle_intersection(FLAT, np.array(other, dtype=float), ends)
    swapped = np.zeros((2, 3))
    assert triangle_intersection(np.array(other, dtype=float), FLAT, swapped) == outcome
    if outcome == SEGMENT:
        assert_allclose(sorted(map(tuple, swapped.round(12))), sorted(map(tuple, ends.round(12))))
    return outcome, ends[np.lexsort(ends.T[::-1])]


@pytest.mark.feature("000-F102")
@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ([[1, 1, -1], [1, 1, 1], [1, 2, 1]], [[1, 1, 0], [1, 1.5, 0]]),  # its cut lies inside
        ([[1, -1, 1], [1, 9, 1], [1, 4, -1]], [[1, 1.5, 0], [1, 3, 0]]),  # cut short by the slanting side
        ([[-9, 1, 1], [9, 1, 1], [0, 1, -1]], [[0, 1, 0], [3, 1, 0]]),  # cut short at both ends
        ([[1, 1, 0], [1, 2, 0], [1, 1, 5]], [[1, 1, 0], [1, 2, 0]]),  # stands on it with a side
        ([[1, 1, 0], [1, 2, 3], [1, 1, 5]], [[1, 1, 0], [1, 1, 0]]),  # touches with a corner
    ],
)
def test_segment(other: list[list[float]], expected: list[list[float]]) -> None:
    outcome, ends = segment_of(other)
    assert outcome == SEGMENT
    assert_allclose(ends, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ([[1, 1, 1], [1, 2, 2], [2, 1, 1]], NONE),  # above
        ([[5, 5, -1], [5, 5, 1], [6, 5, 1]], NONE),  # beside
        ([[3, 3, -1], [3, 3, 1], [3.5, 3, 0]], NONE),  # crosses the plane beyond the slanting side
        ([[1, 1, 0], [2, 1, 0], [1, 2, 0]], COPLANAR),
        ([[1, 1, 1e-3], [2, 1, 1e-3], [1, 2, 1e-3]], NONE),
    ],
)
def test_no_segment(other: list[list[float]], expected: int) -> None:
    assert segment_of(other)[0] == expected


CUBE, SLAB = Box(np.full(3, 0.2)), Box(np.array([1.0, 0.8, 0.1]))


def given(mesh: TriangleMesh) -> np.ndarray:
    """Triangles in the order in which they were given."""
    triangles = np.zeros_like(mesh.triangles)
    triangles[mesh.source_index] = mesh.triangles
    return triangles


@pytest.mark.feature("000-F101")
@pytest.mark.parametrize("backend", BACKENDS)
def test_all_pairs_of_two_crossing_boxes_are_listed(backend: str) -> None:
    rng = np.random.default_rng(0)
    first, second = surface_mesh(Box(np.array([0.5, 0.3, 0.2]))), surface_mesh(Box(np.array([0.2, 0.6, 0.3])))
    pair, listed = MeshPair(first, second, backend), 0
    for _ in range(10):
        R = pin.Quaternion(rng.normal(size=4)).normalized().matrix()
        at_first, at_second = pin.SE3(R, 0.1 * rng.normal(size=3)), place(0.1, 0.2, 0.3, yaw=0.4)
        at_first = at_second * at_first
        pairs, segments = pair.intersections(at_first, at_second)
        world = [
            given(mesh) @ at.rotation.T + at.translation
            for mesh, at in ((first, at_first), (second, at_second))
        ]
        expected = []
        for i in range(12):
            for j in range(12):
                if triangle_intersection(world[0][i], world[1][j], np.zeros((2, 3))) == SEGMENT:
                    expected.append((i, j))
        assert_array_equal(pairs, expected)
        listed += len(expected)
        for (i, j), ends in zip(pairs, segments, strict=True):
            for triangle in (world[0][i], world[1][j]):
                normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
                assert_allclose((ends - triangle[0]) @ normal / np.linalg.norm(normal), 0.0, atol=1e-12)
    assert listed > 50


@pytest.mark.feature("000-F103", "000-F106")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("yaw", [0.0, 0.3])
def test_cube_on_a_plane_has_four_points_at_its_corners(backend: str, yaw: float) -> None:
    pair = MeshPair(surface_mesh(CUBE), surface_mesh(SLAB), backend)
    cube = place(0.1, 0.05, 0.05 + 0.1 - 1e-3, yaw=yaw)
    pairs, segments = pair.intersections(cube, pin.SE3.Identity())
    assert len(pairs) >= 8  # the four side walls, two triangles each
    points = distinct_points(segments, np.array([0.0, 0.0, 1.0]), 8)
    local = (points - cube.translation) @ cube.rotation
    assert len(points) == 4
    assert_allclose(np.abs(local[:, :2]), 0.1, atol=1e-12)
    assert len({tuple(np.sign(point)) for point in local[:, :2]}) == 4
    assert_allclose(points[:, 2], 0.05, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_boxes_apart_have_none(backend: str) -> None:
    pair = MeshPair(surface_mesh(CUBE), surface_mesh(SLAB), backend)
    pairs, segments = pair.intersections(place(0, 0, 1), pin.SE3.Identity())
    assert len(pairs) == len(segments) == 0
