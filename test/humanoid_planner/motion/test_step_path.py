# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import coal
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, ContactKind, Stance, load_robot, load_scene
from humanoid_planner.motion import MotionSettings
from humanoid_planner.motion.body_clearance import BodyClearance
from humanoid_planner.motion.body_path import BodyPath
from humanoid_planner.motion.motion import Case, find_transitions
from humanoid_planner.motion.stance_postures import StancePostures
from humanoid_planner.motion.step_path import _ways

ROBOT, SCENE = load_robot("hrp2"), load_scene("ladder")
SURFACES = {surface.name: surface for surface in SCENE.surfaces}


@pytest.mark.feature("001-F222")
def test_a_foot_that_leaves_by_its_sole_and_comes_by_its_ball_has_one_way() -> None:
    """The ball's middle is 55 mm before the sole's."""
    sole = Contact(ROBOT.contacts["right_sole"], SURFACES["floor"], 0.1, -0.095, 0.0, ContactKind.RELEASED)
    ball = Contact(ROBOT.contacts["right_ball"], SURFACES["rung_1"], 0.0, -0.12, 0.0, ContactKind.RELEASED)
    held = Stance((Contact(ROBOT.contacts["left_sole"], SURFACES["floor"], 0.1, 0.095, 0.0),))
    [transition] = find_transitions([held.adding(sole), held.adding(ball)])
    assert transition.case is Case.MOVED
    q = ROBOT.postures["half_sitting"]
    postures = StancePostures(ROBOT, SCENE, 0.015, 0.9, None, (), {})
    [[(location, path, own)]] = [next(_ways(postures, transition, q, q, MotionSettings()))]
    assert location.name == "right_ball"
    assert own == {"floor", "rung_1"}
    np.testing.assert_allclose(path.placement(0.0).translation, [0.155, -0.095, 0.0], atol=1e-9)
    np.testing.assert_allclose(path.placement(1.0).translation, [0.4026, -0.12, 0.22], atol=1e-9)
    assert path.near_end(0.0, 0.02)


@pytest.mark.feature("001-F221")
def test_a_hand_that_grazes_the_rung_it_comes_to_is_told() -> None:
    """Oracle: distances of the hand's shapes from the rung's box every tenth of a millimetre of the ways."""
    hand, clear = ROBOT.contacts["left_hand_fingers"], BodyClearance(ROBOT, SCENE)
    end = pin.SE3(np.eye(3), np.array([0.9155, 0.2, 1.32]))
    box = coal.Box(0.06, 0.6, 0.03)
    where = coal.Transform3s(np.eye(3), np.array([0.9155, 0.0, 1.305]))
    link = ROBOT.parts.links[hand.link]
    inside = (link.placement_joint_link * hand.placement_link_patch).inverse()
    shapes = [
        (item.geometry, inside * item.placement)
        for item in ROBOT.collision_model.geometryObjects
        if item.parentJoint == link.joint_id
    ]

    def deepest(path: BodyPath) -> float:
        least = math.inf
        for s in np.linspace(0.0, 1.0, math.ceil(path.length / 1e-4)):
            if path.near_end(s, 0.02):
                continue
            for shape, place in shapes:
                at, result = path.placement(s) * place, coal.DistanceResult()
                pose = coal.Transform3s(at.rotation, at.translation)
                least = min(least, coal.distance(shape, pose, box, where, coal.DistanceRequest(), result))
        return least

    grazing = 0
    for before in np.linspace(-0.16, -0.06, 11):
        start = pin.SE3(np.eye(3), end.translation + np.array([before, 0.0, -0.22]))
        path = BodyPath(start, end, leaves=True, arrives=True, approach=0.02, lift=0.0)
        if deepest(path) < -5e-4:
            grazing += 1
            assert "rung_6" in clear.problem(hand, path, frozenset({"rung_5", "rung_6"}), 0.01, 0.02)
    assert grazing


@pytest.mark.feature("001-F221")
def test_looks_that_distances_allow_to_leave_out_change_no_answer() -> None:
    """Oracle: distances at every look, 2 mm apart, on paths at random around and through the rungs."""
    hand, clear, rng = ROBOT.contacts["left_hand_fingers"], BodyClearance(ROBOT, SCENE), np.random.default_rng()
    bodies, answers = frozenset(body.name for body in SCENE.bodies), set()
    for _ in range(40):
        ends = [
            pin.SE3(pin.exp3(rng.uniform(-0.5, 0.5, 3)), rng.uniform([0.5, -0.3, 0.3], [1.0, 0.3, 1.4]))
            for _ in range(2)
        ]
        path = BodyPath(*ends, leaves=True, arrives=True, approach=0.02, lift=rng.uniform(0.0, 0.2))
        count = math.ceil(path.length / 2e-3)
        gaps = [clear.gap(hand, path.placement(k / count), bodies) for k in range(count + 1)]
        if min(gaps[0], gaps[-1]) < 0.02:
            continue  # one that begins or ends nearer may come as near
        answers.add(min(gaps) < 0.01)
        assert bool(clear.problem(hand, path, frozenset(), 0.01, 0.02)) == (min(gaps) < 0.01)
    assert answers == {True, False}
