# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml

from humanoid_model import InputError, RobotError, load_robot
from humanoid_model.actuator import Actuator

INERTIAL = (
    '<inertial><origin xyz="0 0 -0.2"/><mass value="2"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)
LIMIT = '<limit lower="-2" upper="2" effort="5" velocity="6"/>'


def link(name: str, inner: str = INERTIAL) -> str:
    return f'<link name="{name}">{inner}</link>'


def joint(name: str, kind: str, parent: str, child: str, inner: str = LIMIT, xyz: str = "0 0 -0.4") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 1 0"/>{inner}</joint>'
    )


FOOT = INERTIAL + '<collision><origin xyz="0 0 -0.1"/><geometry><box size="0.2 0.1 0.1"/></geometry></collision>'
LEG = (
    '<robot name="leg">'
    + link("body") + link("thigh") + link("shank", FOOT) + link("cover", "")
    + joint("hip", "revolute", "body", "thigh") + joint("knee", "revolute", "thigh", "shank")
    + joint("flap", "revolute", "body", "cover", f'{LIMIT}<mimic joint="knee" multiplier="-0.5" offset="0.1"/>')
    + "</robot>"
)  # fmt: skip


def save(folder: Path, urdf: str, yaml: str = "") -> Path:
    path = folder / "r.urdf"
    path.write_text(urdf)
    if yaml:
        path.with_suffix(".yaml").write_text(yaml)
    return path


def placement(robot, q: np.ndarray, link_name: str) -> pin.SE3:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return data.oMf[robot.parts.links[link_name].frame_id]


# Finding ----------------------------------------------------------------------------------------------------------


def test_robots_of_the_stack_by_name_and_by_path():
    robot = load_robot("hrp2")
    assert robot.name == "hrp2"
    assert load_robot(robot.description.source).description == robot.description
    assert load_robot(Path(robot.description.source)).joint_names == robot.joint_names


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(RobotError, match=r"unknown robot 'hrp3'.*avatar, bip,.*hrp2"):
        load_robot("hrp3")


def test_a_urdf_in_a_package_is_found(tmp_path, monkeypatch):
    (tmp_path / "share" / "mine").mkdir(parents=True)
    (tmp_path / "share" / "mine" / "leg.urdf").write_text(LEG)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert load_robot("package://mine/leg.urdf").name == load_robot(LEG).name
    with pytest.raises(RobotError, match=r"'package://mine/arm\.urdf' not found.*ROS_PACKAGE_PATH"):
        load_robot("package://mine/arm.urdf")


def test_missing_path(tmp_path):
    with pytest.raises(RobotError, match="can't be read"):
        load_robot(tmp_path / "no.urdf")


def test_another_folder_may_hold_robots(tmp_path, monkeypatch):
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "mine.urdf").write_text(LEG)
    monkeypatch.setenv("HUMANOID_STACK_PATH", str(tmp_path))
    assert load_robot("mine").name == "leg"


def test_a_robot_may_be_given_as_text():
    robot = load_robot(f"\n{LEG}")
    assert (robot.name, robot.joint_names) == ("leg", ("hip", "knee", "flap"))
    with pytest.raises(RobotError, match=r"URDF text:1: <robot>: attribute 'name' is missing"):
        load_robot("<robot/>")


def test_a_robot_stands_half_sitting_where_it_has_that_posture_else_at_zero():
    for name, posture in (("hrp2", "half_sitting"), ("tree4", "zero")):
        robot = load_robot(name)
        assert np.array_equal(robot.default_posture, robot.postures[posture])
        robot.default_posture[:] = np.nan
        assert np.isfinite(robot.postures[posture]).all()
    with pytest.raises(InputError, match=r"posture: the robot 'tree4' has no posture 'asleep'\. Postures are zero"):
        robot.posture("asleep")


def test_without_geometry_meshes_may_be_missing(tmp_path):
    urdf = LEG.replace('<box size="0.2 0.1 0.1"/>', '<mesh filename="package://absent/foot.stl"/>')
    path = save(tmp_path, urdf)
    with pytest.raises(RobotError, match=r"mesh file 'package://absent/foot\.stl' not found"):
        load_robot(path)
    robot = load_robot(path, geometry=False)
    assert robot.total_mass == load_robot(LEG).total_mass
    assert robot.collision_model.ngeoms == 0


def test_more_coordinates_than_memory_allows_are_refused():
    count = 301
    links = "".join(link(f"l{i}", "") for i in range(count + 1))
    joints = [joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}") for i in range(count)]
    with pytest.raises(RobotError, match=r"robot 'big': has 301 velocity coordinates, more than 300\. Give joints"):
        load_robot(f'<robot name="big">{links}{"".join(joints)}</robot>')


def test_errors_of_the_yaml_name_it(tmp_path):
    path = save(tmp_path, LEG, "limbs: {leg: [nose]}")
    with pytest.raises(RobotError, match=r"r\.yaml:1: limbs\.leg\[0\]: 'nose' is no joint"):
        load_robot(path)


# Base -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "inertial", "floats"),
    [("body", INERTIAL, True), ("world", INERTIAL, False), ("body", "", False), ("world", "", False)],
)
def test_what_floats_when_nothing_is_said(tmp_path, root, inertial, floats):
    urdf = f'<robot name="r">{link(root, inertial)}{link("b")}{joint("j", "revolute", root, "b")}</robot>'
    robot = load_robot(save(tmp_path, urdf))
    assert robot.floating_base is floats
    assert robot.model.nv == 1 + 6 * floats
    assert robot.joint_names == ("j",)
    for choice in (True, False):
        assert load_robot(tmp_path / "r.urdf", floating_base=choice).floating_base is choice


def test_root_whose_mass_hangs_on_a_fixed_joint_floats(tmp_path):
    urdf = f'<robot name="r">{link("root", "")}{link("b")}{joint("j", "fixed", "root", "b", "")}</robot>'
    assert load_robot(save(tmp_path, urdf)).floating_base


def test_the_yaml_says_whether_the_base_floats_and_the_caller_overrules_it(tmp_path):
    path = save(tmp_path, LEG, "floating_base: false")
    assert not load_robot(path).floating_base
    assert load_robot(path, floating_base=True).floating_base


def test_the_urdfs_own_floating_joint_is_the_base(tmp_path):
    urdf = (
        f'<robot name="r">{link("world", "")}{link("body")}{link("b")}'
        + joint("base", "floating", "world", "body", "", xyz="1 2 3")
        + joint("j", "revolute", "body", "b")
        + "</robot>"
    )
    path = save(tmp_path, urdf)
    robot = load_robot(path)
    assert robot.floating_base
    assert robot.joint_names == ("j",)
    assert robot.model.nv == 7
    place = pin.SE3.Random()
    q = robot.place_base(robot.postures["zero"], place)
    assert robot.placement_base(q).isApprox(place, 1e-12)
    assert placement(robot, q, "body").isApprox(place, 1e-12)
    with pytest.raises(RobotError, match=r"joint 'base': floating_base is false, but this joint floats"):
        load_robot(path, floating_base=False)


def test_base_is_placed_and_read(tmp_path):
    robot = load_robot(save(tmp_path, LEG))
    place = pin.SE3.Random()
    q = robot.place_base(robot.postures["zero"], place)
    assert robot.placement_base(q).isApprox(place, 1e-12)
    assert placement(robot, q, "body").isApprox(place, 1e-12)
    fixed = load_robot(tmp_path / "r.urdf", floating_base=False)
    with pytest.raises(RobotError, match="fixed to the world"):
        fixed.place_base(fixed.postures["zero"], place)
    with pytest.raises(RobotError, match="fixed to the world"):
        fixed.placement_base(fixed.postures["zero"])


# Joints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hrp2", "bip", "bip_planar", "avatar", "tree4", "syn3p33r"])
def test_joint_names_follow_the_model(name):
    robot = load_robot(name)
    starts = [robot.index_v(joint_name) for joint_name in robot.joint_names]
    assert starts == sorted(starts)
    assert starts[0] == 6 * robot.floating_base
    for joint_name in robot.joint_names:
        model_joint = robot.model.joints[robot.model.getJointId(joint_name)]
        assert robot.index_q(joint_name) == model_joint.idx_q
        assert robot.index_v(joint_name) == model_joint.idx_v
    assert robot.limits.lower.shape == robot.limits.upper.shape == (robot.model.nq,)
    assert robot.limits.velocity.shape == robot.limits.effort.shape == (robot.model.nv,)
    assert robot.total_mass == pytest.approx(pin.computeTotalMass(robot.model), rel=1e-12)
    assert set(robot.actuators) <= set(robot.joint_names)
    pin.buildModelFromXML(robot.urdf)


def test_unknown_joint_is_refused(tmp_path):
    robot = load_robot(save(tmp_path, LEG))
    for index in (robot.index_q, robot.index_v):
        with pytest.raises(RobotError, match=r"unknown joint 'nose'\. Joints are hip, knee, flap"):
            index("nose")


def test_limits_are_the_urdfs(tmp_path):
    robot = load_robot(save(tmp_path, LEG), floating_base=False)
    assert np.array_equal(robot.limits.lower, [-2, -2, -2])
    assert np.array_equal(robot.limits.upper, [2, 2, 2])
    assert np.array_equal(robot.limits.velocity, [6, 6, 6])
    assert np.array_equal(robot.limits.effort, [5, 5, 5])


# Postures ---------------------------------------------------------------------------------------------------------


def test_posture_stands_on_its_lowest_support_point(tmp_path):
    yaml = """
postures: {bent: {hip: 0.6, knee: -0.9}}
contacts:
  sole: {link: shank, xyz: [0, 0, -0.15], patch: [[-0.1, 0], [0.1, 0]], support: true}
  elbow: {link: body, xyz: [0, 0, -9], patch: [[0, 0]]}
"""
    robot = load_robot(save(tmp_path, LEG, yaml))
    for posture in ("zero", "bent"):
        q = robot.postures[posture]
        vertices = robot.contacts["sole"].vertices_link
        heights = [placement(robot, q, "shank").act(vertex)[2] for vertex in vertices]
        assert min(heights) == pytest.approx(0, abs=1e-12)
        assert robot.placement_base(q).rotation == pytest.approx(np.eye(3))
        assert robot.placement_base(q).translation[:2] == pytest.approx([0, 0])
    # In the zero posture: 0.4 + 0.4 + 0.15.
    assert robot.placement_base(robot.postures["zero"]).translation[2] == pytest.approx(0.95, abs=1e-12)


def test_posture_without_supports_stands_on_its_shapes(tmp_path):
    robot = load_robot(save(tmp_path, LEG))
    q = robot.postures["zero"]
    assert robot.placement_base(q).translation[2] == pytest.approx(0.4 + 0.4 + 0.15, abs=1e-12)


def test_posture_without_anything_keeps_its_base_at_the_origin(tmp_path):
    robot = load_robot(save(tmp_path, LEG.replace(FOOT, INERTIAL)))
    assert robot.placement_base(robot.postures["zero"]).isApprox(pin.SE3.Identity())


def test_mimics_follow_in_postures(tmp_path):
    robot = load_robot(save(tmp_path, LEG, "postures: {bent: {knee: 0.6}}"))
    assert robot.postures["zero"][robot.index_q("flap")] == pytest.approx(0.1)
    assert robot.postures["bent"][robot.index_q("flap")] == pytest.approx(-0.5 * 0.6 + 0.1)
    assert robot.mimics["flap"].joint == "knee"
    assert "flap" not in robot.actuators


def test_mimic_of_a_mimic(tmp_path):
    chain = LEG.replace('<axis xyz="0 1 0"/>' + LIMIT, '<axis xyz="0 1 0"/>' + LIMIT + '<mimic joint="flap"/>', 1)
    robot = load_robot(save(tmp_path, chain, "postures: {bent: {knee: 0.6}}"))
    q = robot.postures["bent"]
    assert robot.mimics["hip"].joint == "flap"
    assert q[robot.index_q("hip")] == pytest.approx(q[robot.index_q("flap")]) == pytest.approx(-0.2)


def test_ball_joint_posture_is_that_of_its_three_joints():
    ball = load_robot("avatar")
    description = ball.description
    chain = pin.buildModelFromXML(ball.urdf, pin.JointModelFreeFlyer())
    data = chain.createData()
    for posture in ("standing", "arms_stretched"):
        q = ball.postures[posture]
        q_chain = pin.neutral(chain)
        q_chain[:7] = q[:7]
        # The URDF's own angles of the posture, read from the ball joints' YAML by name.
        for name, values in posture_angles(posture).items():
            q_chain[chain.joints[chain.getJointId(name)].idx_q] = values
        pin.framesForwardKinematics(chain, data, q_chain)
        for link_name in description.links:
            inside = any(description.joints[m].child == link_name for b in ball.ball_joints.values() for m in b[:2])
            if not inside:
                found = data.oMf[chain.getFrameId(link_name, pin.FrameType.BODY)]
                assert placement(ball, q, link_name).isApprox(found, 1e-9), (posture, link_name)


def posture_angles(posture: str) -> dict[str, float]:
    source = Path(load_robot("avatar").description.source).with_suffix(".yaml")
    return yaml.safe_load(source.read_text(encoding="utf-8"))["postures"][posture]


def test_posture_of_floating_and_planar_joints(tmp_path):
    urdf = (
        f'<robot name="r">{link("world")}{link("b")}{link("c")}'
        + joint("free", "floating", "world", "b", "", xyz="0 0 1").replace('<axis xyz="0 1 0"/>', "")
        + joint("flat", "planar", "world", "c", "", xyz="0 0 0").replace("0 1 0", "0 0 1")
        + "</robot>"
    )
    yaml = "postures: {p: {free: [1, 2, 3, 0.1, 0.2, 0.3], flat: [4, 5, 0.6]}}"
    robot = load_robot(save(tmp_path, urdf, yaml))
    assert not robot.floating_base
    q = robot.postures["p"]
    expected = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([1.0, 2.0, 4.0]))
    assert placement(robot, q, "b").isApprox(expected, 1e-12)
    assert placement(robot, q, "c").isApprox(pin.SE3(pin.utils.rotate("z", 0.6), np.array([4.0, 5.0, 0.0])), 1e-12)


# Drives -----------------------------------------------------------------------------------------------------------


def test_every_joint_is_driven_when_nothing_is_said(tmp_path):
    robot = load_robot(save(tmp_path, LEG))
    assert set(robot.actuators) == {"hip", "knee"}
    for actuator in robot.actuators.values():
        assert (actuator.effort, actuator.velocity, actuator.armature) == (5, 6, 0)
        assert actuator.stiffness > 0
        assert actuator.damping == pytest.approx(2 * actuator.stiffness / (2 * np.pi * 8))


def test_the_yaml_says_what_is_driven_and_how(tmp_path):
    yaml = 'actuators: {"k*": {stiffness: 7, damping: 8, effort: 9, velocity: 10, armature: 11}}\n'
    robot = load_robot(save(tmp_path, LEG, yaml + "springs: {hip: {stiffness: 3}}"))
    assert robot.actuators == {"knee": Actuator(7, 8, 9, 10, 11)}
    knee = robot.index_v("knee")
    assert robot.model.armature[knee] == 11
    assert robot.limits.effort[knee] == 9
    assert robot.limits.velocity[knee] == 10
    assert robot.limits.effort[robot.index_v("hip")] == 5
    assert robot.springs["hip"].stiffness == 3


def test_friction_of_the_yaml_counts_instead_of_the_urdfs(tmp_path):
    urdf = LEG.replace("</robot>", "").replace(
        LEG[LEG.index("<joint") : LEG.index("</joint>") + len("</joint>")],
        LEG[LEG.index("<joint") : LEG.index("</joint>")] + '<dynamics damping="0.5" friction="0.25"/></joint>',
    )
    first = load_robot(save(tmp_path, urdf + "</robot>"))
    driven = next(name for name, actuator in first.actuators.items() if actuator.dry_friction)
    assert (first.actuators[driven].viscous_friction, first.actuators[driven].dry_friction) == (0.5, 0.25)
    yaml = f"actuators: {{{driven}: {{viscous_friction: 2, dry_friction: 3, gear_ratio: 50, nominal_effort: 1}}}}"
    robot = load_robot(save(tmp_path, urdf + "</robot>", yaml))
    actuator, place = robot.actuators[driven], robot.index_v(driven)
    assert (actuator.viscous_friction, actuator.dry_friction) == (2, 3)
    assert (robot.model.damping[place], robot.model.friction[place]) == (2, 3)
    assert (actuator.gear_ratio, actuator.nominal_effort, actuator.peak_time) == (50, 1, 3)


def test_a_joint_with_a_spring_is_passive(tmp_path):
    robot = load_robot(save(tmp_path, LEG, "springs: {hip: {stiffness: 3}}"))
    assert set(robot.actuators) == {"knee"}


def test_default_gains_carry_what_hangs_or_stands(tmp_path):
    # Without supports the thigh hangs from the hip; with a sole the rest of the robot stands on the leg.
    omega = 2 * np.pi * 8
    com, about = np.array([0, 0, -0.2]), 0.1
    hanging = load_robot(save(tmp_path, LEG)).actuators["knee"].stiffness
    assert hanging == pytest.approx((about + 2 * com @ com) * omega**2)
    sole = "contacts: {sole: {link: shank, xyz: [0, 0, -0.15], patch: [[0, 0]], support: true}}"
    standing = load_robot(save(tmp_path, LEG, sole)).actuators["knee"].stiffness
    # The body's centre of mass is 0.4 + 0.4 - 0.2 above the knee's axis, the thigh's 0.4 - 0.2.
    assert standing == pytest.approx((2 * about + 2 * 0.6**2 + 2 * 0.2**2) * omega**2)


def test_ball_joint_has_one_actuator_for_its_three_axes():
    robot = load_robot("avatar")
    assert "r_hip" in robot.actuators
    assert "r_hip_x" not in robot.actuators
    where = slice(robot.index_v("r_hip"), robot.index_v("r_hip") + 3)
    assert robot.actuators["r_hip"].effort == robot.limits.effort[where].min()
    assert np.array_equal(robot.model.armature[where], np.full(3, robot.actuators["r_hip"].armature))


def test_a_joint_follows_another_by_way_of_a_third() -> None:
    urdf = LEG.replace(
        "</robot>",
        link("lid", "")
        + joint("lid", "revolute", "cover", "lid", f'{LIMIT}<mimic joint="flap" multiplier="3"/>') + "</robot>",
    )
    robot = load_robot(urdf)
    assert robot.followed("lid") == ("knee", -1.5, pytest.approx(0.3))
    assert robot.followed("flap") == ("knee", -0.5, 0.1)
    assert robot.followed("hip") == ("hip", 1.0, 0.0)
