# SPDX-License-Identifier: Apache-2.0
import itertools
import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_planner.contacts import plan_contacts
from humanoid_planner.contacts.potentials import (
    Attractor,
    BarycentreNear,
    CentreOfMassAttractor,
    ContactCount,
    CrossedPenalty,
    LocationPenalty,
    OnlyPenalty,
    PointAlongGuide,
    PointAttractor,
)
from humanoid_planner.contacts.stance import Couples, Hold, PlannedStance, Role
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at
from humanoid_planner.posture.tasks.state import ForceModel, PostureState


def slope(potential, point, h=1e-6):
    return np.array([(potential(point + h * e) - potential(point - h * e)) / (2 * h) for e in np.eye(len(point))])


@pytest.mark.feature("001-F152")
@pytest.mark.parametrize("switch", [0.0, 0.7, math.inf])
def test_forces_are_slopes(switch):
    field, rng = Attractor([1.0, -2.0, 0.5], switch, 3.0), np.random.default_rng(1)
    for point in rng.normal(size=(10, 3)):
        assert field.force(point) == pytest.approx(-slope(field.value, point), abs=1e-6)


@pytest.mark.feature("001-F152")
def test_the_mixed_attractor_joins_smoothly():
    field = Attractor([0.0], 0.8, 3.0)
    for side in (-1e-9, 1e-9):
        assert field.value([0.8 + side]) == pytest.approx(0.5 * 3.0 * 0.8**2)
        assert field.force([0.8 + side]) == pytest.approx([-3.0 * 0.8])
    assert field.value([0.0]) == 0.0


@pytest.mark.feature("001-F152")
def test_the_limits_of_the_switch_are_the_quadratic_and_the_linear_attractor():
    assert Attractor([0, 0], math.inf, 2.0).value([3, 4]) == pytest.approx(25.0)
    assert Attractor([0, 0], 0.0, 2.0).value([3, 4]) == pytest.approx(10.0)
    assert not Attractor([0, 0], 0.0).force([0, 0]).any()


def test_bad_numbers_are_named():
    with pytest.raises(InputError, match="goal of the attractor"):
        Attractor([math.nan])
    with pytest.raises(InputError, match="switch of the attractor: is -1"):
        Attractor([0], -1)


HAND = "LARM_LINK6"


@pytest.fixture(scope="module")
def kinematics():
    return RobotKinematics(load_robot("hrp2"))


def at(kinematics, x):
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    state.set(x)
    return state


def guide(kinematics):
    """Forward, then to the left, crouching."""
    standing, low = (kinematics.robot.postures[name].copy() for name in ("half_sitting", "squat"))
    ahead = standing.copy()
    ahead[0] += 1.0
    low[:2] = [1.0, 0.8]
    return [standing, ahead, low]


def criteria(kinematics):
    return {
        "centre of mass": CentreOfMassAttractor(Attractor([1.0, 0.2, 0.9], 0.5)),
        "hand": PointAttractor(Attractor([1.0, 0.2, 0.9], 0.0), HAND, [0.0, 0.1, 0.0]),
        "hand along a guide": PointAlongGuide(kinematics, guide(kinematics), HAND, progress=0.7, switch=0.2),
    }


@pytest.mark.feature("001-F171", "001-F192")
@pytest.mark.parametrize("name", ["centre of mass", "hand", "hand along a guide"])
def test_gradients_are_those_of_the_values(kinematics, name):
    criterion, rng = criteria(kinematics)[name], np.random.default_rng(2)
    x = kinematics.coordinates(kinematics.robot.postures["half_sitting"])
    for _ in range(3):
        y = x + rng.uniform(-0.15, 0.15, len(x))
        g = criterion.gradient(at(kinematics, y))
        for _ in range(4):
            d = rng.normal(size=len(x)) * 1e-5
            change = criterion.value(at(kinematics, y + d)) - criterion.value(at(kinematics, y - d))
            assert change == pytest.approx(2 * g @ d, rel=1e-4, abs=1e-9)
        assert np.linalg.eigvalsh(criterion.hessian(at(kinematics, y))).min() > -1e-9


@pytest.mark.feature("001-F171")
def test_values_are_distances(kinematics):
    x = kinematics.coordinates(kinematics.robot.postures["half_sitting"])
    field = criteria(kinematics)["hand"]
    state = at(kinematics, x)
    far = np.linalg.norm(kinematics.point(HAND, np.array([0.0, 0.1, 0.0])) - [1.0, 0.2, 0.9])
    assert field.value(state) == pytest.approx(far)


@pytest.mark.feature("001-F192")
def test_the_valley_falls_along_the_guide_and_rises_beside_it(kinematics):
    criterion, keys = criteria(kinematics)["hand along a guide"], guide(kinematics)
    x = [kinematics.coordinates(q) for q in keys]
    along = [
        criterion.value(at(kinematics, (1 - u) * a + u * b))
        for a, b in itertools.pairwise(x)
        for u in np.linspace(0.05, 0.95, 7)
    ]
    assert (np.diff(along) < 0).all()
    beside = x[0].copy()
    beside[1] += 0.3
    assert criterion.value(at(kinematics, beside)) > criterion.value(at(kinematics, x[0])) + 0.02


def test_a_body_that_stays_has_no_curve(kinematics):
    q = kinematics.robot.postures["half_sitting"]
    with pytest.raises(InputError, match="stays where it is"):
        PointAlongGuide(kinematics, [q, q], HAND)


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
