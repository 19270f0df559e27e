# SPDX-License-Identifier: Apache-2.0
import importlib

import pytest

from humanoid_model.errors import RobotError
from humanoid_model.urdf import read_urdf
from humanoid_studies.script.parser_urdf import parser_urdf as parser_function
from humanoid_studies.script.robot import Robot

# The package shows the function under the name of its module.
parser_module = importlib.import_module("humanoid_studies.script.parser_urdf")

INERTIAL = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
JOINT = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'


def robot(*parts: str) -> str:
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>\n"


def with_force(inner: str, more: str = "") -> str:
    return robot('<link name="a"/>', '<link name="b"/>', JOINT, f'<force name="f">{inner}</force>', more)


@pytest.mark.feature("004-F27")
def test_two_revolute_robot_of_the_thesis(urdf_folder):
    name, lists = parser_function(urdf_folder / "robot_2r_b.urdf")
    assert name == "robot_2r_b"
    assert lists["joint"] == [
        ["joint2", "continuous", "link1", "link2", "2 0 0", "0 0 0", "0 0 1"],
        ["joint1", "continuous", "world", "link1", "0 0 0", "0 0 0", "0 0 1"],
    ]
    assert [record[0] for record in lists["link"]] == ["world", "link1", "link2"]
    assert lists["link"][0] == ["world"]
    assert lists["link"][1] == ["link1", "1 0 0", "0 0 0", "3", "1.2", "0", "0", "15.6", "0", "15.6"]


def test_all_entries_are_texts_as_written():
    text = robot('<link name="b"/>', JOINT.replace("/>", '/><axis xyz="1e0  0 0"/>', 1))
    _, lists = parser_function(text)
    assert lists["joint"] == [["j", "continuous", "a", "b", "0 0 0", "0 0 0", "1e0  0 0"]]


def test_what_is_left_out_has_the_default_of_urdf():
    _, lists = parser_function(robot('<link name="a"/>', f'<link name="b">{INERTIAL}</link>', JOINT))
    assert lists["joint"][0][4:] == ["0 0 0", "0 0 0", "1 0 0"]
    assert lists["link"][1][1:3] == ["0 0 0", "0 0 0"]


def test_mimic_and_limit_have_lists_of_their_own():
    follower = JOINT.replace('name="j"', 'name="k"').replace('link="b"', 'link="c"')
    mimic = '<mimic joint="j" multiplier="2"/><limit effort="1" velocity="3"/></joint>'
    text = robot(*(f'<link name="{name}"/>' for name in "abc"), JOINT, follower.replace("</joint>", mimic))
    _, lists = parser_function(text)
    assert lists["mimic"] == [["k", "j", "2", "0"]]
    assert lists["limit"] == [["k", "", "", "3", "1"]]


def test_other_tags_change_nothing():
    plain = robot('<link name="a"/>', f'<link name="b">{INERTIAL}</link>', JOINT)
    shape = '<geometry><box size="1 1 1"/></geometry>'
    rich = robot(
        '<sensor name="s"><parent link="b"/></sensor>',
        '<transmission name="t"><joint name="j"/></transmission>',
        '<gazebo reference="b"><mu1>0.2</mu1></gazebo>',
        '<model_state model="m"><joint_state joint="j" position="1"/></model_state>',
        '<link name="a"/>',
        f'<link name="b">{INERTIAL}<visual>{shape}</visual><collision>{shape}</collision></link>',
        JOINT,
    )
    assert parser_function(rich) == parser_function(plain)


def test_indentation_and_line_breaks_are_free(urdf_folder):
    text = (urdf_folder / "tree4.urdf").read_text()
    minified = "".join(line.strip() + " " for line in text.splitlines()[1:])
    assert parser_function(minified) == parser_function(urdf_folder / "tree4.urdf")


@pytest.mark.feature("004-F28")
def test_a_new_tag_needs_one_function(monkeypatch):
    monkeypatch.setattr(parser_module, "_PARSERS", dict(parser_module._PARSERS))

    @parser_module._parser_of("friction")
    def _parse_friction(top):
        return [[element.attribute("joint"), element.attribute("dry")] for element in top.all("friction")]

    text = robot('<link name="a"/>', '<link name="b"/>', JOINT, '<friction joint="j" dry="0.3"/>')
    name, lists = parser_function(text)
    assert lists["friction"] == [["j", "0.3"]]
    assert Robot(name, lists).joints[0].name == "j"


# Forces ------------------------------------------------------------------------------------------------------------


def test_force_with_all_its_elements():
    inner = '<link link="b"/><origin xyz="1 2 3"/><vector xyz="4 5 6" frame="link"/><moment xyz="7 8 9" frame="world"/>'
    assert parser_function(with_force(inner))[1]["force"] == [["f", "b", "1 2 3", "4 5 6", "link", "7 8 9", "world"]]


def test_force_without_the_optional_elements():
    inner = '<link link="b"/><vector xyz="4 5 6"/>'
    assert parser_function(with_force(inner))[1]["force"] == [["f", "b", "0 0 0", "4 5 6", "world", "0 0 0", "world"]]


def test_moment_is_along_the_axes_of_its_force_unless_it_says_otherwise():
    inner = '<link link="b"/><vector xyz="4 5 6" frame="link"/><moment xyz="7 8 9"/>'
    assert parser_function(with_force(inner))[1]["force"][0][6] == "link"


LINK, VECTOR = '<link link="b"/>', '<vector xyz="1 2 3"/>'


@pytest.mark.parametrize(
    ("inner", "problem"),
    [
        (VECTOR, "URDF text:5: <force name='f'>: has no <link>"),
        (LINK, "URDF text:5: <force name='f'>: has no <vector>"),
        ('<link link="z"/>' + VECTOR, "URDF text:5: <force name='f'>: no link is named 'z'"),
        ('<link link="a"/>' + VECTOR, "URDF text:5: <force name='f'>: link 'a' is the root, which no joint moves"),
        (LINK + "<vector/>", "URDF text:5: <vector>: attribute 'xyz' is missing"),
        (LINK + '<vector xyz="1 2"/>', "URDF text:5: <vector>: attribute 'xyz' is '1 2', 2 values"),
        (LINK + '<vector xyz="1 2 nan"/>', "nan is not finite"),
        (LINK + '<vector xyz="1 2 3" frame="tool"/>', "frame is 'tool'. Use world or link"),
        (LINK + VECTOR + '<moment xyz="1 0 x"/>', "'x' is not a number"),
        (LINK + VECTOR + '<origin xyz="0 0 0" rpy="1 0 0"/>', "<origin>: of <force name='f'> has rpy"),
        (LINK + VECTOR + VECTOR, "second <vector> in <force name='f'>"),
    ],
)
def test_wrong_force_is_refused_by_line_and_element(inner, problem):
    with pytest.raises(RobotError) as refusal:
        parser_function(with_force(inner))
    assert problem in str(refusal.value)


def test_two_forces_of_one_name_are_refused():
    with pytest.raises(RobotError, match="URDF text:6: <force name='f'>: second force of that name"):
        parser_function(with_force(LINK + VECTOR, f'<force name="f">{LINK}{VECTOR}</force>'))


def test_line_of_a_wrong_force_is_right_where_the_root_is_undeclared():
    with pytest.raises(RobotError, match="URDF text:4: <force name='f'>: no link is named 'z'"):
        parser_function(
            robot('<link name="b"/>', JOINT, '<force name="f"><link link="z"/><vector xyz="1 2 3"/></force>')
        )


# Errors are those of the robots' reader ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "<robot",
        "<scene/>",
        "<robot/>",
        robot(),
        robot('<link name="a"/>', '<link name="b"/>'),
        robot('<link name="a"/>', '<link name="b"/>', JOINT, JOINT.replace('"j"', '"k"')),
        robot('<link name="a"/>', '<link name="b"/>', JOINT.replace('link="a"', 'link="b"')),
        robot('<link name="a"/>', '<link name="b"/>', JOINT.replace("continuous", "screw")),
        robot('<link name="a"/>', '<link name="b"/>', JOINT.replace("</joint>", '<axis xyz="0 0 0"/></joint>')),
        robot('<link name="a"/>', f'<link name="b">{INERTIAL.replace("2", "-2")}</link>', JOINT),
        robot('<link name="a"/>', f'<link name="b">{INERTIAL.replace("2", "nan")}</link>', JOINT),
    ],
    ids=[
        "not XML", "no robot", "no name", "no link", "two roots", "two parents", "loop", "type", "axis", "mass", "NaN"
    ],
)  # fmt: skip
def test_illegal_robot_is_refused_as_everywhere_in_the_stack(text):
    with pytest.raises(RobotError) as expected:
        read_urdf(text)
    with pytest.raises(RobotError) as refusal:
        parser_function(text)
    assert str(refusal.value) == str(expected.value)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(RobotError, match=r"none.urdf: can't be read: No such file"):
        parser_function(tmp_path / "none.urdf")
