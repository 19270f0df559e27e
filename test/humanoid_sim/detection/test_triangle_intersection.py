# SPDX-License-Identifier: Apache-2.0
"""Segments of intersecting triangles worked out by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_sim.detection.triangle_intersection import COPLANAR, NONE, SEGMENT, triangle_intersection

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
