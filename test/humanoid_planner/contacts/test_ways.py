# SPDX-License-Identifier: Apache-2.0
"""Plans that come with their motion: HRP-2 steps ahead on the floor, where one foothold turns out to have no way."""

import itertools

import numpy as np
import pinocchio as pin
import pytest
from fixtures.one_step import FLOOR, OPEN, ROBOT, SCENE, SHUT, UPRIGHT, problem, shut

from humanoid_model import Contact, ContactKind, Stance
from humanoid_model.description import Box, Geometry
from humanoid_model.errors import InputError
from humanoid_model.progress import Watch
from humanoid_model.scene import Scene, SceneBody
from humanoid_planner.contacts import ContactPlanner, PredefinedCandidates, verify_plan
from humanoid_planner.contacts.best_first import End
from humanoid_planner.contacts.search_volume import StancePosture
from humanoid_planner.contacts.stance import Role
from humanoid_planner.contacts.ways import Ways
from humanoid_planner.motion import MotionSettings
from humanoid_planner.motion.motion import Case, find_transitions
from humanoid_planner.motion.stance_postures import StancePostures
from humanoid_planner.motion.step_path import LIFTS, blocked_ways
from humanoid_planner.posture import CollisionModel


@pytest.mark.feature("001-F162", "001-F161")
def test_the_search_goes_on_where_a_way_is_refused_and_keeps_its_tree(stepped):
    plan, search = stepped.plan, stepped.planner.search
    assert plan.success, plan.explanation
    places = {(hold.x, hold.y, hold.theta) for one in plan.planned for hold in one.holds}
    assert SHUT not in places
    assert plan.statistics.ways_refused == len(stepped.before) >= 1
    # What didn't grow from the step that was refused is there as it was.
    for kept in stepped.before:
        assert all(search.nodes[one.index] is one for one in kept)
        assert any(not one.closed for one in kept)
    # Nobody is asked twice.
    labels = [call for call in plan.statistics.ways if not call.refusal]
    assert len(labels) == len(plan) - 1


@pytest.mark.feature("001-F220")
def test_a_plan_has_its_motion_and_that_holds(stepped):
    """Oracle: a verifier that shares nothing with the planner, at fine steps."""
    plan, motion = stepped.plan, stepped.plan.motion
    assert motion.success
    assert len(motion.steps) == len(plan) - 1
    verdict = verify_plan(ROBOT, SCENE, *motion.parts())
    assert verdict.violations == ()
    assert verdict.postures > 100
    assert verdict.margin > 0.014
    assert ROBOT.link_placements(motion.trajectory.q[-1])["RLEG_LINK5"].translation[0] >= 0.1 - 1e-6
    starts = [step.start for step in motion.steps]
    ends = [step.start + step.duration for step in motion.steps]
    np.testing.assert_allclose(starts[1:], ends[:-1])
    assert [step.transition.index for step in motion.steps] == list(range(len(motion.steps)))
    assert motion.trajectory.times[-1] == pytest.approx(ends[-1])


@pytest.mark.feature("001-F250")
def test_postures_of_a_plan_with_a_motion_keep_its_reserve(stepped):
    """Oracle: the centre of mass over the hull of what bears, 15 mm inside each patch."""
    data = ROBOT.model.createData()
    for stance, q in zip(stepped.plan.stances, stepped.plan.postures, strict=True):
        bearing = [one for one in stance.contacts if one.kind is ContactKind.FIXED]
        if len(bearing) == 1:
            centre = pin.centerOfMass(ROBOT.model, data, q)[:2] - (bearing[0].x, bearing[0].y)
            inner = np.abs(centre) - np.abs(bearing[0].location.patch).max(axis=0)
            assert (inner < -0.0145).all()


@pytest.mark.feature("001-F220")
def test_a_step_that_one_posture_does_not_allow_is_made_from_another_of_the_same_stance(stepped):
    """What came before that posture is asked again: the motion doesn't jump."""
    plan, couples = stepped.plan, stepped.planner.space.couples
    ways = Ways(problem(), couples, MotionSettings())
    states = [StancePosture(*given) for given in zip(plan.planned, plan.postures, strict=True)]
    way, swing = ways.maker.way, next(
        step.transition.index for step in plan.motion.steps if step.transition.case is Case.MOVED
    )
    shut_at = ways._posture(states[swing + 1])

    def refused(transition, first, last, **how):
        return "it's shut" if last is shut_at or how.get("straight") is False else way(transition, first, last, **how)

    ways.maker.way = refused
    assert ways.refusal(states, Watch()) is None
    assert ways.lacking(states) == 0
    motion = ways.motion(states, "")
    assert not np.allclose(motion.postures[swing + 1], shut_at, atol=1e-3)
    for made, ends in zip(motion.steps, itertools.pairwise(motion.postures), strict=True):
        np.testing.assert_allclose(made.walk[[0, -1]], ends, atol=1e-9)
    assert verify_plan(ROBOT, SCENE, *motion.parts()).violations == ()


def test_a_plan_whose_steps_are_all_refused_tells_which_stance_cannot_be_left():
    planner = ContactPlanner(problem(), motion=True)
    shut(planner, [SHUT, OPEN])
    plan = planner.run(max_nodes=60)
    assert not plan.success
    assert plan.end is End.EMPTY
    assert "right_sole" in plan.explanation
    assert "a door is shut" in plan.explanation
    assert not plan.motion.success
    again = planner.run(max_nodes=60)
    assert len(again.statistics.ways) == len(plan.statistics.ways)


@pytest.mark.feature("001-F162", "001-F161")
def test_searches_that_were_put_off_are_made_up_for_when_nothing_else_is_left():
    planner = ContactPlanner(problem(), motion=True)
    shut(planner, [SHUT, OPEN], patient=True)
    plan = planner.run(max_nodes=60)
    assert plan.success, plan.explanation
    refused = [call for call in plan.statistics.ways if call.refusal]
    assert len(refused) >= 2
    assert all("right_sole" in call.label for call in refused)
    places = {(hold.x, hold.y, hold.theta) for one in plan.planned for hold in one.holds}
    assert {SHUT, OPEN} & places
    assert not any(node.closed for node in planner.search.path())
    assert verify_plan(ROBOT, SCENE, *plan.motion.parts()).violations == ()


@pytest.mark.feature("001-F162")
def test_a_step_like_one_that_has_no_way_waits_longer_with_all_that_grows_from_it():
    planner = ContactPlanner(problem(), motion=True)
    planner.search.run(max_nodes=60)
    search, path = planner.search, planner.search.path()
    node = next(one for one in path if any(hold.role is Role.NEW for hold in one.state.stance.holds))
    search.close(node)
    potentials = [one.potential for one in search.nodes]
    dearer = 0.1 * (potentials[0] - min(potentials))
    assert dearer > 0.0
    before = search.nodes[node.parent]
    assert planner.space.delay(before, search.nodes) == 0.0
    assert planner.space.delay(node, search.nodes) == pytest.approx(dearer)
    for following in path[path.index(node) + 1 : -1]:
        assert planner.space.delay(following, search.nodes) >= dearer


@pytest.mark.feature("001-F161")
def test_footholds_that_no_body_has_a_clear_path_to_are_tried_last():
    """Behind a wall as high as a knee, which no path of the foot passes, only what is beside it is asked for."""
    beside, behind = (0.2, -0.095, 0.0), (0.45, -0.1, 0.0)
    places = {("left_sole", "floor"): [(0.0, 0.095, 0.0)], ("right_sole", "floor"): [behind, beside]}
    scene = walled(0.6, 0.3)
    planner = ContactPlanner(
        problem(scene=scene, candidates=PredefinedCandidates(places), collisions=CollisionModel(ROBOT, scene)),
        motion=True,
    )
    planner.search.run(max_nodes=8)
    assert planner.space.counts.blocked >= 1
    held = {(hold.x, hold.y) for node in planner.search.nodes for hold in node.state.stance.holds}
    assert behind[:2] not in held


@pytest.mark.feature("001-F208")
def test_a_search_that_is_cancelled_among_ways_goes_on_with_them():
    planner = ContactPlanner(problem(), motion=True)
    shut(planner, [SHUT, OPEN])
    plan = planner.run(progress=lambda told: told.stage.startswith("way"))
    assert plan.end is End.CANCELLED
    assert not plan.success
    assert f"{len(plan) - 1} of {len(plan) - 1} ways" in plan.explanation
    nodes = len(planner.search.nodes)
    assert planner.run(max_nodes=60).end is End.EMPTY
    assert len(planner.search.nodes) >= nodes


def walled(high, ahead=0.2):
    """Scene with a wall before the right foot [m]."""
    place = pin.SE3(np.eye(3), np.array([ahead, -0.1, 0.5 * high]))
    shape = Geometry("", Box(np.array([0.02, 0.4, high])), pin.SE3.Identity(), np.ones(4))
    wall = SceneBody("wall", "", 0.0, np.zeros(3), np.zeros((3, 3)), place, np.zeros(6), (shape,))
    return Scene("walled", bodies=(*SCENE.bodies, wall), surfaces=SCENE.surfaces)


def test_paths_that_a_wall_blocks_are_counted():
    """Oracle: a path that rises by less than the wall's height is blocked; a Bezier curve rises by 3/4 of its lift."""
    held = Stance((Contact(ROBOT.contacts["left_sole"], FLOOR, 0.0, 0.095, 0.0),))
    soles = [Contact(ROBOT.contacts["right_sole"], FLOOR, x, -0.095, 0.0, ContactKind.RELEASED) for x in (0.0, 0.4)]
    [transition] = find_transitions([held.adding(sole) for sole in soles])
    settings = MotionSettings(clearance=0.0)
    for high in (0.01, 0.06, 0.1, 0.17):
        postures = StancePostures(ROBOT, walled(high), 0.015, 0.9, None, (), {})
        blocked = blocked_ways(postures, transition, UPRIGHT, UPRIGHT, settings)
        assert blocked >= sum(settings.approach + 0.75 * lift < high for lift in LIFTS)
        assert (blocked == 0) == (high == 0.01)


def test_settings_that_need_a_known_plan_are_refused():
    with pytest.raises(InputError, match="durations and via"):
        ContactPlanner(problem(), motion=MotionSettings(durations={2: 1.0}))
    distances = CollisionModel(ROBOT, SCENE).task(problem().start)
    with pytest.raises(InputError, match="CollisionTask"):
        ContactPlanner(problem(collisions=distances), motion=True)
