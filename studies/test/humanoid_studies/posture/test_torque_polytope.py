# SPDX-License-Identifier: Apache-2.0
"""Wrenches within torque limits: elimination of the torques, and the polytope against linear programs."""

import math

import numpy as np
import pytest
from fixtures.contact_stances import random_faces, tilted_pad
from scipy.optimize import linprog

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.contact_points import ContactPoints, pyramid_halfspaces
from humanoid_planner.equilibrium.force_distribution import torque_limits
from humanoid_studies.posture.torque_polytope import TorquePolytope

pytestmark = pytest.mark.feature("001-F083")


def few_points(random, count):
    contacts = random_faces(random, faces=1)
    chosen = slice(0, count)
    return ContactPoints(
        contacts.positions[chosen], contacts.frames[chosen], contacts.friction[chosen], contacts.bilateral[chosen]
    )


def force_map(contacts):
    return np.hstack([np.vstack([np.eye(3), np.cross(p, np.eye(3)).T]) for p in contacts.positions])


def cone_rows(contacts, facets=4):
    rows = np.zeros((facets * len(contacts), 3 * len(contacts)))
    for i in range(len(contacts)):
        rows[facets * i : facets * (i + 1), 3 * i : 3 * i + 3] = (
            pyramid_halfspaces(contacts.friction[i], facets) @ contacts.frames[i].T
        )
    return rows


def test_eliminated_torques_are_within_their_limits():
    # F083: A f + b <= 0 if and only if tau = g - J^T f is within its limits, (3.64), (3.65) and E-08.
    random = np.random.default_rng(0)
    J, gravity = random.normal(size=(12, 7)), random.normal(size=7)
    lower, upper = -random.uniform(1, 3, 7), random.uniform(1, 3, 7)
    A, b = torque_limits(J, gravity, lower, upper)
    assert A.shape == (14, 12)
    met = {True: 0, False: 0}
    for _ in range(2000):
        f = random.normal(size=12) * 0.3
        torques = gravity - J.T @ f
        within = bool((torques <= upper).all() and (torques >= lower).all())
        assert bool((A @ f + b <= 0).all()) == within
        met[within] += 1
    assert min(met.values()) > 100


def test_unlimited_torques_have_no_rows():
    A, b = torque_limits(np.eye(3), np.zeros(3), [-1, -math.inf, -2], [math.inf, math.inf, 2])
    assert A.shape == (3, 3)
    np.testing.assert_array_equal(np.sort(b), [-2, -2, -1])


def test_bad_limits_are_named():
    with pytest.raises(InputError, match="joint 1"):
        torque_limits(np.eye(3), np.zeros(3), [-1, 2, -2], [1, 1, 2])
    with pytest.raises(InputError, match="gravity_torques"):
        torque_limits(np.eye(3), np.zeros(2), -np.ones(3), np.ones(3))


@pytest.mark.parametrize("points", [1, 2, 3])
def test_polytope_is_the_image_of_the_admissible_forces(points):
    random = np.random.default_rng(points)
    contacts = few_points(random, points)
    J, gravity = random.normal(size=(3 * points, 4)), random.normal(size=4) * 5
    limits = torque_limits(J, gravity, np.full(4, -60.0), np.full(4, 60.0))
    polytope = TorquePolytope.of_contacts(contacts, limits, max_force=300.0)
    G, cones = force_map(contacts), cone_rows(contacts)
    assert len(polytope.values) == {1: 3, 2: 1, 3: 0}[points]
    rows, bounds = np.vstack([limits[0], cones]), np.concatenate([-limits[1], np.zeros(len(cones))])
    # Extreme in every direction in which a linear program over the forces says so.
    for _ in range(30):
        direction = random.normal(size=6)
        best = linprog(-(direction @ G), rows, bounds, bounds=(-300.0, 300.0))
        assert (polytope.vertices @ direction).max() == pytest.approx(-best.fun, abs=1e-2)
        assert polytope.margin(G @ best.x) == pytest.approx(0.0, abs=1e-2)
    # Mixtures of the corners are inside, and beyond the boundary no forces are left.
    middle = polytope.vertices.mean(axis=0)
    decided = {True: 0, False: 0}
    for _ in range(60):
        weights = random.dirichlet(np.ones(len(polytope.vertices)) * 0.1)
        wrench = middle + random.uniform(0.5, 3.0) * (weights @ polytope.vertices - middle)
        margin = polytope.margin(wrench)
        if abs(margin) > 0.05:
            feasible = linprog(np.zeros(3 * points), rows, bounds, G, wrench, bounds=(-300.0, 300.0)).status == 0
            assert feasible == (margin > 0) == polytope.contains(wrench)
            decided[feasible] += 1
    assert min(decided.values()) > 5


def test_largest_ball():
    # Force within a pyramid of slope 1 along x and y, below 100 N: the ball touches the four sides and the top.
    point = ContactPoints.of_normals([[1.0, 0.5, 2.0]], [0, 0, 1], 1.0)
    point.frames[0] = np.array([[1, -1, 0], [1, 1, 0], [0, 0, math.sqrt(2)]]) / math.sqrt(2)
    limits = (np.array([[0, 0, 1.0]]), np.array([-100.0]))
    polytope = TorquePolytope.of_contacts(point, limits)
    centre, radius = polytope.largest_ball()
    slope = 1 / math.sqrt(2)  # of the inscribed pyramid's sides
    expected = 100 * slope / (slope + math.sqrt(1 + slope**2))
    assert radius == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(centre[:3], [0, 0, 100 - expected], atol=1e-4)
    np.testing.assert_allclose(centre[3:], np.cross([1.0, 0.5, 2.0], centre[:3]), atol=1e-3)


def test_what_has_no_polytope_is_refused():
    pad = tilted_pad(0, 0.5)
    with pytest.raises(InputError, match="max_force"):
        TorquePolytope.of_contacts(pad, (np.zeros((0, 12)), np.zeros(0)))
    with pytest.raises(InputError, match="no contact forces"):
        TorquePolytope.of_contacts(pad, (np.zeros((1, 12)), np.ones(1)))
    with pytest.raises(InputError, match="shapes"):
        TorquePolytope.of_contacts(pad, (np.zeros((1, 3)), np.ones(1)))
