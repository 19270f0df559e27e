# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import numpy as np
import pytest

from humanoid_model.errors import RobotError
from humanoid_studies.script.parser_urdf import parser_urdf
from humanoid_studies.script.robot import Robot


def joint(name: str, parent: str, child: str, kind: str = "continuous") -> list[str]:
    return [name, kind, parent, child, "0 0 0", "0 0 0", "0 0 1"]


def links(names: str) -> list[list[str]]:
    return [[name] for name in names]


@pytest.fixture(scope="module")
def person(urdf_folder) -> Robot:
    return Robot.from_urdf(urdf_folder / "syn3p33r.urdf")


@pytest.fixture(scope="module")
def tree(urdf_folder) -> Robot:
    return Robot.from_urdf(urdf_folder / "tree4.urdf")


def names(joints) -> list[str]:
    return [joint.name for joint in joints]


@pytest.mark.feature("004-F30")
def test_person_of_36_joints(person):
    assert len(person.joints) == 36
    assert len(person.links) == 37
    assert sum(not link.is_empty for link in person.links) == 14
    assert names(person.root_joints) == ["WJ_px"]
    leaves = {joint.child for joint in person.leaf_joints}
    assert leaves == {"head", "lowerArm_R", "lowerArm_L", "foot_R", "foot_L"}
    assert sum(link.mass for link in person.links) == pytest.approx(57.231193, abs=1e-6)


def test_lists_keep_the_order_of_the_urdf(tree):
    assert names(tree.joints) == ["j3", "jf", "j1", "j0", "j2"]
    assert [link.name for link in tree.links] == ["world", "base", "armA", "armB", "tip", "tool"]


@pytest.mark.feature("004-F31")
def test_walk_from_joint_to_joint(tree):
    assert tree.find_previous_joint(tree.joint("j0")) is None
    assert tree.find_previous_joint(tree.joint("jf")).name == "j3"
    assert names(tree.find_next_joints(tree.joint("j0"))) == ["j1", "j2"]
    assert tree.find_next_joints(tree.joint("jf")) == []
    assert tree.find_moving_joint("tool").name == "jf"
    assert tree.find_moving_joint("world") is None
    assert tree.link("tool").mass == 0.7


@pytest.mark.feature("004-F31")
@pytest.mark.parametrize("fixture", ["tree", "person"])
def test_forward_order_is_topological(fixture, request):
    robot = request.getfixturevalue(fixture)
    done = []
    for current in robot.forward_order:
        previous = robot.find_previous_joint(current)
        assert previous is None or previous in done
        done.append(current)
    assert sorted(names(done)) == sorted(names(robot.joints))


def test_walk_meets_every_joint_once(person):
    walked = []
    waiting = list(person.root_joints)
    while waiting:
        current = waiting.pop()
        walked.append(current.name)
        waiting += person.find_next_joints(current)
    assert sorted(walked) == sorted(names(person.joints))


def test_undeclared_root_is_added():
    robot = Robot("r", {"joint": [joint("j", "base", "a")], "link": links("a")})
    assert robot.root == "base"
    assert [link.name for link in robot.links] == ["base", "a"]


def test_single_link_is_a_robot():
    robot = Robot("r", {"link": links("a")})
    assert robot.root == "a"
    assert robot.joints == robot.root_joints == robot.leaf_joints == []


@pytest.mark.feature("004-F18")
def test_limits_are_kept_and_nothing_else():
    record = joint("j", "a", "b", "revolute")
    robot = Robot("r", {"joint": [record], "link": links("ab"), "limit": [["j", "-1", "2", "3", "4"]]})
    assert robot.joint("j").limit == ["-1", "2", "3", "4"]


def test_follower_of_a_follower_follows_the_first():
    lists = {
        "joint": [joint("c", "x", "y"), joint("a", "w", "v"), joint("b", "v", "x")],
        "link": links("wvxy"),
        "mimic": [["c", "b", "2", "1"], ["b", "a", "-3", "0.5"]],
    }
    robot = Robot("r", lists)
    assert names(robot.variables) == ["a"]
    leader, multiplier, offset = robot.find_leader(robot.joint("c"))
    assert (leader.name, multiplier, offset) == ("a", -6.0, 2.0)


@pytest.mark.feature("004-F15", "004-F20")
@pytest.mark.parametrize(
    ("joints", "declared", "problem"),
    [
        ([joint("j", "a", "z")], "a", "joint 'j': no link is named 'z'"),
        ([joint("j", "a", "b"), joint("k", "a", "b")], "ab", "joint 'k': link 'b' is already moved by joint 'j'"),
        ([joint("j", "a", "b")], "abc", "robot 'r' has 2 root links: a, c"),
        ([joint("j", "a", "b"), joint("k", "b", "a")], "ab", "robot 'r' has 0 root links"),
        ([joint("j", "b", "c"), joint("k", "c", "b")], "abc", "joint 'j': isn't reached from the root"),
        ([joint("j", "a", "b"), joint("j", "b", "c")], "abc", "second joint named 'j'"),
        ([joint("j", "a", "b")], "abb", "second link named 'b'"),
        ([joint("j", "a", "b", "screw")], "ab", "joint 'j': unknown joint type 'screw'"),
    ],
    ids=["child", "two parents", "two roots", "loop of all", "loop beside", "joint twice", "link twice", "type"],
)
def test_what_is_no_tree_is_refused(joints, declared, problem):
    with pytest.raises(RobotError) as refusal:
        Robot("r", {"joint": joints, "link": links(declared)})
    assert problem in str(refusal.value)


@pytest.mark.parametrize("leader", ["f", "z"])
def test_mimic_of_what_has_no_degree_of_freedom_is_refused(leader):
    lists = {"joint": [joint("j", "a", "b"), joint("f", "b", "c", "fixed")], "link": links("abc")}
    with pytest.raises(RobotError, match=f"joint 'j': mimic involves '{leader}'"):
        Robot("r", {**lists, "mimic": [["j", leader, "1", "0"]]})


def test_mimic_of_itself_is_refused():
    lists = {"joint": [joint("j", "a", "b")], "link": links("ab"), "mimic": [["j", "j", "1", "0"]]}
    with pytest.raises(RobotError, match="joint 'j': follows itself"):
        Robot("r", lists).find_leader(Robot("r", lists).joint("j"))


def test_force_on_the_root_is_refused():
    force = ["f", "a", "0 0 0", "1 0 0", "world", "0 0 0", "world"]
    with pytest.raises(RobotError, match="force 'f': no joint moves link 'a'"):
        Robot("r", {"joint": [joint("j", "a", "b")], "link": links("ab"), "force": [force]})


def test_unknown_list_is_no_matter():
    assert Robot("r", {"link": links("a"), "friction": [["j", "0.3"]]}).root == "a"


# Names -------------------------------------------------------------------------------------------------------------


def test_link_with_the_name_of_a_joint_gets_keys_of_its_own():
    robot = Robot("r", {"joint": [joint("arm", "base", "arm")], "link": [["base"], ["arm"], ["arm_link"]][:2]})
    assert robot.keys == {"base": "base", "arm": "arm_link"}


def test_keys_of_links_stay_apart():
    lists = {
        "joint": [joint("arm", "base", "arm"), joint("j", "arm", "arm_link")],
        "link": [["base"], ["arm"], ["arm_link"]],
    }
    assert Robot("r", lists).keys == {"base": "base", "arm": "arm_link_link", "arm_link": "arm_link"}


# The snippet -------------------------------------------------------------------------------------------------------


def test_snippet_of_the_two_revolute_robot(urdf_folder):
    robot = Robot.from_urdf(urdf_folder / "robot_2r_b.urdf")
    snippet = robot.create_array_of_variables()
    assert "gv_position_joint2 = 0.0\ngv_velocity_joint2 = 0.0\ngv_acceleration_joint2 = 0.0\n" in snippet
    assert snippet.index("gv_position_joint2") < snippet.index("gv_position_joint1")  # order of the URDF


@pytest.mark.feature("004-F34")
def test_snippet_runs_and_packs_its_3n_names_in_the_script_s_order(person, script_of):
    snippet = person.create_array_of_variables()
    filled: dict = {}
    exec(snippet, filled)
    variables = [name for name in filled if name.startswith("gv_")]
    assert len(variables) == 3 * 36
    for number, name in enumerate(variables):
        snippet = snippet.replace(f"{name} = 0.0", f"{name} = {number}.0")
    exec(snippet, filled)
    np.testing.assert_array_equal(filled["array_of_variables"], np.arange(108.0).reshape(36, 3))
    joints = script_of("syn3p33r").joints
    assert joints == names(person.joints)
    assert variables[::3] == [f"gv_position_{joint}" for joint in joints]


def test_snippet_leaves_out_fixed_joints_and_followers():
    lists = {
        "joint": [joint("f", "a", "b", "fixed"), joint("j", "b", "c"), joint("k", "c", "d")],
        "link": links("abcd"),
        "mimic": [["k", "j", "1", "0"]],
    }
    filled: dict = {}
    exec(Robot("r", lists).create_array_of_variables(), filled)
    assert len(filled["array_of_variables"]) == 1


def test_snippet_of_a_robot_without_joints():
    filled: dict = {}
    exec(Robot("r", {"link": links("a")}).create_array_of_variables(), filled)
    assert filled["array_of_variables"] == []


def test_snippet_with_names_that_python_can_t_have():
    spoilt = ["class", "left arm", "left-arm", "a\nimport os", 'quote"', "1", "lambda x: 0"]
    records = [joint(name, "base", f"l{index}") for index, name in enumerate(spoilt)]
    robot = Robot("r", {"joint": records, "link": [[f"l{index}"] for index in range(len(spoilt))]})
    filled: dict = {}
    exec(robot.create_array_of_variables(), filled)
    assert sum(name.startswith("gv_") for name in filled) == 3 * len(spoilt)
    assert "os" not in filled


def test_snippet_tells_limits_and_checks_none():
    lists = {"joint": [joint("j", "a", "b", "prismatic")], "link": links("ab"), "limit": [["j", "-1", "", "3", "4"]]}
    assert "# j: prismatic, m, m/s, m/s^2\n# limits -1.0 to 0.0, not checked" in (
        Robot("r", lists).create_array_of_variables()
    )


def test_long_names_fold():
    long = "a_joint_with_a_name_of_remarkable_length"
    snippet = Robot("r", {"joint": [joint(long, "a", "b")], "link": links("ab")}).create_array_of_variables()
    assert max(map(len, snippet.splitlines())) < 80


# Size --------------------------------------------------------------------------------------------------------------


def test_chain_of_thousands_of_links():
    n = 5000
    records = [joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in reversed(range(n))]
    robot = Robot("chain", {"joint": records, "link": [[f"l{i}"] for i in range(n + 1)]})
    assert names(robot.forward_order) == [f"j{i}" for i in range(n)]


def test_a_script_is_written_without_drawing_libraries(urdf_folder):
    code = (
        "import sys; from humanoid_studies.script import script_from_urdf;"
        f"script_from_urdf({str(urdf_folder / 'tree4.urdf')!r});"
        "assert not {'networkx', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=urdf_folder.parent)


def test_robot_of_the_parser_s_lists_is_that_of_the_file(urdf_folder):
    path = urdf_folder / "tree4.urdf"
    assert names(Robot(*parser_urdf(path)).joints) == names(Robot.from_urdf(path).joints)
