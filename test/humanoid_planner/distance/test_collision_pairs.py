# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import box, floor, place, scene

from humanoid_model.contact import Contact, Stance, Surface
from humanoid_model.robot import load_robot
from humanoid_model.scene import PairRule
from humanoid_planner.distance.collision_pairs import (
    MarginRule,
    environment_pairs,
    pair_margins,
    self_pairs,
    without_contacts,
)
from humanoid_planner.distance.placed_volumes import robot_volumes, scene_shapes, volumes_around
from humanoid_planner.kinematics import RobotKinematics


@pytest.fixture(scope="module")
def hrp2():
    return load_robot("hrp2")


@pytest.fixture(scope="module")
def volumes(hrp2):
    return robot_volumes(hrp2, RobotKinematics(hrp2).body_of)


@pytest.fixture(scope="module")
def found(hrp2, volumes):
    return self_pairs(hrp2, volumes, RobotKinematics(hrp2), samples=300)


def named(volumes, pairs):
    """Pairs of links; a waist has two volumes."""
    return {frozenset((volumes[i].owner, volumes[j].owner)) for i, j in pairs}


def test_every_pair_of_two_links_is_in_one_group(volumes, found):
    together = np.vstack([found.pairs, found.adjacent, found.overlapping, found.distant])
    expected = {(i, j) for j in range(len(volumes)) for i in range(j) if volumes[i].owner != volumes[j].owner}
    assert sorted(map(tuple, together)) == sorted(expected)


@pytest.mark.feature("001-F077")
def test_links_next_to_each_other_are_left_to_joint_limits(hrp2, volumes, found):
    joints = hrp2.description.joints.values()
    moved = {frozenset((j.parent, j.child)) for j in joints if j.type != "fixed"}
    assert named(volumes, found.adjacent) == moved
    assert not named(volumes, found.pairs) & moved


def test_hips_and_shoulders_overlap_by_construction(volumes, found):
    overlapping = named(volumes, found.overlapping)
    for side in "RL":
        assert frozenset(("WAIST", f"{side}LEG_LINK1")) in overlapping
        assert frozenset(("WAIST", f"{side}LEG_LINK2")) not in overlapping  # cut out for thighs
        assert frozenset((f"{side}LEG_LINK0", f"{side}LEG_LINK2")) in overlapping
        assert frozenset((f"{side}ARM_LINK0", f"{side}ARM_LINK2")) in overlapping


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RLEG_LINK5", "LLEG_LINK5"),
        ("RARM_LINK6", "WAIST"),
        ("RARM_LINK6", "LARM_LINK6"),
        ("LARM_LINK5", "LLEG_LINK2"),
        ("RARM_LINK3", "CHEST_LINK1"),
        ("HEAD_LINK1", "LARM_LINK6"),
        ("RLEG_LINK3", "LLEG_LINK3"),
    ],
)
def test_pairs_that_collide_are_kept(volumes, found, one, other):
    assert frozenset((one, other)) in named(volumes, found.pairs)


@pytest.mark.parametrize(
    ("one", "other"), [("HEAD_LINK1", "WAIST"), ("RARM_LINK0", "LARM_LINK0"), ("RLEG_LINK0", "HEAD_LINK0")]
)
def test_pairs_that_never_come_near_are_dropped(volumes, found, one, other):
    assert frozenset((one, other)) in named(volumes, found.distant)


def test_left_and_right_are_treated_alike(volumes, found):
    pairs = named(volumes, found.pairs)
    swap = {"R": "L", "L": "R"}
    mirrored = {
        frozenset(swap[name[0]] + name[1:] if name[1:4] in ("LEG", "ARM") else name for name in pair) for pair in pairs
    }
    assert len(mirrored ^ pairs) < 0.15 * len(pairs)  # the descent is random


SLIDERS = """<robot name="sliders"><link name="rail"/>
<link name="a"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
<link name="b"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
<link name="c"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
<link name="tool"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="ja" type="prismatic"><parent link="rail"/><child link="a"/><axis xyz="1 0 0"/>
  <limit lower="0" upper="0.5" effort="1" velocity="1"/></joint>
<joint name="jb" type="prismatic"><parent link="rail"/><child link="b"/><origin xyz="{b} 0 0"/><axis xyz="1 0 0"/>
  <limit lower="0" upper="0.5" effort="1" velocity="1"/></joint>
<joint name="jc" type="prismatic"><parent link="a"/><child link="c"/><origin xyz="0 1 0"/><axis xyz="0 0 1"/>
  <limit lower="0" upper="0.5" effort="1" velocity="1"/></joint>
<joint name="jt" type="fixed"><parent link="a"/><child link="tool"/></joint></robot>"""


@pytest.mark.parametrize(("b", "kept"), [(0.72, True), (0.80, False)])
def test_last_corner_of_the_joint_space_is_found(b, kept):
    """The boxes, 1 cm thicker than they are, meet where a is at its upper and b at its lower limit, or don't."""
    robot = load_robot(SLIDERS.format(b=b), floating_base=False)
    kinematics = RobotKinematics(robot)
    volumes = robot_volumes(robot, kinematics.body_of)
    found = self_pairs(robot, volumes, kinematics, samples=30, near=0.01)
    assert (frozenset("ab") in named(volumes, found.pairs)) == kept
    assert frozenset(("a", "tool")) not in named(volumes, np.vstack([found.pairs, found.adjacent, found.distant]))
    assert named(volumes, found.adjacent) == {frozenset("ac"), frozenset(("tool", "c"))}


def stance(hrp2, *held):
    ground = Surface("floor", "floor", pin.SE3.Identity())
    contacts = [Contact(hrp2.contacts[name], surface or ground, 0.0, 0.0, 0.0) for name, surface in held]
    return Stance(tuple(contacts))


def world():
    return scene(floor(), box("table", (1.0, 1.0, 0.1), place(1.0, 0.0, 0.7)))


@pytest.mark.feature("001-F043")
def test_environment_pairs_follow_the_rules_of_the_scene(hrp2, volumes):
    around = world()
    bodies = volumes_around(scene_shapes(around))
    pairs = environment_pairs(hrp2, volumes, around, bodies)
    assert len(pairs) == 2 * len(volumes)
    assert (pairs[:, 0] < len(volumes)).all()
    assert (pairs[:, 1] >= len(volumes)).all()
    ruled = dataclasses.replace(around, rules=(PairRule("walker/*ARM*", "table", collide=False),))
    together = [*volumes, *bodies]
    names = named(together, environment_pairs(hrp2, volumes, ruled, bodies, robot_name="walker"))
    assert frozenset(("RARM_LINK6", "table")) not in names
    assert frozenset(("RARM_LINK6", "floor")) in names
    assert frozenset(("HEAD_LINK1", "table")) in names
    assert len(environment_pairs(hrp2, volumes, ruled, bodies)) == len(pairs)  # rules about another robot


@pytest.mark.feature("001-F075")
def test_held_contacts_may_touch_what_they_hold_on_and_nothing_else(hrp2, volumes):
    around = world()
    bodies = volumes_around(scene_shapes(around))
    feet = [(name, None) for name, location in hrp2.contacts.items() if location.support]
    assert feet
    pairs = environment_pairs(hrp2, volumes, around, bodies, stance=stance(hrp2, *feet))
    names = named([*volumes, *bodies], pairs)
    for foot in ("RLEG_LINK5", "LLEG_LINK5"):
        assert frozenset((foot, "floor")) not in names
        assert frozenset((foot, "table")) in names
    assert frozenset(("RLEG_LINK4", "floor")) in names
    assert len(pairs) == 2 * len(volumes) - 2


@pytest.mark.feature("001-F075")
def test_contact_location_on_a_link_fixed_to_another_frees_that_one(hrp2, volumes):
    location = dataclasses.replace(next(iter(hrp2.contacts.values())), link="r_sole")
    held = Stance((Contact(location, Surface("floor", "floor", pin.SE3.Identity()), 0.0, 0.0, 0.0),))
    bodies = volumes_around(scene_shapes(world()))
    together = [*volumes, *bodies]
    pairs = environment_pairs(hrp2, volumes, world(), bodies, stance=held)
    assert frozenset(("RLEG_LINK5", "floor")) not in named(together, pairs)


def test_robot_holding_on_itself(hrp2, volumes, found):
    own = Surface("thigh", "hrp2/RLEG_LINK2", pin.SE3.Identity())
    location = dataclasses.replace(next(iter(hrp2.contacts.values())), link="RARM_LINK5")
    held = Stance((Contact(location, own, 0.0, 0.0, 0.0),))
    pair = frozenset(("RARM_LINK5", "RLEG_LINK2"))
    assert pair in named(volumes, found.pairs)
    rest = without_contacts(hrp2, volumes, found.pairs, held, robot_name="hrp2")
    assert named(volumes, found.pairs) - named(volumes, rest) == {pair}
    assert without_contacts(hrp2, volumes, found.pairs[:0], held).shape == (0, 2)


def test_margins_of_pairs(volumes, found):
    rules = [MarginRule("RARM_*", "*", 0.05), MarginRule("WAIST", "RARM_LINK6", -0.01)]
    margins = pair_margins(volumes, found.pairs, 0.02, rules)
    for (i, j), margin in zip(found.pairs, margins, strict=True):
        names = {volumes[i].name, volumes[j].name}
        if names == {"WAIST", "RARM_LINK6"}:
            assert margin == -0.01
        elif any(name.startswith("RARM") for name in names):
            assert margin == 0.05
        else:
            assert margin == 0.02
    assert (pair_margins(volumes, found.pairs) == 0.0).all()
