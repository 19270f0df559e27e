# SPDX-License-Identifier: Apache-2.0
"""The mechanisms of specification 004: its figures and, for two links in a plane, the closed form."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Robot, load_robot

#: All of them have y up.
GRAVITY = np.array([0.0, -9.81, 0.0])


def inverse_dynamics(robot: Robot, q: dict, v: dict, a: dict, wrenches: pin.StdVec_Force | None = None) -> dict:
    """Joint efforts by name; each joint has one coordinate."""
    model = robot.model.copy()
    model.gravity.linear = GRAVITY
    vectors = [np.zeros(model.nv) for _ in range(3)]
    for vector, values in zip(vectors, (q, v, a), strict=True):
        for name, value in values.items():
            vector[robot.index_v(name)] = value
    extra = () if wrenches is None else (wrenches,)
    tau = pin.rnea(model, model.createData(), *vectors, *extra)
    return {name: tau[robot.index_v(name)] for name in robot.joint_names}


@pytest.mark.parametrize(("name", "l1", "c1", "c2"), [("robot_2r_a", 5, 2.5, 1.5), ("robot_2r_b", 2, 1, 1)])
def test_two_links_follow_lagrange(name, l1, c1, c2):
    robot = load_robot(name)
    assert not robot.floating_base
    assert robot.joint_names == ("joint1", "joint2")
    m1, m2, i1, i2, g = 3, 5, 15.6, 10, 9.81
    rng = np.random.default_rng(0)
    for q1, q2, v1, v2, a1, a2 in rng.normal(size=(20, 6)):
        tau = inverse_dynamics(
            robot, {"joint1": q1, "joint2": q2}, {"joint1": v1, "joint2": v2}, {"joint1": a1, "joint2": a2}
        )
        h = m2 * l1 * c2
        m11 = i1 + m1 * c1**2 + i2 + m2 * (l1**2 + c2**2) + 2 * h * np.cos(q2)
        m12 = i2 + m2 * c2**2 + h * np.cos(q2)
        m22 = i2 + m2 * c2**2
        gravity2 = m2 * g * c2 * np.cos(q1 + q2)
        gravity1 = (m1 * c1 + m2 * l1) * g * np.cos(q1) + gravity2
        coriolis = h * np.sin(q2)
        assert tau["joint1"] == pytest.approx(
            m11 * a1 + m12 * a2 - coriolis * (2 * v1 * v2 + v2**2) + gravity1, rel=1e-10
        )
        assert tau["joint2"] == pytest.approx(m12 * a1 + m22 * a2 + coriolis * v1**2 + gravity2, rel=1e-10)


def test_two_links_at_rest():
    zero = {"joint1": 0.0, "joint2": 0.0}
    tau = inverse_dynamics(load_robot("robot_2r_a"), zero, zero, zero)
    assert tau == pytest.approx({"joint1": 392.4, "joint2": 73.575}, rel=1e-12)


Q = {"j0": 0.3, "j1": -0.5, "j2": 0.15, "j3": 0.8}
V = {"j0": 0.7, "j1": -1.1, "j2": 0.4, "j3": 0.9}
A = {"j0": 1.2, "j1": 0.6, "j2": -0.8, "j3": -1.5}
TREE4 = {
    "at rest": ({}, {}, (3.9692749076670624, 0.279506042231857, 18.231664322183658, 0.5947180843759214)),
    "coasting": (V, {}, (4.124761740449317, 0.3144739996272445, 18.008992723462473, 0.6432781641039107)),
    "driven": (V, A, (5.251746900274131, 0.363425543684007, 15.425169274429395, 0.6604161058176897)),
}


@pytest.mark.parametrize("case", TREE4)
def test_tree_of_four_joints(case):
    v, a, expected = TREE4[case]
    tau = inverse_dynamics(load_robot("tree4"), Q, v, a)
    assert [tau[f"j{i}"] for i in range(4)] == pytest.approx(expected, rel=1e-10)


def test_tree_of_four_joints_pushed_at_its_tool():
    robot = load_robot("tree4")
    q = np.array([Q[name] for name in robot.joint_names])
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    tool = robot.parts.links["tool"]
    placement = data.oMi[tool.joint_id] * tool.placement_joint_link
    # Force and torque at the tool's origin in the world's axes, brought to the joint's frame.
    at_tool = pin.SE3(np.eye(3), placement.translation)
    wrench = at_tool.act(pin.Force(np.array([1.0, 2.0, -3.0]), np.array([0.1, -0.2, 0.3])))
    wrenches = pin.StdVec_Force([pin.Force.Zero() for _ in range(robot.model.njoints)])
    wrenches[tool.joint_id] = data.oMi[tool.joint_id].actInv(wrench)
    tau = inverse_dynamics(robot, Q, V, A, wrenches)
    expected = (5.073688146519936, 0.363425543684007, 14.203585083076794, 0.30408072252830737)
    assert [tau[f"j{i}"] for i in range(4)] == pytest.approx(expected, rel=1e-10)


def test_person_of_36_coordinates():
    robot = load_robot("syn3p33r")
    assert not robot.floating_base
    kinds = [joint.type for joint in robot.description.joints.values()]
    assert (kinds.count("prismatic"), kinds.count("continuous"), len(kinds)) == (3, 33, 36)
    massive = [link for link in robot.description.links.values() if link.inertial is not None]
    assert (len(massive), len(robot.description.links)) == (14, 37)
    leaves = {name for name, joints in robot.description.child_joints.items() if not joints}
    assert leaves == {"head", "lowerArm_R", "lowerArm_L", "foot_R", "foot_L"}
    assert robot.total_mass == pytest.approx(57.231193, abs=1e-6)
    tau = inverse_dynamics(robot, {}, {}, {})
    assert tau["WJ_py"] == pytest.approx(561.438, rel=1e-9)
    expected = {
        "WJ_px": 0, "WJ_pz": 0, "WJ_x": -0.08551953999999995, "WJ_y": 0, "WJ_z": -3.72193492,
        "LLJ_z": 1.45134252, "HJ_R_x": -0.62489904, "HJ_R_z": -2.54971532, "SJ_R_x": 0.04388096, "AJ_L_z": 0.322026,
    }  # fmt: skip
    for name, value in expected.items():
        assert tau[name] == pytest.approx(value, rel=1e-8, abs=1e-9), name
