# SPDX-License-Identifier: Apache-2.0
"""Contact points: what is checked, and how they follow from a stance."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.contact_stances import random_faces

from humanoid_model.contact import Contact, ContactKind, ContactLocation, Stance, Surface
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.contact_points import (
    ContactPoints,
    force_generators,
    pyramid,
    pyramid_halfspaces,
    wrench_generators,
)

PATCH = np.array([[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]])


def test_frames_of_normals_are_right_handed():
    random = np.random.default_rng(0)
    normals = np.concatenate([random.normal(size=(50, 3)), np.eye(3), -np.eye(3)])
    points = ContactPoints.of_normals(np.zeros((56, 3)), normals, 0.4)
    np.testing.assert_allclose(points.normals, normals / np.linalg.norm(normals, axis=1)[:, None], atol=1e-14)
    np.testing.assert_allclose(np.einsum("kji,kjl->kil", points.frames, points.frames), [np.eye(3)] * 56, atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(points.frames), 1.0)


def test_points_of_a_stance():
    body = pin.SE3(pin.utils.rotate("x", math.pi / 2), np.array([1.0, 2.0, 0.5]))  # a wall: its normal is -y
    wall = Surface("face", "wall", pin.SE3.Identity(), np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 2.0], [-1.0, 2.0]]))
    locations = [
        ContactLocation(name, name, pin.SE3.Identity(), PATCH) for name in ("hand", "foot", "knee", "elbow", "grip")
    ]
    stance = Stance(
        (
            Contact(locations[0], wall, 0.2, 0.0, 0.0),  # half of it is below the wall
            Contact(locations[1], wall, 0.5, 1.0, 0.4, ContactKind.SLIDING),
            Contact(locations[2], wall, 0.0, 1.0, 0.0, ContactKind.RELEASED),
            Contact(locations[3], wall, 0.0, 1.5, 0.0, ContactKind.PRE_CONTACT),
            Contact(locations[4], wall, -0.5, 1.5, 0.0, bilateral=True),
        )
    )
    friction = {"hand": 0.3, "foot": 0.6, "grip": 0.9}
    points = ContactPoints.of_stance(stance, lambda _: body, lambda contact: friction[contact.location.name])
    # F087: the released contact and the pre-contact carry nothing.
    assert len(points) == 12
    np.testing.assert_allclose(points.normals, [[0, -1, 0]] * 12, atol=1e-15)
    foot, grip, hand = points.positions[:4], points.positions[4:8], points.positions[8:]
    np.testing.assert_allclose(np.ptp(hand, axis=0), [0.2, 0.0, 0.05], atol=1e-8)
    np.testing.assert_allclose(hand.min(axis=0), [1.1, 2.0, 0.5], atol=1e-8)
    np.testing.assert_allclose(foot.mean(axis=0), [1.5, 2.0, 1.5])
    np.testing.assert_allclose(grip.mean(axis=0), [0.5, 2.0, 2.0])
    np.testing.assert_array_equal(points.friction, np.repeat([0.6, 0.9, 0.3], 4))
    np.testing.assert_array_equal(points.bilateral, np.repeat([False, True, False], 4))
    # The first tangent is the patch's x axis.
    np.testing.assert_allclose(points.frames[0, :, 0], [math.cos(0.4), 0.0, math.sin(0.4)], atol=1e-12)


def test_no_bearing_contact_gives_no_points():
    assert len(ContactPoints.of_stance(Stance(()), lambda _: pin.SE3.Identity(), 0.5)) == 0


def test_points_join():
    one = ContactPoints.of_normals([[0, 0, 0]], [0, 0, 1], 0.5)
    two = ContactPoints.of_normals([[1, 0, 0]], [1, 0, 0], 0.2, True)
    both = one.joined(two)
    np.testing.assert_array_equal(both.positions, [[0, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(both.bilateral, [False, True])
    np.testing.assert_array_equal(both.friction, [0.5, 0.2])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"positions": np.zeros((2, 2))}, "positions"),
        ({"positions": [[0, 0, math.nan], [0, 0, 0]]}, "positions"),
        ({"frames": np.zeros((2, 3, 3))}, "frames"),
        ({"frames": [np.diag([1.0, 1.0, -1.0])] * 2}, "frames"),
        ({"frames": [np.eye(3)]}, "frames"),
        ({"friction": [0.5, -0.1]}, "friction"),
        ({"friction": [0.5]}, "friction"),
        ({"bilateral": [True]}, "bilateral"),
    ],
)
def test_bad_points_are_named(change, field):
    given = {
        "positions": np.zeros((2, 3)),
        "frames": np.array([np.eye(3)] * 2),
        "friction": np.ones(2),
        "bilateral": np.zeros(2, dtype=bool),
        **change,
    }
    with pytest.raises(InputError, match=field):
        ContactPoints(**given)


def test_bad_normals_are_named():
    with pytest.raises(InputError, match="normal 1"):
        ContactPoints.of_normals(np.zeros((2, 3)), [[0, 0, 1], [0, 0, 0]], 0.5)
    with pytest.raises(InputError, match="normals"):
        ContactPoints.of_normals(np.zeros((2, 3)), np.ones((3, 3)), 0.5)


@pytest.mark.parametrize("facets", [3, 4, 8])
@pytest.mark.parametrize("friction", [0.1, 0.7, 2.0])
def test_inscribed_and_circumscribed_enclose_the_cone(facets, friction):
    inner, outer = pyramid(friction, facets), pyramid(friction, facets, inscribed=False)
    for rays in (inner, outer):
        np.testing.assert_allclose(np.linalg.norm(rays, axis=1), 1.0)
    np.testing.assert_allclose(np.hypot(inner[:, 0], inner[:, 1]), friction * inner[:, 2])
    assert inner[0, 1] == 0.0  # one edge along t1, as O1-11 asks
    angles = np.linspace(0, 2 * math.pi, 1000)
    cone = np.column_stack([friction * np.cos(angles), friction * np.sin(angles), np.ones(1000)])
    assert (cone @ pyramid_halfspaces(friction, facets, inscribed=False).T).max() < 1e-12
    touching = cone @ pyramid_halfspaces(friction, facets).T
    assert touching.max() > 0
    # Both descriptions are of the same pyramid: every edge lies in two facets, and within all.
    for inscribed, rays in ((True, inner), (False, outer)):
        products = rays @ pyramid_halfspaces(friction, facets, inscribed=inscribed).T
        assert products.max() < 1e-12
        np.testing.assert_array_equal((np.abs(products) < 1e-12).sum(axis=1), 2)


def test_without_friction_only_the_normal_remains():
    np.testing.assert_array_equal(pyramid(0.0, 4), [[0, 0, 1]])
    rows = pyramid_halfspaces(0.0, 4)
    assert (rows @ [0, 0, 1.0]).max() <= 0
    for force in ([0.1, 0, 1], [0, -0.1, 1], [0, 0, -1]):
        assert (rows @ force).max() > 0


def test_wrenches_are_force_and_moment():
    contacts = random_faces(np.random.default_rng(0), faces=2)
    contacts.bilateral[3] = True
    forces, owners = force_generators(contacts, 4)
    assert len(forces) == 7 * 4 + 6
    assert (owners == 3).sum() == 6
    wrenches = wrench_generators(contacts, 4)
    for force, owner, wrench in zip(forces, owners, wrenches, strict=True):
        np.testing.assert_allclose(wrench[3:], np.cross(contacts.positions[owner], force))
        if owner != 3:
            normal = force @ contacts.normals[owner]
            assert np.linalg.norm(force - normal * contacts.normals[owner]) == pytest.approx(
                contacts.friction[owner] * normal
            )


def test_two_facets_are_too_few():
    for function in (pyramid, pyramid_halfspaces):
        with pytest.raises(InputError, match="facets"):
            function(0.5, 2)
