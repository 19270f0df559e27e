# SPDX-License-Identifier: Apache-2.0
"""Answers to inverse_dynamics requests, held against Pinocchio."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_urdf import random_urdf

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Point, Twist, Vector3, Wrench
from humanoid_stack.msg import LinkWrench
from humanoid_stack.srv import InverseDynamics

from humanoid_codegen.inverse_dynamics import ModelCache
from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import array, fill_pose, point, vector
from humanoid_ros.model_generator import answer_inverse_dynamics

GRAVITY = (0.3, -0.2, -9.81)
FOLLOWING = """
<robot name="hand">
  <link name="world"/>
  <link name="palm"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="tip"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="wrist" type="continuous"><parent link="world"/><child link="palm"/><axis xyz="0 1 0"/></joint>
  <joint name="finger" type="continuous"><parent link="palm"/><child link="tip"/><axis xyz="0 1 0"/>
    <origin xyz="0.5 0 0"/><mimic joint="wrist" multiplier="2" offset="0.1"/></joint>
</robot>
"""
PLANAR = FOLLOWING.replace('type="continuous"><parent link="world"', 'type="planar"><parent link="world"').replace(
    '<mimic joint="wrist" multiplier="2" offset="0.1"/>', ""
)


def ask(cache: ModelCache | None = None, **fields: Any) -> InverseDynamics.Response:
    """Answer to a request; gravity is -9.81 along z unless given."""
    request = InverseDynamics.Request(**{"gravity": vector((0.0, 0.0, -9.81)), **fields})
    response = InverseDynamics.Response()
    answer_inverse_dynamics(ModelCache(4) if cache is None else cache, request, response)
    return response


def twist_message(kind: type, values: np.ndarray) -> Any:
    return kind(linear=vector(values[:3]), angular=vector(values[3:]))


def simple_joints(robot: Robot) -> list[str]:
    return [name for name in robot.joint_names if robot.model.joints[robot.model.getJointId(name)].nq == 1]


def motion_request(robot: Robot, rng: np.random.Generator) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """Fields of a request with every joint moving, and q, v, a of the robot's Pinocchio model."""
    model = robot.model
    q, v, a = pin.neutral(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
    names = simple_joints(robot)
    rng.shuffle(names)
    for name in names:
        q[robot.index_q(name)] = rng.uniform(-1.5, 1.5)
    fields: dict[str, Any] = {"joint_names": names, "gravity": vector(GRAVITY)}
    fields["positions"] = [q[robot.index_q(name)] for name in names]
    fields["velocities"] = [v[robot.index_v(name)] for name in names]
    fields["accelerations"] = [a[robot.index_v(name)] for name in names]
    if robot.base_joint is not None:
        place = pin.SE3.Random()
        q = robot.place_base(q, place)
        request = InverseDynamics.Request()
        fill_pose(request.base, place)
        rows = slice(model.joints[robot.base_joint].idx_v, model.joints[robot.base_joint].idx_v + 6)
        fields["base"] = request.base
        fields["base_twist"] = twist_message(Twist, v[rows])
        fields["base_acceleration"] = twist_message(type(request.base_acceleration), a[rows])
    return fields, (q, v, a)


def expected(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: Any = ()) -> np.ndarray:
    """Efforts by Pinocchio, (nv,)."""
    model = robot.model.copy()
    model.gravity.linear = np.array(GRAVITY)
    data = model.createData()
    tau = pin.rnea(model, data, q, v, a)
    for wrench in wrenches:
        frame = robot.parts.links[wrench.link].frame_id
        J = pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.LOCAL)
        pin.framesForwardKinematics(model, data, q)
        force, torque = array(wrench.wrench.force), array(wrench.wrench.torque)
        if not wrench.in_link_frame:
            turn = data.oMf[frame].rotation.T
            force, torque = turn @ force, turn @ torque
        tau = tau - J.T @ np.concatenate([force, torque + np.cross(array(wrench.point), force)])
    return np.asarray(tau)


def assert_answers(response: InverseDynamics.Response, robot: Robot, tau: np.ndarray) -> None:
    size = np.abs(tau).max()
    assert list(response.joint_names) == simple_joints(robot)
    own = [tau[robot.index_v(name)] for name in response.joint_names]
    np.testing.assert_allclose(response.efforts, own, rtol=0.0, atol=1e-10 * size)
    wrench = np.concatenate([array(response.base_wrench.force), array(response.base_wrench.torque)])
    start = None if robot.base_joint is None else robot.model.joints[robot.base_joint].idx_v
    base = np.zeros(6) if start is None else tau[start : start + 6]
    np.testing.assert_allclose(wrench, base, rtol=0.0, atol=1e-10 * size)


def random_wrench(link: str, rng: np.random.Generator, in_link_frame: bool) -> LinkWrench:
    x = 50.0 * rng.normal(size=9)
    return LinkWrench(
        link=link,
        point=point(0.01 * x[:3]),
        wrench=Wrench(force=vector(x[3:6]), torque=vector(x[6:])),
        in_link_frame=in_link_frame,
    )


# Efforts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hrp2", "bip", "robot_2r_b", "tree4", "syn3p33r"])
def test_efforts_are_pinocchios(name: str) -> None:
    rng, robot = np.random.default_rng(1), load_robot(name)
    fields, motion = motion_request(robot, rng)
    assert_answers(ask(robot=name, **fields), robot, expected(robot, *motion))


@pytest.mark.parametrize("seed", range(5))
def test_any_tree_given_as_text(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, 8, ("revolute", "continuous", "prismatic", "fixed"))
    robot = load_robot(text)
    fields, motion = motion_request(robot, rng)
    links = list(robot.description.links)
    fields["wrenches"] = [random_wrench(links[int(rng.integers(8))], rng, bool(i % 2)) for i in range(3)]
    assert_answers(ask(robot=text, **fields), robot, expected(robot, *motion, fields["wrenches"]))


def test_wrenches_at_points_in_either_frame_and_several_on_a_link() -> None:
    rng, robot = np.random.default_rng(3), load_robot("hrp2")
    fields, motion = motion_request(robot, rng)
    links = list(robot.description.links)
    loaded = [links[-1], robot.description.root, links[-1], links[5]]
    fields["wrenches"] = [random_wrench(link, rng, i < 2) for i, link in enumerate(loaded)]
    assert_answers(ask(robot="hrp2", **fields), robot, expected(robot, *motion, fields["wrenches"]))


def test_what_is_left_out_rests_at_zero() -> None:
    robot = load_robot("hrp2")
    name = robot.joint_names[3]
    response = ask(robot="hrp2", joint_names=[name], positions=[0.4])
    q = pin.neutral(robot.model)
    q[robot.index_q(name)] = 0.4
    tau = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)
    np.testing.assert_allclose(response.efforts, [tau[robot.index_v(n)] for n in response.joint_names], atol=1e-9)
    assert response.base_wrench.force.z == pytest.approx(robot.total_mass * 9.81)


def test_no_gravity_no_efforts_at_rest() -> None:
    response = ask(robot="hrp2", gravity=Vector3())
    assert len(response.efforts) == len(response.joint_names) > 0
    assert not any(response.efforts)


def test_ball_joints_are_their_members() -> None:
    """The avatar's balls against the same robot with three revolute joints each; rotors are set against apart."""
    rng = np.random.default_rng(5)
    cache = ModelCache(1)
    balls = cache.model("avatar", GRAVITY).robot
    members = load_robot(balls.urdf, floating_base=True)
    fields, (q, v, a) = motion_request(members, rng)
    response = ask(cache, robot="avatar", **fields)
    armature = np.zeros(members.model.nv)
    rotors = np.zeros(members.model.nv)
    for name in balls.joint_names:
        start = balls.index_v(name)
        if name in balls.ball_joints:
            # Rotors of a ball act about the moving axes of its last link.
            names = balls.ball_joints[name]
            frame = members.parts.joint_ids[names[-1]]
            before = members.model.parents[members.parts.joint_ids[names[0]]]
            rotors += ball_rotors(members, q, v, a, before, frame, float(balls.model.armature[start]))
        else:
            armature[members.index_v(name)] = balls.model.armature[start]
    tau = expected(members, q, v, a) + armature * a + rotors
    by_name = dict(zip(response.joint_names, response.efforts, strict=True))
    assert set(by_name) == set(simple_joints(members))
    own = np.array([tau[members.index_v(name)] for name in by_name])
    np.testing.assert_allclose(list(by_name.values()), own, rtol=0.0, atol=1e-9 * np.abs(own).max())


def ball_rotors(
    robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray, before: int, last: int, armature: float
) -> np.ndarray:
    """Efforts (nv,) of rotors about a ball's moving axes, which the change of its relative rates turns."""
    model = robot.model

    def rates(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        data = model.createData()
        pin.forwardKinematics(model, data, q, v)
        turn = data.oMi[last].rotation.T @ data.oMi[before].rotation
        return np.asarray(data.v[last].angular - turn @ data.v[before].angular)

    h = 1e-6
    ends = [rates(pin.integrate(model, q, s * h * v), v + s * h * a) for s in (1.0, -1.0)]
    jacobian = np.column_stack([rates(q, column) for column in np.eye(model.nv)])
    return np.asarray(jacobian.T @ (armature * (ends[0] - ends[1]) / (2.0 * h)))


def test_joints_that_follow_add_to_the_joint_they_follow() -> None:
    robot = load_robot(FOLLOWING)
    at, rate, change = 0.3, 0.7, -1.1
    response = ask(
        robot=FOLLOWING, joint_names=["wrist"], positions=[at], velocities=[rate], accelerations=[change],
        gravity=vector(GRAVITY),
    )  # fmt: skip
    q, v, a = np.array([at, 2 * at + 0.1]), np.array([rate, 2 * rate]), np.array([change, 2 * change])
    assert list(response.joint_names) == ["wrist"]
    assert response.efforts[0] == pytest.approx(float(np.array([1.0, 2.0]) @ expected(robot, q, v, a)), rel=1e-10)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    cache = ModelCache(2)
    heavy = FOLLOWING.replace('<mass value="2"/>', '<mass value="20"/>')
    efforts = []
    for text in (FOLLOWING, heavy):
        path.write_text(text)
        efforts.append(ask(cache, robot=str(path)).efforts[0])
        assert efforts[-1] == ask(robot=text).efforts[0]
    assert efforts[0] != efforts[1]


# Refusals ---------------------------------------------------------------------------------------------------------

NAN = float("nan")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"robot": " "}, "robot: is empty. Give a name, the path of a URDF or its text."),
        ({"robot": "hrp3"}, "unknown robot 'hrp3'. Give the path of a URDF file or one of avatar"),
        ({"robot": "/no/robot.urdf"}, "/no/robot.urdf: can't be read: No such file or directory"),
        ({"robot": "<robot>"}, "URDF text:1: not well-formed XML"),
        ({"robot": PLANAR}, "robot 'hand': its planar joint 'wrist' has 3 coordinates. Write it as"),
        (
            {"joint_names": ["NOSE"], "positions": [0.0]},
            "joint_names[0]: the robot 'hrp2' has no joint 'NOSE'. Joints are RLEG_JOINT0",
        ),
        (
            {"joint_names": ["CHEST_JOINT0"] * 2, "positions": [0.0, 0.0]},
            "joint_names[1]: 'CHEST_JOINT0' comes twice. Name each joint once.",
        ),
        (
            {"robot": FOLLOWING, "joint_names": ["finger"], "positions": [0.0]},
            "joint_names[0]: 'finger' follows 'wrist'. Give 'wrist' only.",
        ),
        ({"positions": [0.0]}, "positions: has 1 values for 0 joint_names. Give one value per joint."),
        ({"joint_names": ["CHEST_JOINT0"]}, "positions: has 0 values for 1 joint_names. Give one value per joint."),
        (
            {"joint_names": ["CHEST_JOINT0"], "positions": [0.0], "velocities": [0.0, 0.0]},
            "velocities: has 2 values for 1 joint_names. Give one value per joint, or none.",
        ),
        (
            {"joint_names": ["CHEST_JOINT0"], "positions": [0.0], "accelerations": [NAN]},
            "accelerations: is [nan]. Give finite numbers.",
        ),
        ({"gravity": Vector3(z=NAN)}, "gravity: is [0.0, 0.0, nan]. Give finite numbers."),
        ({"base_twist": Twist(linear=Vector3(x=NAN))}, "base_twist: is [nan, 0.0"),
        (
            {"robot": "tree4", "base_twist": Twist(linear=Vector3(x=1.0))},
            "base_twist: the base of the robot 'tree4' is fixed to the world. Leave it at its default.",
        ),
        ({"wrenches": [LinkWrench(link="TAIL")]}, "wrenches[0].link: there is no link 'TAIL'. Links are WAIST"),
        (
            {"wrenches": [LinkWrench(link="WAIST", point=Point(y=NAN))]},
            "wrenches[0].point: is [0.0, nan, 0.0]. Give finite numbers.",
        ),
        (
            {"wrenches": [LinkWrench(link="WAIST"), LinkWrench(link="WAIST", wrench=Wrench(torque=Vector3(y=NAN)))]},
            "wrenches[1].wrench.torque: is [0.0, nan, 0.0]",
        ),
        (
            {"joint_names": ["CHEST_JOINT0"], "positions": [0.0], "velocities": [1e300]},
            "the efforts are beyond the range of numbers. Give smaller",
        ),
    ],
)
def test_what_cant_be_used_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        ask(**{"robot": "hrp2", **fields})


def test_quaternions_have_unit_length() -> None:
    request = InverseDynamics.Request()
    request.base.orientation.w = 2.0
    with pytest.raises(InputError, match=r"base\.orientation: the quaternion .* has the length 2"):
        ask(robot="hrp2", base=request.base)
