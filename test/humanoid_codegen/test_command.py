# SPDX-License-Identifier: Apache-2.0
"""The command humanoid-model: what it writes, what it says, what it refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fixtures.illegal_urdfs import ILLEGAL_URDFS

from humanoid_codegen.command import main
from humanoid_codegen.generate import FUNCTION_ALIASES, generate, language_names

ROOT = Path(__file__).parents[2]
WORDY = """
<robot name="wordy">
  <link name="world"/>
  <link name="int"><inertial><mass value="1"/><origin xyz="0.1 0 0.2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="class"><inertial><mass value="1"/><origin xyz="0.1 0.3 0.2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="for" type="continuous"><parent link="world"/><child link="int"/><axis xyz="0 1 0"/></joint>
  <joint name="lambda" type="continuous"><parent link="int"/><child link="class"/><axis xyz="0 0.6 0.8"/></joint>
</robot>
"""


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def assert_refused(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    """The command ends with 2 and one line on stderr that holds the message."""
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.rstrip("\n").split("\n")
    last = lines[-1].split("\r")[-1]
    assert last.startswith("humanoid-model: ")
    assert message in last
    assert len(lines) == 1, said.err


# What it makes ----------------------------------------------------------------------------------------------------


def test_functions_of_loops_take_the_robots_own_cuts(tmp_path):
    words = ["five_bar", "-o", str(tmp_path / "out"), "--functions", "loops", "--lang", "python"]
    assert main(words) == 0
    (code,) = (tmp_path / "out").glob("*.py")
    assert "def loop_closure" in code.read_text()
    assert main([*words[:3], "--functions", "mass_matrix", "--lang", "python"]) == 0
    assert "def loop_closure" not in code.read_text()


def test_cuts_of_closed_loops_come_from_a_file(tmp_path):
    cuts = tmp_path / "cuts.yaml"
    cuts.write_text("loops: {cut: {a: {link: tip}, b: {link: armB}, rows: [x]}}")
    words = ["tree4", "-o", str(tmp_path / "out"), "--functions", "constrained_dynamics", "--loops", str(cuts)]
    assert main(words) == 0
    assert "tree4_constrained_dynamics(" in (tmp_path / "out" / "tree4.c").read_text()
    assert main([*words[:-1], str(tmp_path / "nothing.yaml")]) == 2


def test_files_are_those_of_generate(tmp_path, capsys):
    words = ["tree4", "-o", str(tmp_path / "deep" / "out"), "--lang", "c,python", "--functions", "idm,mass"]
    assert main(words) == 0
    made = generate("tree4", ["c", "python"], ["inverse_dynamics", "mass_matrix"])
    assert files(tmp_path / "deep" / "out") == set(made.files)
    for name, text in made.files.items():
        assert (tmp_path / "deep" / "out" / name).read_text() == text
    said = capsys.readouterr().out
    assert all(name in said for name in made.files)
    for function, count in made.functions:
        assert re.search(rf"^{function.name} +{count.multiplications} +{count.additions} ", said, re.MULTILINE)


def test_options_reach_the_generator(tmp_path):
    options = ["--fixed-base", "--gravity", "0", "-1.5", "0.25", "--symbolic-parameters", "--no-base-parameters"]
    options += ["--wrench-links", "tool,armA", "--derivatives", "--functions", "bias"]
    assert main(["tree4", "-o", str(tmp_path), "--lang", "python", *options]) == 0
    made = generate(
        "tree4", "python", ["bias"], floating_base=False, gravity=(0.0, -1.5, 0.25), symbolic_parameters=True,
        base_parameters=False, wrench_links=("tool", "armA"), derivatives=True,
    )  # fmt: skip
    assert {name: (tmp_path / name).read_text() for name in files(tmp_path)} == made.files
    assert main(["tree4", "-o", str(tmp_path), "--lang", "python", "--functions", "bias", "--floating-base"]) == 0
    floating = generate("tree4", "python", ["bias"], floating_base=True)
    assert {name: (tmp_path / name).read_text() for name in floating.files} == floating.files


def test_meshes_may_be_missing(tmp_path):
    urdf = WORDY.replace("</link>", '<visual><geometry><mesh filename="package://gone/a.stl"/></geometry></visual></link>')
    (tmp_path / "robot.urdf").write_text(urdf)
    assert main([str(tmp_path / "robot.urdf"), "-o", str(tmp_path / "out"), "--functions", "gravity"]) == 0


def test_the_list_has_every_function_and_language(capsys):
    assert main(["--list"]) == 0
    said = capsys.readouterr().out
    for name in (*FUNCTION_ALIASES, "idm", "ddm", "mass", *language_names()):
        assert re.search(rf"\b{name}\b", said)


def test_module_and_installed_program_are_the_command(tmp_path):
    words = [sys.executable, "-m", "humanoid_codegen", "robot_2r_a", "-o", str(tmp_path), "--functions", "gravity"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "gravity" in done.stdout
    assert files(tmp_path)
    declared = (ROOT / "pyproject.toml").read_text()
    assert 'humanoid-model = "humanoid_codegen.command:main"' in declared


def test_doubts_about_a_robot_are_told_in_a_line(tmp_path, capsys):
    (tmp_path / "robot.urdf").write_text(WORDY.replace('izz="1"', 'izz="3"', 1))
    assert main([str(tmp_path / "robot.urdf"), "-o", str(tmp_path / "out"), "--functions", "gravity"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"humanoid-model: {tmp_path}/robot.urdf:5: <inertia>: of <link name='int'>: ")
    assert "triangle inequality" in line


# Names that languages keep for themselves -------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_keywords_as_names_compile_in_c(tmp_path):
    (tmp_path / "robot.urdf").write_text(WORDY)
    out = tmp_path / "out"
    assert main([str(tmp_path / "robot.urdf"), "-o", str(out), "--lang", "c", "--derivatives"]) == 0
    for path in out.glob("*.c"):
        subprocess.run(
            ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", path.name, "-o", "model.o"],
            cwd=out, check=True, timeout=60,
        )  # fmt: skip


@pytest.mark.parametrize("language", ["python", "numpy", "numba"])
def test_keywords_as_names_run_in_python(language, tmp_path):
    (tmp_path / "robot.urdf").write_text(WORDY)
    out = tmp_path / "out"
    assert main([str(tmp_path / "robot.urdf"), "-o", str(out), "--lang", language, "--functions", "idm"]) == 0
    for path in out.glob("*.py"):
        compile(path.read_text(), path.name, "exec")
        assert path.stem.isidentifier()


@pytest.mark.parametrize(
    ("language", "name"),
    [("c", "while"), ("cpp", "class"), ("python", "lambda"), ("matlab", "end"), ("sympy", "import")],
)
def test_a_robot_called_like_a_keyword_is_refused(language, name, tmp_path, capsys):
    (tmp_path / "robot.urdf").write_text(WORDY.replace("wordy", name))
    words = [str(tmp_path / "robot.urdf"), "-o", str(tmp_path / "out"), "--lang", language]
    assert_refused(capsys, words, f"'{name}' is a word of ")
    assert not (tmp_path / "out").exists()


# Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ILLEGAL_URDFS)
def test_illegal_robots_are_named_by_file_line_and_element(kind, tmp_path, capsys):
    text, message = ILLEGAL_URDFS[kind]
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    assert_refused(capsys, [str(path), "-o", str(tmp_path / "out")], f"{path}{message}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody"], "unknown robot 'nobody'. Give the path of a URDF file or one of avatar"),
        (["/no/where.urdf"], "/no/where.urdf: can't be read: No such file or directory"),
        (["tree4", "--lang", "c,cobol"], "unknown language 'cobol'. Choose from "),
        (["tree4", "--lang", ","], "--lang: no language is given. Choose from "),
        (["tree4", "--functions", "idm,speed"], "unknown function 'speed'. Choose from inverse_dynamics"),
        (["tree4", "--functions", "loops"], "no function 'loop_closure'"),
        (["tree4", "--wrench-links", "tail"], "tail"),
        (["tree4", "--gravity", "0", "nan", "0"], "gravity: is "),
    ],
)
def test_what_cant_be_used_is_named(words, message, tmp_path, capsys):
    assert_refused(capsys, [*words, "-o", str(tmp_path / "out")], message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [[], ["tree4"], ["tree4", "-o", "out", "--gravity", "0", "0"], ["--no-such-option"]])
def test_incomplete_command_lines_end_with_usage(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage: humanoid-model" in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["file", "file/below", "/proc/nowhere", "x" * 300])
def test_a_folder_that_cant_be_written_is_named(folder, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    before = files(tmp_path)
    target = str(tmp_path / folder)
    assert_refused(capsys, ["robot_2r_a", "-o", target, "--functions", "gravity"], f"{target}: can't be ")
    assert files(tmp_path) == before
    assert (tmp_path / "file").read_text() == "mine"


def test_files_that_cant_be_replaced_leave_the_others_as_they_were(tmp_path, capsys):
    assert main(["robot_2r_a", "-o", str(tmp_path), "--functions", "gravity"]) == 0
    first, *others = sorted(files(tmp_path))
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / first).unlink()
    (tmp_path / first).mkdir()
    before = files(tmp_path)
    capsys.readouterr()
    words = ["robot_2r_a", "-o", str(tmp_path), "--functions", "gravity"]
    assert_refused(capsys, words, f"{tmp_path}: can't be written")
    assert files(tmp_path) == before
    assert all((tmp_path / name).read_text() == "mine" for name in others)
