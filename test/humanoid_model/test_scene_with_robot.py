# SPDX-License-Identifier: Apache-2.0
"""Scenes with another robot in the place of their own, or with something more or less."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, with_entity, with_robot, without


def test_it_stands_on_the_same_footprint() -> None:
    scene = load_scene("stand")
    away = dataclasses.replace(scene.robots[0], placement=pin.SE3(np.eye(3), np.array([1.0, 2.0, 0.0])))
    changed = with_robot(dataclasses.replace(scene, robots=(away,)), load_robot("bip"))
    (placed,) = changed.robots
    assert (placed.name, placed.robot.name) == ("bip", "bip")
    base = placed.robot.placement_base(placed.q).translation
    own = placed.robot.placement_base(placed.robot.postures[placed.posture]).translation
    np.testing.assert_allclose(base - own, [1.0, 2.0, 0.0], atol=1e-12)
    assert [body.name for body in changed.bodies] == [body.name for body in scene.bodies]


def test_it_begins_in_a_posture_that_it_knows() -> None:
    robot = load_robot("robot_2r_a")
    other = dataclasses.replace(robot, postures={**robot.postures, "bent": robot.postures["zero"] + 0.3})
    for one, posture in ((robot, "zero"), (other, "bent"), (load_robot("hrp2"), "half_sitting")):
        assert with_robot(load_scene("stand"), one).robots[0].posture == posture


def test_what_named_the_old_robot_goes_with_it() -> None:
    scene = load_scene("stand")
    rules = (*scene.rules, PairRule("hrp2/RLEG_LINK5", "floor", friction=0.3), PairRule("floor", "hrp2/*"))
    changed = with_robot(dataclasses.replace(scene, rules=rules), load_robot("bip"))
    assert changed.rules == scene.rules
    assert changed.surfaces == scene.surfaces


def test_scenes_without_a_place_for_it_are_refused() -> None:
    robot = load_robot("bip")
    with pytest.raises(InputError, match=r"robot: the scene 'boxes' has 0 robots \(none\)"):
        with_robot(load_scene("boxes"), robot)
    scene = load_scene("stand")
    named = dataclasses.replace(scene, bodies=(dataclasses.replace(scene.bodies[0], name="bip"),))
    with pytest.raises(InputError, match="a body of the scene is called 'bip' too"):
        with_robot(named, robot)


LAMP = """<robot name="lamp"><link name="foot">
  <inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="bulb"><inertial><origin xyz="0 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.1"/><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="stem" type="fixed"><parent link="foot"/><child link="bulb"/><origin xyz="0 0 0.6"/></joint></robot>"""


def test_links_that_are_fixed_to_each_other_come_as_one_body() -> None:
    place = pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0]))
    scene = with_entity(load_scene("stand"), "lamp", load_robot(LAMP), place)
    body = scene.bodies[-1]
    assert (body.name, body.mass) == ("lamp", pytest.approx(3.0))
    np.testing.assert_allclose(body.com, [0.0, 0.0, 0.2], atol=1e-12)
    # 2 * 0.01 of its own, and 2 kg and 1 kg, 0.2 m and 0.4 m from the middle
    np.testing.assert_allclose(np.diag(body.inertia), [0.01 * 2 + 0.08 + 0.16] * 2 + [0.02], atol=1e-12)
    np.testing.assert_allclose(body.geometries[0].placement.translation, [0.0, 0.0, 0.7], atol=1e-12)
    assert body.placement_world_body == place


def test_a_robot_that_comes_stands_on_its_footprint() -> None:
    place = pin.SE3(np.eye(3), np.array([0.0, 2.0, 0.5]))
    scene = with_entity(load_scene("stand"), "bip", load_robot("bip"), place)
    bip, q = load_robot("bip"), scene.robots[1].q
    moved = bip.placement_base(q).translation - bip.placement_base(bip.postures[scene.robots[1].posture]).translation
    np.testing.assert_allclose(moved, [0.0, 2.0, 0.5], atol=1e-12)


def test_what_goes_takes_its_rules_along() -> None:
    scene = load_scene("stand")
    rules = (PairRule("hrp2/*", "floor", friction=0.1), PairRule("*", "*", friction=0.2))
    left = without(dataclasses.replace(scene, rules=rules), "hrp2")
    assert (left.robots, [rule.friction for rule in left.rules]) == ((), [0.2])
    with pytest.raises(InputError, match="no entity 'table'"):
        without(scene, "table")
