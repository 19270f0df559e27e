# SPDX-License-Identifier: Apache-2.0
import itertools
import math

import numpy as np
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.contacts.stance import Couples, Hold, PlannedStance, Role, StanceMetric, StanceSet


@pytest.fixture(scope="module")
def couples():
    return Couples(load_robot("hrp2"), load_scene("stairs"), ["left_sole", "right_sole"], ["floor", "step_1"])


@pytest.mark.feature("001-F163")
def test_roles_along_a_step_of_two_feet(couples):
    left, right = couples.number_of("left_sole", "floor"), couples.number_of("right_sole", "floor")
    ahead = couples.number_of("right_sole", "step_1")
    standing = PlannedStance((Hold(right, 0, -0.1, 0), Hold(left, 0, 0.1, 0)))
    assert standing.couples == tuple(sorted((left, right)))
    lifted = standing.releasing(right)
    assert {hold.couple: hold.role for hold in lifted.holds} == {left: Role.BEARING, right: Role.RELEASED}
    assert lifted.couples == (left,)
    assert lifted.settled().couples == (left,)
    put = lifted.adding(Hold(ahead, 0.05, -0.1, 0))
    assert {hold.couple: hold.role for hold in put.holds} == {left: Role.BEARING, ahead: Role.NEW}
    assert put.couples == tuple(sorted((left, ahead)))
    assert {hold.role for hold in put.settled().holds} == {Role.BEARING}


def test_only_bearing_contacts_bear_in_the_posture(couples):
    left, right = couples.number_of("left_sole", "floor"), couples.number_of("right_sole", "floor")
    stance = PlannedStance((Hold(left, 0.1, 0.2, 0.3), Hold(right, 0, -0.1, 0))).releasing(right).stance(couples)
    kinds = {contact.location.name: contact.kind for contact in stance.contacts}
    assert kinds == {"left_sole": ContactKind.FIXED, "right_sole": ContactKind.RELEASED}
    contact = stance.find("left_sole")
    assert (contact.surface.name, contact.x, contact.y, contact.theta) == ("floor", 0.1, 0.2, 0.3)


@pytest.mark.feature("001-F011")
def test_couples_are_numbered_and_forbidden_by_location_or_link():
    robot, scene = load_robot("hrp2"), load_scene("stairs")
    locations, surfaces = ["left_sole", "right_sole", "left_hand_fingers"], ["floor", "step_1", "step_2"]
    forbidden = [("LARM_LINK6", "floor"), ("left_sole", "step_2")]
    couples = Couples(robot, scene, locations, surfaces, forbidden)
    assert len(couples) == 9
    for number in range(9):
        names = couples.location(number).name, couples.surface(number).name
        assert couples.number_of(*names) == number
        refused = names in (("left_hand_fingers", "floor"), ("left_sole", "step_2"))
        assert (number in couples.allowed) is not refused


def test_unknown_names_are_told():
    robot, scene = load_robot("hrp2"), load_scene("stairs")
    for arguments, message in (
        ((["left_sole", "paw"],), "unknown name 'paw'"),
        ((["left_sole"], ["roof"]), "surfaces: unknown name 'roof'"),
        (([],), "locations: is empty"),
        ((["left_sole", "left_sole"],), "given twice"),
        ((["left_sole"], None, [("left_sole", "roof")]), "forbidden"),
    ):
        with pytest.raises(InputError, match=message):
            Couples(robot, scene, *arguments)


@pytest.mark.feature("001-F019")
def test_stances_are_as_many_as_the_thesis_says_and_fewer_where_links_have_two_locations():
    """O1-01: 12 locations, 3 surfaces, 4 contacts."""
    robot, scene = load_robot("hrp2"), load_scene("chair_and_table")

    def named(*parts):
        return [f"{side}_{part}" for part in parts for side in ("left", "right")]

    apart = Couples(robot, scene, named("sole", "knee", "thigh_back", "hand_fingers", "hand_back", "forearm"))
    assert apart.stances(4) == 46665
    assert apart.stances(5) == 239121
    shared = Couples(robot, scene, named("sole", "toe", "knee", "thigh_back", "hand_fingers", "hand_back"))
    assert shared.stances(4) == 38898
    feet = Couples(robot, scene, named("sole"), forbidden=[("left_sole", "seat")])
    assert feet.stances(4) == (2 + 3) + 2 * 3


def stance(*holds):
    return PlannedStance(tuple(Hold(*hold) for hold in holds))


def at(x, y=0.0, theta=0.0):
    return stance((1, x, y, theta))


@pytest.mark.feature("001-F167")
def test_the_worked_example_of_the_order():
    a, b, c = stance((1, 0, 0, 0)), stance((1, 0, 0, 0), (2, 0, 0, 0)), stance((1, 0, 0, 0), (7, 0, 0, 0))
    metric = StanceMetric()
    assert metric.precedes(a, b)
    assert metric.precedes(b, c)
    assert metric.precedes(a, c)
    assert not metric.precedes(c, b)


def random_stances(rng, count):
    found = []
    for _ in range(count):
        couples = rng.choice(4, size=rng.integers(1, 4), replace=False)
        found.append(PlannedStance(tuple(Hold(int(c), *rng.integers(-2, 3, 3) * 0.5) for c in couples)))
    return found


@pytest.mark.feature("001-F167")
def test_of_two_stances_that_differ_exactly_one_comes_first():
    metric = StanceMetric(tolerance=0.01)
    stances = random_stances(np.random.default_rng(0), 60)
    for a, b in itertools.product(stances, repeat=2):
        assert metric.precedes(a, b) + metric.precedes(b, a) == (not metric.equal(a, b))
    for a, b, c in itertools.product(stances[:25], repeat=3):
        assert metric.precedes(a, c) or not (metric.precedes(a, b) and metric.precedes(b, c))


@pytest.mark.feature("001-F167")
def test_equality_has_a_tolerance_and_is_not_transitive():
    metric = StanceMetric(tolerance=1.0)
    assert metric.equal(at(0), at(0.9))
    assert metric.equal(at(0.9), at(1.8))
    assert not metric.equal(at(0), at(1.8))


def test_angles_count_by_the_metric_and_wrap():
    metric = StanceMetric(tolerance=0.03, radian=0.1)
    assert metric.distance(at(0, 0, 0), at(0, 0, 0.2)) == pytest.approx(0.02)
    assert metric.distance(at(0, 0, math.pi - 0.1), at(0, 0, -math.pi + 0.1)) == pytest.approx(0.02)
    assert metric.equal(at(0, 0, 0.0), at(0, 0, 2 * math.pi))


@pytest.mark.feature("001-F167")
def test_the_set_takes_what_an_exhaustive_comparison_takes():
    rng, metric = np.random.default_rng(1), StanceMetric(tolerance=0.1, radian=0.3)
    known, taken = StanceSet(metric), []
    for _ in range(400):
        new = stance(*((c, *rng.uniform(0, 0.5, 2), rng.uniform(-math.pi, math.pi)) for c in range(rng.integers(1, 3))))
        expected = all(metric.distance(new, other) > 0.1 for other in taken)
        assert (new in known) is not expected
        assert known.add(new) is expected
        taken += [new] if expected else []
    assert len(known) == len(taken) == len(known.stances())


@pytest.mark.feature("001-F168")
def test_a_larger_tolerance_leaves_fewer_stances():
    places = np.random.default_rng(2).uniform(0, 1, (300, 2))
    sizes = []
    for tolerance in (0.01, 0.1, 0.3):
        known = StanceSet(StanceMetric(tolerance))
        for x, y in places:
            known.add(at(x, y))
        sizes.append(len(known))
    assert sizes[0] > sizes[1] > sizes[2]


def test_bad_tolerances_are_named():
    with pytest.raises(InputError, match="tolerance of stances: is 0"):
        StanceMetric(0)
