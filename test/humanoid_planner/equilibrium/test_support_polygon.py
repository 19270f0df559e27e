# SPDX-License-Identifier: Apache-2.0
"""Support polygons: sign of the half-planes, clipping, margins, degenerate hulls."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.contact_stances import CORNERS, tilted_pad
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from humanoid_model.contact import Contact, ContactLocation, Surface
from humanoid_model.convex_polygon import convex_hull
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.force_distribution import in_equilibrium
from humanoid_planner.equilibrium.support_polygon import (
    SupportPolygon,
    clip_convex,
    contact_area,
    shrink_convex,
)

pytestmark = pytest.mark.feature("001-F078", "001-F080")

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
FOOT = ContactLocation("foot", "sole", pin.SE3.Identity(), CORNERS[:, :2], True)


def area(polygon):
    following = np.roll(polygon, -1, axis=0)
    return 0.5 * float(np.sum(polygon[:, 0] * following[:, 1] - polygon[:, 1] * following[:, 0]))


def test_inside_of_the_unit_square_is_where_the_products_are_negative():
    # E-07: with the printed sign the middle would give +0.5.
    polygon = SupportPolygon.of_points(SQUARE)
    np.testing.assert_allclose(polygon.normals @ [0.5, 0.5] - polygon.offsets, -0.5)
    assert polygon.margin([0.5, 0.5]) == pytest.approx(0.5)
    assert polygon.margin([0.9, 0.5, 7.0]) == pytest.approx(0.1)
    assert polygon.margin([1.3, 1.4]) == pytest.approx(-0.5)  # from the corner, not from an edge's line
    assert polygon.margin([1.2, 0.5]) == pytest.approx(-0.2)


@pytest.mark.parametrize(
    ("centre", "expected"), [([0, 0, 0.8], True), ([0.099, 0.049, 0.8], True), ([0.101, 0, 0.8], False)]
)
def test_pad_of_o1_11(centre, expected):
    assert SupportPolygon.of_points(CORNERS).contains(centre) == expected


def test_agrees_with_forces_on_level_ground():
    random = np.random.default_rng(0)
    for _ in range(200):
        points = np.column_stack([random.uniform(-0.3, 0.3, (7, 2)), np.zeros(7)])
        polygon = SupportPolygon.of_points(points)
        centre = np.append(random.uniform(-0.4, 0.4, 2), 0.9)
        contacts = ContactPoints.of_normals(points, [0, 0, 1], 0.4)
        if abs(polygon.margin(centre)) > 1e-6:
            assert polygon.contains(centre) == in_equilibrium(contacts, 50.0, centre)


def test_level_contacts_at_several_heights_are_judged_conservatively():
    # F080, a foot on each of two steps: whatever the polygon accepts, forces can hold.
    random = np.random.default_rng(1)
    points = np.concatenate([CORNERS, CORNERS + np.array([0.3, 0.2, 0.18])])
    contacts = ContactPoints.of_normals(points, [0, 0, 1], 0.5)
    polygon = SupportPolygon.of_points(points)
    assert len(polygon.vertices) == 6
    accepted = 0
    for _ in range(300):
        centre = random.uniform([-0.2, -0.2, 0.6], [0.5, 0.4, 1.0])
        if polygon.contains(centre):
            accepted += 1
            assert in_equilibrium(contacts, 50.0, centre)
    assert accepted > 50


def test_point_and_segment():
    point = SupportPolygon.of_points([[0.1, 0.2, 0.5], [0.1, 0.2, 0.7]])
    assert point.vertices.shape == (1, 2)
    assert point.margin([0.1, 0.2]) == pytest.approx(0.0)
    assert point.margin([0.4, 0.6]) == pytest.approx(-0.5)
    assert np.all(point.normals @ [0.1, 0.2] <= point.offsets + 1e-15)
    # F099: two sliding feet, the line between their middles.
    line = SupportPolygon.of_points([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0], [0.0, 0.0, 0.0]])
    assert line.vertices.shape == (2, 2)
    assert line.contains([0.0, 0.03])
    assert line.margin([0.02, 0.03]) == pytest.approx(-0.02)
    assert line.margin([0.03, 0.14]) == pytest.approx(-0.05)
    assert len(line.normals) == 4
    assert np.allclose(np.sort(line.offsets - line.normals @ [0.0, 0.03]), [0.0, 0.0, 0.07, 0.13])
    assert line.largest_circle() == (pytest.approx([0.0, 0.0]), 0.0)


def test_clipping_is_the_intersection():
    random = np.random.default_rng(3)
    met = 0
    for _ in range(200):
        a = convex_hull(random.normal(size=(6, 2)))
        b = convex_hull(random.normal(size=(5, 2)) + 0.8)
        common = clip_convex(a, b)
        assert area(common) == pytest.approx(area(clip_convex(b, a)), abs=1e-8) if len(common) else True
        halfspaces = np.vstack([ConvexHull(a).equations, ConvexHull(b).equations])
        if len(common) > 2 and area(common) > 1e-3:
            met += 1
            inside = common.mean(axis=0)
            corners = HalfspaceIntersection(halfspaces, inside).intersections
            assert area(common) == pytest.approx(ConvexHull(corners).volume, abs=1e-7)
        elif len(common) == 0:
            with pytest.raises(QhullError):
                HalfspaceIntersection(halfspaces, 0.5 * (a.mean(axis=0) + b.mean(axis=0)))
    assert met > 50


def test_clipping_segments_and_points():
    segment = [[-1.0, 0.5], [2.0, 0.5]]
    np.testing.assert_allclose(clip_convex(segment, SQUARE), [[0.0, 0.5], [1.0, 0.5]], atol=2e-9)
    np.testing.assert_allclose(clip_convex(SQUARE, segment)[[0, -1]], [[0.0, 0.5], [1.0, 0.5]], atol=2e-9)
    np.testing.assert_allclose(clip_convex([[0.5, 0.5]], SQUARE), [[0.5, 0.5]])
    assert clip_convex([[1.5, 0.5]], SQUARE).shape == (0, 2)
    assert clip_convex(SQUARE, SQUARE + np.array([2.0, 0.0])).shape == (0, 2)
    np.testing.assert_allclose(clip_convex(SQUARE, SQUARE + np.array([0.0, 1.0])), [[0.0, 1.0], [1.0, 1.0]], atol=2e-9)


def test_foot_half_outside_the_step_touches_with_half_of_it():
    # F079; the step ends at x = 0.
    step = Surface("tread", "step", pin.SE3.Identity(), np.array([[-1.0, -1.0], [0.0, -1.0], [0.0, 1.0], [-1.0, 1.0]]))
    whole = contact_area(Contact(FOOT, step, -0.5, 0.0, 0.3))
    assert area(whole) == pytest.approx(0.2 * 0.1)
    half = contact_area(Contact(FOOT, step, 0.0, 0.0, 0.3))
    assert area(half) == pytest.approx(0.01)
    assert half[:, 0].max() <= 1e-8
    with pytest.raises(InputError, match=r"foot.*tread"):
        contact_area(Contact(FOOT, step, 0.5, 0.0, 0.0))
    endless = Surface("floor", "world", pin.SE3.Identity())
    np.testing.assert_allclose(
        contact_area(Contact(FOOT, endless, 1.0, 2.0, math.pi / 2))[0], [1.05, 1.9], atol=1e-12
    )


def test_discs_of_two_centimetres_keep_the_centre_of_mass_within_one():
    # F081
    floor = Surface("floor", "world", pin.SE3.Identity())
    angles = 2.0 * np.pi * np.arange(16) / 16
    disc = 0.01 * np.column_stack([np.cos(angles), np.sin(angles)])
    patch = contact_area(Contact(FOOT, floor, 0.3, 0.1, 0.0), patch=disc)
    polygon = SupportPolygon.of_points(patch)
    random = np.random.default_rng(4)
    for point in random.uniform(-0.02, 0.02, (300, 2)) + np.array([0.3, 0.1]):
        if polygon.contains(point):
            assert math.dist(point, [0.3, 0.1]) <= 0.01 + 1e-8
    assert polygon.margin([0.3, 0.1]) > 0.0098


@pytest.mark.feature("001-F081")
def test_margins_shrink_patches_and_polygons():
    np.testing.assert_allclose(np.ptp(shrink_convex(SQUARE, 0.1), axis=0), 0.8, atol=1e-8)
    polygon = SupportPolygon.of_points(SQUARE)
    assert polygon.shrunk(0.2).margin([0.5, 0.5]) == pytest.approx(0.3, abs=1e-8)
    with pytest.raises(InputError, match=r"at most 0\.5"):
        polygon.shrunk(0.6)
    with pytest.raises(InputError, match="margin"):
        shrink_convex(SQUARE, -0.1)
    floor = Surface("floor", "world", pin.SE3.Identity())
    with pytest.raises(InputError, match="foot"):
        contact_area(Contact(FOOT, floor, 0.0, 0.0, 0.0), margin=0.06)
    np.testing.assert_allclose(
        np.ptp(contact_area(Contact(FOOT, floor, 0.0, 0.0, 0.0), margin=0.02), axis=0), [0.16, 0.06], atol=1e-8
    )


def test_largest_circle():
    centre, radius = SupportPolygon.of_points([[0, 0], [4.0, 0], [0, 3.0]]).largest_circle()
    np.testing.assert_allclose(centre, [1.0, 1.0], atol=1e-7)
    assert radius == pytest.approx(1.0)
    # Of the many in a rectangle the middle one.
    centre, radius = SupportPolygon.of_points(CORNERS + np.array([3.0, 1.0, 0.0])).largest_circle()
    np.testing.assert_allclose(centre, [3.0, 1.0], atol=1e-7)
    assert radius == pytest.approx(0.05)
    random = np.random.default_rng(5)
    for _ in range(20):
        polygon = SupportPolygon.of_points(random.normal(size=(8, 2)))
        centre, radius = polygon.largest_circle()
        assert polygon.margin(centre) == pytest.approx(radius, abs=1e-7)
        near = centre + random.normal(size=(200, 2)) * radius
        assert max(polygon.margin(point) for point in near) <= radius + 1e-7


def test_bad_points_are_refused():
    for points in (np.zeros((0, 3)), np.zeros((2, 4)), [[math.nan, 0.0]]):
        with pytest.raises(InputError, match="points"):
            SupportPolygon.of_points(points)


def test_horizontal_contacts_are_recognised():
    assert tilted_pad(0.0, 0.5).horizontal()
    assert not tilted_pad(0.01, 0.5).horizontal()
    ceiling = ContactPoints.of_normals(CORNERS, [0, 0, -1], 0.5)
    assert not ceiling.horizontal()
    assert not ContactPoints.of_normals(CORNERS, [0, 0, 1], 0.5, True).horizontal()
