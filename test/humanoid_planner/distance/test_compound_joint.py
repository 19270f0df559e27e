# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.robot import load_robot
from humanoid_planner.distance.compound_joint import compound_joints


@pytest.fixture(scope="module")
def hrp2():
    return load_robot("hrp2")


def test_hrp2_has_hips_ankles_waist_neck_shoulders_and_elbows(hrp2):
    found = {joint.name: joint.links for joint in compound_joints(hrp2.description)}
    assert found["RLEG_JOINT0+RLEG_JOINT1+RLEG_JOINT2"] == ("WAIST", "RLEG_LINK0", "RLEG_LINK1", "RLEG_LINK2")
    assert found["HEAD_JOINT0+HEAD_JOINT1"] == ("CHEST_LINK1", "HEAD_LINK0", "HEAD_LINK1")
    assert set(found) >= {
        "LLEG_JOINT0+LLEG_JOINT1+LLEG_JOINT2",
        "CHEST_JOINT0+CHEST_JOINT1",
        "RARM_JOINT0+RARM_JOINT1+RARM_JOINT2",
        "LARM_JOINT0+LARM_JOINT1+LARM_JOINT2",
        "RLEG_JOINT4+RLEG_JOINT5",
    }
    assert not any("RLEG_JOINT3" in name for name in found)  # the knee is parallel to its neighbours, or far from them


def test_placements_are_those_of_pinocchio(hrp2):
    rng = np.random.default_rng(0)
    data = hrp2.model.createData()
    for joint in compound_joints(hrp2.description):
        position = rng.uniform(joint.lower, joint.upper)
        q = np.array(hrp2.postures["half_sitting"])
        q[[hrp2.index_q(name) for name in joint.joints]] = position
        pin.forwardKinematics(hrp2.model, data, q)
        world = []
        for link in joint.links:
            place = hrp2.parts.links[link]
            world.append(data.oMi[place.joint_id] * place.placement_joint_link)
        rotations, origins = joint.placements(hrp2.description, np.array([np.zeros(len(position)), position]))
        for rotation, origin, placement in zip(rotations[1], origins[1], world, strict=True):
            relative = world[0].inverse() * placement
            assert rotation == pytest.approx(relative.rotation, abs=1e-12)
            assert origin == pytest.approx(relative.translation, abs=1e-12)


URDF = """<robot name="arm"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="b"/><child link="c"/><origin xyz="{x} 0 {z}"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j3" type="{kind}"><parent link="c"/><child link="d"/><origin xyz="0 {y} 0"/><axis xyz="{axis}"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ["j1+j2+j3"]),
        ({"x": 0.3}, ["j1+j2"]),  # the second axis still goes through the first, the third doesn't
        ({"y": 0.01}, ["j1+j2+j3"]),  # along the third axis
        ({"y": 0.01, "axis": "1 0 0"}, ["j1+j2"]),
        ({"axis": "1 0 0"}, ["j1+j2"]),  # parallel to the second
        ({"axis": "0 0 1", "y": 0.01}, ["j1+j2"]),  # beside the point of the other two
        ({"kind": "prismatic"}, ["j1+j2"]),
        ({"kind": "continuous"}, ["j1+j2"]),
    ],
)
def test_axes_have_to_meet(change, expected):
    text = URDF.format(**({"x": 0, "z": 0.2, "y": 0, "axis": "0 1 0", "kind": "revolute"} | change))
    robot = load_robot(text, floating_base=False)
    assert [joint.name for joint in compound_joints(robot.description)] == expected
