# SPDX-License-Identifier: Apache-2.0
"""Criteria that centre the centre of mass."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, where_it_is

from humanoid_model import Contact, ContactKind, InputError, Stance, Surface
from humanoid_planner.posture import PostureProblem, generate_posture
from humanoid_planner.posture.centring import centre_in_polygon, centre_in_wrenches

GRAVITY = [0.0, 0.0, -9.81]


def contacts_of(stance: Stance) -> PostureProblem:
    return PostureProblem(HRP2, stance, start=HALF_SITTING, stability="none")


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


def test_a_steep_ramp_moves_the_middle_uphill() -> None:
    """Near the friction angle only the edges that press hardest hold: the region isn't the patch's projection."""
    ramp = Surface("ramp", "world", pin.SE3(pin.utils.rotate("y", -0.4), np.zeros(3)))
    stance = Stance((Contact(HRP2.contacts["left_sole"], ramp, 0.0, 0.0, 0.0),))
    problem = PostureProblem(HRP2, stance, start=HALF_SITTING, stability="none", friction=0.9)
    assert np.isfinite(centre_in_wrenches(problem.kinematics, problem.contacts, GRAVITY).target).all()
    slippery = PostureProblem(HRP2, stance, start=HALF_SITTING, stability="none", friction=0.1)
    with pytest.raises(InputError, match="nowhere can the contacts hold"):
        centre_in_wrenches(slippery.kinematics, slippery.contacts, GRAVITY)


def test_without_bearing_contacts_there_is_no_middle() -> None:
    problem = contacts_of(Stance(feet(kind=ContactKind.RELEASED)))
    with pytest.raises(InputError, match="no contact bears load"):
        centre_in_polygon(problem.kinematics, problem.contacts, GRAVITY)
