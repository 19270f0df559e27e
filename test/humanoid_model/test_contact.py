# SPDX-License-Identifier: Apache-2.0
"""Contact locations, contacts on surfaces, stances, and outlines of patches."""

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model.contact import (
    Contact,
    ContactKind,
    ContactLocation,
    Stance,
    Surface,
    SurfaceForm,
    polygon_problem,
)

pytestmark = pytest.mark.feature("001-F005")

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def location(name: str) -> ContactLocation:
    return ContactLocation(name, "foot", pin.SE3.Identity(), SQUARE)


FLOOR = Surface("floor", "ground", pin.SE3.Identity())
WALL = Surface("wall", "house", pin.SE3.Identity(), SQUARE)


def test_vertices_in_the_link_frame() -> None:
    """A pad behind a thigh: z, the inward normal, is the link's x, and the pad's x points down."""
    placement = pin.SE3(pin.utils.rotate("y", math.pi / 2), np.array([-0.06, 0.0, -0.15]))
    pad = ContactLocation("pad", "thigh", placement, np.array([[-0.1, -0.03], [0.1, -0.03], [0.1, 0.03]]))
    expected = [[-0.06, -0.03, -0.05], [-0.06, -0.03, -0.25], [-0.06, 0.03, -0.25]]
    assert_allclose(pad.vertices_link, expected, atol=1e-12)


def test_point_and_edge_have_one_and_two_vertices() -> None:
    for count in (1, 2):
        patch = ContactLocation("p", "foot", pin.SE3.Identity(), SQUARE[:count])
        assert patch.vertices_link.shape == (count, 3)


def test_placement_of_a_contact_on_its_surface() -> None:
    contact = Contact(location("sole"), FLOOR, x=0.4, y=-0.2, theta=math.pi / 2)
    placement = contact.placement_surface_patch
    assert_allclose(placement.act(np.array([1.0, 0.0, 0.0])), [0.4, 0.8, 0.0], atol=1e-12)
    assert_allclose(placement.rotation[:, 2], [0.0, 0.0, 1.0], atol=1e-12)


@pytest.mark.feature("001-F009")
@pytest.mark.parametrize("form", [SurfaceForm.CYLINDER, SurfaceForm.SPHERE])
def test_the_outline_of_a_curved_surface_follows_it(form: SurfaceForm) -> None:
    """Half way round 0.1 m: the middle of its ends' arcs is the top; chords stay within 0.4 % of the radius."""
    half = 0.05 * math.pi
    corners = np.array([[-0.1, -half], [0.1, -half], [0.1, half], [-0.1, half]])
    surface = Surface("round", "house", pin.SE3.Identity(), corners, form, 0.1)
    places = np.array([surface.place(x, y, 0.0).translation for x, y in surface.outline])
    axis = [0.0 if form is SurfaceForm.CYLINDER else 1.0, 1.0, 1.0]
    middles = 0.5 * (places + np.roll(places, -1, axis=0))
    for points, inside in ((places, 0.0), (middles, 0.0004)):
        away = np.linalg.norm((points + np.array([0.0, 0.0, 0.1])) * axis, axis=1)
        assert (away > 0.1 - inside - 1e-12).all()
        assert (away < 0.1 + 1e-12).all()
    assert {tuple(corner) for corner in corners} <= {tuple(corner) for corner in surface.outline}
    assert (Surface("flat", "house", pin.SE3.Identity(), SQUARE).outline == SQUARE).all()
    assert FLOOR.outline.shape == (0, 2)


def test_stance_is_sorted_and_independent_of_order() -> None:
    right, left = Contact(location("right"), FLOOR, 0, 0, 0), Contact(location("left"), FLOOR, 0, 1, 0)
    assert Stance((right, left)) == Stance((left, right))
    assert [contact.location.name for contact in Stance((right, left)).contacts] == ["left", "right"]
    assert Stance((right, left)) != Stance((right,))


def test_adding_and_removing_contacts() -> None:
    right, hand = Contact(location("right"), FLOOR, 0, 0, 0), Contact(location("hand"), WALL, 0, 0, 0)
    stance = Stance((right,)).adding(hand)
    assert len(stance) == 2
    assert stance.find("hand") is hand
    assert stance.find("left") is None
    assert stance.removing("hand") == Stance((right,))


@pytest.mark.feature("001-F020")
def test_neighbours_differ_by_so_many_contacts() -> None:
    """The thesis' steps of a walk (section 5.3.1.2), by card(s and s') + m >= card(s or s')."""
    left, right = Contact(location("left"), FLOOR, 0, 1, 0), Contact(location("right"), FLOOR, 0, 0, 0)
    both, one, ahead = Stance((left, right)), Stance((left,)), Stance((left, replace(right, x=0.3)))
    assert both.is_neighbour(one)
    assert one.is_neighbour(ahead)
    assert not both.is_neighbour(ahead)
    assert both.is_neighbour(ahead, 2)
    assert both.is_neighbour(Stance((left, replace(right, kind=ContactKind.RELEASED))), 0)
    assert ahead.lacking_in(both) == (replace(right, x=0.3),)
    random = np.random.default_rng(0)
    places = [Contact(location(name), FLOOR, x, 0, 0) for name in "abcd" for x in (0, 1)]
    for _ in range(50):
        drawn = [
            {c.location.name: c for c in random.choice(np.array(places, dtype=object), 4)}.values() for _ in range(2)
        ]
        s, t = ({(c.location.name, c.x) for c in contacts} for contacts in drawn)
        for m in range(9):
            assert Stance(tuple(drawn[0])).is_neighbour(Stance(tuple(drawn[1])), m) == (len(s & t) + m >= len(s | t))


@pytest.mark.feature("001-F022")
def test_one_location_holds_on_one_surface() -> None:
    right = Contact(location("right"), FLOOR, 0, 0, 0)
    with pytest.raises(ValueError, match="'right' is used by two contacts"):
        Stance((right,)).adding(Contact(location("right"), WALL, 0, 0, 0))


@pytest.mark.parametrize(
    "vertices",
    [SQUARE, SQUARE[:1], SQUARE[:2], SQUARE[:3], SQUARE + 7.0, np.insert(SQUARE, 1, [0.0, -1.0], axis=0)],
    ids=["square", "point", "edge", "triangle", "away from the origin", "vertex on an edge"],
)
def test_convex_outlines_pass(vertices: np.ndarray) -> None:
    assert polygon_problem(vertices) is None


PENTAGRAM = np.array([[math.cos(4 * math.pi * k / 5), math.sin(4 * math.pi * k / 5)] for k in range(5)])


@pytest.mark.parametrize(
    ("vertices", "problem"),
    [
        (SQUARE[::-1], "counter-clockwise"),
        (np.insert(SQUARE, 2, [0.2, 0.0], axis=0), "convex"),
        (SQUARE[[0, 2, 1, 3]], "convex"),
        (PENTAGRAM, "convex"),
        (SQUARE[[0, 1, 1, 2]], "coincide"),
        (SQUARE[[0, 0]], "coincide"),
    ],
    ids=["clockwise", "dent", "crossing", "twice around", "vertex twice", "edge without length"],
)
def test_other_outlines_are_refused(vertices: np.ndarray, problem: str) -> None:
    assert problem in str(polygon_problem(vertices))
