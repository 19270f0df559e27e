# SPDX-License-Identifier: Apache-2.0
import itertools
import json
import math
from dataclasses import astuple, replace

import numpy as np
import pytest

from examples.contact_scenarios import chosen_footholds
from humanoid_model import Stance
from humanoid_model.errors import InputError
from humanoid_planner.contacts import ContactPlanner, PredefinedCandidates, RandomCandidates, SearchVolumes, candidates
from humanoid_planner.contacts.best_first import ExpansionInterruptedError, Node
from humanoid_planner.contacts.stance import Hold, Role
from humanoid_planner.posture.tasks.link_tasks import gaze, joint_at

PLACES = PredefinedCandidates(
    {
        ("left_sole", "platform"): [(0.1, 0.095, 0.0), (0.0, 0.12, 0.0)],
        ("right_sole", "platform"): [(0.1, -0.095, 0.0), (0.0, -0.12, 0.0)],
        ("right_hand_fingers", "table_top"): [(-0.5, -0.15, 0.0), (0.6, -0.15, 0.0)],
    }
)


def planner(can, **changes):
    usual = {"locations": ["left_sole", "right_sole", "right_hand_fingers"], "candidates": PLACES, "forbidden": []}
    return ContactPlanner(can.but(**(usual | changes)).problem)


def children(made, node):
    return [state for _, state in made.space.expand(node, made.search.nodes, lambda: False)]


def roles(state, couples):
    return {couples.location(hold.couple).name: hold.role for hold in state.stance.holds}


@pytest.mark.feature("001-F163", "001-F164")
def test_children_lose_or_gain_one_contact_that_does_not_bear(can):
    made = planner(can)
    found = [roles(state, made.space.couples) for state in children(made, made.search.nodes[0])]
    bearing = {"left_sole": Role.BEARING, "right_sole": Role.BEARING}
    assert {**bearing, "left_sole": Role.RELEASED} in found
    assert {**bearing, "right_sole": Role.RELEASED} in found
    assert {**bearing, "right_hand_fingers": Role.NEW} in found
    assert len(found) == 3


@pytest.mark.feature("001-F163")
def test_a_released_contact_is_gone_among_the_grandchildren_and_the_last_one_stays(can):
    made = planner(can)
    for parent, state in list(made.space.expand(made.search.nodes[0], made.search.nodes, lambda: False)):
        made.search._insert(state, parent)
    lifted = next(
        node for node in made.search.nodes[1:] if Role.RELEASED in roles(node.state, made.space.couples).values()
    )
    left = [hold.couple for hold in lifted.state.stance.key]
    assert len(left) == 1
    for state in children(made, lifted):
        assert len(state.stance.holds) == 2
        assert state.stance.settled().holds[0].couple == left[0] or left[0] in state.stance.couples
        assert Role.RELEASED not in {hold.role for hold in state.stance.holds}


@pytest.mark.feature("001-F166")
def test_known_stances_cost_no_posture(can):
    made = planner(can)
    first = children(made, made.search.nodes[0])
    calls = len(made.space.caller.calls)
    assert len(first) == 3
    assert not children(made, made.search.nodes[0])
    assert len(made.space.caller.calls) == calls
    # The stances that were proved to have no posture aren't tried again either.
    assert made.space.counts.known == made.space.counts.tried == 4


@pytest.mark.feature("001-F168")
def test_stances_within_the_tolerance_are_one(can):
    close = PredefinedCandidates({("right_hand_fingers", "table_top"): [(-0.5, -0.15, 0.0), (-0.5, -0.17, 0.0)]})
    counts = {}
    for tolerance in (0.01, 0.03):
        made = planner(can, candidates=close, contact_spacing=tolerance, contact_angle_spacing=10 * tolerance)
        counts[tolerance] = len([s for s in children(made, made.search.nodes[0]) if len(s.stance.holds) == 3])
    assert counts == {0.01: 2, 0.03: 1}


@pytest.mark.feature("001-F165")
def test_searches_start_from_the_parents_posture(can):
    made, starts = planner(can), []
    answer = made.space.caller.answer
    made.space.caller.answer = lambda question, stop: starts.append(question.start) or answer(question, stop)
    children(made, made.search.nodes[0])
    made.space.finish(made.search.nodes[0], lambda: False)
    assert starts
    assert all(start is made.search.nodes[0].state.q for start in starts)


@pytest.mark.feature("001-F183")
def test_the_posture_of_a_pre_contact_starts_that_of_the_contact(can):
    made, found = planner(can, pre_contact="always"), []
    answer = made.space.caller.answer

    def watched(question, stop):
        answered = answer(question, stop)
        found.append((question.purpose, question.start, answered.result.q))
        return answered

    made.space.caller.answer = watched
    children(made, made.search.nodes[0])
    near = [q for purpose, _, q in found if purpose == "pre-contact"]
    starts = [start for purpose, start, _ in found if purpose == "add"]
    assert len(near) == 1
    assert starts
    assert all(start is near[0] for start in starts)


def test_what_is_proved_impossible_has_no_posture(can):
    places = PredefinedCandidates({**PLACES.places, ("right_knee", "table_edge"): [(0.0, -0.12, 0.0)]})
    more = {"locations": ["left_sole", "right_sole", "right_hand_fingers", "right_knee"], "candidates": places}
    quick, thorough = planner(can, **more), planner(can, **more, reach=False, balance=False)
    found = [children(made, made.search.nodes[0]) for made in (quick, thorough)]
    assert [state.stance for state in found[0]] == [state.stance for state in found[1]]
    assert quick.space.counts.unreachable == 1
    assert len(quick.space.caller.calls) == len(thorough.space.caller.calls) - 1


def test_a_hand_at_the_edge_of_the_table_alone_does_not_carry_the_robot(can):
    edge = PredefinedCandidates({("right_knee", "table_edge"): [(0.0, -0.12, 0.0)]})
    made = planner(can, locations=["left_sole", "right_sole", "right_knee"], candidates=edge)
    couples = made.space.couples
    knee = Hold(couples.number_of("right_knee", "table_edge"), 0.0, -0.12, 0.0)
    sole = Hold(couples.number_of("left_sole", "platform"), 0.1, 0.095, 0.0)
    stance = type(made.search.nodes[0].state.stance)
    assert not made.space.caller.balances(stance((knee,)).stance(couples))
    assert made.space.caller.balances(stance((knee, sole)).stance(couples))
    assert not made.space.caller.balances(stance((knee, sole)).releasing(sole.couple).stance(couples))


@pytest.mark.feature("001-F161", "001-F162")
def test_ways_are_asked_for(can):
    asked, ends = [], []
    made = planner(
        can,
        way_exists=lambda a, b: asked.append((a, b)) or len(asked) > 2,
        goal_way_exists=lambda a, b: ends.append((a, b)) or False,
    )
    root = made.search.nodes[0]
    found = children(made, root)
    assert len(asked) == 3
    assert len(found) == 1
    assert made.space.counts.disconnected == 2
    assert all(a is root.state for a, _ in asked)
    hand = next(b for _, b in asked if len(b.stance.couples) == 3)
    node = made.search._insert(hand, 0)
    assert made.space.finish(node, lambda: False) is None
    assert len(ends) == 1
    assert ends[0][1].at_goal


@pytest.mark.feature("001-F160", "001-F259")
def test_the_goal_is_asked_for_once_for_each_node_before_its_children(can):
    made = planner(can, reach=False)
    plan = made.run(max_nodes=6)
    goals = [call for call in plan.statistics.calls if call.purpose == "goal"]
    # One more for the explanation of a failure, where the nearest node wasn't opened yet.
    assert len(goals) == plan.statistics.expanded + (not made.search.best.expanded)
    assert not planner(can, goal_potential=0.0).run(max_nodes=6).statistics.table().get("goal", (0,))[0] > 1


@pytest.mark.feature("001-F170")
def test_a_few_children_are_those_ahead_of_what_has_a_posture(stairs):
    found = {}
    for count in (None, 2):
        made = ContactPlanner(stairs.but(children=count).problem)
        lifted = next(state for state in children(made, made.search.nodes[0]) if len(state.stance.key) == 1)
        node = made.search._insert(lifted, 0)
        calls = len(made.space.caller.calls)
        family = [state for state in children(made, node) if any(hold.role is Role.NEW for hold in state.stance.holds)]
        found[count] = family, len(made.space.caller.calls) - calls, made

    def ahead(count):
        family, _, made = found[count]
        steps = [next(hold for hold in state.stance.holds if hold.role is Role.NEW) for state in family]
        place = made.space._surfaces
        return [place[hold.couple % len(place)].act(np.array([hold.x, hold.y, 0.0])) @ [1.85, 0, 0.8] for hold in steps]

    assert len(ahead(None)) > 4
    assert sorted(ahead(2)) == sorted(ahead(None))[-2:]
    assert found[2][1] < found[None][1]


@pytest.mark.feature("001-F170")
def test_children_that_were_left_out_come_when_nothing_else_is_left(stairs, tmp_path):
    """Two at a time, again and again, they are those that are found at once; a saved search remembers what is left."""
    every, few = (ContactPlanner(stairs.but(children=count).problem) for count in (None, 2))
    families = []
    for made in (every, few):
        lifted = next(state for state in children(made, made.search.nodes[0]) if len(state.stance.key) == 1)
        node = made.search._insert(lifted, 0)
        families.append([])
        for _ in range(20):
            families[-1] += [state.stance for state in children(made, node)]
            if node.index not in made.space.cut_short():
                break
    assert len(families[0]) > 4
    assert {stance.key for stance in families[1]} == {stance.key for stance in families[0]}
    again = ContactPlanner(stairs.but(children=2).problem)
    again.run(max_nodes=6)
    again.save(tmp_path / "tree.json")
    resumed = ContactPlanner(stairs.but(children=2).problem, tree=tmp_path / "tree.json")
    assert set(resumed.space.cut_short()) == set(again.space.cut_short()) != set()


def test_a_few_children_need_places_that_are_named(can):
    with pytest.raises(InputError, match="children: is 2"):
        planner(can, children=2, pre_contact="always")
    with pytest.raises(InputError, match="children: is 2"):
        planner(can, children=2, candidates=SearchVolumes(), pre_contact="never")


@pytest.fixture(scope="module")
def slid(can):
    volumes = SearchVolumes(size=0.5, angle=math.tau)
    made = planner(can, candidates=volumes, surfaces=["platform", "table_top"])
    return made, children(made, made.search.nodes[0])


@pytest.mark.feature("001-F178", "001-F182")
def test_places_chosen_by_the_posture_generator_lie_on_the_surface_and_hold(slid, can, frame_drift):
    made, found = slid
    hands = [state for state in found if len(state.stance.couples) == 3]
    assert len(hands) >= 2
    couples = made.space.couples
    for state in hands:
        new = next(hold for hold in state.stance.holds if hold.role is Role.NEW)
        contact = state.stance.stance(couples).find(couples.location(new.couple).name)
        turn = contact.placement_surface_patch.rotation[:2, :2]
        corners = contact.location.patch @ turn.T + [contact.x, contact.y]
        outline = contact.surface.polygon
        assert (corners >= outline.min(axis=0) - 1e-5).all()
        assert (corners <= outline.max(axis=0) + 1e-5).all()
        # The strong contact at that place holds in the same posture.
        assert frame_drift(can.robot, can.scene, state.stance.stance(couples), state.q) < 1e-4
    known = made.space.problem.metric
    assert all(known.distance(a.stance, b.stance) > 0.03 for a, b in itertools.combinations(hands, 2))


@pytest.mark.feature("001-F179")
def test_a_chosen_place_is_better_by_the_criterion_than_places_drawn_around_it(slid, can):
    made, found = slid
    couples, caller = made.space.couples, made.space.caller
    best = next(state for state in found if len(state.stance.couples) == 3)
    new = next(hold for hold in best.stance.holds if hold.role is Role.NEW)
    base = made.search.nodes[0].state.stance
    value = caller.call("add", best.stance.stance(couples), best.q).criterion
    rng, tried = np.random.default_rng(0), 0
    for dx, dy, turn in rng.uniform(-0.1, 0.1, (8, 3)):
        drawn = Hold(new.couple, new.x + dx, new.y + dy, new.theta + 3 * turn)
        # As a place that slides: a second search, without the criterion first, may end in another local minimum.
        other = caller.call("slide", base.adding(drawn).stance(couples), best.q)
        if other.success:
            tried += 1
            assert other.criterion > value - 0.01 * abs(value)
    assert tried >= 3


@pytest.mark.feature("001-F183")
def test_a_pre_contact_refuses_a_couple_out_of_reach_at_the_cost_of_one_posture(can):
    far = PredefinedCandidates({("right_hand_fingers", "floor"): [(x, -0.5, 0.0) for x in (-0.6, -0.5, -0.4, -0.3)]})
    knee = float(can.robot.postures["half_sitting"][can.robot.index_q("RLEG_JOINT3")])
    high = {"tasks": [joint_at(can.kinematics, "RLEG_JOINT3", knee, 0.1)], "reach": False, "candidates": far}
    counts = {}
    for filtered in (False, True):
        made = planner(can, pre_contact="always" if filtered else "never", **high)
        assert not [state for state in children(made, made.search.nodes[0]) if len(state.stance.couples) == 3]
        table = {call.purpose for call in made.space.caller.calls}
        counts[filtered] = made.space.counts.refused, "pre-contact" in table
    assert counts == {False: (0, False), True: (1, True)}


@pytest.mark.feature("001-F203", "001-F204")
def test_tasks_hold_in_every_posture_or_in_those_they_are_made_for(can):
    def when_three_hold(stance):
        return [joint_at(can.kinematics, "HEAD_JOINT1", -0.2)] if len(stance) == 3 else []

    index = can.robot.index_q("HEAD_JOINT1")
    made = planner(can, stance_tasks=when_three_hold)
    for state in children(made, made.search.nodes[0]):
        turned = bool(abs(state.q[index] + 0.2) < 1e-5)
        assert turned is (len(state.stance.holds) == 3)
    always = planner(can, tasks=[joint_at(can.kinematics, "HEAD_JOINT1", 0.3)])
    for state in (always.search.nodes[0].state, *children(always, always.search.nodes[0])):
        assert state.q[index] == pytest.approx(0.3, abs=1e-5)


@pytest.mark.feature("001-F206")
def test_the_robot_looks_where_it_puts_its_hand(can):
    eye, ahead = np.array([0.05, 0.0, 0.08]), np.array([1.0, 0.0, 0.0])
    bodies = {body.name: body.placement_world_body for body in can.scene.bodies}

    def where(contact):
        surface = contact.surface
        return (bodies[surface.body] * surface.placement_body_surface).act(np.array([contact.x, contact.y, 0.0]))

    def look(stance):
        new = [one for one in stance.contacts if "hand" in one.location.name and not one.kind.bears]
        return [gaze(can.kinematics, "HEAD_LINK1", eye, ahead, where(one), angle_tolerance=0.02) for one in new]

    def off(q, target):
        head = can.robot.link_placements(q)["HEAD_LINK1"]
        sight = target - head.act(eye)
        return math.acos(float(sight @ head.rotation @ ahead) / float(np.linalg.norm(sight)))

    def reached(**more):
        made = planner(can, **more)
        found = [state for state in children(made, made.search.nodes[0]) if len(state.stance.holds) == 3]
        [hand] = [one for one in found[0].stance.stance(made.space.couples).contacts if "hand" in one.location.name]
        return off(found[0].q, where(hand))

    assert reached(stance_tasks=look) < 0.02 + 1e-5
    assert reached() > 0.1


@pytest.mark.feature("001-F207")
@pytest.mark.parametrize("chosen", [False, True], ids=["random places", "volumes"])
def test_a_floor_of_a_hundred_times_the_area_changes_no_node(stairs, chosen):
    """O2-11: what is beyond reach costs nothing."""

    def tree(half):
        square = [[-half, -half], [half, -half], [half, half], [-half, half]]
        wide = [replace(one, polygon=square) if one.name == "floor" else one for one in stairs.scene.surfaces]
        scene = replace(stairs.scene, surfaces=tuple(wide))
        floor = next(one for one in wide if one.name == "floor")
        start = Stance(tuple(replace(one, surface=floor) for one in stairs.problem.start.contacts))
        case = chosen_footholds(stairs, "vbfp") if chosen else stairs
        made = ContactPlanner(case.but(scene=scene, start=start, surfaces=["floor"]).problem)
        made.run(max_nodes=12)
        return [
            (node.parent, *(value for hold in node.state.stance.holds for value in astuple(hold)))
            for node in made.search.nodes
        ]

    small, large = tree(3.0), tree(30.0)
    assert len(small) >= 12
    assert len(large) == len(small)
    for one, other in zip(small[1:], large[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.fixture(scope="module")
def best_children(stairs):
    """The stairs with places chosen by a criterion that is the potential, as VBFP needs it."""
    made = ContactPlanner(chosen_footholds(stairs, "vbfp").problem)
    return made, made.run(max_nodes=300)


@pytest.mark.feature("001-F185")
def test_the_best_children_and_next_siblings_climb_the_stairs_with_fewer_nodes(stairs, best_children, check_plan):
    made, plan = best_children
    assert plan.success
    check_plan(stairs, plan)
    # All children of a few stances take more postures than the whole search of the best children needs.
    calls = len(made.space.caller.calls)
    other = ContactPlanner(chosen_footholds(stairs, "bfp").problem)
    all_children = other.run(progress=lambda _: len(other.space.caller.calls) > calls)
    assert not all_children.success
    assert all_children.statistics.expanded * 3 < plan.statistics.expanded
    assert all_children.potentials[-1] > 1.0


@pytest.mark.feature("001-F178", "001-F186")
def test_each_couple_has_one_child_whose_siblings_are_found_in_what_its_place_leaves(best_children):
    made, _ = best_children
    node = next(node for node in made.search.nodes if node.parent is not None and node.state.born is not None)
    born = node.state.born
    new = next(hold for hold in node.state.stance.holds if hold.role is Role.NEW)
    assert born.contains(new.x, new.y, new.theta, 1e-4)
    [siblings] = made.space._converse(node, [made.space._next_siblings(node.state)], lambda: False)
    for sibling in siblings:
        other = next(hold for hold in sibling.stance.holds if hold.role is Role.NEW)
        assert other.couple == new.couple
        assert sibling.born.measure < born.measure
        turn = abs((other.theta - new.theta + math.pi) % math.tau - math.pi)
        assert max(abs(other.x - new.x) / 0.075, abs(other.y - new.y) / 0.075, turn / math.radians(30)) > 0.99


@pytest.mark.feature("001-F187")
def test_the_potential_is_what_postures_are_chosen_by(best_children):
    made, _ = best_children
    assert made.space.caller.wanted.criterion is made.space.problem.potential


@pytest.mark.feature("001-F191")
def test_only_the_postures_part_of_the_potential_chooses_postures(can):
    plain, counted = planner(can, terms=[]), planner(can)
    both = (children(search, search.search.nodes[0]) for search in (plain, counted))
    for one, other in zip(*both, strict=True):
        assert (one.q == other.q).all()
        more = counted.space.potential(other) - plain.space.potential(one)
        assert more == pytest.approx(0.02 * sum(hold.role is not Role.RELEASED for hold in other.stance.holds))


@pytest.mark.feature("001-F186")
def test_a_volume_is_kept_in_a_file(best_children):
    made, _ = best_children
    state = next(node.state for node in made.search.nodes if node.state.born is not None)
    again = made.space.decode(made.space.encode(state))
    assert again.stance == state.stance
    assert (again.q == state.q).all()
    assert (again.born.polygon == state.born.polygon).all()
    assert (again.born.low, again.born.high) == (state.born.low, state.born.high)


def test_methods_ask_for_what_they_need(can):
    with pytest.raises(InputError, match="candidates of vbfp: are PredefinedCandidates"):
        planner(can, method="vbfp")
    with pytest.raises(InputError, match="method: is 'dfs'"):
        planner(can, method="dfs")


def delay(made, state):
    return made.space.delay(Node(1, state, 0.0, None), made.search.nodes)


@pytest.mark.feature("001-F159")
def test_stances_of_couples_whose_children_fail_wait_longer(can):
    changes = {"failure_penalty": 0.5, "reach": False, "balance": False}
    made = planner(can, **changes)
    root = made.search.nodes[0]
    with pytest.raises(ExpansionInterruptedError):
        made.space.expand(root, made.search.nodes, lambda: True)
    assert delay(made, root.state) == 0.0
    found = children(made, root)
    failed = sum(not call.success for call in made.space.caller.calls)
    assert failed >= 1
    assert delay(made, root.state) == 0.5 * failed
    # Elsewhere, but on the same surfaces; and with a hand more.
    left, right = root.state.stance.holds
    moved = replace(root.state, stance=replace(root.state.stance, holds=(replace(left, x=left.x + 0.1), right)))
    assert delay(made, moved) == 0.5 * failed
    assert delay(made, next(child for child in found if len(child.stance.holds) == 3)) == 0.0
    again = planner(can, **changes)
    again.space.recall(json.loads(json.dumps(made.space.memory())))
    assert delay(again, root.state) == 0.5 * failed


@pytest.mark.feature("001-F186")
def test_a_duplicate_is_replaced_by_its_siblings(stairs):
    made = ContactPlanner(chosen_footholds(stairs, "vbfp").but(pre_contact="never").problem)
    made.run(max_nodes=8)
    node = next(one for one in reversed(made.search.nodes) if one.state.born is not None and not one.expanded)
    space, parent, child = made.space, made.search.nodes[node.parent], node.state
    base, new = parent.state.stance.settled(), next(hold for hold in child.stance.holds if hold.role is Role.NEW)
    # The same question once more comes to the same place, which is known.
    asking = space._best_contact(base, new.couple, child.born, parent.state.q)
    [siblings] = space._converse(parent, [asking], lambda: False)
    assert siblings
    for sibling in siblings:
        assert not space.problem.metric.equal(sibling.stance, child.stance)
        [place] = [hold for hold in sibling.stance.holds if hold.role is Role.NEW]
        assert place.couple == new.couple
        assert child.born.contains(place.x, place.y, place.theta, 1e-4)


@pytest.mark.feature("001-F170")
def test_places_beyond_number_are_drawn_until_the_search_is_cancelled(stairs, monkeypatch):
    """Ten thousand candidates on a metre: what was drawn is dropped, and the tree is as it was."""
    monkeypatch.setattr("humanoid_planner.contacts.contact_space._LOOK", 0.0)
    drawn, draw = [], candidates._draw
    monkeypatch.setattr(candidates, "_draw", lambda *given: drawn.append(1) or draw(*given))
    many = RandomCandidates(density=1e4, radius=1.0, headings=(0.0,), turn=0.1)
    for count in (None, 2):
        made = ContactPlanner(stairs.but(candidates=many, children=count).problem)
        lifted = next(state for state in children(made, made.search.nodes[0]) if len(state.stance.key) == 1)
        node, known, looks = made.search._insert(lifted, 0), made.space._known.stances(), itertools.count(1)
        drawn.clear()
        with pytest.raises(ExpansionInterruptedError):
            made.space.expand(node, made.search.nodes, lambda: next(looks) >= 200)  # noqa: B023
        assert 100 < len(drawn) <= 200
        assert next(looks) == 201
        assert made.space._known.stances() == known
