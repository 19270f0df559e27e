# SPDX-License-Identifier: Apache-2.0
"""The dynamic lift's plan (000-F152) against Pinocchio's robot in three dimensions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from fixtures.lifting import LoadedRobot, hrp2

from humanoid_model.errors import InputError
from humanoid_studies.lifting.dynamic_lift import DynamicLift, LiftTask, plan_dynamic_lift


@cache
def planned() -> DynamicLift:
    return plan_dynamic_lift(hrp2(), LiftTask())


@pytest.mark.feature("000-F152")
def test_the_impact_keeps_the_momentum_of_all_bodies() -> None:
    """Linear, and angular about the soles' middle: the foot is the centre of percussion, whatever limbs do."""
    lift = planned()
    k = int(np.argmin(np.abs(lift.time - lift.impact_time)))
    whole, foot = LoadedRobot(lift.lifter), np.array([0.03, 0.0, 0.0])
    before, after = (whole.momentum(lift.q[k], v, foot) for v in (lift.before, lift.after))
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(lift.v[k], lift.before, atol=1e-4)
    assert before[2] == pytest.approx(lift.rigid.momentum, rel=0.05)
    assert lift.speed_before == pytest.approx(lift.rigid.speed_before, rel=0.05)


@pytest.mark.feature("000-F152")
def test_the_box_stands_until_the_impact_and_both_come_to_rest_above_the_soles() -> None:
    lift = planned()
    whole, task = LoadedRobot(lift.lifter), LiftTask()
    places, centres = [], []
    for q in lift.q[::4]:
        data = whole.data
        pin.centerOfMass(whole.model, data, whole.configuration(q))
        hand = data.oMi[whole.model.getJointId("RARM_JOINT5")]
        places.append(hand.act(np.array([lift.lifter.reach.real, 0.0, lift.lifter.reach.imag])))
        centres.append(data.com[0].copy())
    standing = lift.time[::4] <= lift.impact_time
    place, centre = np.array(places), np.array(centres)
    np.testing.assert_allclose(place[standing][:, [0, 2]], [[lift.box_x, 0.495]] * standing.sum(), atol=1e-6)
    toe, middle = lift.lifter.sole[1], 0.5 * sum(lift.lifter.sole)
    at = int(np.argmax(~standing)) - 1
    assert centre[at, 0] > toe - 0.01  # too far to be lifted slowly
    assert centre[-1, 0] == pytest.approx(middle, abs=2e-3)
    assert place[-1, 2] > 0.495 + 0.08
    assert np.abs(lift.v[-1]).max() < 1e-6
    assert np.abs(lift.v[0]).max() < 1e-3
    assert task.held.below * task.held.height == pytest.approx(0.495)


def test_hands_press_the_box_rather_than_the_toes_bear_too_much() -> None:
    """Feet and standing box share the ground's force so that the feet's own pressure stays behind the toes."""
    lift = planned()
    standing = lift.time <= lift.impact_time
    box = lift.lifter.held.mass * lift.lifter.tree.gravity - lift.hand_force[standing, 1]
    assert (box >= lift.lifter.held.mass * lift.lifter.tree.gravity - 1e-9).all()
    assert lift.zero_moment_point[standing].max() > lift.lifter.sole[1]
    assert not lift.hand_force[~standing].any()
    # Moments about the ground: what both press is what the zero-moment point says of them.
    whole, k = LoadedRobot(lift.lifter), 10
    a = (lift.v[k + 1] - lift.v[k - 1]) / (lift.time[k + 1] - lift.time[k - 1])
    right = whole.wrenches(lift.q[k], lift.v[k], a)
    assert lift.zero_moment_point[k] == pytest.approx(right.zero_moment_point, abs=5e-3)
    feet = (right.zero_moment_point * right.ground[1] - lift.box_x * box[k]) / (right.ground[1] - box[k])
    assert feet == pytest.approx(lift.lifter.sole[1] - 0.02, abs=5e-3)


def test_a_way_that_arms_cannot_go_is_refused() -> None:
    with pytest.raises(InputError, match="ARM_JOINT3"):
        plan_dynamic_lift(hrp2(), LiftTask(way=0.3))
