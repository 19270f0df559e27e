# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json
from dataclasses import replace

import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts import ContactPlanner, load_plan, plan_contacts, save_plan
from humanoid_planner.contacts.plan import shorten
from humanoid_planner.contacts.stance import Hold


@pytest.fixture(scope="module")
def saved(can, tmp_path_factory):
    plan = plan_contacts(can.problem)
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    save_plan(path, can.robot, can.scene, plan.stances, plan.postures)
    return plan, path


@pytest.mark.feature("001-F023")
def test_a_plan_comes_back_as_it_was(can, saved):
    plan, path = saved
    stances, postures = load_plan(path, can.robot, can.scene)
    assert stances == plan.stances
    assert len(postures) == len(plan.postures)
    assert all((one == other).all() for one, other in zip(postures, plan.postures, strict=True))


def test_plan_files_that_cannot_be_used_are_named(can, saved, tmp_path):
    _, path = saved
    data, spoilt = json.loads(path.read_text()), tmp_path / "spoilt.json"
    step = data["steps"][0]
    hand = ["tail", *step["contacts"][0][1:]]
    for change, message in (
        ({"format": "other"}, "is of another format"),
        ({"steps": [{**step, "contacts": [hand]}]}, "spoilt: KeyError.*tail"),
        ({"steps": [{**step, "posture": [0.0]}]}, "a posture has 1 numbers"),
    ):
        spoilt.write_text(json.dumps({**data, **change}))
        with pytest.raises(InputError, match=f"plan file '{spoilt}'.*{message}"):
            load_plan(spoilt, can.robot, can.scene)
    spoilt.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match="is cut short"):
        load_plan(spoilt, can.robot, can.scene)
    with pytest.raises(InputError, match="belongs to the problem 'hrp2 in can_on_table'"):
        load_plan(path, can.robot, replace(can.scene, name="elsewhere"))


@pytest.fixture(scope="module")
def climbed(stairs):
    planner = ContactPlanner(stairs.but(seed=0).problem)
    return planner, planner.run(max_nodes=300)


def test_a_plan_gets_no_longer_and_still_holds(stairs, climbed, check_plan):
    planner, plan = climbed
    assert plan.success
    short = planner.shortened()
    check_plan(stairs, short)
    assert short.success
    assert len(short) <= len(plan)
    assert short.planned[0] == plan.planned[0]
    assert short.planned[-1] == plan.planned[-1]
    assert (short.postures[-1] == plan.postures[-1]).all()


def hands(can):
    planner = ContactPlanner(can.problem)
    space, root = planner.space, planner.search.nodes[0].state
    right = space.couples.number_of("right_hand_fingers", "table_top")
    left = space.couples.number_of("left_hand_fingers", "table_top")

    def follow(*steps):
        states = [root]
        for step in steps:
            states.append(space.posture_of(step(states[-1].stance), states[-1].q))
            assert states[-1] is not None
        return states

    return space, follow, Hold(right, -0.5, -0.15, 0.0), Hold(left, -0.35, 0.15, 0.0)


@pytest.mark.feature("001-F209")
def test_a_contact_made_and_given_up_again_goes(can):
    space, follow, right, left = hands(can)
    states = follow(
        lambda stance: stance.adding(right),
        lambda stance: stance.adding(left),
        lambda stance: stance.releasing(left.couple),
    )
    short = shorten(states, space)
    assert [state.stance.couples for state in short] == [state.stance.couples for state in states[:2]]


@pytest.mark.feature("001-F209")
def test_a_hand_that_is_put_twice_is_put_once(can):
    space, follow, right, left = hands(can)
    near = dataclasses.replace(left, x=-0.2)
    states = follow(
        lambda stance: stance.adding(right),
        lambda stance: stance.adding(left),
        lambda stance: stance.releasing(left.couple),
        lambda stance: stance.adding(near),
    )
    short = shorten(states, space)
    assert [state.stance for state in short] == [states[0].stance, states[1].stance, states[1].stance.adding(near)]


@pytest.mark.feature("001-F209")
def test_a_plan_of_needed_contacts_stays_as_it_is(can):
    space, follow, right, left = hands(can)
    states = follow(lambda stance: stance.adding(right), lambda stance: stance.adding(left))
    assert shorten(states, space) == states
    assert shorten(states[:1], space) == states[:1]


def test_ways_that_are_refused_arent_taken(can):
    space, follow, right, left = hands(can)
    states = follow(
        lambda stance: stance.adding(left),
        lambda stance: stance.adding(right),
        lambda stance: stance.releasing(left.couple),
    )
    assert len(shorten(states, space)) == 2
    space.problem = dataclasses.replace(space.problem, way_exists=lambda before, after: False)
    assert shorten(states, space) == states
