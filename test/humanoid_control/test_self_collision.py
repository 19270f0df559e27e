# SPDX-License-Identifier: Apache-2.0
"""Parts of a robot keep apart: capsules, their distances against coal, and legs and hands that are led into another."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.self_collision import SelfCollision
from humanoid_control.whole_body_control import BodyGains, WholeBodyControl
from humanoid_model import load_robot
from humanoid_model.capsules import capsule_around
from humanoid_model.self_overlap import self_overlap

pytestmark = pytest.mark.feature("000-F162")

HRP2 = load_robot("hrp2")
DT, MARGIN = 2e-3, 0.01


@pytest.mark.parametrize("seed", range(5))
def test_a_capsule_holds_its_points_and_is_hardly_larger_than_the_one_they_are_from(seed):
    rng = np.random.default_rng(seed)
    axis, radius = rng.normal(size=(2, 3)), rng.uniform(0.05, 0.5)
    away = rng.normal(size=(3000, 3))
    points = axis[0] + rng.random((3000, 1)) * (axis[1] - axis[0])
    points = points + radius * away / np.linalg.norm(away, axis=1)[:, None]
    ends, found = capsule_around(points)
    way = ends[1] - ends[0]
    share = np.clip((points - ends[0]) @ way / max(way @ way, 1e-12), 0.0, 1.0)
    assert np.linalg.norm(points - ends[0] - share[:, None] * way, axis=1).max() < found + 1e-9
    length = np.linalg.norm(axis[1] - axis[0])
    assert found**2 * (np.linalg.norm(way) + 4 / 3 * found) < 1.15 * radius**2 * (length + 4 / 3 * radius)


def state(rng):
    """HRP-2 near its posture, in motion."""
    q = pin.integrate(HRP2.model, HRP2.posture("half_sitting"), 0.15 * rng.normal(size=HRP2.model.nv))
    return q, rng.normal(size=HRP2.model.nv)


def looked_at(apart, q, v, rate):
    data = HRP2.model.createData()
    pin.computeAllTerms(HRP2.model, data, q, v)
    pin.computeJointJacobiansTimeVariation(HRP2.model, data, q, v)
    return apart.barriers(data, np.array([data.J.T, data.dJ.T]), v, rate)


@pytest.mark.parametrize("seed", range(5))
def test_gaps_are_those_of_coal_s_capsules(seed):
    apart = SelfCollision(HRP2, MARGIN)
    q, v = state(np.random.default_rng(seed))
    data = HRP2.model.createData()
    pin.forwardKinematics(HRP2.model, data, q)
    looked_at(apart, q, v, 1.0)
    joints, ends, radii, pairs = apart.capsules
    placed = []
    for joint, (one, other), radius in zip(joints.tolist(), ends, radii, strict=True):
        length = float(np.linalg.norm(other - one))
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), (other - one) / max(length, 1e-12)).matrix()
        placement = data.oMi[joint] * pin.SE3(turn if length else np.eye(3), 0.5 * (one + other))
        placed.append((coal.Capsule(radius, length), coal.Transform3s(placement.rotation, placement.translation)))
    for (i, j), gap in zip(pairs.tolist(), apart.gaps, strict=True):
        told = coal.distance(*placed[i], *placed[j], coal.DistanceRequest(), coal.DistanceResult())
        if told > 0.0:
            assert gap == pytest.approx(told, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_the_rates_of_the_gaps(seed):
    apart = SelfCollision(HRP2, MARGIN)
    q, v = state(np.random.default_rng(seed))
    looked_at(apart, q, v, 25.0)
    bare = SelfCollision(HRP2, 1e3)  # all pairs are within such a margin, so none is left out for being far
    bare.capsules, bare._points, bare.gaps = apart.capsules, apart._points, apart.gaps.copy()
    bare._moved, bare._rows, bare._least = apart._moved, apart._rows.copy(), apart._least.copy()
    rows, _ = looked_at(bare, q, v, 1e-9)
    assert len(rows) == len(bare.gaps)
    ahead, back = (
        looked_at(apart, pin.integrate(HRP2.model, q, sign * 1e-6 * v), v, 25.0) and apart.gaps.copy()
        for sign in (1.0, -1.0)
    )
    np.testing.assert_allclose(rows @ v, (ahead - back) / 2e-6, atol=1e-4)


def led(goal, gains):
    """How deep shapes are in each other, and the least gap, while the right foot is led by ``goal`` (3,) [m]."""
    body, q = WholeBodyControl(HRP2, gains), HRP2.posture("half_sitting")
    v = np.zeros(HRP2.model.nv)
    body.look(q, v)
    start, centre, posture = body.sole("right_sole"), body.centre, q
    plate = body.soles["left_sole"].corners * [4.0, 8.0, 1.0]  # balance isn't what this is about
    free = pin.SE3(start.rotation, start.translation + np.array([0.0, 0.0, 0.05]))
    deepest, gap = 0.0, np.inf
    for k in range(350):
        body.look(q, v)
        body.hold("left_sole", plate)
        share = min(k * DT / 0.4, 1.0)
        placement = pin.SE3(free.rotation, free.translation + share * goal)
        body.reach("right_sole", placement, np.zeros(6), np.zeros(6))
        body.move_centre(20.0 * (centre - body.centre) - 9.0 * body.centre_velocity)
        body.orient_base(np.eye(3))
        body.keep_posture(posture)
        body.solve()
        gap = min(gap, float(body.apart.gaps.min()))
        v = v + DT * body.accelerations
        q = pin.integrate(HRP2.model, q, DT * v)
        deepest = max([deepest, *(one.depth for one in self_overlap(HRP2).overlaps(q))])
    return deepest, gap


@pytest.mark.parametrize("goal", [[0.0, 0.2, 0.0], [0.05, 0.3, 0.1]])
def test_a_foot_that_is_led_into_the_other_leg_stops_before_it(goal):
    deepest, gap = led(np.array(goal), BodyGains())
    assert deepest == 0.0
    assert gap > 0.9 * MARGIN


def test_without_the_barrier_the_same_foot_goes_through_the_other_leg(monkeypatch):
    nothing = np.zeros((0, HRP2.model.nv)), np.zeros(0)
    look = SelfCollision.barriers
    monkeypatch.setattr(SelfCollision, "barriers", lambda *arguments: (look(*arguments), nothing)[1])
    deepest, _ = led(np.array([0.0, 0.2, 0.0]), BodyGains())
    assert deepest > 0.01


def test_what_was_found_for_a_robot_serves_all_who_move_it():
    """To look for pairs beside a controller's ticks would make some of these late."""
    first, again, farther = (SelfCollision(HRP2, margin) for margin in (MARGIN, MARGIN, MARGIN + 0.02))
    assert again.capsules is first.capsules
    assert again.gaps is not first.gaps
    assert farther.capsules is not first.capsules
