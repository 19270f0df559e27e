# SPDX-License-Identifier: Apache-2.0
"""Half-spaces of wrenches against linear programs and exact cones."""

import math

import numpy as np
import pytest
from fixtures.contact_stances import chimney, random_faces, tilted_pad
from scipy.optimize import linprog

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.contact_points import ContactPoints, wrench_generators
from humanoid_planner.equilibrium.force_distribution import check_equilibrium, in_equilibrium
from humanoid_planner.equilibrium.wrench_cone import WrenchCone

pytestmark = pytest.mark.feature("001-F084", "001-F085", "001-F201")

MASS = 58.0
WEIGHT = MASS * 9.81


def weight_at(centre):
    push = np.array([0.0, 0.0, WEIGHT])
    return np.concatenate([push, np.cross(centre, push)])


@pytest.mark.parametrize(
    ("centre", "expected"), [([0, 0, 0.8], True), ([0.099, 0.049, 0.8], True), ([0.101, 0, 0.8], False)]
)
def test_level_pad_of_o1_11(centre, expected):
    assert WrenchCone.of_contacts(tilted_pad(0.0, 0.5)).contains(weight_at(centre)) == expected


@pytest.mark.parametrize("friction", [0.3, 0.5, 0.8])
def test_pad_slips_at_the_angle_of_friction(friction):
    for angle, expected in ((math.atan(friction) - 1e-6, True), (math.atan(friction) + 1e-6, False)):
        contacts = tilted_pad(angle, friction)
        cone = WrenchCone.of_contacts(contacts, 8)
        assert cone.contains(weight_at(0.01 * contacts.normals[0])) == expected


@pytest.mark.parametrize("centre", [[0, 0, 1], [0, 0, 3], [2, 0, 1]])
def test_chimney_of_o1_11(centre):
    cone = WrenchCone.of_contacts(chimney())
    assert cone.contains(weight_at(centre))
    assert cone.margin(weight_at(centre)) == math.inf  # every wrench can be exerted


def test_rectangle_has_sixteen_half_spaces():
    # Caron, Pham and Nakamura 2015: the wrench cone of a rectangular contact with pyramids along its sides.
    cone = WrenchCone.of_contacts(tilted_pad(0.0, 0.5), 4)
    rotated = tilted_pad(0.0, 0.5)
    turn = np.array([[1, -1, 0], [1, 1, 0], [0, 0, math.sqrt(2)]]) / math.sqrt(2)
    aligned = ContactPoints(rotated.positions, np.array([turn] * 4), rotated.friction, rotated.bilateral)
    assert len(WrenchCone.of_contacts(aligned, 4).halfspaces) == 16
    assert len(cone.halfspaces) > 16


@pytest.mark.parametrize("faces", [1, 2, 3])
def test_membership_is_that_of_a_linear_program(faces):
    # F084, F201
    random = np.random.default_rng(faces)
    decided = {True: 0, False: 0}
    for _ in range(12):
        contacts = random_faces(random, faces=faces, spread=0.5)
        cone = WrenchCone.of_contacts(contacts, 4)
        generators = wrench_generators(contacts, 4)
        A, b = cone.centre_of_mass_halfspaces(MASS)
        for _ in range(12):
            centre = contacts.positions.mean(axis=0) + random.uniform(-0.15, 0.15, 3)
            wrench = weight_at(centre)
            margin = cone.margin(wrench)
            np.testing.assert_allclose((b - A @ centre).min(), margin, rtol=1e-6, atol=1e-7 * WEIGHT)
            if abs(margin) > 1e-6 * WEIGHT:
                feasible = linprog(np.zeros(len(generators)), A_eq=generators.T, b_eq=wrench / WEIGHT).status == 0
                assert cone.contains(wrench) == feasible == (margin > 0)
                decided[feasible] += 1
    assert min(decided.values()) > 10


def test_inscribed_pyramids_are_conservative_and_circumscribed_ones_are_not():
    # F085: what the polytope accepts exact cones accept, and its margin is not larger.
    random = np.random.default_rng(4)
    accepted = 0
    for _ in range(15):
        contacts = random_faces(random, faces=2)
        inner = [WrenchCone.of_contacts(contacts, facets) for facets in (4, 8)]
        outer = WrenchCone.of_contacts(contacts, 8, inscribed=False)
        for _ in range(10):
            centre = contacts.positions.mean(axis=0) + random.uniform(-0.15, 0.15, 3)
            exact = check_equilibrium(contacts, MASS, centre)
            margins = [cone.margin(weight_at(centre)) for cone in inner]
            if margins[0] >= 0:
                accepted += 1
                assert exact.equilibrium
                assert margins[0] <= margins[1] + 1e-6 * WEIGHT
                assert margins[1] <= exact.margin + 1e-6 * WEIGHT
            if exact.equilibrium:
                assert outer.margin(weight_at(centre)) >= exact.margin - 1e-6 * WEIGHT
    assert accepted > 20


def test_margins_approach_those_of_exact_cones():
    random = np.random.default_rng(5)
    for _ in range(4):
        contacts = random_faces(random, faces=1, spread=0.2)
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.02, 0.02, 3)
        exact = check_equilibrium(contacts, MASS, centre).margin
        assert WrenchCone.of_contacts(contacts, 24).margin(weight_at(centre)) == pytest.approx(exact, abs=0.02 * WEIGHT)


def test_loads_shift_the_half_spaces():
    random = np.random.default_rng(6)
    contacts = random_faces(random, faces=2, spread=0.2)
    cone = WrenchCone.of_contacts(contacts)
    load = np.concatenate([random.normal(size=3), random.normal(size=3)]) * 20
    gravity = np.array([0.5, -1.0, -9.0])
    A, b = cone.centre_of_mass_halfspaces(MASS, gravity, load)
    for _ in range(20):
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.2, 0.2, 3)
        push = -MASS * gravity
        wrench = np.concatenate([push, np.cross(centre, push)]) - load
        np.testing.assert_allclose(b - A @ centre, -cone.halfspaces @ wrench, atol=1e-9 * WEIGHT)


def test_place_of_the_origin_does_not_matter():
    random = np.random.default_rng(7)
    contacts = random_faces(random, faces=2)
    far = np.array([10.0, -20.0, 5.0])
    moved = ContactPoints(contacts.positions + far, contacts.frames, contacts.friction, contacts.bilateral)
    here, there = WrenchCone.of_contacts(contacts), WrenchCone.of_contacts(moved)
    for _ in range(20):
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.2, 0.2, 3)
        assert there.margin(weight_at(centre + far)) == pytest.approx(here.margin(weight_at(centre)), abs=1e-6 * WEIGHT)


def test_a_line_of_contacts_has_an_equality():
    line = ContactPoints.of_normals([[0, 0, 0], [0.3, 0, 0]], [0, 0, 1], 0.5)
    cone = WrenchCone.of_contacts(line)
    assert len(cone.equalities) == 1
    assert cone.contains(weight_at([0.1, 0, 1]))
    assert cone.margin(weight_at([0.1, 0, 1])) > 0
    assert not cone.contains(weight_at([0.1, 0.01, 1]))
    assert cone.margin(weight_at([0.1, 0.01, 1])) == -math.inf
    assert not cone.contains(weight_at([0.31, 0, 1]))
    A, b = cone.centre_of_mass_halfspaces(MASS)
    for centre, expected in (([0.1, 0, 1], True), ([0.1, 0.01, 1], False), ([0.1, -0.01, 1], False)):
        assert (A @ centre <= b + 1e-9 * WEIGHT).all() == expected


def test_single_points_frictionless_and_bilateral_contacts():
    point = ContactPoints.of_normals([[1.0, 2.0, 0]], [0, 0, 1], 0.5)
    cone = WrenchCone.of_contacts(point)
    assert len(cone.equalities) == 3
    assert cone.contains(weight_at([1.0, 2.0, 0.5]))
    assert not cone.contains(weight_at([1.0, 2.1, 0.5]))
    slippery = tilted_pad(0.0, 0.0)
    for centre in ([0.09, 0.04, 1], [0.11, 0, 1], [0, 0.06, 1]):
        assert WrenchCone.of_contacts(slippery).contains(weight_at(centre)) == in_equilibrium(slippery, MASS, centre)
    grip = ContactPoints.of_normals([[0, 0, 0], [1.0, 0, 0]], [0, 0, 1], 0.5, [True, False])
    assert WrenchCone.of_contacts(grip).contains(weight_at([1.5, 0, 1]))
    assert not WrenchCone.of_contacts(grip).contains(weight_at([-0.1, 0, 1]))


def test_no_contacts_have_no_cone():
    with pytest.raises(InputError, match="contacts"):
        WrenchCone.of_contacts(ContactPoints.of_normals(np.zeros((0, 3)), np.zeros((0, 3)), 0.5))


def test_equalities_are_kept_to_the_size_of_the_load():
    # Frictionless points on a line: rounding in components that are zero must not count.
    line = ContactPoints.of_normals([[0.25, 0, 0], [-0.5, 0, 0]], [0, 0, 1], 0.0)
    cone = WrenchCone.of_contacts(line)
    wrench = weight_at([0.125, 0, 0.3])
    wrench[[0, 1, 3, 5]] = 1e-13
    assert cone.contains(wrench)
    wrench[0] = 1e-3
    assert not cone.contains(wrench)


def test_nearly_degenerate_contacts_are_never_credited_with_more_than_they_bear():
    axes = np.vstack([np.eye(3), -np.eye(3)])
    accepted = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        count = random.integers(4, 9)
        places = np.zeros((count, 3))
        places[:, 0] = random.integers(-2, 3, count) * 0.25
        places += random.normal(size=places.shape) * 1e-5
        normals = axes[random.choice(6, count, p=[0.1, 0.1, 0.5, 0.1, 0.1, 0.1])]
        contacts = ContactPoints.of_normals(places, normals, random.choice([0.0, 0.5, 1.0], count))
        generators = wrench_generators(contacts, 4)
        try:
            cone = WrenchCone.of_contacts(contacts, 4)
        except InputError:  # that is told apart from an answer
            continue
        wrench = np.clip(random.normal(size=len(generators)), 0, None) @ generators
        wrench += 0.3 * random.normal(size=6) * np.abs(wrench)
        size = np.abs(wrench).max()
        if cone.margin(wrench) > 1e-4 * size:
            accepted += 1
            assert linprog(np.zeros(len(generators)), A_eq=generators.T, b_eq=wrench / size).status == 0
    assert accepted > 20
