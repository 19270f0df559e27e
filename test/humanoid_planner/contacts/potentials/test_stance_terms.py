# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_planner.contacts import plan_contacts
from humanoid_planner.contacts.potentials.stance_terms import (
    BarycentreNear,
    ContactCount,
    CrossedPenalty,
    LocationPenalty,
    OnlyPenalty,
)
from humanoid_planner.contacts.stances.couples import Couples
from humanoid_planner.contacts.stances.planned_stance import Hold, PlannedStance, Role
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at


@pytest.fixture(scope="module")
def couples():
    names = ["left_sole", "right_sole", "left_hand_fingers"]
    return Couples(load_robot("hrp2"), load_scene("can_on_table"), names, ["platform", "table_top"])


def stance(couples, *contacts):
    return PlannedStance(tuple(Hold(couples.number_of(*names), x, y, 0.0, role) for names, x, y, role in contacts))


@pytest.mark.feature("001-F173", "001-F176")
def test_contacts_are_counted_by_their_roles(couples):
    three = stance(
        couples,
        (("left_sole", "platform"), 0, 0.1, Role.BEARING),
        (("right_sole", "platform"), 0, -0.1, Role.RELEASED),
        (("left_hand_fingers", "table_top"), 0, 0, Role.NEW),
    )
    assert ContactCount(0.5).value(three, couples) == pytest.approx(0.5 * 2)
    assert ContactCount(0.5, preferred=4).value(three, couples) == pytest.approx(0.5 * 2)
    assert ContactCount(0.5, new=0.0).value(three, couples) == pytest.approx(0.5)
    assert ContactCount(0.5, released=1.0).value(three, couples) == pytest.approx(1.5)


@pytest.mark.feature("001-F174")
def test_locations_and_links_have_their_penalty(couples):
    two = stance(
        couples,
        (("left_sole", "platform"), 0, 0.1, Role.BEARING),
        (("left_hand_fingers", "table_top"), 0, 0, Role.NEW),
    )
    assert LocationPenalty({"left_hand_fingers": 2.0}).value(two, couples) == 2.0
    assert LocationPenalty({"LARM_LINK6": 2.0, "left_sole": -0.5}).value(two, couples) == 1.5
    assert LocationPenalty({"right_sole": 9.0}).value(two, couples) == 0.0


@pytest.mark.feature("001-F175")
def test_hands_only_have_a_penalty(couples):
    term = OnlyPenalty(frozenset({"LARM_LINK6", "RARM_LINK6"}), 5.0)
    hand = (("left_hand_fingers", "table_top"), 0, 0, Role.BEARING)
    assert term.value(stance(couples, hand), couples) == 5.0
    leaving = (("left_sole", "platform"), 0, 0.1, Role.RELEASED)
    assert term.value(stance(couples, hand, leaving), couples) == 5.0
    assert term.value(stance(couples, hand, (*leaving[:3], Role.BEARING)), couples) == 0.0


@pytest.mark.feature("001-F172")
def test_the_barycentre_is_that_of_the_places_in_the_world(couples):
    table = pin.SE3(pin.utils.rotate("z", np.pi / 2), np.array([1.0, 0, 0.7]))
    placements = {"platform": pin.SE3(np.eye(3), np.array([0, 0, 0.1])), "table_top": table}
    two = stance(
        couples,
        (("left_sole", "platform"), 0.2, 0.4, Role.BEARING),
        (("left_hand_fingers", "table_top"), 0.2, 0.0, Role.BEARING),
    )
    middle = np.array([1.2, 0.6, 0.8]) / 2
    assert BarycentreNear(middle, placements).value(two, couples) == pytest.approx(0.0, abs=1e-12)
    assert BarycentreNear(middle + np.array([0, 0.3, 0.4]), placements, 2.0).value(two, couples) == pytest.approx(1.0)


@pytest.mark.feature("001-F254")
def test_feet_that_cross_have_a_penalty(couples):
    """Both feet turned by a right angle: left is along -x of the world, the surface half turned back."""
    placements = {"platform": pin.SE3(pin.utils.rotate("z", -np.pi / 2), np.array([0.3, 0.2, 0.1]))}

    def turned(left, right, angle):
        holds = zip(("left_sole", "right_sole"), (left, right), strict=True)
        return PlannedStance(
            tuple(
                Hold(couples.number_of(name, "platform"), *place, theta, Role.BEARING)
                for (name, place), theta in zip(holds, (angle, 0.0), strict=True)
            )
        )

    term = CrossedPenalty(placements, weight=2.0, width=0.12)
    assert term.value(turned((0.0, 0.1), (0.0, -0.1), 0.0), couples) == 0.0
    assert term.value(turned((0.0, 0.0), (0.3, -0.1), 0.0), couples) == pytest.approx(2.0 * 0.02)
    assert term.value(turned((0.0, -0.1), (0.3, 0.1), 0.0), couples) == pytest.approx(2.0 * 0.32)
    # Beside the right foot as it sees it, before the left one as that one sees it: in its way.
    assert term.value(turned((0.0, 0.2), (0.0, 0.0), np.pi / 2), couples) == pytest.approx(2.0 * 0.12)
    alone = PlannedStance((Hold(couples.number_of("left_sole", "platform"), 0.0, 0.0, 0.0, Role.BEARING),))
    assert term.value(alone, couples) == 0.0


def plan_of(case, goal, *terms):
    """Names of the locations that last in each stance of the plan."""
    plan = plan_contacts(case.but(goal=goal, terms=terms).problem, max_nodes=100)
    assert plan.success, plan.explanation
    bearing = [[contact for contact in stance.contacts if contact.kind.bears] for stance in plan.stances]
    return [{contact.location.name for contact in contacts} for contacts in bearing]


@pytest.mark.feature("001-F173")
def test_a_plan_uses_fewer_contacts_where_they_cost(can):
    feet = {"left_sole", "right_sole"}
    assert plan_of(can, can.problem.goal)[-1] == {*feet, "right_hand_fingers"}
    assert plan_of(can, can.problem.goal, ContactCount(0.3))[-1] == {"left_sole", "right_hand_fingers"}


@pytest.mark.feature("001-F174")
def test_a_plan_bears_on_the_other_hand_where_one_is_avoided(can):
    lean = [centre_of_mass_at((0.45, 0.0, 0.75), 0.1)]
    assert "right_hand_fingers" in plan_of(can, lean)[-1]
    avoiding = plan_of(can, lean, LocationPenalty({"right_hand_fingers": 1.0}))
    assert "left_hand_fingers" in avoiding[-1]
    assert not any("right_hand_fingers" in held for held in avoiding)


@pytest.mark.feature("001-F175")
def test_a_plan_lifts_no_foot_before_a_hand_holds_where_feet_only_are_avoided(can):
    soles = frozenset({"left_sole", "right_sole"})
    few = ContactCount(0.3)
    assert {"left_sole"} in plan_of(can, can.problem.goal, few)
    careful = plan_of(can, can.problem.goal, few, OnlyPenalty(soles, 1.0))
    assert {"left_sole"} not in careful
    assert {"right_sole"} not in careful
    assert "right_hand_fingers" in careful[-1]
