# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, ContactKind, Stance, Surface, load_robot
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_planner.motion.motion import Case, find_transitions, stabiliser_events, waist_references

ROBOT = load_robot("hrp2", geometry=False)
FLOOR = Surface("floor", "floor", pin.SE3.Identity())
FIXED, RELEASED = ContactKind.FIXED, ContactKind.RELEASED


def hold(name: str, x: float = 0.0, kind: ContactKind = FIXED) -> Contact:
    return Contact(ROBOT.contacts[name], FLOOR, x, 0.0, 0.0, kind)


L, R, H = "left_sole", "right_sole", "right_hand_fingers"
BOTH = Stance((hold(L), hold(R)))


@pytest.mark.feature("001-F222")
def test_a_step_moves_one_body_and_then_transfers_the_weight() -> None:
    """Specification 001, E.4: cases 4a and 3."""
    plan = [
        BOTH,
        Stance((hold(L), hold(R, kind=RELEASED))),
        Stance((hold(L), hold(R, 0.3, RELEASED))),
        Stance((hold(L, kind=RELEASED), hold(R, 0.3))),
    ]
    first, step, transfer = find_transitions(plan)
    assert (first.case, first.ending) == (Case.ADDED_REMOVED, (R,))
    assert step.case is Case.MOVED
    assert [contact and contact.x for contact in (step.leaving, step.arriving)] == [0.0, 0.3]
    assert [contact.location.name for contact in step.held.contacts] == [L]
    assert transfer.case is Case.ADDED_REMOVED
    assert transfer.leaving is transfer.arriving is None
    assert (transfer.fresh, transfer.ending) == ((R,), (L,))
    assert all(contact.kind is FIXED for contact in transfer.held.contacts)


@pytest.mark.feature("001-F222")
def test_all_five_cases_are_told_apart() -> None:
    comes = [BOTH, BOTH.adding(hold(H, kind=RELEASED))]
    goes = [Stance((hold(L), hold(R), hold(H, kind=RELEASED))), BOTH]
    other = [
        Stance((hold(L), hold(R, kind=RELEASED))),
        Stance((hold(L), hold(H, kind=RELEASED))),
    ]
    assert find_transitions(comes)[0].case is Case.ADDED_ADDED
    assert find_transitions(goes)[0].case is Case.REMOVED_REMOVED
    both = find_transitions(other)[0]
    assert both.case is Case.LEFT_AND_CAME
    assert [contact and contact.location.name for contact in (both.leaving, both.arriving)] == [R, H]
    assert "right_sole leaves floor, right_hand_fingers comes onto floor" in both.label


def test_plans_that_jump_are_refused() -> None:
    far = Stance((hold(L, 0.3, RELEASED), hold(R, 0.3, RELEASED)))
    with pytest.raises(InputError, match=r"left_sole, right_sole change at once"):
        find_transitions([Stance((hold(L, kind=RELEASED), hold(R, kind=RELEASED))), far])
    with pytest.raises(InputError, match=r"stance 0: right_sole bears on floor where it is made or broken"):
        find_transitions([BOTH, Stance((hold(L),))])
    with pytest.raises(InputError, match=r"stance 1: right_sole bears"):
        find_transitions([Stance((hold(L),)), dataclasses.replace(BOTH)])
    with pytest.raises(InputError, match="1 stances"):
        find_transitions([BOTH])


TABLE = Surface("table", "table", pin.SE3.Identity())


@pytest.mark.feature("001-F235")
def test_references_are_the_centre_of_mass_on_the_floor_as_the_waist_sees_it(step: SimpleNamespace) -> None:
    trajectory, model = step.motion.trajectory, step.robot.model
    found = waist_references(trajectory)
    for k in range(0, len(trajectory.times), 60):
        q = trajectory.q[k]
        waist = pin.XYZQUATToSE3(q[:7])
        world = waist.act(found.zero_moment_point[k])
        np.testing.assert_allclose(world[:2], pin.centerOfMass(model, model.createData(), q)[:2], atol=1e-9)
        assert abs(world[2]) < 1e-9
        np.testing.assert_allclose(pin.rpy.rpyToMatrix(*found.orientation[k]), waist.rotation, atol=1e-9)


@pytest.mark.feature("001-F236")
def test_the_stabiliser_is_off_while_anything_but_soles_bears(step: SimpleNamespace) -> None:
    robot, planned = step.robot, step.motion.trajectory
    hands = [(1.0, 2.0), (1.5, 2.5), (3.0, 3.2)]
    spans = [
        ContactSpan(Contact(robot.contacts[name], TABLE, 0.0, 0.0, 0.0), start, end)
        for (start, end), name in zip(
            hands, ("left_hand_fingers", "right_hand_fingers", "left_hand_fingers"), strict=True
        )
    ]
    still = np.zeros((2, robot.model.nv))
    motion = WholeBodyTrajectory(robot, [0.0, 4.0], planned.q[[0, 0]], still, still, [*planned.contacts, *spans])
    assert stabiliser_events(motion) == [(1.0, False), (2.5, True), (3.0, False), (3.2, True)]
    assert stabiliser_events(planned) == []
    with pytest.raises(InputError, match="zero-moment point"):
        waist_references(motion)
