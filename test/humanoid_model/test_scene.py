# SPDX-License-Identifier: Apache-2.0
"""Rules of pairs, names, and robots put at their places."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, floor, place
from numpy.testing import assert_allclose

from humanoid_model import load_robot, load_scene
from humanoid_model.scene import PairProperties, PairRule, Scene, place_robot


@pytest.mark.parametrize("turn", [False, True])
def test_the_last_rule_that_says_something_counts(turn: bool) -> None:
    rules = (
        PairRule("*", "*", friction=0.8, restitution=0.1),
        PairRule("hrp2/*", "ice", friction=0.05),
        PairRule("hrp2/LLEG*", "*", restitution=0.5),
        PairRule("ice", "floor", collide=False),
        PairRule("ice", "flo*", collide=True),
        PairRule("hrp2/*", "hrp2/*", collide=False),
    )
    scene = Scene("rules", rules=rules)

    def ordered(a: str, b: str) -> tuple[str, str]:
        return (b, a) if turn else (a, b)

    assert scene.pairs(*ordered("box", "floor")) == PairProperties(0.8, 0.1)
    assert scene.pairs(*ordered("hrp2/WAIST", "ice")) == PairProperties(0.05, 0.1)
    assert scene.pairs(*ordered("hrp2/LLEG_LINK5", "ice")) == PairProperties(0.05, 0.5)
    assert scene.pairs(*ordered("hrp2/LLEG_LINK5", "floor")) == PairProperties(0.8, 0.5)
    assert scene.collides(*ordered("ice", "floor"))
    assert scene.collides(*ordered("hrp2/WAIST", "floor"))
    assert not scene.collides(*ordered("hrp2/WAIST", "hrp2/HEAD_LINK0"))


def test_without_rules() -> None:
    scene = Scene("none")
    assert scene.pairs("a", "b") == PairProperties(0.4, 0.0)
    assert scene.collides("a", "b")


def test_names_of_bodies_and_links() -> None:
    names = load_scene("stand").body_names()
    assert names[0] == "floor"
    assert {"hrp2/WAIST", "hrp2/LLEG_LINK5"} < set(names)
    assert len(names) == len(set(names))


def test_scenes_are_equal_by_value() -> None:
    one = Scene("s", bodies=(floor(), ball("b", 1.0, place(0, 0, 1))))
    other = Scene("s", bodies=(floor(), ball("b", 1.0, place(0, 0, 1))))
    assert one == other
    moved = dataclasses.replace(one.bodies[1], twist=np.array([1.0, 0, 0, 0, 0, 0]))
    assert one != Scene("s", bodies=(floor(), moved))
    assert one != Scene("s", bodies=(floor(), ball("b", 1.0, place(0, 0, 1))), gravity=np.zeros(3))


def test_a_robot_stands_where_it_is_put() -> None:
    """Turned by a quarter and lifted: its soles are on the plane z = 0.3 and its base has moved rigidly."""
    robot = load_robot("hrp2")
    placement = pin.SE3(pin.rpy.rpyToMatrix(0, 0, np.pi / 2), np.array([1.0, 2.0, 0.3]))
    q = place_robot(robot, "half_sitting", placement)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    for contact in robot.contacts.values():
        if contact.support:
            link = data.oMf[robot.model.getFrameId(contact.link)]
            heights = [link.act(vertex)[2] for vertex in contact.vertices_link]
            assert_allclose(heights, 0.3, atol=1e-6)
    start = robot.postures["half_sitting"]
    expected = placement * robot.placement_base(start)
    assert_allclose(robot.placement_base(q).homogeneous, expected.homogeneous, atol=1e-12)
    assert_allclose(q[7:], start[7:], atol=0)


def test_a_robot_fixed_to_the_world_keeps_its_coordinates() -> None:
    robot = load_robot("hrp2", floating_base=False)
    placement = pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0]))
    assert_allclose(place_robot(robot, "half_sitting", placement), robot.postures["half_sitting"], atol=0)


def test_dynamic_friction_belongs_to_the_static_one_of_its_rule() -> None:
    rules = (
        PairRule("*", "*", friction=0.8, dynamic_friction=0.6, torsional_friction=0.01, compliance=1e-6),
        PairRule("ice", "*", friction=0.1),
        PairRule("ice", "steel", dynamic_friction=0.05, rolling_friction=1e-3, viscous_friction=2.0),
    )
    scene = Scene("rules", rules=rules)
    assert scene.pairs("box", "floor") == PairProperties(
        0.8, dynamic_friction=0.6, torsional_friction=0.01, compliance=1e-6
    )
    assert scene.pairs("floor", "ice").dynamic_friction is None
    assert scene.pairs("steel", "ice") == PairProperties(
        0.1, dynamic_friction=0.05, torsional_friction=0.01, rolling_friction=1e-3, viscous_friction=2.0,
        compliance=1e-6,
    )  # fmt: skip
