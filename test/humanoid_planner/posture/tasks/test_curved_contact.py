# SPDX-License-Identifier: Apache-2.0
"""Contacts with cylinders and spheres: where they are by closed forms, what touches, what they leave free."""

import dataclasses
import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, kinematics_at

from humanoid_model import Contact, ContactKind, InputError, Stance, Surface
from humanoid_model.contact import SurfaceForm
from humanoid_planner.contacts.search_volume import SearchVolume, bounds_task, hold_at, light_contact
from humanoid_planner.posture import generate_posture
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.contact import place_contact

RADIUS = 0.06
#: Beside the right hip: the axis goes ahead and a little up, the top of the pipe is at this place.
TOP = pin.SE3(pin.utils.rotate("y", -0.3), np.array([0.3, -0.35, 0.8]))
OUTLINE = np.array([[-0.09, -0.08], [0.09, -0.08], [0.09, 0.08], [-0.09, 0.08]])
PIPE = Surface("pipe", "world", TOP, OUTLINE, SurfaceForm.CYLINDER, RADIUS)
BALL = Surface("ball", "world", TOP, OUTLINE, SurfaceForm.SPHERE, RADIUS)
HAND = HRP2.contacts["right_hand_fingers"]


def point_of(surface, x, y):
    """p(x, y) written out, in the world."""
    r = RADIUS
    if surface is PIPE:
        local = [x, r * math.sin(y / r), r * math.cos(y / r) - r]
    else:
        u, v = x / r, y / r
        local = [r * math.sin(u), r * math.cos(u) * math.sin(v), r * math.cos(u) * math.cos(v) - r]
    return TOP.rotation @ local + TOP.translation


def hand(kinematics):
    """Origin and axes of the hand's patch in the world."""
    R, p = kinematics.placement(HAND.link)
    return p + R @ HAND.placement_link_patch.translation, R @ HAND.placement_link_patch.rotation


def centre_below(surface, point):
    """The point of the axis, or the centre, that a point of the surface is a radius from."""
    middle = TOP.translation - RADIUS * TOP.rotation[:, 2]
    along = TOP.rotation[:, 0] @ (point - middle) if surface is PIPE else 0.0
    return middle + along * TOP.rotation[:, 0]


def posture(contact, tasks=()):
    found = generate_posture(HRP2, Stance((*feet(), contact)), initial=HALF_SITTING, tasks=tasks, restarts=0)
    assert found.success, found.explanation
    return kinematics_at(HRP2, found.q)


@pytest.mark.feature("001-F009")
@pytest.mark.parametrize("surface", [PIPE, BALL], ids=["cylinder", "sphere"])
def test_a_fixed_contact_is_where_the_closed_forms_say(surface):
    x, y, theta, h = 0.04, -0.05, 0.4, 1e-6
    point, axes = hand(posture(Contact(HAND, surface, x, y, theta)))
    np.testing.assert_allclose(point, point_of(surface, x, y), atol=1e-6)
    normal = (point - centre_below(surface, point)) / RADIUS
    np.testing.assert_allclose(axes[:, 2], normal, atol=1e-5)
    tangents = [
        (point_of(surface, x + a, y + b) - point_of(surface, x - a, y - b)) / (2 * h) for a, b in ((h, 0), (0, h))
    ]
    d, b = (tangent / np.linalg.norm(tangent) for tangent in tangents)
    np.testing.assert_allclose(axes[:, 0], math.cos(theta) * d + math.sin(theta) * b, atol=1e-5)
    # d is the tangential part of d_0, the frame's x axis.
    assert d @ TOP.rotation[:, 0] > 0
    assert np.linalg.det([d, TOP.rotation[:, 0], normal]) == pytest.approx(0.0, abs=1e-6)
    here = surface.coordinates(TOP.actInv(point), TOP.rotation.T @ axes[:, 0])
    assert here == pytest.approx((x, y, theta), abs=1e-5)


@pytest.mark.feature("001-F009")
@pytest.mark.parametrize("surface", [PIPE, BALL], ids=["cylinder", "sphere"])
def test_a_light_contact_finds_its_place_on_the_surface(surface):
    volume = SearchVolume(np.array([[-0.05, 0.01], [0.03, 0.01], [0.03, 0.07], [-0.05, 0.07]]), 0.3, 1.2)
    contact = light_contact(HAND, surface, volume)
    bounds = bounds_task(contact, surface, volume, kinematics_at(HRP2, HALF_SITTING), None)
    kinematics = posture(contact, [bounds])
    point, axes = hand(kinematics)
    away = point - centre_below(surface, point)
    assert np.linalg.norm(away) == pytest.approx(RADIUS, abs=1e-6)
    np.testing.assert_allclose(axes[:, 2], away / RADIUS, atol=1e-5)
    hold = hold_at(0, HAND, surface, TOP, kinematics)
    np.testing.assert_allclose(point_of(surface, hold.x, hold.y), point, atol=1e-5)
    assert volume.contains(hold.x, hold.y, hold.theta, tolerance=1e-5)


@pytest.mark.parametrize("surface", [PIPE, BALL], ids=["cylinder", "sphere"])
def test_a_light_contact_leaves_three_degrees_of_freedom(surface):
    contact = Contact(HAND, surface, 0.0, 0.0, 0.0, ContactKind.PRE_CONTACT, distance=0.0)
    problem = PostureProblem(HRP2, Stance((contact,)), PostureRequirements(stability="none"), start=HALF_SITTING)
    [task], x = problem.tasks, problem.start(HALF_SITTING)

    def value(y):
        problem.state.set(y)
        return task.value(problem.state).copy()

    expected = finite_difference(value, x)
    problem.state.set(x)
    J = task.jacobian(problem.state)
    np.testing.assert_allclose(J, expected, atol=5e-8)
    assert np.linalg.matrix_rank(J[task.lower == task.upper], tol=1e-8) == 3


@pytest.mark.parametrize("surface", [PIPE, BALL], ids=["cylinder", "sphere"])
def test_a_pre_contact_is_near_the_surface_and_not_below(surface):
    for distance in (0.01, 0.02):
        point, axes = hand(posture(Contact(HAND, surface, 0, 0, 0, ContactKind.PRE_CONTACT, distance=distance)))
        away = point - centre_below(surface, point)
        assert RADIUS - 1e-6 <= np.linalg.norm(away) <= RADIUS + math.sqrt(3) * distance
        assert axes[:, 2] @ away >= RADIUS - 1e-6


@pytest.mark.feature("001-F009")
def test_a_flat_patch_bears_on_the_line_or_point_that_touches():
    kinematics = kinematics_at(HRP2, HALF_SITTING)
    for surface, count in ((PIPE, 2), (BALL, 1)):
        contact = Contact(HAND, surface, 0.02, 0.03, 0.5)
        placed = place_contact(contact, kinematics, None)
        points = [placed.placement_ground_contact.act(np.array([*corner, 0.0])) for corner in placed.bearing]
        assert len(points) == count
        for point in points:
            assert np.linalg.norm(point - centre_below(surface, point)) == pytest.approx(RADIUS)
    # Half the fingers' width of 0.05 m over cos 0.5.
    assert np.linalg.norm(points[0] - point_of(BALL, 0.02, 0.03)) < 1e-12
    ends = Contact(HAND, PIPE, 0.02, 0.03, 0.5).touching
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(0.05 / math.cos(0.5))


def test_what_a_curved_contact_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"slides on a curved surface.*pre-contact of distance 0"):
        generate_posture(HRP2, Stance((Contact(HAND, PIPE, 0.0, 0.0, 0.0, ContactKind.SLIDING),)))
    beside = dataclasses.replace(HAND, patch=HAND.patch + 0.1)
    with pytest.raises(InputError, match=r"doesn't hold the place where it would touch.*origin into the patch"):
        place_contact(Contact(beside, BALL, 0.0, 0.0, 0.0), kinematics_at(HRP2, HALF_SITTING), None)
