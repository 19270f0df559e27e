# SPDX-License-Identifier: Apache-2.0
import importlib
import time
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from examples.contact_scenarios import chosen_footholds, reaching, slabs_and_bars
from humanoid_model.contact import ContactKind, Stance
from humanoid_model.errors import InputError
from humanoid_planner.contacts import (
    ContactPlanner,
    PredefinedCandidates,
    RandomCandidates,
    SearchVolumes,
    contact_space,
    plan_contacts,
    verify_plan,
)
from humanoid_planner.contacts.best_first import End
from humanoid_planner.contacts.stance import Role
from humanoid_planner.contacts.verify_plan import PlanLimits
from humanoid_planner.optimisation.program import ReturnCode
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at, point_at, point_beyond


@pytest.fixture(scope="module")
def can_plan(can):
    return plan_contacts(can.problem)


@pytest.fixture(scope="module")
def stairs_plan(stairs):
    return plan_contacts(stairs.but(seed=2).problem, max_nodes=300)


def centre_of_mass(robot, q):
    return pin.centerOfMass(robot.model, robot.model.createData(), q)


@pytest.mark.feature("001-F015", "001-F159", "001-F169", "001-F250")
def test_a_hand_bears_on_the_table_before_the_other_reaches_the_can(can, can_plan, check_plan):
    assert can_plan.success
    check_plan(can, can_plan)
    bearing = {c.location.name for c in can_plan.stances[-1].contacts if c.kind is ContactKind.FIXED}
    assert bearing - {"left_sole", "right_sole"}
    data = can.robot.model.createData()
    pin.framesForwardKinematics(can.robot.model, data, can_plan.postures[-1])
    hand = data.oMf[can.robot.model.getFrameId("LARM_LINK6")]
    fingers = hand.act(can.robot.contacts["left_hand_fingers"].placement_link_patch.translation)
    assert np.linalg.norm(fingers - [1.15, 0.1, 0.78]) < 0.005 + 1e-5


@pytest.mark.feature("001-F250")
def test_the_can_is_reached_with_torque_limits_and_clear_of_the_table(can, check_plan):
    plan = plan_contacts(reaching(can).problem, max_nodes=80)
    assert plan.success
    check_plan(can, plan)
    # The verifier's friction cones have sides within the round ones.
    verdict = verify_plan(can.robot, can.scene, plan.stances, plan.postures, PlanLimits(torque=1.01))
    assert verdict.success, [str(violation) for violation in verdict.violations]


@pytest.mark.feature("001-F250")
def test_the_can_is_out_of_reach_on_both_feet_alone(can):
    places = {key: value for key, value in can.problem.candidates.places.items() if key[1] == "platform"}
    feet = PredefinedCandidates({key: places[key] for key in places if "sole" in key[0]})
    only_feet = can.but(locations=["left_sole", "right_sole"], forbidden=[], candidates=feet)
    plan = plan_contacts(only_feet.problem, max_nodes=12)
    assert not plan.success
    assert "doesn't allow the goal" in plan.explanation


@pytest.mark.feature("001-F017", "001-F159", "001-F164", "001-F170", "001-F251")
def test_stairs_are_climbed_foot_by_foot_within_the_steps(stairs, stairs_plan, check_plan):
    assert stairs_plan.success
    check_plan(stairs, stairs_plan)
    assert np.linalg.norm(centre_of_mass(stairs.robot, stairs_plan.postures[-1]) - [1.65, 0, 1.53]) < 0.2 + 1e-5
    for stance in stairs_plan.stances:
        for contact in stance.contacts:
            turn = contact.placement_surface_patch.rotation[:2, :2]
            corners = contact.location.patch @ turn.T + [contact.x, contact.y]
            outline = contact.surface.polygon
            assert (corners >= outline.min(axis=0) - 1e-9).all()
            assert (corners <= outline.max(axis=0) + 1e-9).all()
    assert len(stairs_plan) <= 2 * 22
    roles = [{hold.role for hold in planned.holds} - {Role.BEARING} for planned in stairs_plan.planned[1:-1]]
    assert all(len(role) == 1 for role in roles)


def test_the_plan_is_the_same_for_a_seed_and_another_for_another(stairs, stairs_plan):
    again = plan_contacts(stairs.but(seed=2).problem, max_nodes=300)
    assert again.planned == stairs_plan.planned
    assert all((a == b).all() for a, b in zip(again.postures, stairs_plan.postures, strict=True))
    other = plan_contacts(stairs.but(seed=3).problem, max_nodes=5)
    assert other.planned[1:] != stairs_plan.planned[1 : len(other)]


def test_a_saved_search_goes_on_to_the_same_plan(stairs, stairs_plan, tmp_path):
    planner = ContactPlanner(stairs.but(seed=2).problem)
    halted = planner.run(max_nodes=12)
    assert halted.end is End.NODES
    assert not halted.success
    planner.save(tmp_path / "tree.json")
    resumed = ContactPlanner(stairs.but(seed=2).problem, tree=tmp_path / "tree.json")
    assert resumed.plan().planned == halted.planned
    assert resumed.run(max_nodes=300).planned == stairs_plan.planned


def test_a_cancelled_search_gives_the_nearest_plan_so_far(stairs, check_plan):
    told = []

    def watch(progress):
        told.append(progress)
        return len(told) > 15

    plan = plan_contacts(stairs.problem, progress=watch)
    assert plan.end is End.CANCELLED
    assert len(told) == 16
    check_plan(stairs, plan)
    assert plan.potentials[-1] == min(plan.potentials) == told[-1].cost
    assert "cancelled" in plan.explanation


def test_some_thirty_footsteps_lead_over_the_bars_between_slabs(check_plan):
    walk = slabs_and_bars()
    plan = plan_contacts(walk.problem, max_nodes=500)
    assert plan.success
    check_plan(walk, plan)
    steps = [hold for planned in plan.planned for hold in planned.holds if hold.role is Role.NEW]
    assert 24 <= len(steps) <= 40
    slabs = {contact.surface.name for stance in plan.stances for contact in stance.contacts}
    assert len(slabs) >= 12
    for stance in plan.stances:
        for contact in stance.contacts:
            turn = contact.placement_surface_patch.rotation[:2, :2]
            corners = contact.location.patch @ turn.T + [contact.x, contact.y]
            assert (np.abs(corners) <= [0.23 + 1e-9, 0.35 + 1e-9]).all()


def tree(planner):
    return [(node.state.stance, node.parent, node.potential, node.expanded) for node in planner.search.nodes]


@pytest.mark.feature("001-F208")
def test_a_search_of_best_children_halted_within_expansions_grows_the_same_tree(stairs, tmp_path):
    problem = chosen_footholds(stairs, "vbfp").problem
    straight, halted = (ContactPlanner(problem) for _ in range(2))
    straight.run(max_nodes=25)
    looks = []
    while len(halted.search.nodes) < 25:
        before = len(looks)
        halted.run(max_nodes=25, progress=lambda p: looks.append(p) or len(looks) > before + 4)  # noqa: B023
        if len(looks) in range(20, 25):  # a file knows nothing of the postures that were found meanwhile
            halted.save(tmp_path / "tree.json")
            halted = ContactPlanner(problem, tree=tmp_path / "tree.json")
    assert len(looks) > 30
    assert tree(halted) == tree(straight)
    purposes = [[call.purpose for call in one.space.caller.calls] for one in (halted, straight)]
    assert len(purposes[0]) < len(purposes[1]) + 10


@pytest.mark.feature("001-F208")
def test_a_posture_under_way_is_given_up(can):
    planner, given = ContactPlanner(can.problem), []
    answer = planner.space.caller.answer

    def endless(question, stop):
        while not stop():
            time.sleep(0.01)
        given.append(answer(question, lambda: True))
        return given[-1]

    planner.space.caller.answer = endless
    assert planner.run(time_limit=0.3).end is End.TIME
    assert [(one.result.status, one.result.iterations) for one in given] == [(ReturnCode.TIME_LIMIT, 0)]
    assert len(planner.search.nodes) == 1
    planner.space.caller.answer = answer
    assert planner.run().success


@pytest.mark.feature("001-F208")
def test_the_plan_so_far_can_be_asked_for_within_a_posture(can, can_plan, monkeypatch):
    monkeypatch.setattr(contact_space, "_LOOK", 0.0)  # asks in every iteration
    planner, seen = ContactPlanner(can.problem), []
    plan = planner.run(progress=lambda p: seen.append(planner.plan()) or False, max_nodes=20)
    assert len(seen) > 3 * len(plan.statistics.calls)
    assert seen[0].planned == plan.planned[:1]
    assert plan.planned == can_plan.planned
    assert plan.potentials == can_plan.potentials
    assert all((a == b).all() for a, b in zip(plan.postures, can_plan.postures, strict=True))


def test_surfaces_that_nothing_holds_on_are_named_with_the_reason(can):
    places = {("left_sole", "platform"): [(0.1, 0.095, 0.0)], ("right_hand_fingers", "floor"): [(2.5, -0.15, 0.0)]}
    three = ["left_sole", "right_sole", "right_hand_fingers"]
    plan = plan_contacts(can.but(locations=three, forbidden=[], candidates=PredefinedCandidates(places)).problem)
    assert plan.end is End.EMPTY
    assert "floor (out of reach, 3 of 3 times)" in plan.explanation
    assert "table_top (no place is given)" in plan.explanation
    assert "platform (" not in plan.explanation


@pytest.mark.feature("001-F170")
@pytest.mark.parametrize("strategy", [RandomCandidates(radius=0.2), SearchVolumes(radius=0.2)])
def test_a_rail_too_narrow_for_the_patches_is_told_from_one_out_of_reach(can, strategy):
    narrow, wide = (
        replace(next(s for s in can.scene.surfaces if s.name == "table_top"), name=name, polygon=np.array(outline))
        for name, outline in (
            ("narrow", [(-0.5, -0.01), (0.5, -0.01), (0.5, 0.01), (-0.5, 0.01)]),
            ("wide", [(-0.5, -0.2), (0.5, -0.2), (0.5, 0.2), (-0.5, 0.2)]),
        )
    )
    scene = replace(can.scene, surfaces=(*can.scene.surfaces, narrow, wide))
    soles = ["left_sole", "right_sole"]
    surfaces = ["platform", "narrow", "wide"]
    case = can.but(scene=scene, locations=soles, forbidden=[], candidates=strategy, surfaces=surfaces)
    planner = ContactPlanner(case.problem)
    told = planner.plan().explanation  # nothing was tried yet
    assert "narrow (left_sole doesn't fit on it, right_sole doesn't fit on it)" in told
    assert "wide (never within reach)" in told


@pytest.mark.feature("001-F014")
def test_a_goal_far_from_the_origin_is_looked_for(can):
    """Whatever the way there, tens of metres from where the search starts, the goal can be fulfilled."""
    hand = can.robot.contacts["left_hand_fingers"].placement_link_patch.translation
    for away in (20.0, 60.0):
        for goal in (
            centre_of_mass_at([away, 0.0, 0.8], 0.1),
            point_at(can.kinematics, "LARM_LINK6", hand, [away, 3.0, 0.9]),
            point_beyond(can.kinematics, "LARM_LINK6", hand, [0.0, away, 0.0], [0.0, 1.0, 0.0]),
        ):
            ContactPlanner(can.but(goal=[goal]).problem)


@pytest.mark.feature("001-F014")
def test_a_goal_is_looked_for_from_the_posture_at_the_beginning(can, monkeypatch):
    plan_module, begun = importlib.import_module("humanoid_planner.contacts.plan_contacts"), []
    asked = plan_module.generate_posture
    monkeypatch.setattr(
        plan_module, "generate_posture", lambda *a, **k: (begun.append(k["initial"]), asked(*a, **k))[1]
    )
    q = can.robot.default_posture.copy()
    q[0] += 0.05
    ContactPlanner(can.but(start_posture=q).problem)
    assert (begun[0] == q).all()


def test_a_goal_in_the_sky_is_told_by_what_is_out_of_reach(can):
    hand = can.robot.contacts["left_hand_fingers"].placement_link_patch.translation
    goal = [point_at(can.kinematics, "LARM_LINK6", hand, [0.0, 0.0, 4.0], name="moon")]
    plan = plan_contacts(can.but(goal=goal).problem, max_nodes=4)
    assert not plan.success
    assert "moon" in plan.explanation
    assert "reaches" in plan.explanation


@pytest.mark.feature("001-F013", "001-F014", "001-F022")
def test_bad_problems_are_named(can):
    robot, start, goal = can.robot, can.problem.start, can.problem.goal
    fixed = start.contacts[0]
    ball = replace(fixed, location=robot.contacts["left_ball"])
    for changes, message in (
        ({"start": Stance(())}, "start: has no contact"),
        ({"start": start.adding(ball)}, "start: holds left_ball and left_sole, which are both of"),
        ({"goal": []}, "goal: is empty"),
        ({"goal_holds": [("left_sole", "moon")]}, "goal_holds: left_sole on moon is no couple"),
        (
            {"goal_holds": [("left_sole", "platform")], "forbidden": [("left_sole", "platform")]},
            "goal_holds: left_sole on platform is forbidden. Allow it",
        ),
        (
            {"goal_holds": [("left_sole", "platform"), ("left_sole", "floor")]},
            "goal_holds: left_sole on platform and left_sole on floor are both of",
        ),
        (
            {"goal": [*goal, centre_of_mass_at([9.0, 0.0, 1.0], 0.1, "far away")]},
            "goal: no posture fulfils it, .* hold each other back: .*far away",
        ),
        ({"locations": ["left_sole", "right_sole"]}, "is no couple of this problem"),
        ({"locations": ["tail"]}, "unknown name 'tail'"),
        ({"max_potential": float("nan")}, "max_potential: is nan. Give a finite number"),
        ({"goal_potential": float("nan")}, "goal_potential: is nan. Give a finite number"),
        ({"children": 0}, "children: is 0. Give a whole number, 1 or more"),
        ({"children": -2}, "children: is -2. Give a whole number, 1 or more"),
        ({"children": 1.5}, "children: is 1.5. Give a whole number, 1 or more"),
        ({"seed": -1}, "seed: is -1. Give a whole number, 0 or more"),
        ({"failure_penalty": float("nan")}, "failure_penalty: is nan"),
        ({"failure_penalty": -1.0}, "failure_penalty: is -1. Give a finite number of 0 or more."),
        (
            {"candidates": PredefinedCandidates({("left_sole", "ceiling"): [(0, 0, 0)]})},
            "left_sole on ceiling",
        ),
        (
            {"candidates": PredefinedCandidates({("left_sole", "floor"): [(0, float("nan"), 0)]})},
            "candidates of left_sole on floor",
        ),
    ):
        with pytest.raises(InputError, match=message):
            plan_contacts(can.but(**changes).problem)
    apart = Stance((fixed, type(fixed)(robot.contacts["right_sole"], fixed.surface, 0.1, -0.35, 3.0)))
    with pytest.raises(InputError, match="start: has no posture"):
        plan_contacts(can.but(start=apart).problem)
