# SPDX-License-Identifier: Apache-2.0
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import yaml

from humanoid_model.actuator import Spring
from humanoid_model.errors import RobotError
from humanoid_model.robot import load_robot
from humanoid_model.robot_file import RobotFile, read_robot_file
from humanoid_model.sensor import Noise
from humanoid_model.urdf import read_urdf

LIMIT = '<limit lower="-1" upper="2" effort="5" velocity="6"/>'


def joint(name: str, kind: str, parent: str, child: str, inner: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


URDF = (
    '<robot name="r">'
    + "".join(f'<link name="{name}"/>' for name in "abcdefghi")
    + joint("hip", "revolute", "a", "b", LIMIT)
    + joint("knee", "continuous", "b", "c")
    + joint("tool", "fixed", "a", "d")
    + joint("follower", "revolute", "c", "e", f'{LIMIT}<mimic joint="hip"/>')
    + joint("free", "floating", "a", "f")
    + joint("flat", "planar", "a", "g")
    + joint("slide", "prismatic", "g", "h", LIMIT)
    + joint("toe", "revolute", "c", "i", LIMIT)
    + "</robot>"
)


def read(tmp_path: Path, text: str) -> RobotFile:
    path = tmp_path / "r.yaml"
    path.write_text(text, encoding="utf-8")
    return read_robot_file(path, read_urdf(URDF))


def test_everything_that_can_be_said(tmp_path):
    file = read(
        tmp_path,
        """
floating_base: false
approximate: all of it
ball_joints:
  ball: [hip, knee, toe]
postures:
  one: {hip: 0.5, knee: -20, slide: 2, free: [1, 2, 3, 0.1, 0.2, 0.3], flat: [1, 2, 3]}
  none: {}
contacts:
  sole: {link: b, xyz: [1, 2, 3], rpy: [0, 0, 1], patch: [[0, 0], [1, 0], [0, 1]], support: true}
  tip: {link: c, patch: [[0, 0]]}
actuators:
  "*": {armature: 0.5, effort: 3}
  slide: {stiffness: 1e3, damping: 2, armature: 0.25}
springs:
  slide: {stiffness: 10, damping: 1, rest: 0.5}
sensors:
  imu: {type: imu, link: a}
  ankle: {type: force_torque, link: b, xyz: [0, 0, 1]}
limbs:
  leg: [ball]
""",
    )
    assert file.floating_base is False
    assert file.approximate == "all of it"
    assert file.ball_joints == {"ball": ("hip", "knee", "toe")}
    assert file.postures["none"] == {}
    assert {name: list(values) for name, values in file.postures["one"].items()} == {
        "hip": [0.5], "knee": [-20], "slide": [2], "free": [1, 2, 3, 0.1, 0.2, 0.3], "flat": [1, 2, 3],
    }  # fmt: skip
    assert file.contacts["sole"].support
    assert not file.contacts["tip"].support
    assert np.array_equal(file.contacts["sole"].placement_link_patch.translation, [1, 2, 3])
    assert np.allclose(file.contacts["sole"].placement_link_patch.rotation[:, 0], [np.cos(1), np.sin(1), 0])
    # Later patterns add to and override earlier ones.
    assert file.actuators == {
        "slide": {"armature": 0.25, "effort": 3, "stiffness": 1000, "damping": 2},
        "ball": {"armature": 0.5, "effort": 3},
    }
    assert file.springs == {"slide": Spring(10, 1, 0.5)}
    assert (file.sensors["ankle"].type, file.sensors["ankle"].link) == ("force_torque", "b")
    assert file.limbs == {"leg": ("ball",)}


def test_sensors_can_be_imperfect(tmp_path):
    gain = [[float(i == j) + 0.01 * (i + 2 * j) for j in range(6)] for i in range(6)]
    file = read(
        tmp_path,
        f"""
sensors:
  ankle:
    link: b
    type: force_torque
    gain: {gain}
    noise:
      force: {{deviation: 0.5, bias: [1, 2, 3], bias_walk: 0.1, resolution: 0.25, time_constant: 2e-3, latency: 4}}
  imu: {{type: imu, link: a, noise: {{orientation: {{bias: 0.01}}, angular_velocity: {{}}}}}}
  bare: {{type: imu, link: a}}
encoders:
  "*": {{position: {{resolution: 0.001}}}}
  knee: {{velocity: {{latency: 2}}}}
""",
    )
    ankle = file.sensors["ankle"]
    assert np.allclose(ankle.gain, gain, atol=0)
    assert ankle.noise == {"force": Noise(0.5, (1.0, 2.0, 3.0), 0.1, 0.25, 0.002, 4)}
    assert file.sensors["imu"].noise == {"orientation": Noise(bias=0.01), "angular_velocity": Noise()}
    assert np.array_equal(file.sensors["bare"].gain, np.eye(6))
    assert not file.sensors["bare"].noise
    assert set(file.encoders) == {"hip", "knee", "follower", "slide", "toe"}
    assert file.encoders["hip"] == {"position": Noise(resolution=0.001)}
    assert file.encoders["knee"] == {"position": Noise(resolution=0.001), "velocity": Noise(latency=2)}


def test_the_inertia_of_a_motor_counts_at_the_joint_by_the_square_of_the_ratio(tmp_path):
    text = 'actuators:\n  "*": {rotor_inertia: 2e-5}\n  hip: {gear_ratio: 100, nominal_effort: 3, peak_time: 2}\n'
    file = read(tmp_path, text)
    assert file.actuators is not None
    assert file.actuators["hip"] == {
        "gear_ratio": 100, "nominal_effort": 3, "peak_time": 2, "armature": pytest.approx(0.2),
    }  # fmt: skip
    assert file.actuators["knee"] == {"armature": pytest.approx(2e-5)}


def test_gains_of_a_motor_count_at_the_joint_by_the_ratio(tmp_path):
    text = 'actuators:\n  "*": {motor_stiffness: 3, motor_damping: 0.2}\n  hip: {gear_ratio: 100}\n'
    file = read(tmp_path, text)
    assert file.actuators is not None
    assert file.actuators["hip"] == {"gear_ratio": 100, "stiffness": pytest.approx(300), "damping": pytest.approx(20)}
    assert file.actuators["knee"] == {"stiffness": pytest.approx(3), "damping": pytest.approx(0.2)}


def test_nothing_said_is_nothing_known(tmp_path):
    assert read(tmp_path, "approximate: x") == RobotFile(approximate="x")
    assert read(tmp_path, "floating_base: true").actuators is None


def test_the_documented_example_is_complete_and_loads(tmp_path):
    document = Path(__file__).parents[2] / "docs" / "robots.md"
    example = document.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    (tmp_path / "r.yaml").write_text(example, encoding="utf-8")
    links = ("body", "thigh", "shank", "tip", "x", "y", "arm")
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    (tmp_path / "r.urdf").write_text(
        '<robot name="r">'
        + "".join(f'<link name="{name}">{"" if name in "xy" else inertial}</link>' for name in links)
        + joint("hip", "revolute", "body", "thigh", LIMIT)
        + joint("knee", "revolute", "thigh", "shank", LIMIT)
        + joint("toe", "revolute", "shank", "tip", LIMIT)
        + joint("shoulder_x", "revolute", "body", "x", f'{LIMIT}<axis xyz="1 0 0"/>')
        + joint("shoulder_y", "revolute", "x", "y", f'{LIMIT}<axis xyz="0 1 0"/>')
        + joint("shoulder_z", "revolute", "y", "arm", f'{LIMIT}<axis xyz="0 0 1"/>')
        + "</robot>"
    )
    robot = load_robot(tmp_path / "r.urdf")
    assert robot.joint_names == ("hip", "knee", "toe", "shoulder")
    assert robot.actuators["knee"].stiffness == 500
    assert robot.limbs == {"leg": ("hip", "knee"), "arm": ("shoulder",)}
    shown = set(yaml.safe_load(example))
    assert shown == {field.name for field in dataclasses.fields(RobotFile)}


# Text, line, element, words of the problem, words of the remedy.
MALFORMED = {
    "unknown key": ("limbs: {}\nlegs: {}", 2, "legs", "unknown key", "Known keys: floating_base"),
    "list at the top": ("- a", 1, None, "a list, not a mapping", "key: value"),
    "not yaml": ("limbs: [hip\nx: y", 2, None, "not YAML", "Mend"),
    "tab": ("limbs:\n\tleg: [hip]", 2, None, "not YAML", "Mend"),
    "key twice": ("limbs: {}\nlimbs: {}", 2, "limbs", "key given twice", "Keep one"),
    "base maybe": ("floating_base: maybe", 1, "floating_base", "'maybe'", "true or false"),
    "approximate list": ("approximate: [a]", 1, "approximate", "a list, not a text", "Give a text"),
    "unknown joint": ("postures:\n  p: {nose: 1}", 2, "postures.p.nose", "unknown joint 'nose'", "hip, knee"),
    "posture of a fixed joint": ("postures:\n  p: {tool: 1}", 2, "postures.p.tool", "is fixed", "Leave it out"),
    "posture of a mimic": ("postures:\n  p:\n    follower: 1", 3, "postures.p.follower", "mimics 'hip'", "Leave"),
    "posture out of range": ("postures:\n  p: {hip: 2.1}", 2, "postures.p.hip", "2.1 is outside", "within the range"),
    "posture NaN": ("postures:\n  p: {hip: .nan}", 2, "postures.p.hip", "is .nan", "finite"),
    "posture infinite": ("postures:\n  p: {knee: -.inf}", 2, "postures.p.knee", "is -.inf", "finite"),
    "posture word": ("postures:\n  p: {hip: up}", 2, "postures.p.hip", "'up', not a number", "finite"),
    "posture list": ("postures:\n  p: {hip: [1]}", 2, "postures.p.hip", "a list, not a number", "finite"),
    "posture empty": ("postures:\n  p: {hip: }", 2, "postures.p.hip", "empty, not a number", "finite"),
    "floating of three": ("postures:\n  p: {free: [1, 2, 3]}", 2, "postures.p.free", "holds 3 values", "6 numbers"),
    "planar of one": ("postures:\n  p: {flat: 1}", 2, "postures.p.flat", "not a list", "list"),
    "contact of nothing": ("contacts:\n  s: {patch: [[0, 0]]}", 2, "contacts.s", "lacks 'link' or 'patch'", "both"),
    "unknown link": (
        "contacts:\n  s: {link: nose, patch: [[0, 0]]}", 2, "contacts.s.link", "unknown link 'nose'", "a, b, c",
    ),
    "contact key": ("contacts:\n  s: {link: a, patches: []}", 2, "contacts.s.patches", "unknown key", "patch"),
    "no vertex": ("contacts:\n  s: {link: a, patch: []}", 2, "contacts.s.patch", "holds 0 vertices", "1 or more"),
    "vertex of three": (
        "contacts:\n  s:\n    link: a\n    patch: [[0, 0, 0]]", 4, "contacts.s.patch[0]", "holds 3 values", "2 numbers",
    ),
    "clockwise patch": (
        "contacts:\n  s: {link: a, patch: [[0, 0], [0, 1], [1, 0]]}", 2, "contacts.s.patch", "not a convex", "counter-",
    ),
    "vertex twice": (
        "contacts:\n  s: {link: a, patch: [[0, 0], [0, 0]]}", 2, "contacts.s.patch", "coincide", "corners",
    ),
    "xyz of two": (
        "contacts:\n  s: {link: a, patch: [[0, 0]], xyz: [1, 2]}", 2, "contacts.s.xyz", "holds 2 values", "3 numbers",
    ),
    "support perhaps": (
        "contacts:\n  s: {link: a, patch: [[0, 0]], support: 1}", 2, "contacts.s.support", "'1'", "true or false",
    ),
    "actuator of nothing": ("actuators:\n  nose: {}", 2, "actuators.nose", "named 'nose'", "hip, knee"),
    "actuator of a mimic": ("actuators:\n  follower: {}", 2, "actuators.follower", "named 'follower'", "hip"),
    "actuator key": ("actuators:\n  hip: {gain: 1}", 2, "actuators.hip.gain", "unknown key", "stiffness"),
    "negative gain": ("actuators:\n  hip: {damping: -1}", 2, "actuators.hip.damping", "is -1", "0 or more"),
    "negative friction": (
        "actuators:\n  hip: {dry_friction: -1}", 2, "actuators.hip.dry_friction", "is -1", "0 or more",
    ),
    "gear ratio of zero": ("actuators:\n  hip: {gear_ratio: 0}", 2, "actuators.hip.gear_ratio", "is 0", "more than 0"),
    "two inertias": (
        "actuators:\n  '*': {armature: 1}\n  hip: {rotor_inertia: 1}", 3, "actuators.hip", "has both", "or that of",
    ),
    "two gains": (
        "actuators:\n  '*': {motor_damping: 1}\n  hip: {damping: 1}", 3, "actuators.hip", "has both", "or that of",
    ),
    "gain of five rows": (
        "sensors:\n  s: {type: force_torque, link: b, gain: [[1, 2, 3, 4, 5, 6]]}",
        2, "sensors.s.gain", "holds 1 rows", "six rows",
    ),
    "singular gain": (
        f"sensors:\n  s: {{type: force_torque, link: b, gain: {[[1.0] * 6] * 6}}}",
        2, "sensors.s.gain", "is singular", "inverted",
    ),
    "gain of an imu": (
        "sensors:\n  s: {type: imu, link: b, gain: []}", 2, "sensors.s.gain", "type imu has no gain", "Leave it out",
    ),
    "noise of nothing": (
        "sensors:\n  s: {type: imu, link: b, noise: {force: {}}}",
        2, "sensors.s.noise.force", "unknown key", "orientation, angular_velocity",
    ),
    "negative noise": (
        "sensors:\n  s: {type: imu, link: b, noise: {orientation: {deviation: -1}}}",
        2, "sensors.s.noise.orientation.deviation", "is -1", "0 or more",
    ),
    "bias of two": (
        "sensors:\n  s: {type: imu, link: b, noise: {orientation: {bias: [1, 2]}}}",
        2, "sensors.s.noise.orientation.bias", "holds 2 values", "3 numbers",
    ),
    "camera that sees behind itself": (
        "sensors:\n  s: {type: camera, link: b, field_of_view: 4}",
        2, "sensors.s.field_of_view", "is 4", "between 0 and pi",
    ),
    "half a pixel": (
        "sensors:\n  s: {type: camera, link: b, size: [320, 0.5]}", 2, "sensors.s.size", "is 320 x 0.5", "whole",
    ),
    "filter of a camera": (
        "sensors:\n  s: {type: camera, link: b, noise: {colour: {latency: 1}}}",
        2, "sensors.s.noise.colour.latency", "unknown key", "deviation, bias, resolution",
    ),
    "noise of nothing that a camera sees": (
        "sensors:\n  s: {type: camera, link: b, noise: {force: {}}}",
        2, "sensors.s.noise.force", "unknown key", "colour, depth, inverse_depth",
    ),
    "three biases of a distance": (
        "sensors:\n  s: {type: camera, link: b, noise: {depth: {bias: [1, 2, 3]}}}",
        2, "sensors.s.noise.depth.bias", "holds 3 values", "1 number",
    ),
    "size of an imu": (
        "sensors:\n  s: {type: imu, link: b, size: [1, 1]}", 2, "sensors.s.size", "imu has no size", "Leave it out",
    ),
    "half a sample late": (
        "encoders:\n  hip: {position: {latency: 0.5}}", 2, "encoders.hip.position.latency", "0.5", "whole",
    ),
    "encoder of nothing": ("encoders:\n  tool: {}", 2, "encoders.tool", "named 'tool'", "hip, knee"),
    "spring of nothing": ("springs:\n  tool: {stiffness: 1}", 2, "springs.tool", "'tool' is no joint", "hip"),
    "spring of nothing stiff": ("springs:\n  hip: {damping: 1}", 2, "springs.hip", "lacks 'stiffness'", "N m/rad"),
    "sensor type": ("sensors:\n  s: {type: lidar, link: a}", 2, "sensors.s.type", "'lidar'", "imu, force_torque"),
    "sensor of no link": ("sensors:\n  s: {type: imu}", 2, "sensors.s", "lacks 'type' or 'link'", "both"),
    "sensor carried by no joint": (
        "sensors:\n  s: {type: force_torque, link: d}", 2, "sensors.s.link", "no joint carries the link 'd'", "moves",
    ),
    "limb of a fixed joint": ("limbs:\n  l: [hip, tool]", 2, "limbs.l[1]", "'tool' is no joint", "hip"),
    "limb of nothing": ("limbs:\n  l: []", 2, "limbs.l", "no joint", "leave the limb out"),
    "limb with a joint twice": ("limbs:\n  l: [hip, hip]", 2, "limbs.l[1]", "'hip' is listed twice", "once"),
    "limb as a word": ("limbs:\n  l: hip", 2, "limbs.l", "'hip', not a list", "list"),
    "ball of two": ("ball_joints:\n  b: [hip, knee]", 2, "ball_joints.b", "holds 2 joints", "three"),
    "ball named as a joint": (
        "ball_joints:\n  hip: [hip, knee, toe]", 2, "ball_joints.hip", "name of a URDF joint", "its own",
    ),
    "ball of an unknown joint": (
        "ball_joints:\n  b: [hip, knee, nose]", 2, "ball_joints.b[2]", "unknown joint 'nose'", "hip",
    ),
    "joint in two balls": (
        "ball_joints:\n  b: [hip, knee, toe]\n  c: [toe, hip, knee]",
        3, "ball_joints.c[0]", "'toe' is used twice", "once",
    ),
    "limb of a ball's member": (
        "ball_joints:\n  b: [hip, knee, toe]\nlimbs:\n  l: [hip]", 4, "limbs.l[0]", "'hip' is no joint", "b",
    ),
}  # fmt: skip


@pytest.mark.feature("001-F005")
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_file_is_refused(tmp_path, case):
    text, line, element, problem, remedy = MALFORMED[case]
    with pytest.raises(RobotError) as caught:
        read(tmp_path, text)
    error = caught.value
    assert error.source == str(tmp_path / "r.yaml")
    assert error.line == line
    assert error.element == element
    assert problem in error.problem
    assert error.remedy is not None
    assert remedy in error.remedy


def test_empty_and_unreadable_files(tmp_path):
    with pytest.raises(RobotError, match="is empty"):
        read(tmp_path, "# only a remark\n")
    with pytest.raises(RobotError, match="more than 100 levels inside one another"):
        read(tmp_path, "limbs: " + "[" * 5000 + "]" * 5000)
    (tmp_path / "r.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RobotError, match="not UTF-8"):
        read_robot_file(tmp_path / "r.yaml", read_urdf(URDF))
    with pytest.raises(RobotError, match="can't be read: Is a directory"):
        read_robot_file(tmp_path, read_urdf(URDF))


def test_what_links_collide_as_and_never_with(tmp_path):
    file = read(
        tmp_path,
        "mesh_collision: {a: exact, '[b-d]': convex_decomposition}\ndisabled_collisions: [[a, c], [e, b]]\n",
    )
    assert file.mesh_collision == {"a": "exact", **dict.fromkeys("bcd", "convex_decomposition")}
    assert file.disabled_collisions == (("a", "c"), ("e", "b"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("mesh_collision: {z: exact}", "no link is named 'z'"),
        ("mesh_collision: {a: round}", "'round'"),
        ("disabled_collisions: [[a]]", "holds 1 links"),
        ("disabled_collisions: [[a, z]]", "unknown link 'z'"),
    ],
)
def test_refused_collisions(tmp_path, text, problem):
    with pytest.raises(RobotError) as caught:
        read(tmp_path, text)
    assert problem in caught.value.problem


def test_mesh_collision_reaches_the_robot(tmp_path):
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        '<collision><geometry><mesh filename="t.obj"/></geometry></collision></link></robot>'
    )
    (tmp_path / "r.yaml").write_text("mesh_collision: {a: exact}\n")
    robot = load_robot(tmp_path / "r.urdf")
    assert robot.description.links["a"].collisions[0].shape.collision == "exact"
