# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_urdf import random_urdf

from humanoid_model.robot import load_robot
from humanoid_studies.script.stacking import stack

BODY = (
    '<link name="body"><inertial><origin xyz="0.1 -0.2 0.3" rpy="0.2 0.1 0"/><mass value="3"/>'
    '<inertia ixx="0.2" ixy="0.01" ixz="0.02" iyy="0.3" iyz="0" izz="0.25"/></inertial></link>'
)


def one_joint(kind: str, axis: str) -> str:
    return (
        f'<robot name="r"><link name="world"/>{BODY}<joint name="free" type="{kind}"><parent link="world"/>'
        f'<child link="body"/><origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/><axis xyz="{axis}"/></joint></robot>'
    )


def chain_of(kinds: str, axes: list[str]) -> str:
    """The same as a chain written out by hand."""
    parts = ['<robot name="r"><link name="world"/>', BODY]
    parent = "world"
    for index, (kind, axis) in enumerate(zip(kinds, axes, strict=True)):
        child = f"l{index}" if index + 1 < len(kinds) else "body"
        if child != "body":
            parts.append(f'<link name="{child}"/>')
        origin = '<origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/>' if index == 0 else ""
        limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
        name = {"P": "prismatic", "R": "revolute"}[kind]
        parts.append(
            f'<joint name="j{index}" type="{name}"><parent link="{parent}"/><child link="{child}"/>{origin}'
            f'<axis xyz="{axis}"/>{limit}</joint>'
        )
        parent = child
    return "".join([*parts, "</robot>"])


X, Y, Z = "1 0 0", "0 1 0", "0 0 1"


@pytest.mark.parametrize(
    ("kind", "axis", "kinds", "axes"),
    [
        ("floating", "1 0 0", "PPPRRR", [X, Y, Z, X, Y, Z]),
        ("planar", "0 0 1", "PPR", [X, Y, Z]),
        ("planar", "0 0 2", "PPR", [X, Y, Z]),
        ("planar", "1 0 0", "PPR", ["0 0 -1", Y, X]),
        ("planar", "0 1 0", "PPR", [X, "0 0 -1", Y]),
    ],
)
def test_stack_has_the_dynamics_of_the_chain_written_out(script_of, kind, axis, kinds, axes):
    script = script_of(one_joint(kind, axis))
    model = pin.buildModelFromXML(chain_of(kinds, axes))
    model.gravity.linear = np.array([0, -9.81, 0])
    motion = np.random.default_rng(1).normal(size=(len(kinds), 3))
    expected = pin.rnea(model, model.createData(), *motion.T.copy())
    np.testing.assert_allclose(script.efforts(motion), expected, rtol=0, atol=1e-12)


@pytest.mark.feature("004-F16")
def test_three_revolute_joints_at_one_point_are_a_ball_joint(script_of):
    """Power is the same: efforts about the three axes are the ball's torque projected on them."""
    rng = np.random.default_rng(4)
    chain = pin.buildModelFromXML(chain_of("PPPRRR", [X, Y, Z, X, Y, Z]))
    ball = pin.buildModelFromXML(one_joint("floating", X))
    q, v, a = rng.normal(size=(3, 6))
    data = chain.createData()
    pin.forwardKinematics(chain, data, q, v, a)
    frame = chain.getFrameId("body")
    local = pin.ReferenceFrame.LOCAL
    twist = pin.getFrameVelocity(chain, data, frame, local).vector
    acceleration = pin.getFrameAcceleration(chain, data, frame, local).vector
    origin = ball.jointPlacements[1]
    placement = origin.actInv(pin.updateFramePlacement(chain, data, frame))
    wrench = pin.rnea(ball, ball.createData(), pin.SE3ToXYZQUAT(placement), twist, acceleration)
    J = pin.computeFrameJacobian(chain, data, q, frame, local)
    efforts = script_of(one_joint("floating", X), (0, 0, -9.81)).efforts(np.array([q, v, a]).T)
    np.testing.assert_allclose(efforts, J.T @ wrench, rtol=0, atol=1e-11)


def test_planar_axes_are_those_of_the_stack_s_pinocchio_models(script_of, tmp_path):
    path = tmp_path / "planar.urdf"
    path.write_text(one_joint("planar", "0.3 -0.5 0.7"))
    script = script_of(path)
    model = load_robot(path).model
    data = model.createData()
    x, y, angle = 0.4, -0.6, 1.1
    pin.framesForwardKinematics(model, data, np.array([x, y, np.cos(angle), np.sin(angle)]))
    values = script.values([(x, 0, 0), (y, 0, 0), (angle, 0, 0)])
    placement = data.oMf[model.getFrameId("body")]
    np.testing.assert_allclose(values["position_free_r"], placement.translation, rtol=0, atol=1e-14)
    np.testing.assert_allclose(values["position_body"], placement.act(np.array([0.1, -0.2, 0.3])), rtol=0, atol=1e-14)


def test_names_of_the_stack_are_free():
    taken = {"free", "world", "body", "free_px", "free_py_link"}
    joints, links = stack(["free", "floating", "world", "body", "0 0 0", "0 0 0", "1 0 0"], taken)
    names = [record[0] for record in joints + links]
    assert len(set(names)) == 6 + 5
    assert not set(names) & {"free", "world", "body", "free_px", "free_py_link"}
    assert joints[0][2] == "world"
    assert joints[-1][3] == "body"
    assert [joint[3] for joint in joints[:-1]] == [link[0] for link in links] == [joint[2] for joint in joints[1:]]


def test_joint_of_one_degree_of_freedom_stays():
    record = ["j", "revolute", "a", "b", "1 2 3", "0 0 0", "1 0 0"]
    assert stack(record, {"j", "a", "b"}) == ([record], [])


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_with_floating_joints_load(script_of, seed):
    script = script_of(random_urdf(np.random.default_rng(seed), 10))
    efforts = script.efforts(np.random.default_rng(seed).normal(size=(len(script.joints), 3)))
    assert np.isfinite(efforts).all()
