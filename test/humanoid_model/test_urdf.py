# SPDX-License-Identifier: Apache-2.0
import struct
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.description import (
    DEFAULT_COLOUR,
    Box,
    Capsule,
    Cylinder,
    Mesh,
    RobotDescription,
    Sphere,
)
from humanoid_model.errors import RobotError, RobotWarning
from humanoid_model.urdf import read_urdf

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def joint(name: str, kind: str, parent: str, child: str, inner: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>\n'


def robot(*parts: str) -> str:
    return '<robot name="r">\n' + "".join(parts) + "</robot>\n"


def write_stl(path: Path) -> None:
    """A binary STL file of one tetrahedron."""
    a, b, c, d = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
    triangles = [(a, c, b), (a, b, d), (b, c, d), (c, a, d)]
    records = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(x for corner in triangle for x in corner), 0) for triangle in triangles
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(80) + struct.pack("<I", len(triangles)) + records)


def write_obj(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")


def mesh_robot(address: str, scale: str = "") -> str:
    mesh = f'<mesh filename="{address}"{scale}/>'
    return robot(f'<link name="a">{INERTIAL}<visual><geometry>{mesh}</geometry></visual></link>\n')


def assert_standard(description: RobotDescription) -> None:
    """The description's text is legal for urdfdom too, and says the same."""
    model = pin.buildModelFromXML(description.text)
    links = {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    assert links >= set(description.links)
    assert read_urdf(description.text) == description


# Legal robots -----------------------------------------------------------------------------------------------------


def test_link_alone():
    description = read_urdf(robot('<link name="a"/>'))
    assert description.name == "r"
    assert description.root == "a"
    assert description.links["a"].inertial is None
    assert description.source == "URDF text"
    assert_standard(description)


@pytest.mark.feature("004-F25")
def test_inertial_without_origin_lies_in_the_link_frame():
    inertial = read_urdf(robot(f'<link name="a">{INERTIAL}</link>')).links["a"].inertial
    assert inertial is not None
    assert inertial.mass == 1
    assert inertial.placement_link_com == pin.SE3.Identity()
    assert np.array_equal(inertial.inertia, np.eye(3))


@pytest.mark.feature("004-F25")
def test_inertial_origin_turns_and_shifts():
    text = INERTIAL.replace("<mass", '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><mass')
    inertial = read_urdf(robot(f'<link name="a">{text}</link>')).links["a"].inertial
    assert inertial is not None
    rotation = pin.utils.rotate("z", 0.3) @ pin.utils.rotate("y", 0.2) @ pin.utils.rotate("x", 0.1)
    assert np.allclose(inertial.placement_link_com.rotation, rotation, atol=1e-15)
    assert np.array_equal(inertial.placement_link_com.translation, [1, 2, 3])


def test_every_joint_type():
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
    description = read_urdf(
        robot(
            *(f'<link name="{name}"/>\n' for name in "abcdefg"),
            joint("revolute", "revolute", "a", "b", f'<axis xyz="0 0 2"/>{limit}'),
            joint("continuous", "continuous", "a", "c", '<axis xyz="0 3 4"/>'),
            joint("prismatic", "prismatic", "b", "d", limit),
            joint("fixed", "fixed", "b", "e", '<origin xyz="1 0 0"/>'),
            joint("floating", "floating", "c", "f"),
            joint("planar", "planar", "c", "g", '<axis xyz="0 1 0"/>'),
        )
    )
    assert {name: joint.type for name, joint in description.joints.items()} == {
        name: name for name in ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
    }
    revolute = description.joints["revolute"]
    assert np.array_equal(revolute.axis, [0, 0, 1])
    assert revolute.limit is not None
    assert (revolute.limit.lower, revolute.limit.upper) == (-1, 2)
    assert (revolute.limit.effort, revolute.limit.velocity) == (3, 4)
    continuous = description.joints["continuous"]
    assert np.allclose(continuous.axis, [0, 0.6, 0.8])
    assert continuous.limit is not None
    assert (continuous.limit.lower, continuous.limit.upper) == (-np.inf, np.inf)
    assert np.array_equal(description.joints["prismatic"].axis, [1, 0, 0])  # the standard's default
    assert description.joints["planar"].limit is None
    assert [joint.name for joint in description.child_joints["a"]] == ["revolute", "continuous"]
    assert_standard(description)


@pytest.mark.feature("004-F24")
def test_declaration_order_is_free():
    description = read_urdf(robot(joint("j", "fixed", "a", "b"), '<link name="b"/>\n', '<link name="a"/>\n'))
    assert description.root == "a"
    assert list(description.links) == ["b", "a"]


@pytest.mark.feature("004-F23")
@pytest.mark.parametrize("name", ["world", "base"])
def test_undeclared_root_is_added(name):
    description = read_urdf(robot('<link name="a"/>\n', joint("j", "continuous", name, "a")))
    assert description.root == name
    assert list(description.links) == [name, "a"]
    assert f'<link name="{name}"/>' in description.text
    assert_standard(description)


@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
def test_joint_without_limit_is_unlimited(kind):
    description = read_urdf(robot('<link name="a"/><link name="b"/>', joint("j", kind, "a", "b")))
    limit = description.joints["j"].limit
    assert limit is not None
    assert (limit.lower, limit.upper, limit.effort, limit.velocity) == (-np.inf, np.inf, np.inf, np.inf)
    assert "<limit" in description.text
    pin.buildModelFromXML(description.text)


def test_limit_attributes_have_the_standards_defaults():
    inner = '<limit effort="5" velocity="6"/>'
    text = robot('<link name="a"/><link name="b"/>', joint("j", "prismatic", "a", "b", inner))
    limit = read_urdf(text).joints["j"].limit
    assert limit is not None
    assert (limit.lower, limit.upper, limit.effort, limit.velocity) == (0, 0, 5, 6)
    limit = read_urdf(text.replace(inner, '<limit lower="-1" upper="1"/>')).joints["j"].limit
    assert limit is not None
    assert (limit.lower, limit.upper, limit.effort, limit.velocity) == (-1, 1, np.inf, np.inf)


def test_dynamics_and_mimic():
    description = read_urdf(
        robot(
            *(f'<link name="{name}"/>' for name in "abc"),
            joint("j", "continuous", "a", "b", '<dynamics damping="0.5" friction="0.25"/>'),
            joint("k", "continuous", "b", "c", '<mimic joint="j" multiplier="-2" offset="0.1"/>'),
        )
    )
    assert (description.joints["j"].damping, description.joints["j"].friction) == (0.5, 0.25)
    mimic = description.joints["k"].mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("j", -2, 0.1)


def test_shapes_and_their_names():
    shapes = {
        "box": ('<box size="1 2 3"/>', Box(np.array([1.0, 2.0, 3.0]))),
        "ball": ('<sphere radius="0.5"/>', Sphere(0.5)),
        "rod": ('<cylinder radius="0.5" length="2"/>', Cylinder(0.5, 2.0)),
        "pill": ('<capsule radius="0.5" length="2"/>', Capsule(0.5, 2.0)),
    }
    parts = "".join(
        f'<{tag} name="{name}"><origin xyz="0 0 1"/><geometry>{text}</geometry></{tag}>'
        for name, (text, _) in shapes.items()
        for tag in ("visual", "collision")
    )
    link = read_urdf(robot(f'<link name="a">{parts}</link>')).links["a"]
    for geometries in (link.visuals, link.collisions):
        assert {item.name: item.shape for item in geometries} == {name: shape for name, (_, shape) in shapes.items()}
        assert all(np.array_equal(item.placement.translation, [0, 0, 1]) for item in geometries)


def test_materials():
    def visual(material: str) -> str:
        return f'<visual><geometry><sphere radius="1"/></geometry>{material}</visual>'

    description = read_urdf(
        robot(
            '<link name="a">',
            visual('<material name="later"/>'),
            visual('<material name="inline"><color rgba="0 1 0 0.5"/></material>'),
            visual('<material name="inline"/>'),
            visual('<material name="nowhere"/>'),
            visual('<material name="wood"><texture filename="wood.png"/></material>'),
            visual(""),
            "</link>",
            '<material name="later"><color rgba="1 0 0 1"/></material>',
        )
    )
    colours = [tuple(item.colour) for item in description.links["a"].visuals]
    grey = DEFAULT_COLOUR
    assert colours == [(1, 0, 0, 1), (0, 1, 0, 0.5), (0, 1, 0, 0.5), grey, grey, grey]
    assert_standard(description)


@pytest.mark.feature("004-F26")
def test_unknown_elements_are_tolerated():
    description = read_urdf(
        robot(
            '<link name="a"><force x="1"/></link>',
            '<transmission name="t"><type>x</type></transmission>',
            '<gazebo reference="a"><material>Gazebo/Red</material></gazebo>',
            '<sensor name="s"/><model_state model="r"/>',
            '<xacro:property name="p" value="1"/>',
        )
    )
    assert list(description.links) == ["a"]


def test_file_with_declaration_and_comments(tmp_path):
    path = tmp_path / "ünïcode.urdf"
    path.write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n<!-- ü -->\n' + robot('<link name="bücher"/>'),
        encoding="utf-8",
    )
    for argument in (path, str(path)):
        description = read_urdf(argument)
        assert list(description.links) == ["bücher"]
        assert description.source == str(path)


def test_text_may_start_with_blank_lines():
    assert read_urdf("\n\n  " + robot('<link name="a"/>')).root == "a"


def test_hundreds_of_links_in_a_row():
    count = 800
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(joint(f"j{i}", "continuous", f"l{i}", f"l{i + 1}") for i in range(count))
    description = read_urdf(robot(links, joints))
    assert len(description.joints) == count
    assert description.root == "l0"


@pytest.mark.parametrize("suffix", ["stl", "obj"])
def test_mesh_beside_the_urdf(tmp_path, suffix):
    {"stl": write_stl, "obj": write_obj}[suffix](tmp_path / "meshes" / f"m.{suffix}")
    path = tmp_path / "r.urdf"
    path.write_text(mesh_robot(f"meshes/m.{suffix}", ' scale="1 2 0.5"'))
    description = read_urdf(path)
    shape = description.links["a"].visuals[0].shape
    assert isinstance(shape, Mesh)
    assert shape.path == (tmp_path / "meshes" / f"m.{suffix}").resolve()
    assert np.array_equal(shape.scale, [1, 2, 0.5])
    assert shape.path.as_uri() in description.text
    assert read_urdf(description.text) == description


def test_mesh_by_absolute_path_and_file_address(tmp_path):
    mesh = tmp_path / "a mesh.stl"
    write_stl(mesh)
    for address in (str(mesh), f"file://{mesh}", mesh.as_uri()):
        shape = read_urdf(mesh_robot(address)).links["a"].visuals[0].shape
        assert isinstance(shape, Mesh)
        assert shape.path == mesh.resolve()


@pytest.mark.parametrize("place", ["ament", "package itself", "folder of packages", "above"])
def test_mesh_in_a_package(tmp_path, monkeypatch, place):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    package = tmp_path / "prefix" / "share" / "pack"
    write_stl(package / "meshes" / "m.stl")
    path = tmp_path / "elsewhere" / "r.urdf"
    if place == "ament":
        monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'other'}:{tmp_path / 'prefix'}")
    elif place == "package itself":
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(package))
    elif place == "folder of packages":
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(package.parent))
    else:
        path = package / "urdf" / "r.urdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(mesh_robot("package://pack/meshes/m.stl"))
    shape = read_urdf(path).links["a"].visuals[0].shape
    assert isinstance(shape, Mesh)
    assert shape.path == (package / "meshes" / "m.stl").resolve()


# Malformed robots -------------------------------------------------------------------------------------------------

LINKS = '<link name="a"/>\n<link name="b"/>\n<link name="c"/>\n'


def inertial(mass: str = "1", **moments: str) -> str:
    values = {"ixx": "1", "ixy": "0", "ixz": "0", "iyy": "1", "iyz": "0", "izz": "1"} | moments
    tensor = " ".join(f'{key}="{value}"' for key, value in values.items() if value)
    return f'<link name="a">\n<inertial>\n<mass value="{mass}"/>\n<inertia {tensor}/>\n</inertial></link>\n'


def shape(text: str) -> str:
    return f'<link name="a">\n<visual><geometry>\n{text}\n</geometry></visual></link>\n'


def hinge(inner: str, kind: str = "revolute") -> str:
    return robot(LINKS.replace('<link name="c"/>\n', ""), joint("j", kind, "a", "b", "\n" + inner))


# What is wrong, text, line, element, words of the problem, words of the remedy.
MALFORMED = {
    "not xml": ("<robot name='r'>\n<link name='a'>\n</robot>", 3, None, "mismatched tag", "Mend"),
    "empty": ("", 1, None, "not well-formed XML", "Mend"),
    "another document": ("<sdf version='1'/>", 1, "<sdf>", "<sdf>, not <robot>", "URDF"),
    "no robot name": ("<robot><link name='a'/></robot>", 1, "<robot>", "'name' is missing", "name="),
    "no link": (robot(), 1, "<robot name='r'>", "has no <link>", "Add"),
    "link without name": (robot("<link/>"), 2, "<link>", "'name' is missing", "name="),
    "link twice": (
        robot(LINKS, '<link name="b"/>'), 5, "<link name='b'>", "duplicate name, first used in line 3", "own",
    ),
    "joint twice": (
        robot(LINKS, joint("j", "fixed", "a", "b"), joint("j", "fixed", "a", "c")),
        6, "<joint name='j'>", "duplicate name", "name of its own",
    ),
    "joint without type": (
        hinge("").replace(' type="revolute"', ""), 4, "<joint name='j'>", "'type' is missing", "type=",
    ),
    "unknown joint type": (hinge("", "spherical"), 4, "<joint name='j'>", "unknown joint type 'spherical'", "revolute"),
    "no parent": (hinge("").replace('<parent link="a"/>', ""), 4, "<joint name='j'>", "has no <parent>", "Add"),
    "no child": (hinge("").replace('<child link="b"/>', ""), 4, "<joint name='j'>", "has no <child>", "Add"),
    "two parents": (hinge('<parent link="b"/>'), 5, "<parent link='b'>", "second <parent>", "Keep one"),
    "unknown child": (
        robot(LINKS, joint("j", "fixed", "a", "x")), 5, "<child link='x'>", "no link is named 'x'", "Declare",
    ),
    "unknown parent": (
        robot(LINKS, joint("j", "fixed", "x", "b")), 5, "<parent link='x'>", "no link is named 'x'", "Declare",
    ),
    "two joints move a link": (
        robot(LINKS, joint("j", "fixed", "a", "b"), joint("k", "fixed", "c", "b")),
        6, "<joint name='k'>", "'b' is already the child of joint 'j'", "tree",
    ),
    "two roots": (robot(LINKS, joint("j", "fixed", "a", "b")), 1, "<robot name='r'>", "2 root links: a, c", "Connect"),
    "loop": (
        robot(LINKS, joint("j", "fixed", "b", "c"), joint("k", "fixed", "c", "b")),
        5, "<joint name='j'>", "loop: c <- b <- c", "cut the loop",
    ),
    "own child": (
        robot(LINKS, joint("j", "fixed", "a", "b"), joint("k", "fixed", "c", "c")),
        6, "<joint name='k'>", "loop: c <- c", "cut the loop",
    ),
    "zero axis": (hinge('<axis xyz="0 0 0"/>'), 4, "<joint name='j'>", "axis is (0, 0, 0)", "non-zero"),
    "axis of two": (hinge('<axis xyz="0 1"/>'), 5, "<axis>", "'0 1', 2 values", "3 numbers"),
    "word in an origin": (hinge('<origin xyz="0 one 0"/>'), 5, "<origin>", "'one' is not a number", "3 finite"),
    "nan in an origin": (hinge('<origin rpy="0 nan 0"/>'), 5, "<origin>", "nan is not finite", "3 finite"),
    "infinite limit": (hinge('<limit lower="-inf" upper="1"/>'), 5, "<limit>", "-inf is not finite", "1 finite"),
    "limits swapped": (hinge('<limit lower="1" upper="-1"/>'), 5, "<limit>", "lower 1 above upper -1", "Swap"),
    "negative effort": (
        hinge('<limit lower="-1" upper="1" effort="-5"/>'), 5, "<limit>", "effort -5", "0 or more",
    ),
    "negative damping": (hinge('<dynamics damping="-1"/>'), 5, "<dynamics>", "damping -1", "0 or more"),
    "mimics nothing": (hinge('<mimic joint="x"/>'), 5, "<mimic>", "unknown joint 'x'", "Name a joint"),
    "mimics itself": (hinge('<mimic joint="j"/>'), 5, "<mimic>", "j -> j", "move by itself"),
    "mimics a fixed joint": (
        robot(LINKS, joint("k", "fixed", "a", "c"), joint("j", "revolute", "a", "b", '\n<mimic joint="k"/>')),
        7, "<mimic>", "fixed joint 'k'", "Only revolute",
    ),
    "negative mass": (robot(inertial("-1")), 4, "<mass>", "-1 kg", "0 or more"),
    "no mass": (robot(inertial().replace('<mass value="1"/>', "")), 3, "<inertial>", "has no <mass>", "Add"),
    "inertia incomplete": (robot(inertial(iyy="")), 5, "<inertia>", "'iyy' is missing", "iyy="),
    "inertia negative": (robot(inertial(ixx="-1")), 5, "<inertia>", "not positive", "kg m^2"),
    "no geometry": (
        robot('<link name="a">\n<visual/></link>'), 3, "<visual>", "has no <geometry>", "Add",
    ),
    "two shapes": (
        robot(shape('<sphere radius="1"/><sphere radius="1"/>')), 3, "<geometry>", "2 shapes", "exactly one",
    ),
    "unknown shape": (robot(shape('<cone radius="1"/>')), 4, "<cone>", "unknown shape <cone>", "<box>"),
    "flat box": (robot(shape('<box size="1 0 1"/>')), 4, "<box>", "size is (1, 0, 1)", "positive"),
    "negative radius": (robot(shape('<sphere radius="-1"/>')), 4, "<sphere>", "radius is (-1)", "positive"),
    "mesh not there": (
        robot(shape('<mesh filename="no.stl"/>')), 4, "<mesh>", "'no.stl' not found", "AMENT_PREFIX_PATH",
    ),
    "mesh of no package": (
        robot(shape('<mesh filename="package://no/m.stl"/>')), 4, "<mesh>", "'package://no/m.stl' not found", "package://",
    ),
    "colour beyond 1": (
        robot('<link name="a"/>\n<material name="m">\n<color rgba="255 0 0 1"/></material>'),
        4, "<color>", "rgba is (255, 0, 0, 1)", "between 0 and 1",
    ),
}  # fmt: skip


def test_inertia_of_no_body_is_warned_of_and_kept(tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(robot(inertial(ixx="3")))
    with pytest.warns(RobotWarning, match=r"odd.urdf:5: <inertia>: .* triangle inequality.* of a possible body"):
        description = read_urdf(path)
    assert next(iter(description.links.values())).inertial.inertia[0, 0] == 3.0


def test_fixed_joint_that_mimics_is_warned_of_and_stays_fixed(tmp_path):
    path = tmp_path / "odd.urdf"
    joints = (joint("k", "continuous", "a", "b"), joint("j", "fixed", "a", "c", '<mimic joint="k"/>'))
    path.write_text(robot(LINKS, *joints))
    with pytest.warns(RobotWarning, match=r"<mimic>: of <joint name='j'>: a fixed joint follows none; ignored"):
        description = read_urdf(path)
    assert description.joints["j"].mimic is None


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_robot_is_refused(tmp_path, case):
    text, line, element, problem, remedy = MALFORMED[case]
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    with pytest.raises(RobotError) as caught:
        read_urdf(path)
    error = caught.value
    assert error.source == str(path)
    assert error.line == line
    assert error.element == element
    assert problem in error.problem
    assert error.remedy is not None
    assert remedy in error.remedy
    assert str(error).startswith(f"{path}:{line}: ")


@pytest.mark.parametrize("address", ["file://[x", "x" * 5000, "package://%00/x", "package://"])
def test_odd_mesh_addresses_are_not_found(address):
    with pytest.raises(RobotError, match="not found"):
        read_urdf(mesh_robot(address))


def test_elements_too_deep_inside_one_another():
    text = robot('<link name="a"/>\n', "<x>" * 5000, "</x>" * 5000)
    with pytest.raises(RobotError, match=r"^URDF text:3: <x>: comes to 101, more than 100 levels inside one another"):
        read_urdf(text)


def test_text_that_is_not_unicode():
    with pytest.raises(RobotError, match="not Unicode"):
        read_urdf(robot('<link name="\ud800"/>'))


COMPLETE = robot(
    '<material name="m"><color rgba="1 0 0 1"/></material>\n',
    f'<link name="a">{INERTIAL}<visual><geometry><box size="1 1 1"/></geometry><material name="m"/></visual></link>\n',
    '<link name="b"><collision><origin xyz="0 0 1"/><geometry><sphere radius="1"/></geometry></collision></link>\n',
    '<link name="c"/>\n',
    joint("j", "revolute", "a", "b", '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'),
    joint("k", "continuous", "b", "c", '<mimic joint="j" multiplier="2"/><dynamics damping="1"/>'),
)


@hypothesis.given(
    st.integers(0, len(COMPLETE)),
    st.integers(0, 12),
    st.sampled_from(["", '"', "<", "/>", "-", "nan", "1e999", "0", "a", "\n<link/>", " name='b'", "&", "é"]),
)
@hypothesis.settings(max_examples=300, deadline=None)
def test_damaged_text_loads_or_is_refused_in_words(start, length, replacement):
    damaged = COMPLETE[:start] + replacement + COMPLETE[start + length :]
    refusal = description = None
    try:
        description = read_urdf("<" + damaged.lstrip("<"))
    except RobotError as error:
        refusal = error
    if description is None:
        assert refusal.line is not None
        assert refusal.remedy
    else:
        assert description.root in description.links


def test_missing_file(tmp_path):
    with pytest.raises(RobotError, match=r"no\.urdf: can't be read: No such file.*Give the path") as caught:
        read_urdf(tmp_path / "no.urdf")
    assert caught.value.source == str(tmp_path / "no.urdf")


def test_folder_instead_of_a_file(tmp_path):
    with pytest.raises(RobotError, match="can't be read: Is a directory"):
        read_urdf(tmp_path)


def test_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(50_000_000_000)
    with pytest.raises(RobotError, match=r"huge\.urdf: has 50000 MB, more than 100 MB\. Give the path"):
        read_urdf(path)


def test_device_instead_of_a_file():
    with pytest.raises(RobotError, match="/dev/zero: can't be read: Is a device"):
        read_urdf("/dev/zero")


def test_binary_file(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(RobotError, match=r"is not UTF-8 text \(byte 0\).*UTF-8"):
        read_urdf(path)


def test_bad_text_names_itself():
    with pytest.raises(RobotError, match=r"^URDF text:2: <link name='a'>: duplicate"):
        read_urdf(robot('<link name="b"/><link name="a"/><link name="a"/>'))
