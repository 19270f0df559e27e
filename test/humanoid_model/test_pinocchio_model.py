# SPDX-License-Identifier: Apache-2.0
"""Models built by append_to_model against those of Pinocchio's own URDF reader."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state
from fixtures.random_urdf import KINDS, random_urdf

from humanoid_model.errors import RobotError
from humanoid_model.files import find_resource
from humanoid_model.pinocchio_model import ROOT_JOINT, AppendedRobot, append_to_model
from humanoid_model.urdf import read_urdf

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>'
    '<inertia ixx="1" ixy="0.1" ixz="0" iyy="1.5" iyz="0" izz="1.2"/></inertial>'
)


def built(text: str, **options) -> tuple[pin.Model, AppendedRobot]:
    model = pin.Model()
    options.setdefault("floating_base", False)
    parts = append_to_model(model, pin.GeometryModel(), pin.GeometryModel(), read_urdf(text), **options)
    return model, parts


def mass_matrix(model: pin.Model, q: np.ndarray) -> np.ndarray:
    upper = np.triu(pin.crba(model, model.createData(), q))
    return upper + np.triu(upper, 1).T


def same_state(model: pin.Model, oracle: pin.Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The oracle's configuration, and which velocity index of it each of the model's is.

    Pinocchio's reader sorts joints by name and writes continuous joints as cosine and sine.
    """
    q_oracle, columns = pin.neutral(oracle), np.zeros(model.nv, dtype=int)
    for name in list(model.names)[1:]:
        ours, theirs = model.joints[model.getJointId(name)], oracle.joints[oracle.getJointId(name)]
        columns[ours.idx_v : ours.idx_v + ours.nv] = range(theirs.idx_v, theirs.idx_v + theirs.nv)
        values = q[ours.idx_q : ours.idx_q + ours.nq]
        if (ours.nq, theirs.nq) == (1, 2):
            values = [np.cos(values[0]), np.sin(values[0])]
        q_oracle[theirs.idx_q : theirs.idx_q + theirs.nq] = values
    return q_oracle, columns


def assert_agrees_with_pinocchio(text: str, floating_base: bool, rng: np.random.Generator) -> None:
    model, parts = built(text, floating_base=floating_base)
    free_flyer = [pin.JointModelFreeFlyer()] if floating_base else []
    oracle = pin.buildModelFromXML(read_urdf(text).text, *free_flyer)
    assert sorted(model.names) == sorted(oracle.names)
    assert {(frame.name, frame.type) for frame in model.frames} == {(frame.name, frame.type) for frame in oracle.frames}
    mass = sum(inertia.mass for inertia in model.inertias)
    assert mass == pytest.approx(sum(inertia.mass for inertia in oracle.inertias), rel=1e-12)
    data, data_oracle = model.createData(), oracle.createData()
    for _ in range(3):
        q, v = random_state(model, rng)
        a = rng.normal(size=model.nv)
        q_oracle, columns = same_state(model, oracle, q)
        v_oracle, a_oracle = np.zeros(model.nv), np.zeros(model.nv)
        v_oracle[columns], a_oracle[columns] = v, a

        pin.framesForwardKinematics(model, data, q)
        pin.framesForwardKinematics(oracle, data_oracle, q_oracle)
        for frame in model.frames:
            index = model.getFrameId(frame.name, frame.type)
            found = data_oracle.oMf[oracle.getFrameId(frame.name, frame.type)]
            assert data.oMf[index].isApprox(found, 1e-9), frame.name
        for link, attachment in parts.links.items():
            place = data.oMi[attachment.joint_id] * attachment.placement_joint_link
            assert place.isApprox(data.oMf[attachment.frame_id], 1e-12), link

        tau = pin.rnea(model, data, q, v, a)
        tau_oracle = pin.rnea(oracle, data_oracle, q_oracle, v_oracle, a_oracle)[columns]
        assert np.allclose(tau, tau_oracle, rtol=1e-9, atol=1e-9 * (1 + np.abs(tau_oracle).max(initial=0)))
        M = mass_matrix(model, q)
        M_oracle = mass_matrix(oracle, q_oracle)[np.ix_(columns, columns)]
        assert np.allclose(M, M_oracle, rtol=1e-9, atol=1e-9 * np.abs(M_oracle).max(initial=1))


def assert_depth_first(model: pin.Model) -> None:
    """Each subtree is one block of joints, as pin.crba takes for granted."""
    for joint in range(1, model.njoints):
        subtree = [k for k in range(1, model.njoints) if joint in list(model.supports[k])]
        assert subtree == list(range(joint, joint + len(subtree)))


@pytest.mark.feature("001-F001")
@pytest.mark.parametrize(
    ("name", "floating_base"),
    [("hrp2", True), ("hrp2", False), ("bip", True), ("tree4", False), ("syn3p33r", False), ("robot_2r_a", False)],
)
def test_robots_of_the_stack(name, floating_base):
    text = find_resource(f"urdf/{name}.urdf").read_text(encoding="utf-8")
    assert_agrees_with_pinocchio(text, floating_base, np.random.default_rng(1))


@pytest.mark.feature("004-F21", "004-F22")
@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.booleans())
@hypothesis.settings(max_examples=60, deadline=None)
def test_random_robots(seed, links, floating_base):
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, links)
    assert_agrees_with_pinocchio(text, floating_base, rng)
    assert_depth_first(built(text, floating_base=floating_base)[0])


def test_joint_limits_and_losses_go_into_the_model():
    rng = np.random.default_rng(3)
    model, parts = built(random_urdf(rng, 12, ("revolute", "prismatic")))
    assert model.nv == len(parts.joint_ids) == 11
    assert np.array_equal(model.lowerPositionLimit, np.full(11, -2))
    assert np.array_equal(model.upperPositionLimit, np.full(11, 3))
    assert np.array_equal(model.velocityLimit, np.full(11, 5))
    assert np.array_equal(model.effortLimit, np.full(11, 10))
    assert np.array_equal(model.damping, np.full(11, 0.5))
    assert np.array_equal(model.friction, np.full(11, 0.25))


def test_continuous_joint_is_one_unlimited_angle():
    model, parts = built(random_urdf(np.random.default_rng(4), 3, ("continuous",)))
    joint = model.joints[parts.joint_ids["joint1"]]
    assert (joint.nq, joint.nv) == (1, 1)
    assert model.lowerPositionLimit[joint.idx_q] == -np.inf
    assert model.upperPositionLimit[joint.idx_q] == np.inf


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 1, 0), (0, -1, 0), (1, 0, 0), (0, 0, -1), (0.6, 0, 0.8)])
def test_planar_joint_moves_in_the_plane_across_its_axis(axis):
    # Pinocchio's own reader ignores the axis of planar joints.
    xyz = " ".join(str(value) for value in axis)
    model, parts = built(
        f'<robot name="r"><link name="a"/><link name="b">{INERTIAL}</link><joint name="j" type="planar">'
        f'<parent link="a"/><child link="b"/><origin xyz="1 2 3"/><axis xyz="{xyz}"/></joint></robot>'
    )
    link = parts.links["b"]
    data = model.createData()

    def placed(x: float, y: float, angle: float) -> pin.SE3:
        pin.forwardKinematics(model, data, np.array([x, y, np.cos(angle), np.sin(angle)]))
        return data.oMi[link.joint_id] * link.placement_joint_link

    zero = placed(0, 0, 0)
    assert zero.isApprox(pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0])), 1e-12)
    moved = placed(0.3, -0.7, 0.4)
    assert np.allclose(moved.rotation, pin.exp3(0.4 * np.array(axis)), atol=1e-12)
    shift = moved.translation - zero.translation
    assert shift @ np.array(axis) == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(shift) == pytest.approx(np.hypot(0.3, 0.7))


def test_two_robots_in_one_model():
    rng = np.random.default_rng(5)
    texts = [random_urdf(rng, 6), random_urdf(rng, 8)]
    places = [pin.SE3.Random(), pin.SE3.Random()]
    model = pin.Model()
    geometry = pin.GeometryModel()
    appended = [
        append_to_model(
            model, geometry, geometry, read_urdf(text), prefix=f"{name}/", placement=place, floating_base=False
        )
        for name, text, place in zip("ab", texts, places, strict=True)
    ]
    assert_depth_first(model)
    q, v = random_state(model, rng)
    M = mass_matrix(model, q)
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    tau = pin.rnea(model, data, q, v, v)
    for prefix, text, place, parts in zip("ab", texts, places, appended, strict=True):
        alone, parts_alone = built(text, placement=place)
        q_alone, v_alone = q[parts.q_slice], v[parts.v_slice]
        assert np.allclose(M[parts.v_slice, parts.v_slice], mass_matrix(alone, q_alone), atol=1e-10)
        data_alone = alone.createData()
        tau_alone = pin.rnea(alone, data_alone, q_alone, v_alone, v_alone)
        assert np.allclose(tau[parts.v_slice], tau_alone, rtol=1e-10, atol=1e-9)
        pin.framesForwardKinematics(alone, data_alone, q_alone)
        for link, attachment in parts.links.items():
            assert model.frames[attachment.frame_id].name == f"{prefix}/{link}"
            found = data_alone.oMf[parts_alone.links[link].frame_id]
            assert data.oMf[attachment.frame_id].isApprox(found, 1e-9)
    # They move independently.
    assert not M[appended[0].v_slice, appended[1].v_slice].any()


def test_same_names_twice_are_refused():
    description = read_urdf(random_urdf(np.random.default_rng(6), 3))
    model, geometry = pin.Model(), pin.GeometryModel()
    append_to_model(model, geometry, geometry, description, prefix="a/", floating_base=True)
    with pytest.raises(RobotError, match="is in the model already"):
        append_to_model(model, geometry, geometry, description, prefix="a/", floating_base=True)


def test_geometries_are_named_and_placed():
    shapes = "".join(
        f'<visual{name}><origin xyz="0 0 {z}" rpy="0.3 0 0"/><geometry><sphere radius="0.5"/></geometry></visual>'
        for z, name in enumerate(("", ' name="ball"', ' name="ball"'))
    )
    text = (
        f'<robot name="r"><link name="a"/><link name="b">{shapes}</link><joint name="j" type="fixed">'
        '<parent link="a"/><child link="b"/><origin xyz="1 0 0"/></joint></robot>'
    )
    model, collision, visual = pin.Model(), pin.GeometryModel(), pin.GeometryModel()
    append_to_model(model, collision, visual, read_urdf(text), prefix="p/", floating_base=True)
    assert collision.ngeoms == 0
    assert [item.name for item in visual.geometryObjects] == ["p/b/0", "p/b/ball", "p/b/2"]
    for z, item in enumerate(visual.geometryObjects):
        assert item.parentJoint == 1
        assert model.frames[item.parentFrame].name == "p/b"
        assert np.allclose(item.placement.translation, [1, 0, z])
        assert np.allclose(item.placement.rotation, pin.utils.rotate("x", 0.3))


def test_rotor_inertia_adds_to_its_joint_only():
    text = random_urdf(np.random.default_rng(7), 5, ("revolute",))
    bare, _ = built(text)
    geared, parts = built(text, armature={"joint3": 0.7})
    difference = mass_matrix(geared, pin.neutral(geared)) - mass_matrix(bare, pin.neutral(bare))
    index = geared.joints[parts.joint_ids["joint3"]].idx_v
    expected = np.zeros((4, 4))
    expected[index, index] = 0.7
    assert np.allclose(difference, expected, atol=1e-12)


# Free-flyers in two joints ----------------------------------------------------------------------------------------


@hypothesis.given(st.integers(0, 2**32 - 1))
@hypothesis.settings(max_examples=30, deadline=None)
def test_split_floating_is_the_same_robot(seed):
    """Same q; the linear velocity of a free-flyer is in the axes of the fixed frame instead of the body's."""
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, 7, (*KINDS, "floating"))
    whole, parts = built(text, floating_base=True)
    split, parts_split = built(text, floating_base=True, split_floating=True)
    assert (whole.nq, whole.nv) == (split.nq, split.nv)
    assert_depth_first(split)
    q, v = random_state(whole, rng)
    change = np.eye(whole.nv)  # velocity of the split model from the whole one's
    for joint_id in parts.joint_ids.values():
        joint = whole.joints[joint_id]
        if joint.nv == 6:
            rotation = pin.Quaternion(q[joint.idx_q + 3 : joint.idx_q + 7]).matrix()
            change[joint.idx_v : joint.idx_v + 3, joint.idx_v : joint.idx_v + 3] = rotation
    M = change.T @ mass_matrix(split, q) @ change
    assert np.allclose(M, mass_matrix(whole, q), rtol=1e-9, atol=1e-9)
    data, data_split = whole.createData(), split.createData()
    pin.framesForwardKinematics(whole, data, q)
    pin.framesForwardKinematics(split, data_split, q)
    for link, attachment in parts.links.items():
        found = data_split.oMf[parts_split.links[link].frame_id]
        assert data.oMf[attachment.frame_id].isApprox(found, 1e-9)
    energy = pin.computeKineticEnergy(whole, data, q, v)
    assert pin.computeKineticEnergy(split, data_split, q, change @ v) == pytest.approx(energy, rel=1e-9)
    # Gravity does the same work in both.
    gravity = pin.computeGeneralizedGravity(whole, data, q)
    found = change.T @ pin.computeGeneralizedGravity(split, data_split, q)
    assert np.allclose(found, gravity, rtol=1e-9, atol=1e-9)


# Ball joints ------------------------------------------------------------------------------------------------------


def shoulder(rng: np.random.Generator, second: str = "", inside: str = "", axis_z: str = "0 0 1") -> str:
    """A free body with an arm on three revolute joints in one point."""
    x, y, z = rng.normal(size=3)

    def hinge(name: str, parent: str, child: str, axis: str, origin: str = "") -> str:
        return (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{origin}'
            f'<axis xyz="{axis}"/><limit lower="-3" upper="3" effort="7" velocity="8"/>'
            '<dynamics damping="0.1"/></joint>'
        )

    return (
        f'<robot name="r"><link name="trunk">{INERTIAL}</link><link name="x1"/><link name="x2">{inside}</link>'
        f'<link name="arm">{INERTIAL}</link><link name="hand">{INERTIAL}</link>'
        + hinge("sx", "trunk", "x1", "1 0 0", f'<origin xyz="{x} {y} {z}" rpy="{z} {x} {y}"/>')
        + hinge("sy", "x1", "x2", "0 1 0", second)
        + hinge("sz", "x2", "arm", axis_z, '<origin rpy="0 0 0.5"/>')
        + hinge("wrist", "arm", "hand", "0 1 0", '<origin xyz="0 0 -1"/>')
        + "</robot>"
    )


@hypothesis.given(st.integers(0, 2**32 - 1))
@hypothesis.settings(max_examples=40, deadline=None)
def test_ball_joint_is_the_chain_of_three_revolutes(seed):
    rng = np.random.default_rng(seed)
    text = shoulder(rng)
    chain, parts_chain = built(text, floating_base=True)
    ball, parts = built(text, floating_base=True, ball_joints={"s": ("sx", "sy", "sz")})
    assert list(parts.joint_ids) == [ROOT_JOINT, "s", "wrist"]
    assert (ball.nq, ball.nv) == (chain.nq + 1, chain.nv)
    angles = rng.uniform(-1, 1, size=3)  # away from the chain's singularity
    wrist = rng.uniform(-3, 3)
    base, _ = random_state(built(text, floating_base=True)[0], rng)
    q_chain = np.concatenate([base[:7], angles, [wrist]])
    # The joints' turns one after the other; a fixed turn of 0.5 about z comes before the third.
    x, y, z = (pin.utils.rotate(axis, angle) for axis, angle in zip("xyz", angles, strict=True))
    fixed = pin.utils.rotate("z", 0.5)
    turn = pin.Quaternion(fixed.T @ x @ y @ fixed @ z)
    q_ball = np.concatenate([base[:7], turn.coeffs(), [wrist]])

    data, data_chain = ball.createData(), chain.createData()
    pin.framesForwardKinematics(ball, data, q_ball)
    pin.framesForwardKinematics(chain, data_chain, q_chain)
    for link in ("trunk", "arm", "hand"):
        found = data_chain.oMf[parts_chain.links[link].frame_id]
        assert data.oMf[parts.links[link].frame_id].isApprox(found, 1e-10), link

    # Angular velocity of the arm in the trunk's axes from the three rates, and so the change of coordinates.
    change = np.eye(ball.nv)
    arm = parts_chain.links["arm"]
    jacobian = pin.computeFrameJacobian(chain, data_chain, q_chain, arm.frame_id, pin.LOCAL)
    change[6:9, 6:9] = jacobian[3:, 6:9]
    M = change.T @ mass_matrix(ball, q_ball) @ change
    assert np.allclose(M, mass_matrix(chain, q_chain), atol=1e-9)
    gravity = change.T @ pin.computeGeneralizedGravity(ball, data, q_ball)
    assert np.allclose(gravity, pin.computeGeneralizedGravity(chain, data_chain, q_chain), atol=1e-9)

    where = slice(6, 9)
    assert np.array_equal(ball.effortLimit[where], [7, 7, 7])
    assert np.array_equal(ball.velocityLimit[where], [8, 8, 8])
    assert np.array_equal(ball.damping[where], [0.1, 0.1, 0.1])


@pytest.mark.parametrize(
    ("members", "options", "problem"),
    [
        (("sx", "sy"), {}, "has 2 member joints"),
        (("sx", "sy", "nose"), {}, "unknown joint 'nose'"),
        (("sx", "sz", "sy"), {}, "'sz' does not follow 'sx'"),
        (("sy", "sz", "wrist"), {}, "link 'arm' inside it has a mass"),
        (("sx", "sy", "sz"), {"inside": INERTIAL}, "link 'x2' inside it has a mass"),
        (("sx", "sy", "sz"), {"second": '<origin xyz="0 0 0.1"/>'}, "'sy' is away from the one before"),
        (("sx", "sy", "sz"), {"axis_z": "0 1 1"}, "axes are not at right angles"),
    ],
)
def test_ball_joints_that_can_not_be(members, options, problem):
    with pytest.raises(RobotError, match=problem) as caught:
        built(shoulder(np.random.default_rng(0), **options), ball_joints={"s": members})
    assert caught.value.element == "ball joint 's'"
    assert caught.value.remedy is not None


def test_ball_joint_of_a_fixed_joint_is_refused():
    text = shoulder(np.random.default_rng(0)).replace('"sy" type="revolute"', '"sy" type="fixed"')
    with pytest.raises(RobotError, match="'sy' is not a revolute joint"):
        built(text, ball_joints={"s": ("sx", "sy", "sz")})
