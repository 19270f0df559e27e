# SPDX-License-Identifier: Apache-2.0
"""Equilibrium with exact friction cones against closed forms, linear programs."""

import math

import numpy as np
import pytest
from fixtures.contact_stances import CORNERS, chimney, random_faces, tilted_pad
from scipy.optimize import linprog

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.body_equilibrium import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints, pyramid_halfspaces, wrench_generators
from humanoid_planner.equilibrium.force_distribution import check_equilibrium, in_equilibrium
from humanoid_planner.equilibrium.wrench_cone import WrenchCone

pytestmark = pytest.mark.feature("001-F082")

GRAVITY = np.array([0.0, 0.0, -9.81])
MASS = 58.0
WEIGHT = MASS * 9.81


def wrench_to_exert(centre, mass=MASS, acceleration=(0, 0, 0), external=(0, 0, 0, 0, 0, 0)):
    push = mass * (np.asarray(acceleration) - GRAVITY)
    return np.concatenate([push, np.cross(centre, push)]) - np.asarray(external)


def distances(contacts, forces):
    """Signed distance of each force from the boundary of its cone, positive inside."""
    normal = np.einsum("ij,ij->i", forces, contacts.normals)
    tangent = np.linalg.norm(forces - normal[:, None] * contacts.normals, axis=1)
    mu = contacts.friction
    from_side = (mu * normal - tangent) / np.sqrt(1 + mu**2)
    nearest_is_apex = normal + mu * tangent < 0
    return np.where(nearest_is_apex, -np.hypot(normal, tangent), from_side)


def assert_balances(contacts, forces, wrench, accuracy=1e-8):
    exerted = np.concatenate([forces.sum(axis=0), np.cross(contacts.positions, forces).sum(axis=0)])
    np.testing.assert_allclose(exerted, wrench, atol=accuracy * np.abs(wrench).max())


def margin_by_cutting_planes(contacts, wrench, limits=None):
    """The margin from its definition: the largest s with ``u.f + s <= 0`` for all unit u in all polar cones.

    A linear program (HiGHS) with some of these planes, to which the ones that its solution violates are added.
    """
    unit = float(np.abs(wrench[:3]).max())
    k = len(contacts)
    balance = np.hstack(
        [np.vstack([np.eye(3), np.cross(p, np.eye(3)).T]) for p in contacts.positions] + [np.zeros((6, 1))]
    )
    planes = [(i, -n) for i, n in enumerate(contacts.normals)]
    for i in range(k):
        planes += [(i, contacts.frames[i] @ u) for u in pyramid_halfspaces(contacts.friction[i], 8, inscribed=False)]
    cost = np.zeros(3 * k + 1)
    cost[-1] = -1.0
    known = np.zeros((0, 3 * k + 1)) if limits is None else np.hstack([limits[0], np.zeros((len(limits[1]), 1))])
    bound = np.zeros(0) if limits is None else -limits[1] / unit
    for _ in range(200):
        rows = np.zeros((len(planes), 3 * k + 1))
        for row, (i, u) in zip(rows, planes, strict=True):
            row[3 * i : 3 * i + 3] = u
            row[-1] = 1.0
        answer = linprog(
            cost,
            np.vstack([known, rows]),
            np.concatenate([bound, np.zeros(len(planes))]),
            balance,
            wrench / unit,
            bounds=(None, None),
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if answer.status == 3:
            return math.inf
        assert answer.status == 0, answer.message
        forces, s = answer.x[:-1].reshape(k, 3), answer.x[-1]
        gaps = s - distances(contacts, forces)
        if gaps.max() < 3e-7:
            return unit * s
        for i in np.flatnonzero(gaps > 1e-9):
            n, mu = contacts.normals[i], contacts.friction[i]
            normal = forces[i] @ n
            tangent = forces[i] - normal * n
            size = np.linalg.norm(tangent)
            if normal + mu * size < 0:
                u = forces[i] / np.hypot(normal, size)
            else:
                u = (tangent / size - mu * n) / math.sqrt(1 + mu**2)
            planes.append((i, u))
    raise AssertionError("no convergence")


@pytest.mark.parametrize(
    ("centre", "expected"), [([0, 0, 0.8], True), ([0.099, 0.049, 0.8], True), ([0.101, 0, 0.8], False)]
)
def test_level_pad_of_o1_11(centre, expected):
    contacts = tilted_pad(0.0, 0.5)
    assert in_equilibrium(contacts, MASS, centre) == expected
    answer = check_equilibrium(contacts, MASS, centre)
    assert answer.equilibrium == expected
    assert (answer.margin > 0) == expected


def test_margin_of_the_pad_is_that_of_its_least_loaded_corner():
    # Vertical forces are best; the corner farthest from the centre of mass carries least.
    contacts = tilted_pad(0.0, 0.5)
    centre = np.array([0.04, 0.01, 0.8])
    least = linprog(
        [0, 0, 0, 0, -1],
        np.hstack([-np.eye(4), np.ones((4, 1))]),
        np.zeros(4),
        np.hstack([np.vstack([np.ones(4), CORNERS.T[:2]]), np.zeros((3, 1))]),
        WEIGHT * np.array([1, *centre[:2]]),
    ).x[4]
    expected = least * 0.5 / math.sqrt(1.25)
    assert check_equilibrium(contacts, MASS, centre).margin == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("friction", [0.3, 0.5, 0.8])
def test_pad_slips_at_the_angle_of_friction(friction):
    limit = math.atan(friction)
    assert math.degrees(limit) == pytest.approx({0.3: 16.6992, 0.5: 26.5651, 0.8: 38.6598}[friction], abs=5e-5)
    for angle, expected in ((limit - 2e-6, True), (limit + 2e-6, False)):
        contacts = tilted_pad(angle, friction)
        centre = 0.01 * contacts.normals[0]
        assert in_equilibrium(contacts, MASS, centre) == expected
        answer = check_equilibrium(contacts, MASS, centre)
        assert answer.equilibrium == expected
        # The resultant is off the cone by the weight times the angle; four corners share it.
        assert answer.margin == pytest.approx(WEIGHT * math.sin(limit - angle) / 4, abs=1e-6 * WEIGHT)


@pytest.mark.parametrize("centre", [[0, 0, 1], [0, 0, 3], [2, 0, 1]])
def test_chimney_of_o1_11_holds_wherever_the_centre_of_mass_is(centre):
    answer = check_equilibrium(chimney(), MASS, centre)
    assert answer.equilibrium
    assert answer.margin == math.inf
    assert_balances(chimney(), answer.forces, wrench_to_exert(centre))
    assert distances(chimney(), answer.forces).min() > 0.01 * WEIGHT
    assert in_equilibrium(chimney(), MASS, centre)


def test_chimney_without_friction_falls():
    answer = check_equilibrium(chimney(0.0), MASS, [0, 0, 1])
    assert not answer.equilibrium
    # Nothing holds vertically: each of the four has to give a quarter of the weight beside its ray.
    assert answer.margin == pytest.approx(-WEIGHT / 4, rel=1e-6)


def test_margins_are_those_of_cutting_planes():
    random = np.random.default_rng(1)
    met = {True: 0, False: 0}
    while min(met.values()) < 12:
        contacts = random_faces(random, faces=int(random.integers(1, 4)))
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.25, 0.25, 3)
        answer = check_equilibrium(contacts, MASS, centre)
        if met[answer.equilibrium] >= 12:
            continue
        met[answer.equilibrium] += 1
        wrench = wrench_to_exert(centre)
        expected = margin_by_cutting_planes(contacts, wrench)
        assert answer.margin == pytest.approx(expected, abs=1e-6 * WEIGHT)
        assert_balances(contacts, answer.forces, wrench)
        if not math.isinf(answer.margin):
            assert distances(contacts, answer.forces).min() == pytest.approx(answer.margin, abs=1e-6 * WEIGHT)


@pytest.mark.parametrize("count", [400, pytest.param(6000, marks=pytest.mark.slow)])
def test_agrees_with_linear_programs_on_random_stances(count):
    """An inscribed pyramid that holds must be confirmed, a circumscribed one that fails must be too."""
    random = np.random.default_rng(2)
    decided = {True: 0, False: 0}
    for case in range(count):
        contacts = random_faces(random, faces=1 + case % 3, spread=[0.1, 0.5, 1.5][case % 7 % 3])
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.3, 0.3, 3)
        wrench = wrench_to_exert(centre)
        answer = check_equilibrium(contacts, MASS, centre)
        assert in_equilibrium(contacts, MASS, centre) == answer.equilibrium or abs(answer.margin) < 1e-6 * WEIGHT
        for inscribed, certain in ((True, True), (False, False)):
            if answer.equilibrium == certain and case % 4:
                continue  # only the other side could show an error; some cases are checked both ways
            generators = wrench_generators(contacts, 16, inscribed=inscribed)
            feasible = linprog(np.zeros(len(generators)), A_eq=generators.T, b_eq=wrench / WEIGHT).status == 0
            if feasible == certain and abs(answer.margin) > 1e-6 * WEIGHT:
                assert answer.equilibrium == certain
                decided[certain] += 1
    assert min(decided.values()) > count // 20


def test_inscribed_pyramids_are_conservative():
    # F085; the pyramid's margin counts the distance from its own sides.
    random = np.random.default_rng(3)
    for _ in range(40):
        contacts = random_faces(random, faces=2)
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.2, 0.2, 3)
        A, b = [], []
        for i in range(len(contacts)):
            rows = np.zeros((8, 3 * len(contacts) + 1))
            rows[:, 3 * i : 3 * i + 3] = pyramid_halfspaces(contacts.friction[i], 8) @ contacts.frames[i].T
            rows[:, -1] = 1.0
            A.append(rows)
            b.append(np.zeros(8))
        equal = np.hstack(
            [np.vstack([np.eye(3), np.cross(p, np.eye(3)).T]) for p in contacts.positions] + [np.zeros((6, 1))]
        )
        cost = np.zeros(3 * len(contacts) + 1)
        cost[-1] = -1.0
        answer = linprog(cost, np.vstack(A), np.concatenate(b), equal, wrench_to_exert(centre), bounds=(None, None))
        exact = check_equilibrium(contacts, MASS, centre).margin
        if answer.status == 0 and answer.x[-1] > 0:
            assert exact >= answer.x[-1] - 1e-6 * WEIGHT
        elif answer.status == 3:
            assert exact == math.inf


@pytest.mark.parametrize("inside", [True, False])
def test_torque_limits_restrict_forces(inside):
    random = np.random.default_rng(4)
    found = 0
    while found < 5:
        contacts = random_faces(random, faces=2)
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.1, 0.1, 3)
        limits = (random.normal(size=(20, 24)), random.uniform(-3.0, -0.5, size=20) * WEIGHT * (2 if inside else 0.3))
        answer = check_equilibrium(contacts, MASS, centre, torque_limits=limits)
        if math.isinf(answer.margin) or answer.equilibrium != inside:
            continue
        found += 1
        slack = limits[0] @ answer.forces.ravel() + limits[1]
        assert slack.max() < 1e-7 * WEIGHT
        assert_balances(contacts, answer.forces, wrench_to_exert(centre))
        assert answer.margin <= check_equilibrium(contacts, MASS, centre).margin + 1e-6 * WEIGHT
        assert in_equilibrium(contacts, MASS, centre, torque_limits=limits) == inside
        expected = margin_by_cutting_planes(contacts, wrench_to_exert(centre), limits)
        assert answer.margin == pytest.approx(expected, abs=1e-6 * WEIGHT)


def test_torque_limits_bound_the_grip_in_a_chimney():
    # Each wall can be pushed with 500 N at each of two points at most: friction 0.3 then holds up 600 N.
    contacts = chimney()
    A = np.zeros((4, 12))
    A[np.arange(4), np.arange(0, 12, 3)] = contacts.normals[:, 0]
    for mass, expected in ((599.0 / 9.81, True), (601.0 / 9.81, False)):
        answer = check_equilibrium(contacts, mass, [0, 0, 1], torque_limits=(A, np.full(4, -500.0)))
        assert answer.equilibrium == expected
        assert (0.3 * 500 - mass * 9.81 / 4) / math.sqrt(1.09) == pytest.approx(answer.margin, abs=0.6)


def test_torque_limits_that_no_force_keeps():
    A, b = np.zeros((1, 12)), np.ones(1)
    answer = check_equilibrium(tilted_pad(0, 0.5), MASS, [0, 0, 1], torque_limits=(A, b))
    assert (answer.equilibrium, answer.margin) == (False, -math.inf)
    assert not answer.forces.any()


def test_acceleration_and_external_wrench_are_part_of_the_load():
    contacts = tilted_pad(0.0, 0.5)
    # Accelerating at g times the coefficient uses friction up; there is no moment with the centre of mass in the plane.
    for share, expected in ((0.999, True), (1.001, False)):
        answer = check_equilibrium(contacts, MASS, np.zeros(3), acceleration=[share * 0.5 * 9.81, 0, 0])
        assert answer.equilibrium == expected
    # A person pulls with half the weight; equal and opposite inertia makes up for it.
    pull = np.array([0.0, 0.6 * WEIGHT, 0.0])
    wrench = np.concatenate([pull, np.cross([0, 0, 0.8], pull)])
    assert not in_equilibrium(contacts, MASS, [0, 0, 0.8], external_wrench=wrench)
    with_inertia = check_equilibrium(contacts, MASS, [0, 0, 0.8], external_wrench=wrench, acceleration=pull / MASS)
    assert with_inertia.margin == pytest.approx(check_equilibrium(contacts, MASS, [0, 0, 0.8]).margin, rel=1e-6)


@pytest.mark.parametrize("unit_of_force", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("unit_of_length", [1e-3, 1.0, 1e2])
def test_scale_of_forces_and_lengths_does_not_matter(unit_of_force, unit_of_length):
    random = np.random.default_rng(5)
    for _ in range(20):
        contacts = random_faces(random)
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.2, 0.2, 3)
        expected = check_equilibrium(contacts, MASS, centre).margin
        moved = ContactPoints(
            unit_of_length * contacts.positions, contacts.frames, contacts.friction, contacts.bilateral
        )
        margin = check_equilibrium(moved, unit_of_force * MASS, unit_of_length * centre).margin
        assert margin / unit_of_force == pytest.approx(expected, abs=1e-6 * WEIGHT)


def test_place_of_the_origin_does_not_matter():
    random = np.random.default_rng(6)
    far = np.array([10.0, -8.0, 6.0])
    for _ in range(50):
        contacts = random_faces(random)
        centre = contacts.positions.mean(axis=0) + random.uniform(-0.2, 0.2, 3)
        wrench = random.normal(size=6) * 20
        moved = ContactPoints(contacts.positions + far, contacts.frames, contacts.friction, contacts.bilateral)
        shifted = wrench + np.concatenate([np.zeros(3), np.cross(far, wrench[:3])])
        here = check_equilibrium(contacts, MASS, centre, external_wrench=wrench)
        there = check_equilibrium(moved, MASS, centre + far, external_wrench=shifted)
        assert there.margin == pytest.approx(here.margin, abs=1e-6 * WEIGHT)


def test_no_contacts():
    nothing = ContactPoints.of_normals(np.zeros((0, 3)), np.zeros((0, 3)), 0.5)
    assert check_equilibrium(nothing, MASS, np.zeros(3))[:2] == (False, -math.inf)
    assert not in_equilibrium(nothing, MASS, np.zeros(3))
    assert in_equilibrium(nothing, MASS, np.zeros(3), acceleration=GRAVITY)  # free fall
    assert in_equilibrium(nothing, MASS, np.zeros(3), external_wrench=[0, 0, WEIGHT, 0, 0, 0])


def test_single_point():
    point = ContactPoints.of_normals([[1.0, 2.0, 0.0]], [0, 0, 1], 0.5)
    above = check_equilibrium(point, MASS, [1.0, 2.0, 0.7])
    assert above.margin == pytest.approx(WEIGHT * 0.5 / math.sqrt(1.25))
    np.testing.assert_allclose(above.forces, [[0, 0, WEIGHT]], atol=1e-9 * WEIGHT)
    # No force of any direction makes a moment about its own point.
    assert check_equilibrium(point, MASS, [1.01, 2.0, 0.7])[:2] == (False, -math.inf)
    pulled = check_equilibrium(point, MASS, [1.0, 2.0, 0.7], gravity=-GRAVITY)
    assert pulled.margin == pytest.approx(-WEIGHT, rel=1e-6)


def test_line_of_contacts_and_coincident_points():
    line = ContactPoints.of_normals([[x, 0, 0] for x in (0.0, 0.1, 0.1, 0.3)], [0, 0, 1], 0.6)
    inside = check_equilibrium(line, MASS, [0.2, 0, 1])
    assert inside.equilibrium
    assert_balances(line, inside.forces, wrench_to_exert([0.2, 0, 1]))
    assert check_equilibrium(line, MASS, [0.2, 0.01, 1]).margin == -math.inf
    outside = check_equilibrium(line, MASS, [0.31, 0, 1])
    assert -math.inf < outside.margin < 0
    assert_balances(line, outside.forces, wrench_to_exert([0.31, 0, 1]))


def test_without_friction_only_the_support_polygon_counts():
    pad = tilted_pad(0.0, 0.0)
    assert in_equilibrium(pad, MASS, [0.099, 0.049, 1.0])
    assert not in_equilibrium(pad, MASS, [0.101, 0.0, 1.0])
    assert check_equilibrium(pad, MASS, [0, 0, 1.0]).margin == pytest.approx(WEIGHT / 4, rel=1e-6)
    assert not in_equilibrium(pad, MASS, [0, 0, 1.0], external_wrench=[1e-3 * WEIGHT, 0, 0, 0, 0, 0])


def test_bilateral_contacts_pull():
    positions = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    grip = ContactPoints.of_normals(positions, [0, 0, 1], 0.5, [True, False])
    # The lever: the foot at 1 m carries what hangs beyond it, the hand at 0 pulls down.
    held = check_equilibrium(grip, MASS, [1.5, 0, 1])
    assert held.equilibrium
    assert held.forces[0, 2] == pytest.approx(-0.5 * WEIGHT)
    # On the other side the foot would have to pull.
    assert check_equilibrium(grip, MASS, [-0.5, 0, 1]).margin == pytest.approx(-0.5 * WEIGHT, rel=1e-6)
    both = ContactPoints.of_normals([*positions, [0, 1.0, 0]], [0, 0, 1], 0.5, True)
    anywhere = check_equilibrium(both, MASS, [5.0, -3.0, 1])
    assert (anywhere.equilibrium, anywhere.margin) == (True, math.inf)
    assert_balances(both, anywhere.forces, wrench_to_exert([5.0, -3.0, 1]))


def test_points_added_inside_change_no_answer():
    random = np.random.default_rng(7)
    pad = tilted_pad(0.2, 0.5)
    for _ in range(30):
        centre = np.append(random.uniform(-0.15, 0.15, 2), 0.5)
        weights = random.dirichlet(np.ones(4), size=6)
        more = ContactPoints(
            np.concatenate([pad.positions, weights @ pad.positions, pad.positions]),
            np.array([pad.frames[0]] * 14),
            np.full(14, 0.5),
            np.zeros(14, dtype=bool),
        )
        assert in_equilibrium(more, MASS, centre) == in_equilibrium(pad, MASS, centre)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"centre_of_mass": [0, 0]}, "centre_of_mass"),
        ({"centre_of_mass": [0, math.nan, 0]}, "centre_of_mass"),
        ({"mass": math.inf}, "mass"),
        ({"gravity": [0, 0]}, "gravity"),
        ({"acceleration": [math.inf, 0, 0]}, "acceleration"),
        ({"external_wrench": [0, 0, 0]}, "external_wrench"),
        ({"torque_limits": (np.zeros((2, 3)), np.zeros(2))}, "torque_limits A"),
        ({"torque_limits": (np.zeros((2, 12)), [0, math.nan])}, "torque_limits b"),
    ],
)
def test_bad_input_is_named(arguments, field):
    given = {"mass": MASS, "centre_of_mass": np.zeros(3), **arguments}
    for function in (check_equilibrium, in_equilibrium):
        with pytest.raises(InputError, match=field):
            function(tilted_pad(0, 0.5), **given)


def test_lever_arms_of_rounding_errors_bear_nothing():
    # Three points on a line but for 1e-9 m: only forces of some 1e8 times the weight could hold a load beside it.
    normals = [[0, 0, -1], [0, 0, 1], [0, 0, -1]]
    points = ContactPoints.of_normals([[0, 0, 0], [0.5, 1e-9, 0], [1.0, 0, 0]], normals, 0.5)
    beside = [0.5, 0.2, 0.0]
    answer = check_equilibrium(points, MASS, beside)
    assert (answer.equilibrium, answer.margin) == (False, -math.inf)
    assert not in_equilibrium(points, MASS, beside)
    # With a lever arm of a tenth of a millimetre the force in the middle is large, 20 times the weight, but real.
    wider = ContactPoints(
        points.positions * np.array([1.0, 1e5, 1.0]), points.frames, points.friction, points.bilateral
    )
    assert not in_equilibrium(wider, MASS, [0.5, -0.002, 0.0])
    assert in_equilibrium(wider, MASS, [0.5, 0.002, 0.0])
    assert check_equilibrium(wider, MASS, [0.5, 0.002, 0.0]).equilibrium


@pytest.mark.parametrize("mu", [1e-3, 0.1, 1.0, 30.0, 1e3, 1e4])
def test_level_ground_with_any_friction(mu):
    """Held above the support polygon alone, with a quarter of the weight as far as possible from each cone's side."""
    contacts = ContactPoints.of_normals(CORNERS, [0, 0, 1], mu)
    middle, reach = CORNERS.mean(axis=0), np.ptp(CORNERS[:, 0])
    for across, inside in ((0.0, True), (0.49, True), (0.51, False), (2.0, False)):
        centre = middle + np.array([across * reach, 0.0, 0.8])
        assert check_equilibrium(contacts, MASS, centre).equilibrium is inside
        assert in_equilibrium(contacts, MASS, centre) is inside
    margin = check_equilibrium(contacts, MASS, middle).margin
    assert margin == pytest.approx(WEIGHT / 4 * mu / math.hypot(1.0, mu), rel=1e-6)


@pytest.mark.parametrize("mu", [1.1e4, 1e7, math.inf, -0.1])
def test_friction_that_numbers_cannot_hold_is_refused(mu):
    with pytest.raises(InputError, match=r"friction: (coefficient 0 is|is \[)"):
        ContactPoints.of_normals(CORNERS, [0, 0, 1], mu)


@pytest.mark.parametrize("mass", [-1.0, math.nan, math.inf])
def test_a_mass_that_no_robot_has_is_refused(mass):
    contacts = ContactPoints.of_normals(CORNERS, [0, 0, 1], 0.5)
    for ask in (
        lambda: check_equilibrium(contacts, mass, [0, 0, 1]),
        lambda: in_equilibrium(contacts, mass, [0, 0, 1]),
        lambda: centre_of_mass_region(contacts, mass),
        lambda: WrenchCone.of_contacts(contacts).centre_of_mass_halfspaces(mass),
    ):
        with pytest.raises(InputError, match=r"mass: is .*\. Give a finite number"):
            ask()
    with pytest.raises(InputError, match="mass: the load is too large"):
        check_equilibrium(contacts, 1e300, [0, 0, 1])
