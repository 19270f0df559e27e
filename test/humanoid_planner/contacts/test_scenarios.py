# SPDX-License-Identifier: Apache-2.0
"""The scenarios of chapters 6 and 7, planned, and looked at by the verifier, which shares nothing with the planner."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from examples.contact_scenarios import (
    backward_walk,
    bip_over_bars,
    chair_to_standing,
    g1_up_stairs,
    gap_with_wall,
    ladder,
    sitting_with_glass,
    step_with_rail,
    talos_up_stairs,
    under_the_table,
)
from humanoid_model.files import resolve_mesh_path
from humanoid_planner.contacts import plan_contacts, verify_plan
from humanoid_planner.contacts.verify_plan import PlanLimits

#: What plans with a margin of 1 cm are held to.
CENTIMETRE = PlanLimits(margin=0.01)


def frame(robot, q, link):
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return data.oMf[robot.model.getFrameId(link)]


@pytest.mark.feature("001-F011", "001-F016", "001-F253")
def test_from_a_chair_to_standing_with_a_hand_on_the_table():
    """The first part of X24, up and half a metre aside; the benchmark goes two metres."""
    case = chair_to_standing(0.4)
    plan = plan_contacts(case.problem, max_nodes=250)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures)
    assert verdict.success, verdict.violations
    pelvis = frame(case.robot, plan.postures[-1], "WAIST").translation
    assert pelvis[1] > 0.4 - 1e-5
    assert pelvis[2] > 0.5
    held = [{(contact.location.name, contact.surface.name) for contact in stance.contacts} for stance in plan.stances]
    assert ("seat", "seat") in held[0]
    assert ("seat", "seat") not in held[-1]
    assert any("hand" in location for stance in held for location, _ in stance)
    forbidden = {("left_sole", "seat"), ("right_sole", "seat"), ("left_hand_fingers", "floor")}
    assert not any(stance & forbidden for stance in held)


@pytest.mark.feature("001-F018", "001-F203", "001-F205", "001-F254")
def test_sitting_down_with_a_glass_that_stays_upright():
    case = sitting_with_glass()
    plan = plan_contacts(case.problem, max_nodes=250)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures)
    assert verdict.success, verdict.violations
    for q in plan.postures:
        assert frame(case.robot, q, "RARM_LINK5").rotation[2, 0] == pytest.approx(1.0, abs=1e-6)
    held = {(contact.location.name, contact.surface.name) for contact in plan.stances[-1].contacts}
    assert held >= {("seat", "seat"), ("left_sole", "floor"), ("right_sole", "floor")}


@pytest.mark.feature("001-F252")
def test_the_head_goes_under_the_table_in_the_first_part_of_the_plan():
    """A third of the nodes; the whole plan is a slow test."""
    case = under_the_table()
    plan = plan_contacts(case.problem, max_nodes=110)
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures)
    assert verdict.success, verdict.violations
    heads = np.array([frame(case.robot, q, "HEAD_LINK1").translation for q in plan.postures])
    under = heads[:, 0] > 0.65
    assert under.any()
    assert (heads[under, 2] < 0.9).all()


@pytest.mark.feature("001-F192", "001-F252")
@pytest.mark.slow
def test_potentials_of_bodies_lead_under_the_table_where_the_guide_alone_does_not():
    """O2-07: the guide's potential alone doesn't get there within the nodes that suffice with those of bodies."""
    case = under_the_table()
    plan = plan_contacts(case.problem, max_nodes=400)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures, CENTIMETRE)
    assert verdict.success, verdict.violations
    heads = np.array([frame(case.robot, q, "HEAD_LINK1").translation for q in plan.postures])
    under = (heads[:, 0] > 0.65) & (heads[:, 0] < 1.35)
    assert under.any()
    assert (heads[under, 2] < 0.9).all()
    assert frame(case.robot, plan.postures[-1], "WAIST").translation[2] > 0.6 - 1e-5
    alone = under_the_table(())
    assert not plan_contacts(alone.problem, max_nodes=plan.statistics.nodes).success


def held_in(plan):
    return [{(contact.location.name, contact.surface.name) for contact in stance.contacts} for stance in plan.stances]


@pytest.mark.feature("001-F258")
def test_a_walk_backwards_that_turns_keeps_its_centre_of_mass_a_centimetre_inside():
    case = backward_walk()
    plan = plan_contacts(case.problem, max_nodes=150)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures, CENTIMETRE)
    assert verdict.success, verdict.violations
    pelvis = frame(case.robot, plan.postures[-1], "WAIST")
    assert pelvis.translation[0] < -1.0 + 1e-5
    assert pelvis.rotation[1, 0] > np.cos(0.2) - 1e-5


@pytest.mark.feature("001-F009")
def test_a_step_of_thirty_centimetres_with_a_hand_on_the_rail():
    case = step_with_rail()
    plan = plan_contacts(case.but(seed=0).problem, max_nodes=150)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures, CENTIMETRE)
    assert verdict.success, verdict.violations
    held = held_in(plan)
    assert held[0] == {("left_sole", "floor"), ("right_sole", "floor")}
    assert held[-1] == {("left_sole", "step"), ("right_sole", "step"), ("right_hand_fingers", "rail")}


def test_bip_steps_over_bars_by_the_same_code():
    case = bip_over_bars()
    plan = plan_contacts(case.but(seed=0).problem, max_nodes=60)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures, CENTIMETRE)
    assert verdict.success, verdict.violations
    assert {contact.surface.name for stance in plan.stances for contact in stance.contacts} >= {"slab_1", "slab_3"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "base", "height"), [(talos_up_stairs, "base_link", 1.5), (g1_up_stairs, "pelvis", 1.3)]
)
def test_others_climb_the_stairs_by_the_same_code(make, base, height):
    if resolve_mesh_path("package://example-robot-data/package.xml", Path()) is None:
        pytest.skip("example-robot-data is not installed")
    case = make()
    plan = plan_contacts(case.but(seed=0).problem, max_nodes=120)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures, CENTIMETRE)
    assert verdict.success, verdict.violations
    assert frame(case.robot, plan.postures[-1], base).translation[2] > height


@pytest.mark.slow
@pytest.mark.parametrize("make", [gap_with_wall, ladder])
def test_a_gap_is_crossed_with_a_hand_on_the_wall_and_a_ladder_climbed(make):
    case = make()
    plan = plan_contacts(case.but(seed=0).problem, max_nodes=400)
    assert plan.success, plan.explanation
    verdict = verify_plan(case.robot, case.scene, plan.stances, plan.postures, CENTIMETRE)
    assert verdict.success, verdict.violations
    bearing = {c.location.name for stance in plan.stances for c in stance.contacts if c.kind.bears}
    assert any("hand" in name for name in bearing)


def test_a_contact_that_the_goal_asks_for_and_that_is_missing_is_told():
    case = sitting_with_glass()
    plan = plan_contacts(case.problem, max_nodes=4)
    assert not plan.success
    assert "asks for contacts that are missing: seat on seat" in plan.explanation
