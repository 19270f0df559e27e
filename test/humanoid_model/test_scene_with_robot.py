# SPDX-License-Identifier: Apache-2.0
"""A scene with another robot in the place of its own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, with_robot


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
