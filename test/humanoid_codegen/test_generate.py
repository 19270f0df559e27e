# SPDX-License-Identifier: Apache-2.0
"""Names of functions, short and full."""

import importlib.util
import os

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generated_functions import compute

from humanoid_codegen import generate
from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import count_operations
from humanoid_codegen.generate import (
    FUNCTION_ALIASES,
    function_names,
    language_names,
    module_name,
    read_loops,
    write_files,
)
from humanoid_model import RobotError, load_robot
from humanoid_model.errors import InputError


def test_short_names_in_any_spelling():
    assert function_names(["idm", "Mass", "direct-dynamics", " gravity"]) == (
        "inverse_dynamics", "mass_matrix", "direct_dynamics", "gravity",
    )  # fmt: skip


def test_each_function_once():
    assert function_names(["idm", "rnea", "inverse_dynamics"]) == ("inverse_dynamics",)


def test_no_alias_means_two_functions():
    names = [name for full, aliases in FUNCTION_ALIASES.items() for name in (full, *aliases)]
    assert len(names) == len(set(names))


def test_every_function_of_a_model_has_its_name_here():
    assert set(DynamicModel("robot_2r_a").builders) <= set(FUNCTION_ALIASES)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"functions: unknown function 'speed'\. Choose from inverse_dynamics, "):
        function_names(["idm", "speed"])


GOOD = """
loops:
  pin:
    a: {link: coupler, xyz: [1, 0, 0]}
    b: {link: rocker, xyz: [0.8, 0, 0], rpy: [0, 0, 1.5]}
    rows: [x, z]
  ball:
    a: {link: one}
    b: {link: two}
"""


def test_cuts_are_read(tmp_path):
    path = tmp_path / "loops.yaml"
    path.write_text(GOOD)
    pin_joint, ball = read_loops(path)
    assert (pin_joint.name, pin_joint.link_a, pin_joint.link_b) == ("pin", "coupler", "rocker")
    assert pin_joint.rows == ("x", "z")
    np.testing.assert_array_equal(pin_joint.placement_a.translation, [1.0, 0.0, 0.0])
    assert pin_joint.placement_b.rotation[1, 0] == pytest.approx(np.sin(1.5))
    assert ball.rows == ("x", "y", "z")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("link: rocker, ", "", r"loops.yaml:5: loops.pin.b: has no 'link'"),
        ("    b: {link: two}\n", "", r"loops.yaml:8: loops.ball: has no 'b'"),
        ("rows: [x, z]", "rows: [x, w]", r"loops.yaml:6: loops.pin.rows\[1\]: is 'w'"),
        ("rows: [x, z]", "rows: [x, x]", "one twice"),
        ("rows: [x, z]", "rows: []", "holds no row"),
        ("xyz: [1, 0, 0]", "xyz: [1, .nan, 0]", "Give a finite number"),
        ("xyz: [1, 0, 0]", "xyz: [1, 0]", "Give 3 numbers"),
        ("loops:", "cuts:", "unknown key"),
        ("loops:", "loops: [", "not YAML"),
    ],
)
def test_bad_files_are_refused(tmp_path, old, new, message):
    path = tmp_path / "loops.yaml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_loops(path)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        read_loops(tmp_path / "nothing.yaml")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_functions_but_derivatives_are_generated():
    generated = generate("tree4", "c")
    names = [function.name for function, _ in generated.functions]
    assert names == [name for name in generated.model.builders if "derivatives" not in name]
    for function, count in generated.functions:
        assert count == count_operations(function)
        assert f"tree4_{function.name}(" in generated.files["tree4.c"]
    assert generated.joint_names == generated.model.mechanism.joint_names
    assert generated.time > 0


def test_functions_by_short_names_and_derivatives_on_request():
    generated = generate("tree4", "c", ["mass", "idm"], derivatives=True)
    assert [function.name for function, _ in generated.functions] == [
        "mass_matrix", "inverse_dynamics", "inverse_dynamics_derivatives", "direct_dynamics_derivatives",
    ]  # fmt: skip


@pytest.mark.feature("004-F46")
def test_every_language_writes_something(tmp_path):
    for language in language_names():
        files = generate("robot_2r_b", language, out=tmp_path / language).files
        assert files
        for name, text in files.items():
            assert (tmp_path / language / name).read_text(encoding="utf-8") == text
            assert text.endswith("\n")


def test_several_languages_at_once_with_progress():
    seen = []
    generated = generate("robot_2r_b", ["c", "markdown"], ["idm"], progress=seen.append)
    assert {"robot_2r_b.c", "robot_2r_b.h", "robot_2r_b.md"} <= set(generated.files)
    assert [item.fraction for item in seen] == sorted(item.fraction for item in seen)
    assert seen[-1].fraction == 1.0
    assert [item.stage for item in seen][:3] == ["inverse_dynamics", "c", "markdown"]


def test_what_cannot_be_had_is_left_out_and_said():
    finger = (
        '<robot name="hand"><link name="world"/><link name="palm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="tip"/>'
        '<joint name="wrist" type="continuous"><parent link="world"/><child link="palm"/></joint>'
        '<joint name="finger" type="continuous"><parent link="palm"/><child link="tip"/></joint></robot>'
    )
    generated = generate(finger, "python")
    names = [function.name for function, _ in generated.functions]
    assert "direct_dynamics" not in names
    assert "mass_matrix" in names
    assert "Left out: function 'direct_dynamics': joint 'finger' moves no mass" in generated.files["hand.py"]
    with pytest.raises(InputError, match="joint 'finger' moves no mass"):
        generate(finger, "python", ["ddm"])


def test_options_reach_the_model():
    generated = generate(
        "hrp2", "python", ["gravity"], floating_base=False, gravity=(0.0, 0.0, -1.62), base_parameters=False,
        wrench_links=["r_sole"],
    )  # fmt: skip
    assert generated.model.mechanism.nv == 30
    assert "-1.62" in generated.files[next(iter(generated.files))]
    symbolic = generate("tree4", "python", ["mass"], symbolic_parameters=True, base_parameters=False)
    assert "parameters" in next(iter(symbolic.files.values()))
    assert len(symbolic.model.parameters.names) == 40


def test_generated_text_is_the_same_every_time():
    assert generate("tree4", language_names()).files == generate("tree4", language_names()).files


def test_generated_python_moves_the_robot(tmp_path):
    generate("tree4", "python", ["idm"], out=tmp_path)
    module = load(tmp_path / "tree4.py")
    robot = load_robot("tree4")
    q, v, a = np.random.default_rng(0).normal(size=(3, 4))
    expected = pin.rnea(robot.model, robot.model.createData(), q, v, a)
    np.testing.assert_allclose(module.inverse_dynamics(list(q), list(v), list(a)), expected, rtol=1e-12, atol=1e-12)


def test_script_of_a_robot_with_a_free_base(tmp_path):
    generate("bip", "script", out=tmp_path)
    script = load(tmp_path / "bip_script.py")
    snippet = (tmp_path / "bip_variables.py").read_text()
    named = [line.partition(" =")[0] for line in snippet.splitlines() if line.startswith("gv_position_")]
    joints = [name.removeprefix("gv_position_") for name in named]
    assert sum(name.startswith("root_joint") for name in joints) == 6
    model = DynamicModel("bip")
    rng = np.random.default_rng(0)
    legs = {name: rng.normal(size=3) for name in joints if not name.startswith("root_joint")}
    rows = [legs.get(name, np.zeros(3)) for name in joints]
    values = script.dynamic_model(np.array(rows))
    mechanism = model.mechanism
    q, v, a = np.zeros((3, mechanism.nv))
    for k, name in enumerate(mechanism.v_names[6:]):
        q[6 + k], v[6 + k], a[6 + k] = legs[name]
    q = np.concatenate([[0, 0, 0, 0, 0, 0, 1], q[6:]])
    # The script's base is at rest without rotors; the model's joints have theirs.
    tau = compute(model, "inverse_dynamics", q=q, v=v, a=a)["tau"] - model.robot.model.armature * a
    for k, name in enumerate(mechanism.v_names[6:]):
        assert values[f"effort_{name}"] == pytest.approx(tau[6 + k], abs=1e-9)
    forces = [values[f"effort_root_joint_p{axis}"] for axis in "xyz"]
    np.testing.assert_allclose(forces, tau[:3], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("HRP-2", "hrp_2"), ("robot 2R", "robot_2r"), ("2r", "robot_2r"), ("été", "t"), ("é", "robot_"), ("a__b", "a__b")],
)
def test_names_of_modules(name, expected):
    assert module_name(name) == expected


# Bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree4", "fortran"), r"unknown language 'fortran'.*Choose from c, cpp"),
        (("tree4", "c", ["dance"]), "unknown function 'dance'"),
        (("tree4", "c", ["loop_closure"]), "Give the cuts"),
        (("nobody", "c"), "unknown robot 'nobody'"),
    ],
)
def test_bad_requests_are_refused(arguments, message, tmp_path):
    with pytest.raises(InputError, match=message):
        generate(*arguments, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_script_has_no_symbolic_parameters():
    with pytest.raises(InputError, match="symbolic_parameters: the script carries the numbers"):
        generate("tree4", "script", symbolic_parameters=True)


@pytest.mark.parametrize("name", ["for", "class", "double"])
def test_a_robot_named_like_a_keyword_is_refused_or_renamed(name):
    urdf = load_robot("tree4").urdf.replace('name="tree4"', f'name="{name}"', 1)
    language = {"for": "c", "class": "python", "double": "c"}[name]
    with pytest.raises(InputError, match=f"'{name}'"):
        generate(urdf, language, ["gravity"])


def test_malformed_robots_leave_nothing_behind(tmp_path):
    path = tmp_path / "bad.urdf"
    path.write_text('<robot name="r"><link name="a"/><link name="b"/></robot>')
    with pytest.raises(RobotError, match=r"bad.urdf"):
        generate(path, "c", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that nobody may write to")
def test_a_folder_without_permission_is_named():
    with pytest.raises(InputError, match=r"/proc/humanoid: can't be written: .*\. Give a folder"):
        generate("tree4", "c", out="/proc/humanoid")


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match=r"out: can't be written.*Give a folder"):
        generate("tree4", "c", out=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_files_are_written_all_or_none(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "b.c").mkdir()
    (folder / "a.c").write_text("before")
    with pytest.raises(InputError, match="can't be written"):
        write_files(folder, {"a.c": "new", "b.c": "new"})
    assert (folder / "a.c").read_text() == "before"
    assert sorted(path.name for path in folder.iterdir()) == ["a.c", "b.c"]


def test_folders_made_for_nothing_are_gone(tmp_path):
    with pytest.raises(InputError, match="can't be written"):
        write_files(tmp_path / "a" / "b", {"x" * 300: "a name that no disk takes"})
    assert not (tmp_path / "a").exists()


def test_written_files_are_as_readable_as_any_other(tmp_path):
    write_files(tmp_path / "out", {"a.c": "text"})
    (tmp_path / "mine").write_text("text")
    assert (tmp_path / "out" / "a.c").stat().st_mode == (tmp_path / "mine").stat().st_mode
