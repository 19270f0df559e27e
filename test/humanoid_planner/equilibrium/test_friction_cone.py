# SPDX-License-Identifier: Apache-2.0
"""Pyramids inside and around friction cones."""

import math

import numpy as np
import pytest
from fixtures.contact_stances import random_faces

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.friction_cone import (
    force_generators,
    pyramid,
    pyramid_halfspaces,
    wrench_generators,
)


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
