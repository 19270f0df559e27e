# SPDX-License-Identifier: Apache-2.0
"""The text of the script; its numbers are in the files beside this one."""

import ast
import importlib.util
import re
import subprocess
import sys

import numpy as np
import pytest

from humanoid_model.errors import InputError, RobotError
from humanoid_studies.script import create_script, script_from_urdf
from humanoid_studies.script.generator import create_backward, create_forward, select_forward
from humanoid_studies.script.robot import Robot

ROBOTS = ["robot_2r_a", "robot_2r_b", "tree4", "syn3p33r", "bip", "hrp2"]

INERTIAL = ["0.1 0.2 0.3", "0 0 0", "2", "1", "0", "0", "1", "0", "1"]


def chain(n: int, kind: str = "continuous", inertial: list[str] = INERTIAL) -> Robot:
    joints = [[f"j{i}", kind, f"l{i}", f"l{i + 1}", "0.1 0 0", "0 0 0", "0 0 1"] for i in range(n)]
    return Robot("chain", {"joint": joints, "link": [["l0"], *([f"l{i + 1}", *inertial] for i in range(n))]})


def run(robot: Robot, rows: np.ndarray) -> dict:
    namespace: dict = {}
    exec(create_script(robot), namespace)
    return namespace["dynamic_model"](rows)


@pytest.fixture(scope="module")
def tree(urdf_folder) -> Robot:
    return Robot.from_urdf(urdf_folder / "tree4.urdf")


# It stands alone -----------------------------------------------------------------------------------------------------


@pytest.mark.feature("004-F37")
@pytest.mark.parametrize("robot", ROBOTS)
def test_script_imports_numpy_only(robot, urdf_folder):
    script, _ = script_from_urdf(urdf_folder / f"{robot}.urdf")
    imports = [node for node in ast.walk(ast.parse(script)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in imports] == ["import numpy as np"]
    assert "np.mat(" not in script


def test_script_runs_by_itself_and_prints_the_values_at_zero(urdf_folder, tmp_path):
    script, _ = script_from_urdf(urdf_folder / "robot_2r_b.urdf", (0, -9.81, 0))
    (tmp_path / "model.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "model.py"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert "effort_joint1 176.58\n" in done.stdout


@pytest.mark.feature("004-F01")
def test_script_and_snippet_work_together_as_the_thesis_has_it(urdf_folder, tmp_path):
    script, snippet = script_from_urdf(urdf_folder / "robot_2r_b.urdf", (0, -9.81, 0))
    (tmp_path / "model.py").write_text(script, encoding="utf-8")
    filled = snippet.replace("gv_acceleration_joint1 = 0.0", "gv_acceleration_joint1 = 1")
    call = (
        f"from model import dynamic_model\n{filled}"
        "values_robot = dynamic_model(array_of_variables)\nprint(values_robot['effort_joint1'])\n"
    )
    (tmp_path / "call.py").write_text(call, encoding="utf-8")
    done = subprocess.run([sys.executable, "call.py"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert float(done.stdout) == pytest.approx(250.18)  # S3 of the specification


def test_same_robot_gives_same_text(urdf_folder):
    path = urdf_folder / "syn3p33r.urdf"
    assert script_from_urdf(path) == script_from_urdf(path)


# It is pleasant to read ----------------------------------------------------------------------------------------------


@pytest.mark.feature("004-F43")
@pytest.mark.parametrize("robot", ROBOTS)
def test_lines_are_as_pep_8_wants_them(robot, urdf_folder):
    for text in script_from_urdf(urdf_folder / f"{robot}.urdf"):
        lines = text.split("\n")
        assert max(map(len, lines)) <= 79
        assert lines[-1] == ""
        assert lines[-2] != ""
        assert not any(line != line.rstrip() for line in lines)
        assert text.isascii()


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff isn't installed")
@pytest.mark.parametrize("robot", ROBOTS)
def test_linter_has_nothing_to_say(robot, urdf_folder, tmp_path):
    script, _ = script_from_urdf(urdf_folder / f"{robot}.urdf")
    (tmp_path / "model.py").write_text(script)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--line-length", "79"]
    rules = ["--select", "E,W,F,I,B,C4,PIE,SIM,UP,NPY,D2,D4"]
    done = subprocess.run([*command, *rules, "model.py"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.feature("004-F43", "004-F45")
@pytest.mark.parametrize("robot", ROBOTS)
def test_every_joint_and_link_has_its_comment(robot, urdf_folder):
    path = urdf_folder / f"{robot}.urdf"
    script, _ = script_from_urdf(path)
    described = Robot.from_urdf(path)
    for joint in described.joints:
        assert len(re.findall(rf"    # Joint : {joint.name} {joint.type}, from {joint.parent}\b", script)) == 1
        assert len(re.findall(rf"    # Joint : {joint.name}, ", script)) == 1
    for link in described.links:
        assert len(re.findall(rf"    # (?:Root link|Link) : {link.name}, ", script)) == 1


def test_numbers_of_the_urdf_are_in_the_equations(tree):
    script = create_script(tree)
    assert "lever_j1 = rotation_j0 @ [0.4, 0.0, 0.1]" in script
    assert "frame_j1 = rotation_j0 @ matrix_rotation_rpy([0.0, 0.7, 0.0])" in script
    assert "forces_jf = 0.7 * acceleration_tool" in script
    assert "        [0.001, 0.03, -0.002],\n" in script
    assert "array_of_variables[0], [0.0, 0.6, 0.8]" in script


@pytest.mark.feature("004-F36")
def test_variables_become_vectors_on_the_axis(urdf_folder):
    namespace: dict = {}
    exec(script_from_urdf(urdf_folder / "robot_2r_b.urdf")[0], namespace)
    rows = namespace["general_variables"]([0.1, 0.2, 0.3], [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(rows, [[0, 0, 0.1], [0, 0, 0.2], [0, 0, 0.3]])
    rows = namespace["general_variables"]([1.0, -2.0, 3.0], [0.0, 0.5, -1.0])
    np.testing.assert_array_equal(rows, [[0, 0.5, -1], [0, -1, 2], [0, 1.5, -3]])


@pytest.mark.feature("004-F35")
def test_rows_of_the_array_are_in_the_order_of_the_urdf(tree):
    script = create_script(tree)
    assert 'JOINTS = ["j3", "j1", "j0", "j2"]' in script
    assert "       0  j3 [rad]\n       1  j1 [rad]\n       2  j0 [rad]\n       3  j2 [m]\n" in script


def test_links_that_can_t_turn_have_no_angular_velocity():
    assert "omega" not in create_forward(chain(3, "prismatic"), "")
    assert "inertia_" not in create_forward(chain(3, "fixed"), "")


def test_equations_are_chosen_by_what_carries_the_joint_and_by_its_type():
    robot = Robot(
        "r",
        {
            "joint": [
                ["p", "prismatic", "w", "a", "1 0 0", "0 0 0", "1 0 0"],
                ["r", "revolute", "a", "b", "2 0 0", "0 0 0", "0 0 1"],
                ["s", "prismatic", "b", "c", "3 0 0", "0 0 0", "1 0 0"],
                ["t", "revolute", "c", "d", "4 0 0", "0 0 0", "0 0 1"],
            ],
            "link": [["w"], ["a"], ["b"], ["c"], ["d", *INERTIAL]],
        },
    )
    on_root, on_sliding, slider, on_turning = (select_forward(robot, robot.joint(name), "") for name in "prst")
    assert "acceleration_p = base_acceleration + qdd_p\n" in on_root
    assert "omega_rev_r = rotation_p @ qd_r\n" in on_sliding
    assert "acceleration_r = acceleration_p\n" in on_sliding
    assert "    + 2.0 * cross(omega_rev_r, rotation_r @ qd_s)\n" in slider
    assert "    + cross(omega_rev_s, rotation_s @ qd_t)\n" in on_turning  # a slider further on still turns
    assert "    + cross(omega_rev_s, cross(omega_rev_s, lever_t))\n" in on_turning


@pytest.mark.feature("004-F41")
def test_inertial_effort_of_each_link_is_in_the_forward_part(tree):
    forward = create_forward(tree, "    ")
    for joint in tree.joints:
        assert f"forces_{joint.name} = " in forward
        assert f"torques_{joint.name} = " in forward


@pytest.mark.feature("004-F40")
def test_backward_part_has_each_joint_once_after_all_its_children(urdf_folder):
    for name in ROBOTS:
        robot = Robot.from_urdf(urdf_folder / f"{name}.urdf")
        order = re.findall(r"^# Joint : (\w+), ", create_backward(robot, ""), re.MULTILINE)
        assert sorted(order) == sorted(joint.name for joint in robot.joints)
        for joint in robot.joints:
            for child in robot.find_next_joints(joint):
                assert order.index(child.name) < order.index(joint.name)


def test_indentation_is_the_caller_s(tree):
    for line in (create_forward(tree, "\t\t") + create_backward(tree, "\t\t")).split("\n"):
        assert line == "" or line.startswith("\t\t")


# Nothing grows but the number of statements --------------------------------------------------------------------------


@pytest.mark.feature("004-F44")
def test_length_is_proportional_to_the_number_of_joints():
    sizes = [len(create_script(chain(n))) for n in (100, 200, 300)]
    assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0], rel=0.05)


def test_equations_of_the_last_joint_are_as_short_as_those_of_the_first():
    robot = chain(300)
    blocks = [select_forward(robot, robot.joint(f"j{i}"), "") for i in (1, 299)]
    assert len(blocks[1].splitlines()) <= len(blocks[0].splitlines()) + 5  # folded where a name is longer
    statements = ast.walk(ast.parse(create_script(robot)))
    assert max(len(ast.unparse(node)) for node in statements if isinstance(node, ast.Assign)) < 200 + 300 * 8


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_thousand_links(shape):
    n = 1000
    robot = chain(n)
    if shape == "star":
        joints = [[f"j{i}", "continuous", "l0", f"l{i + 1}", "1 0 0", "0 0 0", "0 1 0"] for i in range(n)]
        joints[0][2:4] = ["w", "l0"]  # all on one link that moves
        links = [["w"], ["l0", *INERTIAL], *([f"l{i + 1}", *INERTIAL] for i in range(1, n))]
        robot = Robot("star", {"joint": joints, "link": links})
    values = run(robot, np.zeros((n, 3)))
    np.testing.assert_allclose(values["forces_j0"], [0, 0, n * 2 * 9.81], rtol=1e-12, atol=1e-9)


# Names ---------------------------------------------------------------------------------------------------------------

SPOILT = [
    "class", "None", "1", "left arm", "left-arm", "left_arm", "épaule", "quote\"'s", "a\\", '"""', "#", "{name}", "%s",
    "x\nimport os\nos.abort()", "\x00", "robot", "rev_left_arm", "np", "values_robot",
]  # fmt: skip


def test_any_names_make_a_script_that_runs():
    """What a name holds never becomes code, and every value is found under the name as it is."""
    joints = [["joint " + name, "continuous", "w", name, "1 0 0", "0 0 0", "0 0 1"] for name in SPOILT]
    robot = Robot('"""\\', {"joint": joints, "link": [["w"], *([name, *INERTIAL] for name in SPOILT)]})
    rows = np.random.default_rng(0).normal(size=(len(SPOILT), 3))
    values = run(robot, rows)
    for name, row in zip(SPOILT, rows, strict=True):
        alone = run(chain(1), [row])
        assert values[f"effort_joint {name}"] == pytest.approx(alone["effort_j0"])
        assert f"position_{name}" in values


def test_robot_whose_name_and_file_would_end_the_docstring(tmp_path):
    path = tmp_path / 'a"""b\\.urdf'
    path.write_text('<robot name="&quot;&quot;&quot;\\ 1/0"><link name="a"/></robot>')
    script, snippet = script_from_urdf(path)
    exec(snippet, {})
    exec(script, {})


def test_joint_and_link_of_one_name_have_values_of_their_own():
    joints = [["arm", "continuous", "base", "arm", "1 0 0", "0 0 0", "0 0 1"]]
    robot = Robot("r", {"joint": joints, "link": [["base"], ["arm", *INERTIAL]]})
    values = run(robot, [(0, 0, 0)])
    np.testing.assert_array_equal(values["position_arm"], [1, 0, 0])
    np.testing.assert_allclose(values["position_arm_link"], [1.1, 0.2, 0.3])
    assert 'Link arm has the name of a joint: its keys end in "arm_link".' in create_script(robot)


def test_docstring_tells_of_joints_that_follow():
    lists = {
        "joint": [
            ["a", "continuous", "w", "x", "0 0 0", "0 0 0", "0 0 1"],
            ["b", "continuous", "x", "y", "0 0 0", "0 0 0", "0 0 1"],
        ],
        "link": [["w"], ["x"], ["y"]],
        "mimic": [["b", "a", "-2", "0.5"]],
    }
    script = create_script(Robot("r", lists))
    assert "\nJoint b follows a: effort_a has -2.0 times effort_b in it.\n" in script
    assert "    # It follows a: multiplier -2.0, offset 0.5\n" in script


def test_values_of_one_joint_are_no_others_in_memory(script_of):
    """Who changes one of the returned forces in place changes no other."""
    values = script_of("tree4").values(np.ones((4, 3)))
    efforts = [value for key, value in values.items() if key.startswith(("forces_", "torques_"))]
    for index, one in enumerate(efforts):
        assert not any(np.shares_memory(one, other) for other in efforts[:index])


# Wrong input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.nan), (0, 0, np.inf), (0, 0, 0, 1), (0, 0, "down"), 9.81])
def test_gravity_that_is_none_is_refused(tree, gravity):
    with pytest.raises(InputError, match="gravity is"):
        create_script(tree, gravity)


def test_default_gravity_is_that_of_the_stack(tree):
    assert "GRAVITY = [0.0, 0.0, -9.81]" in create_script(tree)


def test_ring_of_followers_is_refused():
    lists = {
        "joint": [
            ["a", "continuous", "w", "x", "0 0 0", "0 0 0", "0 0 1"],
            ["b", "continuous", "x", "y", "0 0 0", "0 0 0", "0 0 1"],
        ],
        "link": [["w"], ["x"], ["y"]],
        "mimic": [["a", "b", "1", "0"], ["b", "a", "1", "0"]],
    }
    with pytest.raises(RobotError, match="follows itself"):
        create_script(Robot("r", lists))


@pytest.mark.feature("004-F20")
def test_loop_in_the_urdf_is_refused_with_its_line():
    joint = '<joint name="{}" type="fixed"><parent link="{}"/><child link="{}"/></joint>'
    text = f'<robot name="r">\n<link name="a"/><link name="b"/><link name="c"/>\n{joint.format("j", "b", "c")}\n'
    with pytest.raises(RobotError, match="URDF text:3: <joint name='j'>: the links make a loop"):
        script_from_urdf(text + joint.format("k", "c", "b") + "</robot>")
