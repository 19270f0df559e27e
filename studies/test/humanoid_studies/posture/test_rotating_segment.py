# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_studies.posture.rotating_segment import RotatingSegment

pytestmark = pytest.mark.feature("001-F137")

STRAIGHT, ARC, WIDE_ARC = RotatingSegment(), RotatingSegment(R=100.0), RotatingSegment(R=1000.0)
STARTS = [(height, angle) for height in (0.0, 0.5, 1.0, 2.0) for angle in (-1.0, -0.7, -0.3, 0.2, 0.5, 0.9)]


def lowest_point_of_arc(segment, angle):
    """Lowest of many points of the arc, turned: no formula of the code under test."""
    half = math.asin(0.5 * (segment.left + segment.right) / segment.R)
    along = np.linspace(-half, half, 200001)
    x = 0.5 * (segment.right - segment.left) + segment.R * np.sin(along)
    y = segment.R * (math.cos(half) - np.cos(along))
    return float((x * math.sin(angle) + y * math.cos(angle)).min())


@pytest.mark.parametrize("segment", [RotatingSegment(0.3, 0.7, 2.0), RotatingSegment(0.5, 0.5, 100.0)])
def test_distance_of_the_arc_is_that_of_its_lowest_point(segment):
    for angle in (*np.linspace(-1.2, 1.2, 9), *np.linspace(-1.5, 1.5, 7) * segment.half_opening):
        expected = 0.4 + lowest_point_of_arc(segment, angle)
        assert segment.distance(0.4, angle) == pytest.approx(expected, abs=1e-9)


def test_both_forms_of_the_arc_agree():
    segment = RotatingSegment(0.3, 0.7, 2.0)
    opening = segment.half_opening
    for angle in np.linspace(-opening, opening, 11):
        other = 0.4 + 2.0 * math.cos(angle - opening) - 2.0 - 0.3 * math.sin(angle)
        assert segment.distance(0.4, angle) == pytest.approx(other, abs=1e-14)


@pytest.mark.parametrize("segment", [RotatingSegment(0.3, 0.7), RotatingSegment(0.3, 0.7, 2.0)])
def test_slope_against_finite_differences(segment):
    for angle in (-1.0, -0.3, -0.2, 0.1, 0.2, 0.9):
        difference = (segment.distance(0.0, angle + 1e-6) - segment.distance(0.0, angle - 1e-6)) / 2e-6
        assert segment.slope(angle) == pytest.approx(difference, abs=1e-8)


def test_slope_jumps_by_both_arms_only_without_the_arc():
    step = 1e-9
    straight, arc = RotatingSegment(0.3, 0.7), RotatingSegment(0.3, 0.7, 20.0)
    assert straight.slope(-step) - straight.slope(step) == pytest.approx(0.3 + 0.7)
    for angle in (-arc.half_opening, 0.0, arc.half_opening):
        assert arc.slope(angle - step) == pytest.approx(arc.slope(angle + step), abs=1e-6)


@pytest.mark.parametrize(
    ("segment", "preferred", "clearance", "optimum"),
    [
        (STRAIGHT, 0.0, None, (0.0, 0.0)),
        (STRAIGHT, 0.0, 0.1, (0.1, 0.0)),
        (STRAIGHT, 0.01, 0.1, (0.1, 0.0)),
        (STRAIGHT, 0.05, 0.1, (0.1, 0.0)),
        (STRAIGHT, 0.1, 0.1, (0.12001496, 0.04004062)),
        (ARC, 0.0, 0.1, (0.101250, 0.0)),
        (WIDE_ARC, 0.0, 0.1, (0.100125, 0.0)),
    ],
)
def test_optima_of_the_thesis_table(segment, preferred, clearance, optimum):
    found = segment.lowest(preferred, clearance, start=(1.0, 0.5), precision=1e-14)
    assert found.x == pytest.approx(optimum, abs=1e-6)


def test_optimum_of_the_arc_in_closed_form():
    for segment in (ARC, WIDE_ARC):
        height = 0.1 + segment.R * (1.0 - math.cos(segment.half_opening))
        assert segment.lowest(0.0, 0.1, precision=1e-14).x[0] == pytest.approx(height, abs=1e-8)


def test_kinks_cost_iterations_the_more_the_nearer_the_optimum_wants_to_be():
    def iterations(segment, preferred):
        return sum(segment.lowest(preferred, 0.1, start, precision=1e-14).nit for start in STARTS)

    at_kink, near, farther, beyond = (iterations(STRAIGHT, preferred) for preferred in (0.0, 0.01, 0.05, 0.1))
    assert at_kink > near > farther > beyond
    assert 3 * iterations(ARC, 0.0) < at_kink


def test_impossible_segments_are_refused():
    with pytest.raises(InputError, match=r"arms are 0\.0 and 0\.5"):
        RotatingSegment(0.0, 0.5)
    with pytest.raises(InputError, match=r"R: is 0\.5 m"):
        RotatingSegment(0.5, 0.5, 0.5)
