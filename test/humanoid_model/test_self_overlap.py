# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest
import trimesh

from humanoid_model import load_robot
from humanoid_model.errors import RobotError
from humanoid_model.robot import Robot
from humanoid_model.self_overlap import CROSSED, SelfOverlap

pytestmark = pytest.mark.feature("001-F042")

BOX = "<geometry><box size='0.2 0.2 0.2'/></geometry>"
BALL = "<geometry><sphere radius='0.01'/></geometry>"


def shape(geometry: str, place: str = "0 0 0") -> str:
    return f"<collision><origin xyz='{place}'/>{geometry}</collision>"


def in_a_row(tmp_path: Path, trunk: str, hand: str, postures: str = "") -> Robot:
    """A trunk, a grain far away, and a hand that two slides move along x and y: the hand isn't next to the trunk."""
    grain = shape("<geometry><sphere radius='0.001'/></geometry>", "0 0 9")
    texts = {"trunk": trunk, "grain": grain, "hand": hand}
    links = "".join(f"<link name='{name}'>{text}</link>" for name, text in texts.items())
    joints = "".join(
        f"<joint name='{name}' type='prismatic'><parent link='{parent}'/><child link='{child}'/><axis xyz='{axis}'/>"
        "<limit lower='-1' upper='1' effort='9' velocity='1'/></joint>"
        for name, parent, child, axis in (("x", "trunk", "grain", "1 0 0"), ("y", "grain", "hand", "0 1 0"))
    )
    (tmp_path / "row.urdf").write_text(f"<robot name='row'>{links}{joints}</robot>", encoding="utf-8")
    (tmp_path / "row.yaml").write_text(postures or "floating_base: false\n", encoding="utf-8")
    return load_robot(tmp_path / "row.urdf", floating_base=False)


def told(found: SelfOverlap, x: float, y: float, tolerance: float = 0.0, measured: bool = False) -> dict:
    overlaps = found.overlaps(np.array([x, y]), tolerance, measured=measured)
    return {(one.first, one.second): one.depth for one in overlaps}


def test_depth_is_the_shortest_way_apart(tmp_path):
    found = SelfOverlap(in_a_row(tmp_path, shape(BOX), shape(BOX), "postures: {out: {x: 0.5}}\n"))
    assert told(found, 0.17, 0.05) == {("trunk/0", "hand/0"): pytest.approx(0.03, abs=1e-6)}
    assert told(found, 0.17, -0.19) == {("trunk/0", "hand/0"): pytest.approx(0.01, abs=1e-6)}
    assert not told(found, 0.21, 0.0)
    assert not told(found, 0.17, 0.05, tolerance=0.031)
    assert told(found, 0.17, 0.05, tolerance=0.029)


def test_what_own_postures_allow_is_by_pair_of_shapes(tmp_path):
    """The file's posture has the hand's first shape 20 mm in the trunk: the second may not be in it by a hair."""
    hand = shape(BOX) + shape(BOX, "0 0.5 0")
    found = SelfOverlap(in_a_row(tmp_path, shape(BOX), hand, "postures: {rest: {x: 0.18}}\n"))
    assert {(found.names[i], found.names[j]): depth for (i, j), depth in found.allowed.items()} == {
        ("trunk/0", "hand/0"): pytest.approx(0.02, abs=1e-6)
    }
    assert not told(found, 0.181, 0.0)
    assert told(found, 0.17, 0.0) == {("trunk/0", "hand/0"): pytest.approx(0.03, abs=1e-6)}
    assert told(found, 0.195, -0.5) == {("trunk/0", "hand/1"): pytest.approx(0.005, abs=1e-6)}


def test_zero_is_no_own_posture_where_the_file_gives_others(tmp_path):
    bare = SelfOverlap(in_a_row(tmp_path, shape(BOX), shape(BOX)))
    assert list(bare.allowed.values()) == [pytest.approx(0.2, abs=1e-6)]  # at zero, which is all that there is
    assert not SelfOverlap(in_a_row(tmp_path, shape(BOX), shape(BOX), "postures: {out: {x: 0.5}}\n")).allowed


def test_shapes_that_no_joint_gets_apart_are_one_housing(tmp_path):
    long = "<geometry><box size='9 9 0.1'/></geometry>"
    found = SelfOverlap(in_a_row(tmp_path, shape(long), shape(BOX)))
    assert [(found.names[i], found.names[j]) for i, j in found.housings] == [("trunk/0", "hand/0")]
    assert not told(found, 0.3, 0.4)


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mesh_that_is_not_convex_is_no_more_than_it_is(tmp_path, mirrored):
    """A U of boxes 6 cm thick: between its sides there is room, in them there is none, crossed or wholly inside."""
    sides = [((0.06, 0.3, 0.1), (x, 0.0, 0.0)) for x in (-0.12, 0.12)] + [((0.3, 0.06, 0.1), (0.0, -0.12, 0.0))]
    boxes = [trimesh.creation.box(extents, trimesh.transformations.translation_matrix(at)) for extents, at in sides]
    trimesh.util.concatenate(boxes).export(tmp_path / "u.stl")
    mesh = f"<geometry><mesh filename='u.stl' scale='{-1 if mirrored else 1} 1 1'/></geometry>"
    found = SelfOverlap(in_a_row(tmp_path, shape(mesh), shape(BALL), "postures: {out: {y: 0.5}}\n"))
    assert not told(found, 0.0, 0.05)  # between the sides, inside the hull
    assert not told(found, 0.075, 0.05)
    for x in (0.085, 0.155):  # on either face of a side
        assert told(found, x, 0.05) == {("trunk/0", "hand/0"): pytest.approx(CROSSED)}
    inside = told(found, 0.12, 0.05)  # no surfaces cross
    assert inside[("trunk/0", "hand/0")] > CROSSED
    # 1 cm of the ball's surface is beyond a side's face; points of it are drawn up to 1 cm apart.
    deep = told(found, 0.09, 0.05, measured=True)
    assert 0.005 < deep[("trunk/0", "hand/0")] <= 0.01 + 1e-6


def test_a_robot_without_shapes_has_none_in_each_other():
    robot = load_robot("robot_2r_a")
    assert not SelfOverlap(robot).overlaps(robot.default_posture)


@pytest.mark.parametrize("name", ["hrp2", "bip", "g1"])
def test_own_postures_of_these_robots_need_no_allowance(name):
    try:
        found = SelfOverlap(load_robot(name))
    except RobotError:
        pytest.skip("needs the package example-robot-data")
    assert not found.allowed
    # Hips and shoulders whose motors share a place, and no other pairs.
    links = [{found.names[i].split("/")[0][-5:], found.names[j].split("/")[0][-5:]} for i, j in found.housings]
    assert name != "hrp2" or {frozenset(pair) for pair in links} <= {
        frozenset(pair) for pair in (("LINK0", "LINK2"), ("WAIST", "LINK1"))
    }
