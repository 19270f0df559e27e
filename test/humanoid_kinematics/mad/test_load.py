# SPDX-License-Identifier: Apache-2.0
"""MuJoCo models load with their loops; what moves is where Pinocchio's own reader puts it."""

import dataclasses
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import build_scene, load_mechanism, load_scene
from humanoid_kinematics.mad import write_mad
from humanoid_kinematics.mad.load import read_scene
from humanoid_kinematics.mad.syntax import MadError
from humanoid_model import InputError, RobotError, RobotWarning
from humanoid_model.errors import MissingLibraryError
from humanoid_model.loop_closure import KINDS

pytestmark = pytest.mark.filterwarnings("ignore:.*E10")

INERTIA = '<inertial pos="0.05 0 0.01" mass="1" diaginertia="1 1 1"/>'
FOURBAR = f"""<mujoco model="four"><compiler angle="radian"/>
  <worldbody><body name="ground" pos="0 0 0.5">
    <body name="crank" euler="0 0 1.0"><joint name="j1" axis="0 0 1"/>{INERTIA}
      <body name="coupler" pos="0.1 0 0"><joint name="j2" axis="0 0 1" ref="0.2"/>{INERTIA}
        <site name="tip" pos="0.26 0 0" euler="0.3 0 0"/></body></body>
    <body name="rocker" pos="0.3 0 0" euler="0 0 1.8">
      <joint name="j3" axis="0 0 1" range="-1 2" limited="true"/>{INERTIA}
      <site name="top" pos="0.24 0 0"/></body>
  </body></worldbody>
  <equality>{{}}</equality>
  <actuator><motor joint="j1"/></actuator>{{}}
</mujoco>"""
MANY = f"""<mujoco><compiler angle="radian"/><worldbody><body name="ground">
  <body name="a" pos="0 0 1" euler="0.1 0.2 0.3"><joint name="a1" axis="1 1 0" pos="0.1 0.2 0"/>
    <joint name="a2" type="slide" axis="0 0 1" range="-1 1" limited="true"/>{INERTIA}
    <body name="b" pos="0.1 0 0"><joint name="b1" type="ball"/>{INERTIA}<site name="tip" pos="0.3 0 0"/></body>
    <body name="glued" pos="0 0.5 0">{INERTIA}</body></body>
</body></worldbody></mujoco>"""


def load(tmp_path, text):
    path = tmp_path / "x.xml"
    path.write_text(text)
    return load_mechanism(path), pin.buildModelFromMJCF(str(path))


@pytest.mark.parametrize("text", [MANY, FOURBAR.format("", "")])
def test_links_are_where_pinocchio_puts_its_frames(text, tmp_path):
    mechanism, model = load(tmp_path, text)
    assert (mechanism.model.nq, mechanism.model.nv) == (model.nq, model.nv)
    data = model.createData()
    limits = np.where(np.isfinite(model.lowerPositionLimit), -1.0, -2.0)
    for seed in range(5):
        pin.seed(seed)
        q = pin.randomConfiguration(model, limits, -limits)
        pin.framesForwardKinematics(model, data, q)
        places = mechanism.robot.link_placements(q)
        frames = {f.name: data.oMf[i] for i, f in enumerate(model.frames) if f.type in
                  (pin.FrameType.BODY, pin.FrameType.OP_FRAME)}  # fmt: skip
        assert frames.keys() <= places.keys()
        moved = places["ground"] * frames["ground"].inverse()  # Pinocchio leaves out where a body without joints is
        for name, place in frames.items():
            assert np.abs((moved * place).homogeneous - places[name].homogeneous).max() < 1e-12
        own = pin.crba(mechanism.model, mechanism.model.createData(), q)
        assert np.abs(pin.crba(model, data, q) - own).max() < 1e-9
    moves = [model.joints[model.getJointId(joint)].idx_q for joint in ("j1", "j2", "j3") if model.existJointName(joint)]
    assert np.array_equal(mechanism.robot.limits.upper[moves], model.upperPositionLimit[moves])


def test_connected_points_coincide_in_the_reference_configuration(tmp_path):
    text = '<connect name="pin" body1="coupler" body2="rocker" anchor="0.26 0 0"/>'
    mechanism, _ = load(tmp_path, FOURBAR.format(text, ""))
    (loop,) = mechanism.loops
    assert (loop.name, loop.link_a, loop.link_b, loop.rows) == ("pin", "coupler", "rocker", KINDS["point"])
    places = mechanism.robot.link_placements(mechanism.initial)
    assert loop.placement_a.translation == pytest.approx([0.26, 0, 0])
    one, two = places["coupler"] * loop.placement_a, places["rocker"] * loop.placement_b
    assert one.translation == pytest.approx(two.translation, abs=1e-12)
    assert mechanism.driven == ("j1",)


def test_sites_and_poses_may_say_what_coincides(tmp_path):
    text = '<connect site1="tip" site2="top"/><weld body1="coupler" body2="rocker" relpose="1 2 3 0 1 0 0"/>'
    text += '<weld body1="crank" active="false"/><weld body1="crank"/>'
    mechanism, _ = load(tmp_path, FOURBAR.format(text, ""))
    sites, pose, ground = mechanism.loops
    assert (sites.link_a, sites.link_b, sites.rows) == ("coupler", "rocker", KINDS["point"])
    assert (sites.placement_a.translation[0], sites.placement_b.translation[0]) == (0.26, 0.24)
    assert pose.rows == KINDS["frame"]
    assert pose.placement_a.translation == pytest.approx([1, 2, 3])
    assert pose.placement_a.rotation == pytest.approx(np.diag([1.0, -1.0, -1.0]))  # half a turn about x
    assert (ground.link_a, ground.link_b) == ("crank", "world")
    assert [tool.name for tool in mechanism.tools] == ["tip", "top"]


@pytest.mark.feature("002-F187")
def test_linear_joint_equalities_are_couplings(tmp_path):
    text = '<joint name="gear" joint1="j1" joint2="j3" polycoef="0.5 2 0 0 0"/><joint joint1="j2" polycoef="0.1"/>'
    gear, fixed = load(tmp_path, FOURBAR.format(text, ""))[0].couplings
    assert (gear.name, dict(gear.factors), gear.offset) == ("gear", {"j1": 1.0, "j3": -2.0}, 0.5)
    assert dict(fixed.factors) == {"j2": 1.0}


def test_the_first_keyframe_is_the_declared_posture(tmp_path):
    mechanism, _ = load(tmp_path, FOURBAR.format("", '<keyframe><key name="home" qpos="0.1 0.2 0.3"/></keyframe>'))
    assert mechanism.initial == pytest.approx([0.1, 0.2, 0.3])
    assert mechanism.robot.posture("home") == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<robot/>", "x.xml:1: <robot>: the document's root is <robot>, not <mujoco>"),
        (
            "<mujoco><worldbody><body>\n<body><freejoint name='f'/></body></body></worldbody></mujoco>",
            ":2: <freejoint name='f'>: is inside another body. Free bodies stand in <worldbody>",
        ),
        (FOURBAR.format('<tendon name="t"/>', ""), "<tendon name='t'>: equality <tendon> is not read. Use"),
        (FOURBAR.format('<connect body1="nobody" anchor="0 0 0"/>', ""), "names the unknown body 'nobody'"),
        (FOURBAR.format('<joint joint1="j1" joint2="no"/>', ""), "unknown joint 'no'. Joints are j1, j2, j3"),
        (FOURBAR.format('<joint joint1="j1" joint2="j2" polycoef="0 1 2"/>', ""), "Give a polynomial of degree 1"),
    ],
)
def test_what_is_not_read_is_refused(text, told, tmp_path):
    with pytest.raises(RobotError) as caught:
        load(tmp_path, text)
    assert told in str(caught.value)


def test_sdf_is_refused_with_a_way_out():
    with pytest.raises(MissingLibraryError, match=r"x.sdf: Pinocchio is built without sdformat.*Convert it to URDF"):
        load_mechanism("x.sdf")


def test_tendons_are_warned_of_for_mechanisms_have_no_forces():
    with pytest.warns(RobotWarning, match=r"<tendon>: the element is not read"):
        load_mechanism(Path(__file__).parents[2] / "fixtures" / "mjcf" / "tendons.xml")


def changed(scene, number, **changes):
    robot = scene.mad.robots[0]
    node = next(node for node in robot.nodes if node.number == number)
    return build_scene(scene.mad.with_robot(robot.with_node(dataclasses.replace(node, **changes))))


def places(scene):
    (mechanism,) = scene.mechanisms.values()
    placements = mechanism.robot.link_placements(mechanism.initial)
    return {name: 1000 * place.translation for name, place in placements.items()}


@pytest.mark.feature("002-F046")
def test_a_longer_link_moves_what_it_carries_and_nothing_else():
    scene = load_scene("planar_hybrid")
    parameters = dict(scene.mad.robots[0].nodes[2].parameters)
    longer = changed(scene, 3, parameters={**parameters, "d": 500.0})
    before, after = places(scene), places(longer)
    moved = {name for name in before if np.abs(before[name] - after[name]).max() > 1e-9}
    assert moved == {"link_3", "link_4", "frame_8", "frame_9"}
    assert np.linalg.norm(after["link_3"] - after["link_2"]) == pytest.approx(500)


@pytest.mark.feature("002-F145")
def test_automatic_shapes_follow_a_change():
    scene = load_scene("planar_hybrid")
    parameters = dict(scene.mad.robots[0].nodes[2].parameters)
    longer = changed(scene, 3, parameters={**parameters, "d": 500.0})
    lengths = []
    for one in (scene, longer):
        (mechanism,) = one.mechanisms.values()
        (bar,) = (shape.shape for shape in mechanism.robot.description.links["link_2"].visuals if shape.name != "hub")
        lengths.append(1000 * bar.length)
    assert lengths == pytest.approx([400, 500])


@pytest.mark.feature("002-F145")
@pytest.mark.parametrize("name", ["planar_hybrid", "cross", "innocenti"])
def test_automatic_shapes_lead_from_each_joint_to_those_behind_it(name):
    mechanism = load_mechanism(name)
    at = mechanism.robot.link_placements(mechanism.initial)
    links, bars = mechanism.robot.description.links, 0
    for joint in mechanism.robot.description.joints.values():
        link = links[joint.parent]
        shapes = {shape.name: shape for shape in link.visuals}
        if not shapes:
            continue
        hub = shapes.pop("hub")
        assert hub.placement.isIdentity()
        way = at[joint.parent].actInv(at[joint.child]).translation
        if np.linalg.norm(way) <= 2.0 * hub.shape.radius:
            continue  # it would be inside the hub
        found = []
        for bar in shapes.values():
            half = bar.placement.rotation[:, 2] * bar.shape.length / 2
            assert bar.placement.translation - half == pytest.approx(np.zeros(3), abs=1e-9)
            assert bar.shape.radius == pytest.approx(hub.shape.radius / 2)
            found.append(np.linalg.norm(bar.placement.translation + half - way))
        assert min(found) < 1e-9
        bars += 1
    assert bars > 3


@pytest.mark.feature("002-F036")
def test_another_tool_frame_moves_the_tip_alone():
    scene = load_scene("planar_hybrid")
    before, after = places(scene), places(changed(scene, 9, pos=(300.0, 0.0, 0.0)))
    assert {name for name in before if np.abs(before[name] - after[name]).max() > 1e-9} == {"frame_9"}


@pytest.mark.feature("002-F046")
def test_a_joint_may_become_a_slide_where_it_is():
    scene = load_scene("planar_hybrid")
    slide = changed(scene, 4, type=1, range=(-100.0, 100.0))
    (mechanism,) = slide.mechanisms.values()
    assert mechanism.robot.description.joints["joint_4"].type == "prismatic"
    for name, place in places(scene).items():
        assert places(slide)[name] == pytest.approx(place, abs=1e-9)


@pytest.mark.feature("002-F047")
def test_a_change_that_can_not_be_leaves_the_scene_as_it_was():
    scene = load_scene("planar_hybrid")
    with pytest.raises(MadError, match=r"as changed:\d+:\d+: link 3: pred is 33, which is no node \[E03\]"):
        changed(scene, 3, pred=33)
    with pytest.raises(MadError, match=r"pred goes round: 2 -> 3 -> 2 \[E04\]"):
        changed(scene, 2, pred=3)
    with pytest.raises(InputError, match="nan can't be written to MAD"):
        changed(scene, 9, pos=(float("nan"), 0.0, 0.0))
    with pytest.raises(InputError, match=r"robot hybride: there is no node 77. Nodes are 1, 2, 3"):
        scene.mad.robots[0].with_node(dataclasses.replace(scene.mad.robots[0].nodes[0], number=77))
    with pytest.raises(InputError, match=r"there is no robot 'x'. Robots are hybride"):
        scene.mad.with_robot(dataclasses.replace(scene.mad.robots[0], name="x"))
    assert places(scene).keys() == places(load_scene("planar_hybrid")).keys()


def test_only_mad_files_have_records_to_change():
    assert load_scene("five_bar").mad is None
    assert load_mechanism("macdac").name == "macdac"


@pytest.mark.feature("002-F001", "002-F088")
def test_files_are_joined_in_one_scene_whose_devices_of_one_kind_are_one(tmp_path):
    scene = load_scene("cross, redont, fourbar")
    assert list(scene.mechanisms) == ["crossdelta", "6dof", "fourbar"]
    assert {number: (sensor.type, sensor.port) for number, sensor in scene.sensors.items()} == {
        0: (None, None), 1: ("spaceball", "/dev/ttyd2"), 2: ("panel", "Mover"),
    }  # fmt: skip
    alone = load_mechanism("redont")
    joined = scene.mechanisms["6dof"]
    assert [tool.devices for tool in joined.tools] == [tool.devices for tool in alone.tools]
    np.testing.assert_array_equal(joined.initial, alone.initial)
    others = load_scene("cross,puma")  # each with a device 1 of its own
    assert [sensor.port for sensor in others.sensors.values()] == [None, "/dev/ttyd2", None]
    devices = {name: [tool.devices for tool in each.tools] for name, each in others.mechanisms.items()}
    assert devices == {"crossdelta": [(1, 0)], "puma": [(2, 0)]}
    again = read_scene(write_mad(scene.mad))
    assert list(again.mechanisms) == list(scene.mechanisms)
    other = tmp_path / "metres.mad"
    other.write_text(write_mad(dataclasses.replace(load_scene("puma").mad, length_unit=1.0)))
    for names, words in ((f"cross,{other}", "counts in"), ("cross,cross", "twice"), ("cross,hrp2", "isn't MAD")):
        with pytest.raises(RobotError, match=words):
            load_scene(names)


@pytest.mark.feature("002-F146")
def test_arms_of_a_payload_and_joints_of_a_motor_are_as_thick_as_the_file_says():
    text = write_mad(load_scene("puma").mad)
    heavy = text.rstrip().removesuffix("}") + "  thickness ( 2 2.5 3 1 )\n}\n"
    (plain,), (thick,) = (read_scene(each).mechanisms.values() for each in (text, heavy))
    for link, factor in (("link_2", 2.5), ("link_3", 1.0), ("link_1", 1.0)):
        old, new = (each.robot.description.links[link] for each in (plain, thick))
        for before, after in zip(old.visuals, new.visuals, strict=False):
            assert after.shape.radius == pytest.approx(factor * before.shape.radius)
        if factor == 1.0:
            assert new.inertial.mass == old.inertial.mass
    assert "thickness ( 2 2.5 3 1 )" in write_mad(read_scene(heavy).mad)
    for wrong, words in (("77 2", "no node 77"), ("2 -1", "has -1"), ("2 0", "has 0")):
        with pytest.raises(RobotError, match=words):
            read_scene(heavy.replace("2 2.5", wrong))
