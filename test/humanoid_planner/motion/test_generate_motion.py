# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, Stance
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress
from humanoid_model.scene import PairRule
from humanoid_planner.contacts import verify_plan
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import MotionSettings, PlannedPostures, generate_motion, step_path
from humanoid_planner.motion.motion import Case
from humanoid_planner.motion.stance_postures import StancePostures
from humanoid_planner.posture import NearReference, generate_posture
from humanoid_planner.posture.tasks.geometric_rows import DISTANCE
from humanoid_planner.posture.tasks.link_tasks import axis_along, joint_at, point_at
from humanoid_planner.posture.tasks.task import GeometricTask, Row


def only(step: SimpleNamespace, first: int, last: int) -> PlannedPostures:
    return PlannedPostures(step.plan.stances[first : last + 1], step.plan.postures[first : last + 1])


def made(step: SimpleNamespace, plan: PlannedPostures, **more: object) -> object:
    return generate_motion(step.robot, step.scene, plan, collisions=step.model, **more)  # type: ignore[arg-type]


@pytest.mark.feature("001-F220")
def test_the_motion_verifies_at_fine_steps(step: SimpleNamespace) -> None:
    stances, walks = step.motion.parts()
    verdict = verify_plan(step.robot, step.scene, stances, walks)
    assert verdict.violations == ()
    assert verdict.postures > 100
    assert verdict.drift < 1e-4
    assert verdict.margin > 0.005
    cases = [item.transition.case for item in step.motion.steps]
    assert cases == [Case.ADDED_REMOVED, Case.MOVED, Case.ADDED_REMOVED]


@pytest.mark.feature("001-F231")
def test_samples_are_a_motion_and_keep_all_limits(step: SimpleNamespace) -> None:
    trajectory, robot = step.motion.trajectory, step.robot
    model = robot.model
    for k in range(0, len(trajectory.times) - 1, 7):
        h = trajectory.times[k + 1] - trajectory.times[k]
        if h > 0.0:
            way = pin.difference(model, trajectory.q[k], trajectory.q[k + 1]) / h
            middle = 0.5 * (trajectory.v[k] + trajectory.v[k + 1])
            np.testing.assert_allclose(way, middle, atol=0.02)
    limits = robot.limits
    assert (np.abs(trajectory.v[:, 6:]) <= 0.5 * limits.velocity[6:] + 1e-6).all()
    assert (np.abs(trajectory.a[:, 6:]) <= 5.0 * 1.3).all()
    assert (np.abs(trajectory.tau[:, 6:]) <= limits.effort[6:]).all()
    # At rest where contacts change.
    for item in step.motion.steps:
        assert np.abs(trajectory.at(item.start).v).max() < 1e-6


def test_forces_and_torques_give_the_motion(step: SimpleNamespace) -> None:
    """Newton and Euler: Pinocchio's inverse dynamics with the forces as wrenches leaves the planned torques alone."""
    trajectory, robot = step.motion.trajectory, step.robot
    model, data = robot.model, robot.model.createData()
    for k in range(0, len(trajectory.times), 25):
        q, v, a = trajectory.q[k], trajectory.v[k], trajectory.a[k]
        pin.forwardKinematics(model, data, q)
        wrenches = pin.StdVec_Force()
        for _ in range(model.njoints):
            wrenches.append(pin.Force.Zero())
        for force in trajectory.forces[k]:
            joint = robot.parts.links[robot.contacts[force.location].link].joint_id
            world = pin.Force(force.force, np.cross(force.place, force.force))
            wrenches[joint] += data.oMi[joint].actInv(world)
            assert force.force @ force.normal >= -1e-9
            assert np.linalg.norm(force.force - (force.force @ force.normal) * force.normal) <= (
                force.friction * (force.force @ force.normal) + 1e-6
            )
        np.testing.assert_allclose(pin.rnea(model, data, q, v, a, wrenches), trajectory.tau[k], atol=1e-5)


def test_contacts_bear_from_posture_to_posture(step: SimpleNamespace) -> None:
    spans = [(span.location, span.start, span.end) for span in step.motion.trajectory.contacts]
    _, second, third = step.motion.steps
    end = third.start + third.duration
    assert sorted(spans) == sorted(
        [
            ("right_sole", 0.0, second.start),
            ("left_sole", 0.0, pytest.approx(end)),
            ("right_sole", third.start, pytest.approx(end)),
        ]
    )
    # A new contact takes its load over from nothing.
    at = int(np.searchsorted(step.motion.trajectory.times, third.start, side="right")) - 1
    loads = {"left_sole": 0.0, "right_sole": 0.0}
    for force in step.motion.trajectory.forces[at]:
        loads[force.location] += force.force[2]
    assert loads["right_sole"] < 0.01 * loads["left_sole"]


def test_the_zero_moment_point_is_that_of_the_body(step: SimpleNamespace) -> None:
    """Of the rates of momentum, at the height of the floor."""
    trajectory = step.motion.trajectory
    model, data = step.robot.model, step.robot.model.createData()
    for k in range(0, len(trajectory.times), 50):
        rate = pin.computeCentroidalMomentumTimeVariation(
            model, data, trajectory.q[k], trajectory.v[k], trajectory.a[k]
        )
        force = rate.linear - data.mass[0] * model.gravity.linear
        moment = rate.angular + np.cross(data.com[0], force)
        point = [-moment[1] / force[2], moment[0] / force[2], 0.0]
        np.testing.assert_allclose(trajectory.zero_moment_point[k], point, atol=1e-6)


@pytest.mark.feature("001-F230")
def test_the_sinusoidal_law_pauses_and_durations(step: SimpleNamespace) -> None:
    settings = MotionSettings(
        law="sinusoidal", joint_speed=math.radians(30.0), pause=0.5, durations={1: 4.0}, period=0.02
    )
    motion = made(step, only(step, 0, 2), settings=settings)
    assert motion.success, motion.explanation
    first, second = motion.steps
    assert second.duration == pytest.approx(4.0)
    assert second.start == pytest.approx(first.duration + 0.5)
    trajectory = motion.trajectory
    assert np.abs(trajectory.v[:, 6:]).max() <= math.radians(30.0) * 1.01
    assert np.abs(trajectory.at(first.duration + 0.25).v).max() == np.abs(trajectory.at(first.duration + 0.25).a).max()
    assert first.duration / 0.02 == pytest.approx(round(first.duration / 0.02))


@pytest.mark.feature("001-F237", "001-F239")
def test_tasks_and_tighter_joint_bounds_are_kept_all_along(step: SimpleNamespace) -> None:
    """A hand that holds a glass upright, knees bent by half a radian at least."""
    kinematics = RobotKinematics(step.robot)
    plan = only(step, 0, 2)
    hand = step.robot.link_placements(plan.postures[0])["LARM_LINK6"].rotation
    tasks = [axis_along(kinematics, "LARM_LINK6", hand.T @ [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], 0.05)]
    tasks += [joint_at(kinematics, f"{side}LEG_JOINT3", 0.9, 0.4) for side in "LR"]
    motion = made(step, plan, settings=MotionSettings(period=0.02), tasks=tasks)
    assert motion.success, motion.explanation
    knees = [step.robot.index_q(f"{side}LEG_JOINT3") for side in "LR"]
    for q in motion.trajectory.q[::4]:
        up = step.robot.link_placements(q)["LARM_LINK6"].rotation @ hand.T @ [0.0, 0.0, 1.0]
        assert math.acos(min(up[2], 1.0)) < 0.05 + 5e-3
        assert q[knees].min() > 0.5 - 5e-3


@pytest.mark.feature("001-F221", "001-F226")
def test_via_points_are_kept(step: SimpleNamespace) -> None:
    sole = step.robot.contacts["right_sole"]
    settings = MotionSettings(via={0: [[-0.1, -0.16, 0.15]]}, period=0.02)
    motion = made(step, only(step, 1, 2), settings=settings)
    assert motion.success, motion.explanation
    places = [
        (step.robot.link_placements(q)[sole.link] * sole.placement_link_patch).translation for q in motion.trajectory.q
    ]
    assert np.linalg.norm(np.array(places) - [-0.1, -0.16, 0.15], axis=1).min() < 0.01


def test_a_robot_too_weak_is_told_by_joint_and_place(step: SimpleNamespace) -> None:
    settings = MotionSettings(effort=0.05)
    motion = made(step, only(step, 0, 1), settings=settings)
    assert not motion.success
    assert motion.trajectory is None
    assert re.match("Posture [01] of the plan can't be had .* 5% of the effort limits", motion.explanation)


def test_a_foot_through_a_step_is_told(step: SimpleNamespace) -> None:
    settings = MotionSettings(via={0: [[0.4, -0.095, 0.1]]})
    motion = made(step, only(step, 1, 2), settings=settings)
    assert not motion.success
    assert motion.explanation.startswith("No way at step 0 (right_sole from floor to floor)")
    assert "near step_1" in motion.explanation


@pytest.mark.feature("001-F227", "001-F234")
def test_where_no_straight_way_is_found_one_is_searched_for(
    step: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_path, "_ways", lambda *_: iter(()))
    settings = MotionSettings(period=0.02)
    motion = made(step, only(step, 1, 2), settings=settings)
    assert motion.success, motion.explanation
    assert motion.steps[0].searched
    stances, walks = motion.parts()
    verdict = verify_plan(step.robot, step.scene, stances, walks)
    assert verdict.violations == ()
    again = made(step, only(step, 1, 2), settings=settings)
    np.testing.assert_array_equal(again.trajectory.q, motion.trajectory.q)
    none = made(step, only(step, 1, 2), settings=MotionSettings(searched=0))
    assert none.explanation.endswith("no way along the straight line.")


@pytest.mark.feature("001-F227")
def test_a_projection_that_jumps_ends_its_way(step: SimpleNamespace) -> None:
    """The straight way leads the hand through the middle of a ball that it keeps out of: the nearest side changes."""
    robot, kinematics, stance = step.robot, RobotKinematics(step.robot), step.plan.stances[0]

    def hand(q: np.ndarray) -> np.ndarray:
        return np.asarray(robot.link_placements(q)["LARM_LINK6"].translation)

    postures = []
    for aside in (0.1, 0.5):
        found = generate_posture(
            robot, stance, scene=step.scene, criterion=NearReference(kinematics, robot.postures["half_sitting"]),
            tasks=[point_at(kinematics, "LARM_LINK6", [0.0, 0.0, 0.0], [0.15, aside, 0.9])], collisions=False,
            stability_margin=0.02, kinematics=kinematics,
        )  # fmt: skip
        assert found.success, found.explanation
        postures.append(found.q)
    middle = hand(pin.interpolate(robot.model, *postures, 0.5))
    [row, *_] = point_at(kinematics, "LARM_LINK6", [0.0, 0.0, 0.0], middle).rows
    radius = 0.15
    outside = GeometricTask("ball", [Row(DISTANCE, "", radius, math.inf, a=row.a, P=row.P, Q=middle)])
    plan = PlannedPostures([stance, stance], postures)

    def way(**more: object) -> object:
        settings = MotionSettings(samples=15, period=0.02, **more)  # type: ignore[arg-type]
        return generate_motion(robot, step.scene, plan, settings=settings, collisions=False, tasks=[outside])

    assert "the projection jumps at" in way(searched=0).explanation
    motion = way()
    assert motion.success, motion.explanation
    assert motion.steps[0].searched
    walk = motion.steps[0].walk
    assert min(np.linalg.norm(hand(q) - middle) for q in walk) > radius - 1e-3
    assert max(np.abs(pin.difference(robot.model, *pair)).max() for pair in itertools.pairwise(walk)) < 0.02


def test_a_searched_way_gets_one_more_posture_where_its_spline_fails(
    step: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_path, "_ways", lambda *_: iter(()))
    real, knots = step_path._Projection.pulled, []

    def failing_once(self: step_path._Projection, *nears: object) -> object:
        knots.append(list(self.knots))
        return (0.5, "it fails") if len(knots) == 1 else real(self, *nears)  # type: ignore[arg-type]

    monkeypatch.setattr(step_path._Projection, "pulled", failing_once)
    motion = made(step, only(step, 1, 2), settings=MotionSettings(period=0.02))
    assert motion.success, motion.explanation
    before, after = knots
    [more] = [q for q in after if not any(q is known for known in before)]
    sole = step.robot.contacts["left_sole"]
    place = step.robot.link_placements(more)[sole.link] * sole.placement_link_patch
    np.testing.assert_allclose(place.translation, [-0.2, 0.095, 0.0], atol=1e-8)


def test_postures_with_a_reserve_hold_their_contacts_exactly(step: SimpleNamespace) -> None:
    """One step ends where the next one begins, better than the solver's tolerance."""
    for stance, q in zip(step.motion.stances, step.motion.postures, strict=True):
        for contact in stance.contacts:
            place = step.robot.link_placements(q)[contact.location.link] * contact.location.placement_link_patch
            np.testing.assert_allclose(place.translation, [contact.x, contact.y, 0.0], atol=1e-9)
            np.testing.assert_allclose(place.rotation, np.eye(3), atol=1e-9)


@pytest.mark.parametrize(("share", "calls"), [(0.88, {1, 2}), (0.96, {3})])
def test_postures_need_no_more_friction_than_pyramids_of_forces_have_where_they_can(
    step: SimpleNamespace, share: float, calls: set[int]
) -> None:
    """Gravity leans by a share of friction; cones of cos(22.5 degrees), 0.924, of it are inside pyramids of eight."""
    friction = 0.2
    lean = math.atan(share * friction)
    gravity = 9.81 * np.array([math.sin(lean), 0.0, -math.cos(lean)])
    slippery = replace(step.scene, gravity=gravity, rules=(PairRule("*", "*", friction=friction),))
    postures = StancePostures(step.robot, slippery, 0.015, 0.9, None, (), {})
    assert postures.regenerate(step.plan.stances[0], step.plan.postures[0]).success
    assert postures.calls in calls


@pytest.mark.feature("001-F239")
def test_a_search_keeps_tasks(step: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A glass in the hand stays exactly upright on a way that was searched for."""
    monkeypatch.setattr(step_path, "_ways", lambda *_: iter(()))
    plan = only(step, 1, 2)
    hand = step.robot.link_placements(plan.postures[0])["LARM_LINK6"].rotation
    tasks = [axis_along(RobotKinematics(step.robot), "LARM_LINK6", hand.T @ [0.0, 0.0, 1.0], [0.0, 0.0, 1.0])]
    motion = made(step, plan, settings=MotionSettings(period=0.02), tasks=tasks)
    assert motion.success, motion.explanation
    assert motion.steps[0].searched
    for q in motion.trajectory.q[::4]:
        up = step.robot.link_placements(q)["LARM_LINK6"].rotation @ hand.T @ [0.0, 0.0, 1.0]
        assert np.linalg.norm(np.cross(up, [0.0, 0.0, 1.0])) < 1e-5


def test_the_last_posture_fulfils_the_goal_and_is_held_at_rest(step: SimpleNamespace) -> None:
    hand = step.robot.link_placements(step.plan.postures[1])["LARM_LINK6"].act(np.array([0.02, 0.0, 0.01]))
    goal = [point_at(RobotKinematics(step.robot), "LARM_LINK6", [0.0, 0.0, 0.0], hand)]
    motion = made(step, only(step, 0, 1), settings=MotionSettings(period=0.02), goal=goal)
    assert motion.success, motion.explanation
    trajectory = motion.trajectory
    at = step.robot.link_placements(trajectory.q[-1])["LARM_LINK6"].translation
    np.testing.assert_allclose(at, hand, atol=1e-5)
    assert not trajectory.v[-1].any()
    assert not trajectory.a[-1].any()
    # Torques that hold it at rest, not those that it brakes with.
    q, still = trajectory.q[-1], np.zeros(step.robot.model.nv)
    weight = pin.rnea(step.robot.model, step.robot.model.createData(), q, still, still)
    push = sum(item.force for item in trajectory.forces[-1])
    turned = step.robot.placement_base(q).rotation @ weight[:3]
    np.testing.assert_allclose(push, turned, atol=1e-4)


@pytest.mark.feature("001-F240")
def test_it_is_cancelled_with_what_there_is(step: SimpleNamespace) -> None:
    told: list[Progress] = []

    def stop(progress: Progress) -> bool:
        told.append(progress)
        return progress.part == 2

    motion = made(step, step.plan, settings=MotionSettings(period=0.02), progress=stop)
    assert not motion.success
    assert motion.explanation.startswith("Ended at step 2")
    assert "cancelled" in motion.explanation
    assert len(motion.steps) == 1
    assert motion.trajectory is not None
    assert motion.trajectory.duration == pytest.approx(motion.steps[0].duration)
    assert sorted({item.part for item in told}) == [0, 1, 2]


@pytest.mark.feature("001-F240")
def test_it_is_cancelled_within_a_step(step: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Postures, pulls and linear programs look as often as they like; a callback that is asked at all looks ends it."""
    monkeypatch.setattr("humanoid_model.progress._EVERY", 0.0)
    for looks in (2, 40, 400):
        told: list[Progress] = []
        settings = MotionSettings(period=0.02)
        motion = made(step, step.plan, settings=settings, progress=lambda p: told.append(p) or len(told) == looks)  # noqa: B023
        assert len(told) == looks  # nobody goes on after it
        assert motion.explanation == f"Ended at {told[-1].stage}: it was cancelled."
        assert not motion.success
        assert len(motion.steps) == max(told[-1].part - 1, 0)
        assert len(motion.postures) == max(told[-1].part, 0)


@pytest.mark.feature("001-F240")
def test_without_time_there_is_no_motion(step: SimpleNamespace) -> None:
    motion = made(step, step.plan, time_limit=0.0)
    assert motion.explanation.endswith("the time limit of 0 s is reached.")
    assert motion.steps == ()
    assert motion.trajectory is None
    with pytest.raises(InputError, match="time_limit"):
        made(step, step.plan, time_limit=math.nan)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"law": "quick"}, "law"),
        ({"approach": -0.1}, "approach"),
        ({"speed": 1.5}, "speed"),
        ({"period": 0.0}, "period"),
        ({"reserve": math.nan}, "reserve"),
        ({"durations": {2: -1.0}}, r"durations\[2\]"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        MotionSettings(**changes)  # type: ignore[arg-type]


def test_plans_that_fit_nothing_are_refused(step: SimpleNamespace) -> None:
    with pytest.raises(InputError, match="3 postures for 4 stances"):
        made(step, PlannedPostures(step.plan.stances, step.plan.postures[:3]))
    with pytest.raises(InputError, match=r"isn't finite|finite"):
        made(step, PlannedPostures(step.plan.stances, [np.nan * q for q in step.plan.postures]))


def _set(q: np.ndarray, index: int, value: float) -> np.ndarray:
    changed = q.copy()
    changed[..., index] = value
    return changed


def corrupted(step: SimpleNamespace) -> list[tuple[str, set[str], list[Stance], list[np.ndarray]]]:
    """Ten motions with one thing wrong each, and what has to be said of it."""
    stances, walks = step.motion.parts()
    robot, model = step.robot, step.robot.model
    middle = len(walks[3]) // 2
    transfer, swing = walks[1][:4], walks[3][middle - 6 : middle + 6]
    walks = [walks[0], transfer, walks[2], swing, *walks[4:6]]
    walks[5] = walks[5][:4]
    stances = stances[:6]

    def with_walk(index: int, walk: np.ndarray) -> list[np.ndarray]:
        return [*walks[:index], walk, *walks[index + 1 :]]

    def with_stance(index: int, stance: Stance) -> list[Stance]:
        return [*stances[:index], stance, *stances[index + 1 :]]

    def moved(walk: np.ndarray, change: np.ndarray) -> np.ndarray:
        return np.array([pin.integrate(model, q, change) for q in walk])

    aside, turned = np.zeros(model.nv), np.zeros(model.nv)
    aside[1], turned[5] = 0.004, 0.05
    shoved: Contact = replace(stances[3].contacts[0], x=stances[3].contacts[0].x + 0.01)
    knee = robot.index_q("RLEG_JOINT3")
    lifted = swing.copy()
    lifted[6, 2] += 0.01
    return [
        ("a joint beyond its limit", {"joint limit"}, stances, with_walk(3, _set(swing, knee, -0.2))),
        ("a foot that slides", {"drift"}, stances, with_walk(3, moved(swing, aside))),
        ("a foot that turns", {"drift"}, stances, with_walk(3, moved(swing, turned))),
        ("a jump", {"step"}, stances, with_walk(3, np.delete(swing, slice(2, 10), axis=0))),
        ("a hop of the base", {"step", "drift"}, stances, with_walk(3, lifted)),
        ("the other foot held", {"drift"}, with_stance(3, step.plan.stances[0].removing("left_sole")), walks),
        ("a foothold moved", {"drift"}, with_stance(3, Stance((shoved,))), walks),
        ("no number", {"number"}, stances, with_walk(1, _set(transfer, 10, np.nan))),
        ("a foot that bears too early", {"order"}, with_stance(4, step.plan.stances[3]), walks),
        (
            "an arm in the trunk",
            {"collision"},
            stances,
            with_walk(3, _set(_set(swing, robot.index_q("RARM_JOINT2"), 1.2), robot.index_q("RARM_JOINT3"), -2.0)),
        ),
    ]  # fmt: skip


@pytest.mark.feature("001-F233")
def test_each_of_ten_corrupted_motions_is_caught(step: SimpleNamespace) -> None:
    for what, kinds, stances, walks in corrupted(step):
        verdict = verify_plan(step.robot, step.scene, stances, walks)
        assert not verdict.success, what
        assert kinds <= {violation.kind for violation in verdict.violations}, what


def test_weight_on_a_foot_that_doesnt_reach_below_it_is_caught(step: SimpleNamespace) -> None:
    stances, walks = step.motion.parts()
    # The weight is on both feet here; the left one alone doesn't carry it.
    verdict = verify_plan(step.robot, step.scene, [Stance((stances[0].contacts[0],))], [walks[0]])
    assert {violation.kind for violation in verdict.violations} == {"balance"}
