# SPDX-License-Identifier: Apache-2.0
import dataclasses
import itertools

import numpy as np
import pinocchio as pin
import pytest

from examples.contact_scenarios import CAN, step_with_rail
from humanoid_planner.contacts import ContactPlanner, verify_plan
from humanoid_planner.contacts.verify_plan import PlanLimits


@pytest.fixture(scope="module")
def climbed():
    case = step_with_rail()
    planner = ContactPlanner(case.but(seed=0).problem)
    plan = planner.run(max_nodes=60)
    assert plan.success
    return case, planner, plan


def steps(case, plan):
    """(n, nv) from each posture to the next."""
    return np.array([pin.difference(case.robot.model, *pair) for pair in itertools.pairwise(plan.postures)])


@pytest.mark.feature("001-F210")
def test_a_smooth_plan_is_shorter_and_holds_what_it_held(climbed):
    case, planner, plan = climbed
    smooth = planner.smoothed()
    before, after = steps(case, plan), steps(case, smooth)
    assert (after**2).sum() < 0.75 * (before**2).sum()
    assert np.linalg.norm(after, axis=1).sum() < 0.9 * np.linalg.norm(before, axis=1).sum()
    assert smooth.planned == plan.planned
    assert smooth.stances == plan.stances
    # Contacts, collisions, torques and a centimetre of balance, by code that shares nothing with the planner.
    verdict = verify_plan(case.robot, case.scene, smooth.stances, smooth.postures, PlanLimits(margin=0.01))
    assert verdict.success, verdict.violations


@pytest.mark.feature("001-F210")
def test_a_smooth_plan_begins_where_it_did_and_ends_at_the_goal(can, check_plan):
    planner = ContactPlanner(can.problem)
    plan = planner.run()
    smooth = planner.smoothed(plan)
    check_plan(can, smooth)
    assert smooth.success
    assert (smooth.postures[0] == plan.postures[0]).all()
    assert (steps(can, smooth) ** 2).sum() < 0.9 * (steps(can, plan) ** 2).sum()
    hand = can.robot.link_placements(smooth.postures[-1])["LARM_LINK6"]
    fingers = can.robot.contacts["left_hand_fingers"].placement_link_patch.translation
    assert np.linalg.norm(hand.act(fingers) - CAN) <= 0.005 + 1e-5


def test_without_time_a_plan_stays_as_it_is(climbed):
    _, planner, plan = climbed
    kept = planner.smoothed(plan, time_limit=0.0)
    assert all((one == other).all() for one, other in zip(kept.postures, plan.postures, strict=True))


def test_what_is_smooth_when_it_is_cancelled_stays_so(climbed, monkeypatch):
    monkeypatch.setattr("humanoid_model.progress._EVERY", 0.0)
    _, planner, plan = climbed
    kept = planner.smoothed(plan, progress=lambda told: told.part == 3)
    moved = [not (one == other).all() for one, other in zip(kept.postures, plan.postures, strict=True)]
    assert any(moved[:3])
    assert not any(moved[3:])
    short = planner.shortened(progress=lambda told: True)
    assert short.planned == planner.plan().planned


@pytest.mark.feature("001-F210")
def test_ways_that_are_refused_keep_the_plan_as_it_is(can):
    planner = ContactPlanner(can.problem)
    plan = planner.run()
    no = {"way_exists": lambda before, after: False, "goal_way_exists": lambda before, after: False}
    planner.space.problem = dataclasses.replace(planner.space.problem, **no)
    kept = planner.smoothed(plan)
    assert all((one == other).all() for one, other in zip(kept.postures, plan.postures, strict=True))
