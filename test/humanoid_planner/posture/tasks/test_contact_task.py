# SPDX-License-Identifier: Apache-2.0
"""Contacts as constraints: how many, what they leave free, what they refuse."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference
from fixtures.posture_problems import FLOOR, HALF_SITTING, HRP2, kinematics_at, where_it_is
from scipy.spatial import ConvexHull

from humanoid_model import Contact, ContactKind, InputError, Stance, Surface
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.contact import place_contact
from humanoid_planner.posture.tasks.contact_task import ContactTask


def task_of(contact: Contact) -> tuple[ContactTask, PostureProblem]:
    problem = PostureProblem(HRP2, Stance((contact,)), PostureRequirements(stability="none"), start=HALF_SITTING)
    task = problem.tasks[0]
    assert isinstance(task, ContactTask)
    problem.state.set(problem.start(HALF_SITTING))
    return task, problem


def split(task: ContactTask) -> tuple[np.ndarray, np.ndarray]:
    """Indices of equalities and of inequalities."""
    equal = task.lower == task.upper
    return np.flatnonzero(equal), np.flatnonzero(~equal)


def fulfilled(task: ContactTask, problem: PostureProblem, tolerance: float = 1e-9) -> bool:
    value = task.value(problem.state)
    return bool((value >= task.lower - tolerance).all() and (value <= task.upper + tolerance).all())


@pytest.mark.feature("001-F006", "001-F068", "001-F071")
@pytest.mark.parametrize(
    ("location", "kind", "equalities", "inequalities"),
    [
        ("left_sole", ContactKind.FIXED, 6, 0),
        ("left_sole", ContactKind.RELEASED, 6, 0),
        ("left_sole", ContactKind.SLIDING, 3, 1),
        ("left_sole", ContactKind.PRE_CONTACT, 2, 2),
        ("left_sole", ContactKind.RELAXED, 4, 1),
        ("left_toe", ContactKind.FIXED, 5, 2),
        ("left_toe", ContactKind.SLIDING, 2, 1),
    ],
)
def test_number_of_constraints_and_what_they_leave_free(
    location: str, kind: ContactKind, equalities: int, inequalities: int
) -> None:
    contact = where_it_is(location, kind=kind, tolerance=0.1, distance=0.02)
    task, problem = task_of(contact)
    equal, unequal = split(task)
    assert (len(equal), len(unequal)) == (equalities, inequalities)
    assert fulfilled(task, problem)
    J = task.jacobian(problem.state)[equal]
    assert np.linalg.matrix_rank(J, tol=1e-8) == equalities
    # Constraint functions vanish on their boundary with a gradient that doesn't (specification section 4.2).
    assert (np.linalg.norm(J, axis=1) > 0.1).all()


@pytest.mark.parametrize("kind", ContactKind)
def test_derivatives(kind: ContactKind) -> None:
    surface = dataclasses.replace(FLOOR, polygon=np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float))
    task, problem = task_of(where_it_is("left_sole", surface, kind=kind, tolerance=0.1, distance=0.02))
    rng = np.random.default_rng(0)
    x = problem.start(HALF_SITTING) + 0.1 * rng.standard_normal(problem.state.size)

    def value(y: np.ndarray) -> np.ndarray:
        problem.state.set(y)
        return task.value(problem.state).copy()

    expected = finite_difference(value, x)
    problem.state.set(x)
    np.testing.assert_allclose(task.jacobian(problem.state), expected, atol=5e-8)


def thesis_constraints(problem: PostureProblem, contact: Contact) -> tuple[np.ndarray, np.ndarray]:
    """Equalities (3.28)-(3.33) and inequalities (3.34), (3.35), written out."""
    R, p = problem.kinematics.placement(contact.location.link)
    patch = pin.SE3(R.copy(), p.copy()) * contact.location.placement_link_patch
    d_P, b_P, n_P = patch.rotation.T
    target = contact.surface.placement_body_surface * contact.placement_surface_patch
    d_E, b_E, _ = target.rotation.T
    equal = [*(patch.translation - target.translation), b_P @ d_E, n_P @ d_E, n_P @ b_E]
    return np.array(equal), np.array([-d_P @ d_E, -b_P @ b_E])


@pytest.mark.feature("001-F070")
@pytest.mark.parametrize("turn", [("x", 0.0), ("x", 0.01), ("y", -0.02), ("z", 0.03), ("x", 1.0), ("z", 2.5)])
def test_fixed_contact_holds_where_the_thesis_eight_constraints_do(turn: tuple[str, float]) -> None:
    contact = where_it_is("left_sole")
    task, problem = task_of(contact)
    moved(problem, about(np.array([contact.x, contact.y, 0.0]), *turn))
    equal, unequal = thesis_constraints(problem, contact)
    assert fulfilled(task, problem) == bool((np.abs(equal) < 1e-9).all() and (unequal <= 0).all())
    # The part of a turn about an axis of the surface is that turn's angle.
    rotation = task.value(problem.state)[3:]
    np.testing.assert_allclose(rotation, turn[1] * np.eye(3)["xyz".index(turn[0])], atol=1e-9)


@pytest.mark.feature("001-F070")
def test_a_contact_is_turned_by_its_angle() -> None:
    """Moved along a surface and turned about its normal, the robot holds the contact moved and turned as much."""
    contact = where_it_is("left_sole")
    turned = dataclasses.replace(contact, x=contact.x + 0.2, y=contact.y - 0.1, theta=contact.theta + 0.4)
    task, problem = task_of(turned)
    assert not fulfilled(task, problem)
    there = pin.SE3(np.eye(3), np.array([0.2, -0.1, 0.0]))
    moved(problem, there * about(np.array([contact.x, contact.y, 0.0]), "z", 0.4))
    assert fulfilled(task, problem)


@pytest.mark.feature("001-F070")
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_foot_turned_upside_down_or_back_to_front_is_refused_and_pulled_back(axis: str) -> None:
    """Half a turn leaves the thesis' orthogonalities fulfilled, and only (3.34) and (3.35) refuse it."""
    contact = where_it_is("left_sole")
    task, problem = task_of(contact)
    moved(problem, about(np.array([contact.x, contact.y, 0.0]), axis, np.pi - 1e-3))
    equal, unequal = thesis_constraints(problem, contact)
    assert np.abs(equal).max() < 1.1e-3
    assert (unequal > 0.9).any()
    value = task.value(problem.state)
    assert np.abs(value).max() == pytest.approx(np.pi - 1e-3)
    pull = value @ task.jacobian(problem.state)
    assert np.linalg.norm(pull) > 1.0


def moved(problem: PostureProblem, motion: pin.SE3) -> None:
    """Moves the whole robot, the motion being given in the world."""
    kinematics = problem.kinematics
    q = HRP2.place_base(HALF_SITTING, motion * HRP2.placement_base(HALF_SITTING))
    x = np.zeros(problem.state.size)
    x[: kinematics.size] = kinematics.coordinates(q)
    problem.state.set(x)


def about(point: np.ndarray, axis: str, angle: float) -> pin.SE3:
    turn = pin.SE3(pin.utils.rotate(axis, angle), np.zeros(3))
    return pin.SE3(np.eye(3), point) * turn * pin.SE3(np.eye(3), -point)


@pytest.mark.feature("001-F072")
def test_relaxed_contact_tilts_up_to_its_tolerance() -> None:
    contact = where_it_is("left_sole", kind=ContactKind.RELAXED, tolerance=0.1)
    task, problem = task_of(contact)
    origin = np.array([contact.x, contact.y, 0.0])
    for angle, holds in ((0.099, True), (-0.099, True), (0.101, False)):
        moved(problem, about(origin, "y", angle))
        assert fulfilled(task, problem) == holds
    moved(problem, about(origin, "z", 0.01))
    assert not fulfilled(task, problem)


@pytest.mark.feature("001-F071")
def test_sliding_contact_slides_within_its_polygon_only() -> None:
    square = np.array([[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]])
    surface = Surface("patch", "world", pin.SE3.Identity(), square)
    task, problem = task_of(where_it_is("left_sole", surface, kind=ContactKind.SLIDING))
    assert fulfilled(task, problem)
    moved(problem, pin.SE3(pin.utils.rotate("z", 0.3), np.array([0.05, 0.03, 0.0])))
    assert fulfilled(task, problem)
    moved(problem, pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.0])))  # toes over the edge
    assert not fulfilled(task, problem)
    moved(problem, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.01])))
    assert not fulfilled(task, problem)


@pytest.mark.feature("001-F073")
def test_pre_contact_is_near_but_not_below_the_surface() -> None:
    task, problem = task_of(where_it_is("left_sole", kind=ContactKind.PRE_CONTACT, distance=0.02))
    for height, holds in ((0.0, True), (0.019, True), (0.021, False), (-0.001, False)):
        moved(problem, pin.SE3(np.eye(3), np.array([0.3, 0.0, height])))
        assert fulfilled(task, problem) == holds


@pytest.mark.feature("001-F073")
def test_pre_contact_is_above_its_polygon() -> None:
    contact = where_it_is("left_sole", kind=ContactKind.PRE_CONTACT, distance=0.02)
    square = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
    corners = square + np.array([contact.x, contact.y])
    surface = Surface("patch", "world", pin.SE3.Identity(), corners)
    task, problem = task_of(dataclasses.replace(contact, surface=surface))
    for shift, holds in ((0.0, True), (0.099, True), (0.101, False), (-0.101, False)):
        for across in (np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])):
            moved(problem, pin.SE3(np.eye(3), shift * across))
            assert fulfilled(task, problem) == holds


def test_an_edge_rolls_about_itself_and_a_point_about_everything() -> None:
    contact = where_it_is("left_toe")
    task, problem = task_of(contact)
    origin = np.array([contact.x, contact.y, 0.0])
    moved(problem, about(origin, "y", 0.3))
    assert fulfilled(task, problem)
    moved(problem, about(origin, "x", 0.01))
    assert not fulfilled(task, problem)
    tip = dataclasses.replace(contact.location, patch=np.zeros((1, 2)))
    task, problem = task_of(dataclasses.replace(contact, location=tip))
    moved(problem, about(origin, "x", 0.2) * about(origin, "z", 0.4))
    assert fulfilled(task, problem)
    moved(problem, pin.SE3(np.eye(3), np.array([0.0, 0.0, 1e-3])))
    assert not fulfilled(task, problem)


@pytest.mark.feature("001-F074")
def test_a_contact_on_another_link_moves_with_it() -> None:
    """Relative contact: right hand held at a frame of the left one; moving the whole robot changes nothing."""
    kinematics = kinematics_at(HRP2, HALF_SITTING)
    location = HRP2.contacts["right_hand_back"]
    (R, p), (S, r) = kinematics.placement(location.link), kinematics.placement("LARM_LINK5")
    frame = pin.SE3(S.copy(), r.copy()).inverse() * pin.SE3(R.copy(), p.copy()) * location.placement_link_patch
    contact = Contact(location, Surface("left hand", "hrp2/LARM_LINK5", frame), 0.0, 0.0, 0.0)
    task, problem = task_of(contact)
    assert task.placed.ground == kinematics.body_of("LARM_LINK5")[0]
    moved(problem, pin.SE3(pin.utils.rotate("x", 0.5), np.array([1.0, 2.0, 3.0])))
    assert fulfilled(task, problem)
    x = problem.state.x.copy()
    x[kinematics.names.index("LARM_JOINT3")] += 0.1
    problem.state.set(x)
    assert not fulfilled(task, problem)


@pytest.mark.feature("001-F079")
@pytest.mark.parametrize("kind", [ContactKind.FIXED, ContactKind.RELAXED])
def test_bearing_points_are_what_patch_and_polygon_have_in_common(kind: ContactKind) -> None:
    """F079: a foot half outside its step leaves half its sole."""
    contact = where_it_is("left_sole", kind=kind, tolerance=0.1)
    edge = Surface(
        "step", "world", pin.SE3.Identity(), np.array([[contact.x, -1], [1, -1], [1, 1], [contact.x, 1]], dtype=float)
    )
    placed = place_contact(dataclasses.replace(contact, surface=edge), kinematics_at(HRP2, HALF_SITTING), None)
    expected = {(0.0, -0.065), (0.11, -0.065), (0.11, 0.065), (0.0, 0.065)}
    assert {tuple(np.round(point, 9) + 0.0) for point in placed.bearing} == expected


@pytest.mark.feature("001-F079")
def test_bearing_points_of_a_turned_foot_enclose_what_is_on_patch_and_surface() -> None:
    contact = dataclasses.replace(where_it_is("left_sole"), theta=0.7)
    outline = np.array([[contact.x, -1], [1, -1], [1, contact.y + 0.01], [contact.x, contact.y + 0.01]])
    placed = place_contact(
        dataclasses.replace(contact, surface=Surface("step", "world", pin.SE3.Identity(), outline)),
        kinematics_at(HRP2, HALF_SITTING),
        None,
    )
    patch = np.asarray(contact.location.patch)
    points = np.random.default_rng(0).uniform(patch.min(axis=0), patch.max(axis=0), (500, 2))
    on_surface = np.array([contact.placement_surface_patch.act(np.array([*point, 0.0]))[:2] for point in points])
    common = ((on_surface >= outline.min(axis=0)) & (on_surface <= outline.max(axis=0))).all(axis=1)
    sides = ConvexHull(placed.bearing).equations
    np.testing.assert_array_equal((points @ sides[:, :2].T + sides[:, 2] <= 0).all(axis=1), common)
    assert 50 < common.sum() < 450


@pytest.mark.feature("001-F005")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"x": float("nan")}, "x of contact left_sole on floor: is nan"),
        ({"kind": ContactKind.RELAXED, "tolerance": 0.0}, "tolerance is 0"),
        ({"tolerance": 2.0}, "tolerance of contact left_sole on floor: is 2"),
        ({"distance": -0.1}, "distance of .*: is -0.1"),
        ({"surface": Surface("own", "LLEG_LINK5", pin.SE3.Identity())}, "holds a link on itself"),
        (
            {"surface": Surface("far", "world", pin.SE3.Identity(), np.array([[5, 5], [6, 5], [6, 6]], dtype=float))},
            "doesn't touch the surface's polygon",
        ),
        (
            {"surface": Surface("hand", "LARM_LINK5", pin.SE3.Identity()), "kind": ContactKind.SLIDING},
            "slides on a link of the robot itself",
        ),
    ],
)
def test_contacts_that_make_no_sense_are_refused(change: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        task_of(dataclasses.replace(where_it_is("left_sole"), **change))
