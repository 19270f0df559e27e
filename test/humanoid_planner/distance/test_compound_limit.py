# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.errors import InputError
from humanoid_model.robot import load_robot
from humanoid_planner.distance.compound_limit import compound_joints, compound_reports


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


CLEARANCE = 0.01


@pytest.fixture(scope="module")
def reports(hrp2):
    return {report.joint.name: report for report in compound_reports(hrp2, CLEARANCE)}


LIMITED = [
    "RLEG_JOINT0+RLEG_JOINT1+RLEG_JOINT2",
    "LLEG_JOINT0+LLEG_JOINT1+LLEG_JOINT2",
    "HEAD_JOINT0+HEAD_JOINT1",
    "RARM_JOINT0+RARM_JOINT1+RARM_JOINT2",
    "LARM_JOINT0+LARM_JOINT1+LARM_JOINT2",
]


def gap(robot, data, one, other):
    """Smallest distance of the collision shapes themselves of two links."""
    best = np.inf
    for a in robot.description.links[one].collisions:
        for b in robot.description.links[other].collisions:
            places = []
            for link, geometry in ((one, a), (other, b)):
                part = robot.parts.links[link]
                place = data.oMi[part.joint_id] * part.placement_joint_link * geometry.placement
                places.append(coal.Transform3s(place.rotation, place.translation))
            shapes = coal_geometry(a.shape), coal_geometry(b.shape)
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            best = min(best, coal.distance(shapes[0], places[0], shapes[1], places[1], request, result))
    return best


def test_joints_whose_links_never_collide_are_reported_as_such(reports):
    assert sorted(name for name, report in reports.items() if report.limit) == sorted(LIMITED)
    assert reports["CHEST_JOINT0+CHEST_JOINT1"].limit is None
    assert reports["CHEST_JOINT0+CHEST_JOINT1"].by_construction == (("CHEST_LINK0", "CHEST_LINK1"),)


@pytest.mark.feature("001-F076")
@pytest.mark.parametrize("name", LIMITED)
def test_function_is_positive_wherever_shapes_collide_and_seldom_elsewhere(hrp2, reports, name):
    report = reports[name]
    limit, joint = report.limit, report.joint
    ((one, other),) = limit.pairs
    asked = CLEARANCE - report.allowed.get((one, other), 0.0)
    spared = 0.006 if (one, other) in report.allowed else 0.0  # own postures stay free with twice 3 mm to spare
    data, q = hrp2.model.createData(), np.array(hrp2.postures["zero"])
    indices = [hrp2.index_q(name) for name in joint.joints]
    lost = colliding = 0
    middle, half = 0.5 * (joint.lower + joint.upper), 0.5 * (joint.upper - joint.lower)
    samples = middle + half * np.clip(np.random.default_rng(1).uniform(-1.3, 1.3, size=(800, len(indices))), -1.0, 1.0)
    for position in samples:  # many of them on faces and edges of the box
        q[indices] = position
        pin.forwardKinematics(hrp2.model, data, q)
        distance = gap(hrp2, data, one, other)
        if distance < asked - spared:
            colliding += 1
            assert limit.value(position) > 0.0
        elif distance > asked + 0.006:
            lost += limit.value(position) > 0.0
    assert colliding > 5
    assert lost < 0.05 * len(samples)


@pytest.mark.parametrize("name", LIMITED)
def test_own_postures_are_free(hrp2, reports, name):
    limit = reports[name].limit
    for q in hrp2.postures.values():
        assert limit.value([q[hrp2.index_q(joint)] for joint in limit.joint.joints]) <= 0.0


@pytest.mark.parametrize("name", LIMITED)
def test_gradient_against_finite_differences(reports, name):
    limit = reports[name].limit
    rng = np.random.default_rng(2)
    for position in rng.uniform(limit.joint.lower, limit.joint.upper, size=(20, len(limit.joint.joints))):
        gradient = limit.gradient(position)
        for k in range(len(position)):
            step = 1e-6 * np.eye(len(position))[k]
            difference = (limit.value(position + step) - limit.value(position - step)) / 2e-6
            assert gradient[k] == pytest.approx(difference, rel=1e-5, abs=1e-6)


BLOCKS = """<robot name="blocks">
<link name="base"><collision><origin xyz="{x} 0 0.3"/><geometry><box size="0.1 2 0.2"/></geometry></collision></link>
<link name="between"/>
<link name="rod"><collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="j1" type="revolute"><parent link="base"/><child link="between"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j2" type="revolute"><parent link="between"/><child link="rod"/><axis xyz="1 0 0"/>
  <limit lower="-0.5" upper="0.5" effort="1" velocity="1"/></joint></robot>"""


def test_boundary_of_a_ball_that_swings_against_a_wall():
    """The ball's centre is at x = 0.3 sin(q1) cos(q2); the wall's face at x = 0.2 to the left is met at x = 0.1."""
    robot = load_robot(BLOCKS.format(x=0.25), floating_base=False)
    (report,) = compound_reports(robot, clearance=0.0)
    limit = report.limit
    assert limit.pairs == (("base", "rod"),)
    wrong = 0
    for q1, q2 in np.random.default_rng(3).uniform([-1, -0.5], [1, 0.5], size=(2000, 2)):
        x = 0.3 * np.sin(q1) * np.cos(q2)
        z = 0.3 * np.cos(q1) * np.cos(q2)
        if not 0.2 < z < 0.4:
            continue
        if x > 0.1:
            assert limit.value((q1, q2)) > 0.0
        else:
            wrong += limit.value((q1, q2)) > 0.0 and x < 0.1 - 0.006
    assert wrong <= 10
    assert 0.3 < limit.colliding < 0.45


def test_nothing_to_say_of_a_ball_that_never_reaches_the_wall():
    (report,) = compound_reports(load_robot(BLOCKS.format(x=0.6), floating_base=False), clearance=0.0)
    assert report.limit is None
    assert report.by_construction == ()


def test_clearance_has_to_be_a_length(hrp2):
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(InputError, match="clearance"):
            compound_reports(hrp2, wrong)
