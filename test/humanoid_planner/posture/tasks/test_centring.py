# SPDX-License-Identifier: Apache-2.0
"""Criteria that centre the centre of mass."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, feet_and_hand, where_it_is

from humanoid_model import Contact, ContactKind, InputError, Stance, Surface
from humanoid_planner.equilibrium import ContactPoints, check_equilibrium
from humanoid_planner.posture import generate_posture
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import centre_in_polygon, centre_in_wrenches

#: Of the soles and the hand.
FRICTION = 0.6
GRAVITY = [0.0, 0.0, -9.81]


def contacts_of(stance: Stance) -> PostureProblem:
    return PostureProblem(HRP2, stance, PostureRequirements(stability="none"), start=HALF_SITTING)


@pytest.mark.feature("001-F053")
@pytest.mark.parametrize("make", [centre_in_polygon, centre_in_wrenches])
def test_the_centre_of_mass_goes_over_the_middle_of_a_foot(make) -> None:
    """The largest circles of a rectangle lie along its middle line."""
    stance = Stance((where_it_is("left_sole"),))
    problem = contacts_of(stance)
    result = generate_posture(HRP2, stance, criterion=make(problem.kinematics, problem.contacts, GRAVITY))
    assert result.success, result.explanation
    com = pin.centerOfMass(HRP2.model, HRP2.model.createData(), result.q)
    foot = stance.contacts[0]
    assert abs(com[1] - foot.y) < 2e-3
    assert abs(com[0] - foot.x) < 0.05


def test_on_flat_ground_with_friction_both_agree() -> None:
    problem = contacts_of(Stance(feet()))
    polygon = centre_in_polygon(problem.kinematics, problem.contacts, GRAVITY)
    wrenches = centre_in_wrenches(problem.kinematics, problem.contacts, GRAVITY)
    assert abs(polygon.target[0] - wrenches.target[0]) < 3e-3


@pytest.mark.feature("001-F053")
def test_a_hand_on_a_wall_moves_the_middle_of_the_wrenches_alone() -> None:
    """K6 against K5: where the centre of mass is held, sampled by the exact cones, and the room around the middles."""
    stance = feet_and_hand()
    problem = PostureProblem(HRP2, stance, PostureRequirements(stability="none", friction=FRICTION), start=HALF_SITTING)
    points = ContactPoints.of_stance(stance, lambda body: pin.SE3.Identity(), FRICTION)
    xs, ys = np.arange(-0.3, 0.7, 0.02), np.arange(-0.6, 0.4, 0.02)
    places = np.array([(x, y) for x in xs for y in ys])
    held = np.array([check_equilibrium(points, HRP2.total_mass, [x, y, 0.0]).equilibrium for x, y in places])
    assert held.any()

    def room(place: np.ndarray) -> float:
        return float(np.linalg.norm(places[~held] - place, axis=1).min())

    most = max(room(place) for place in places[held])
    wrenches = centre_in_wrenches(problem.kinematics, problem.contacts, GRAVITY).target
    polygon = centre_in_polygon(problem.kinematics, problem.contacts, GRAVITY).target
    assert room(wrenches) > most - 0.03  # a step of the samples' grid each way
    assert room(polygon) < most - 0.04


def test_a_steep_ramp_moves_the_middle_uphill() -> None:
    """Near the friction angle only the edges that press hardest hold: the region isn't the patch's projection."""
    ramp = Surface("ramp", "world", pin.SE3(pin.utils.rotate("y", -0.4), np.zeros(3)))
    stance = Stance((Contact(HRP2.contacts["left_sole"], ramp, 0.0, 0.0, 0.0),))
    problem = PostureProblem(HRP2, stance, PostureRequirements(stability="none", friction=0.9), start=HALF_SITTING)
    assert np.isfinite(centre_in_wrenches(problem.kinematics, problem.contacts, GRAVITY).target).all()
    slippery = PostureProblem(HRP2, stance, PostureRequirements(stability="none", friction=0.1), start=HALF_SITTING)
    with pytest.raises(InputError, match="nowhere can the contacts hold"):
        centre_in_wrenches(slippery.kinematics, slippery.contacts, GRAVITY)


def test_without_bearing_contacts_there_is_no_middle() -> None:
    problem = contacts_of(Stance(feet(kind=ContactKind.RELEASED)))
    with pytest.raises(InputError, match="no contact bears load"):
        centre_in_polygon(problem.kinematics, problem.contacts, GRAVITY)
