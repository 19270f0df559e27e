# SPDX-License-Identifier: Apache-2.0
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.contacts.stances.couples import Couples
from humanoid_planner.contacts.stances.planned_stance import Hold, PlannedStance, Role


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
