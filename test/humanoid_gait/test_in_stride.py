# SPDX-License-Identifier: Apache-2.0
"""A motion with rests becomes one without: same contacts, near the same way, in a part of the time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait.hold import hold_of
from humanoid_gait.in_stride import StrideSettings, _hold, _narrower, in_stride
from humanoid_gait.placement import posture_at
from humanoid_gait.problem import Corridor, Phase, Tube
from humanoid_model import Contact, InputError, Robot, Surface, load_robot
from humanoid_model.contact import SurfaceForm
from humanoid_model.ground_profile import LEVEL
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory

pytestmark = pytest.mark.feature("003-F031")
STEP, LIFT, FRICTION = 0.15, 0.05, 0.6
SETTINGS = StrideSettings(interval=0.12)


def _resting(robot: Robot) -> WholeBodyTrajectory:
    """The right sole goes a step ahead, the centre of mass over the left one meanwhile; at rest at every posture."""
    links = robot.link_placements(robot.default_posture)
    soles = {
        name: links[robot.contacts[name].link] * robot.contacts[name].placement_link_patch
        for name in ("left_sole", "right_sole")
    }
    left, right = soles["left_sole"], soles["right_sole"]
    ahead = pin.SE3(right.rotation, right.translation + np.array([STEP, 0.0, 0.0]))
    up = pin.SE3(right.rotation, 0.5 * (right.translation + ahead.translation) + np.array([0.0, 0.0, LIFT]))
    base = robot.placement_base(robot.default_posture)

    def at(x: float, y: float, sole: pin.SE3) -> np.ndarray:
        place = pin.SE3(base.rotation, base.translation + np.array([x, y, -0.03]))
        q = robot.place_base(robot.default_posture, place)
        return posture_at(robot, q, {"left_sole": left, "right_sole": sole})

    over = float(left.translation[1])
    postures = [at(0.0, 0.0, right), at(0.0, over, right), at(0.0, over, up), at(0.0, over, ahead),
                at(0.5 * STEP, 0.0, ahead)]  # fmt: skip
    q, times = [], []
    for k, (a, b) in enumerate(itertools.pairwise(postures)):
        for share in np.linspace(0.0, 1.0, 20, endpoint=k == 3):
            q.append(pin.interpolate(robot.model, a, b, 0.5 - 0.5 * np.cos(np.pi * share)))
            times.append(k + share)
    place = {name: tuple(frame.translation[:2]) for name, frame in soles.items()}
    held = hold_of(robot, "left_sole", place["left_sole"]).contact
    spans = [
        ContactSpan(held, 0.0, 4.0),
        ContactSpan(hold_of(robot, "right_sole", place["right_sole"]).contact, 0.0, 1.0),
        ContactSpan(hold_of(robot, "right_sole", tuple(ahead.translation[:2])).contact, 3.0, 4.0),
    ]
    up_, none = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    forces = [[PlannedForce(name, "ground", none, up_, up_, FRICTION) for name in place]] * len(q)
    still = np.zeros((len(q), robot.model.nv))
    return WholeBodyTrajectory(robot, times, q, still, still, spans, forces=forces)


@pytest.fixture(scope="module")
def resting() -> WholeBodyTrajectory:
    return _resting(load_robot("hrp2", geometry=False))


@pytest.fixture(scope="module")
def found(resting: WholeBodyTrajectory) -> WholeBodyTrajectory:
    return in_stride(resting, SETTINGS).trajectory


def test_takes_a_part_of_the_time_and_keeps_every_limit(
    resting: WholeBodyTrajectory, found: WholeBodyTrajectory
) -> None:
    assert found.duration < 0.5 * resting.duration
    assert judge_motion(found, LEVEL, FRICTION) == ()
    np.testing.assert_allclose([force.friction for sample in found.forces for force in sample], FRICTION)


def test_begins_and_ends_at_rest_where_the_given_one_does(
    resting: WholeBodyTrajectory, found: WholeBodyTrajectory
) -> None:
    model = found.robot.model
    for k in (0, -1):
        off = pin.difference(model, found.q[k], resting.q[k])
        np.testing.assert_allclose(off, 0.0, atol=1e-5)
        np.testing.assert_allclose(found.v[k], 0.0, atol=1e-5)
    assert [span.location for span in found.contacts] == [span.location for span in resting.contacts]
    places = [[span.contact.x for span in motion.contacts] for motion in (found, resting)]
    np.testing.assert_allclose(*places)


def test_stays_in_its_tube(resting: WholeBodyTrajectory, found: WholeBodyTrajectory) -> None:
    """Near some posture of the given way, and the sole that moves within its corridor of some place of its own."""
    robot = found.robot
    way = np.array([robot.link_placements(q)["RLEG_LINK5"].translation for q in resting.q])
    for q in found.q:
        nearest = min(float(np.abs(pin.difference(robot.model, own, q)[6:]).max()) for own in resting.q)
        assert nearest < SETTINGS.tube + 0.05  # between nodes a little more
        sole = robot.link_placements(q)["RLEG_LINK5"].translation
        assert np.linalg.norm(way - sole, axis=1).min() < np.sqrt(3.0) * SETTINGS.corridor + 0.01


def test_samples_between_points_are_the_integrals_of_their_accelerations(found: WholeBodyTrajectory) -> None:
    kept = found.increasing
    times, q, v, a = found.times[kept], found.q[kept], found.v[kept], found.a[kept]
    assert np.diff(times).max() < SETTINGS.period * 1.01
    steps = np.array([pin.difference(found.robot.model, one, other) for one, other in itertools.pairwise(q)])
    mean = steps / np.diff(times)[:, None]
    # The trapezoidal rule is off by a third of the greatest change of an acceleration over a step, at most.
    allowed = np.abs(np.diff(a, axis=0)).max() * SETTINGS.period
    assert np.abs(mean - 0.5 * (v[1:] + v[:-1])).max() < allowed


def test_where_it_runs_into_something_it_goes_nearer_to_the_given_way(
    resting: WholeBodyTrajectory, found: WholeBodyTrajectory
) -> None:
    model = found.robot.model

    def off(motion: WholeBodyTrajectory) -> float:
        return max(
            min(float(np.abs(pin.difference(model, own, q)[6:]).max()) for own in resting.q) for q in motion.q
        )

    limit = 0.7 * off(found)

    def hits(motion: WholeBodyTrajectory) -> list[tuple[float, str]]:
        return [(float(time), "WAIST") for time in motion.times] if off(motion) > limit else []

    near = in_stride(resting, SETTINGS, touches=hits)
    assert not near.resting
    assert off(near.trajectory) <= limit


@pytest.mark.parametrize(("limits", "why"), [
    ({"time_limit": 1e-3}, "the time limit of 0.001 s is reached"), ({"progress": lambda _: True}, "it was cancelled"),
])  # fmt: skip
def test_steps_without_time_stay_as_they_are(resting: WholeBodyTrajectory, limits: dict[str, Any], why: str) -> None:
    found = in_stride(resting, SETTINGS, **limits)
    assert found.resting == {0: why}
    assert found.explanation == f"0 of 1 steps in stride: step 0 rests: {why}."
    np.testing.assert_array_equal(found.trajectory.q, resting.q)


def test_a_contact_without_a_planned_force_is_named(resting: WholeBodyTrajectory) -> None:
    silent = WholeBodyTrajectory(
        resting.robot, resting.times, resting.q, resting.v, resting.a, resting.contacts,
        forces=[[force for force in sample if force.location == "left_sole"] for sample in resting.forces],
    )  # fmt: skip
    with pytest.raises(InputError, match="motion: has no planned force of 'right_sole' on 'ground'"):
        in_stride(silent, SETTINGS)


def test_on_a_cylinder_forces_act_along_a_line_that_holds_the_link_in_six_ways(resting: WholeBodyTrajectory) -> None:
    """The sole's patch is cut by the rail's axis; of its line half stays unused at most."""
    rail = Surface("rail", "rail", pin.SE3.Identity(), form=SurfaceForm.CYLINDER, radius=0.03)
    contact = Contact(resting.robot.contacts["left_sole"], rail, 0.0, 0.0, 0.0)
    hold = _hold(contact, pin.SE3.Identity(), FRICTION, SETTINGS)
    inner = np.asarray(hold.contact.location.patch)
    assert len(hold.corners) >= 3
    np.testing.assert_allclose(inner[:, 1], 0.0, atol=1e-12)
    reach = contact.touching[:, 0]
    assert inner[:, 0].min() == pytest.approx(reach.min() + SETTINGS.reserve)
    assert inner[:, 0].max() == pytest.approx(reach.max() - SETTINGS.reserve)


def test_of_two_corridors_of_one_link_each_becomes_narrower() -> None:
    """As of a heel and a toe that are two places of one foot."""
    room, axes = np.full((3, 1, 3), 0.02), np.tile(np.eye(3), (3, 1, 1))
    pair = tuple(Corridor("foot", np.full((1, 3), x), room, room, axes) for x in (0.0, 0.1))
    tube = Tube(np.zeros((3, 7)), np.ones(6), pair)
    found = _narrower(Phase((), 1.0, 2, tube=tube), ["foot", "hand"]).tube
    assert found is not None
    assert [own.link for own in found.corridors] == ["foot", "foot", "hand"]
    for own, before in zip(found.corridors, pair, strict=False):
        np.testing.assert_array_equal(own.points, before.points)
        np.testing.assert_array_equal(own.upper, 0.5 * room)
    assert (found.width < 1.0).all()
