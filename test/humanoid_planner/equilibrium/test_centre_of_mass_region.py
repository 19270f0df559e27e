# SPDX-License-Identifier: Apache-2.0
"""The region of the centre of mass against the support polygon and checks of single places."""

import math

import numpy as np
import pytest
from fixtures.contact_stances import CORNERS, chimney, random_faces, tilted_pad
from scipy.spatial import ConvexHull

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.body_equilibrium import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.force_distribution import in_equilibrium
from humanoid_planner.equilibrium.support_polygon import SupportPolygon

MASS = 58.0


def test_on_level_ground_it_is_the_support_polygon():
    for shift in (np.zeros(3), np.array([3.0, -2.0, 1.0])):
        contacts = ContactPoints.of_normals(CORNERS + shift, [0, 0, 1], 0.5)
        region = SupportPolygon.of_points(centre_of_mass_region(contacts, MASS))
        expected = SupportPolygon.of_points(CORNERS + shift)
        assert len(region.vertices) == 4
        for vertex in expected.vertices:
            assert np.abs(region.vertices - vertex).sum(axis=1).min() < 1e-6


@pytest.mark.parametrize("load", ["weight", "pushed", "accelerated", "limited"])
def test_agrees_with_checks_of_single_places(load):
    random = np.random.default_rng(["weight", "pushed", "accelerated", "limited"].index(load))
    decided = {True: 0, False: 0}
    for _ in range(15):
        contacts = random_faces(random, faces=2, spread=0.3)
        extra = {
            "weight": {},
            "pushed": {"external_wrench": 30 * random.normal(size=6)},
            "accelerated": {"acceleration": 0.4 * random.normal(size=3)},
            "limited": {"torque_limits": (random.normal(size=(12, 24)), -random.uniform(400, 1500, 12))},
        }[load]
        height = 0.8
        polygon = centre_of_mass_region(contacts, MASS, height=height, tolerance=1e-4, **extra)
        if len(polygon) == 0:
            for x, y in random.uniform(-1, 1, (20, 2)):
                assert not in_equilibrium(contacts, MASS, [x, y, height], **extra)
            continue
        region = SupportPolygon.of_points(polygon)
        low, high = polygon.min(axis=0) - 0.1, polygon.max(axis=0) + 0.1
        for place in random.uniform(low, high, (40, 2)):
            margin = region.margin(place)
            if not -1.5e-4 < margin < 1e-6:
                assert in_equilibrium(contacts, MASS, [*place, height], **extra) == (margin > 0)
                decided[margin > 0] += 1
    assert min(decided.values()) > 80


def test_tolerance_is_kept():
    random = np.random.default_rng(5)
    for _ in range(10):
        contacts = random_faces(random, faces=2, spread=0.3)
        fine = centre_of_mass_region(contacts, MASS, tolerance=1e-5)
        coarse = centre_of_mass_region(contacts, MASS, tolerance=1e-2)
        if len(coarse) < 3:
            continue
        assert len(coarse) <= len(fine)
        region = SupportPolygon.of_points(coarse)
        assert min(region.margin(vertex) for vertex in fine) >= -1.01e-2
        assert ConvexHull(coarse).volume <= ConvexHull(fine).volume + 1e-6


def test_height_counts_when_the_load_is_not_vertical():
    contacts = tilted_pad(0.0, 0.8)
    low = centre_of_mass_region(contacts, MASS, acceleration=[2.0, 0, 0], height=0.0)
    high = centre_of_mass_region(contacts, MASS, acceleration=[2.0, 0, 0], height=0.5)
    # The zero-moment point lags behind by height times acceleration over gravity.
    np.testing.assert_allclose(high.mean(axis=0) - low.mean(axis=0), [0.5 * 2.0 / 9.81, 0.0], atol=1e-6)


def test_walls_of_a_chimney_hold_everywhere():
    region = centre_of_mass_region(chimney(), MASS, extent=3.0)
    np.testing.assert_allclose(sorted(region.tolist()), [[-3, -3], [-3, 3], [3, -3], [3, 3]], atol=1e-6)


def test_regions_without_area():
    point = ContactPoints.of_normals([[0.3, 0.2, 0]], [0, 0, 1], 0.5)
    np.testing.assert_allclose(centre_of_mass_region(point, MASS), [[0.3, 0.2]], atol=1e-7)
    line = ContactPoints.of_normals([[0.0, 0.1, 0], [0.4, 0.1, 0]], [0, 0, 1], 0.5)
    region = centre_of_mass_region(line, MASS)
    np.testing.assert_allclose(sorted(region.tolist()), [[0.0, 0.1], [0.4, 0.1]], atol=1e-7)
    steep = tilted_pad(math.atan(0.5) + 0.01, 0.5)
    assert centre_of_mass_region(steep, MASS).shape == (0, 2)
    nothing = ContactPoints.of_normals(np.zeros((0, 3)), np.zeros((0, 3)), 0.5)
    assert centre_of_mass_region(nothing, MASS).shape == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"extent": math.inf}, "extent"),
        ({"height": math.nan}, "height"),
        ({"gravity": [0, 0]}, "gravity"),
        ({"external_wrench": [math.nan] * 6}, "external_wrench"),
        ({"torque_limits": (np.zeros((1, 3)), np.zeros(1))}, "torque_limits"),
    ],
)
def test_bad_input_is_named(arguments, field):
    with pytest.raises(InputError, match=field):
        centre_of_mass_region(tilted_pad(0, 0.5), MASS, **arguments)
