# SPDX-License-Identifier: Apache-2.0
"""MuJoCo models load with their loops; what moves is where Pinocchio's own reader puts it."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_model import RobotError, RobotWarning
from humanoid_model.errors import MissingLibraryError
from humanoid_model.loop_closure import KINDS

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
        load_mechanism(Path(__file__).parents[1] / "fixtures" / "mjcf" / "tendons.xml")
